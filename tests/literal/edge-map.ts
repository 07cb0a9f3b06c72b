/** The edges of an object, word for word, pixel by pixel. Shares no code with extractors/, only types. */
import type { GreyImage, Mask } from '../../extractors/image.ts';

export function literalEdgeMap(luminance: GreyImage, mask: Mask, weak: number, strong: number): GreyImage {
  const { width, height } = mask;
  const inside = (x: number, y: number) => x >= 0 && y >= 0 && x < width && y < height && mask.data[y * width + x]! > 0;
  const light = (x: number, y: number) => luminance.data[y * width + x]!;

  /** Rightwards and downwards; null where the object does not fill all nine pixels. */
  const gradient = (x: number, y: number): [number, number] | null => {
    let [dx, dy] = [0, 0];
    for (let j = -1; j <= 1; j++) {
      for (let i = -1; i <= 1; i++) {
        if (!inside(x + i, y + j)) return null;
        dx += i * (j === 0 ? 2 : 1) * light(x + i, y + j);
        dy += j * (i === 0 ? 2 : 1) * light(x + i, y + j);
      }
    }
    return [dx, dy];
  };
  const length = (x: number, y: number) => Math.hypot(...(gradient(x, y) ?? [0, 0]));
  const isCrest = (x: number, y: number) => {
    const found = gradient(x, y);
    if (!found || length(x, y) < weak) return false;
    const angle = Math.atan2(found[1], found[0]);
    const octant = (((Math.round(angle / (Math.PI / 4)) % 4) + 4) % 4) as 0 | 1 | 2 | 3;
    const [i, j] = (
      [
        [1, 0],
        [1, 1],
        [0, 1],
        [-1, 1],
      ] as const
    )[octant];
    return length(x, y) > length(x - i, y - j) && length(x, y) >= length(x + i, y + j);
  };

  const edges = new Uint8Array(width * height);
  const crests = new Set<number>();
  const strongOnes: number[] = [];
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (!inside(x, y)) continue;
      const i = y * width + x;
      if (!(inside(x - 1, y) && inside(x + 1, y) && inside(x, y - 1) && inside(x, y + 1))) edges[i] = 255;
      if (!isCrest(x, y)) continue;
      crests.add(i);
      if (length(x, y) >= strong) strongOnes.push(i);
    }
  }
  // What hangs together with strong ones.
  const kept = new Set(strongOnes);
  for (const i of kept) {
    for (const step of [-width - 1, -width, -width + 1, -1, 1, width - 1, width, width + 1]) {
      if (crests.has(i + step)) kept.add(i + step);
    }
    edges[i] = 255;
  }
  return { data: edges, width, height };
}
