/** RGB9E5 as the OpenGL specification words it (3.8.3.2 "Encoding of RGB9E5"), without bit tricks. */
const N = 9;
const B = 15;
const E_MAX = 31;
const SHARED_MAX = ((2 ** N - 1) / 2 ** N) * 2 ** (E_MAX - B);

export function literalRgb9e5(color: readonly [number, number, number]): number {
  const [r, g, b] = color.map(c => Math.max(0, Math.min(SHARED_MAX, c))) as [number, number, number];
  const max = Math.max(r, g, b);
  let preliminary = 0;
  while (preliminary < E_MAX && 2 ** (preliminary - B) <= max) preliminary++;
  const maxMantissa = Math.floor(max / 2 ** (preliminary - B - N) + 0.5);
  const exponent = maxMantissa < 2 ** N ? preliminary : preliminary + 1;
  const mantissa = (c: number) => Math.floor(c / 2 ** (exponent - B - N) + 0.5);
  return exponent * 2 ** 27 + mantissa(b) * 2 ** 18 + mantissa(g) * 2 ** 9 + mantissa(r);
}

export function literalFromRgb9e5(word: number): [number, number, number] {
  const unit = 2 ** (Math.floor(word / 2 ** 27) - B - N);
  return [word % 512, Math.floor(word / 2 ** 9) % 512, Math.floor(word / 2 ** 18) % 512].map(m => m * unit) as [
    number,
    number,
    number,
  ];
}
