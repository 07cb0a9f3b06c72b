/**
 * Numbers rows of whole numbers so that equal rows have equal numbers, in the order of their first appearance.
 * @param rows `width` numbers a row, one row after the other.
 * @returns the number of each row, and the first row of each number.
 */
export function numberRows(rows: Int32Array | Int16Array, width: number): { numbers: Uint32Array; first: Uint32Array } {
  const count = rows.length / width;
  const numbers = new Uint32Array(count);
  const first = new Uint32Array(count);
  // Open addressing, at most half full; 0 is free, n + 1 stands for number n.
  const table = new Uint32Array(2 ** Math.ceil(Math.log2(Math.max(2, count * 2))));
  const mask = table.length - 1;
  let unique = 0;
  for (let row = 0; row < count; row++) {
    let hash = 0;
    for (let i = 0; i < width; i++) hash = mix(hash ^ rows[row * width + i]!);
    let slot = hash & mask;
    while (table[slot] !== 0 && !equalRows(rows, width, first[table[slot]! - 1]!, row)) slot = (slot + 1) & mask;
    if (table[slot] === 0) {
      first[unique] = row;
      table[slot] = ++unique;
    }
    numbers[row] = table[slot]! - 1;
  }
  return { numbers, first: first.subarray(0, unique) };
}

/** Spreads the bits of a 32-bit number (the finishing step of MurmurHash3). */
function mix(value: number): number {
  let h = value;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function equalRows(rows: Int32Array | Int16Array, width: number, a: number, b: number): boolean {
  for (let i = 0; i < width; i++) if (rows[a * width + i] !== rows[b * width + i]) return false;
  return true;
}
