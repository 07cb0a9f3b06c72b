/** Weighted sums of pixels side by side, then of rows: how an image is resized. Images are without gaps. */
import { beginLayout, endLayout, place } from './memory';

/** Bits of the weights behind the point. */
const PRECISION: i32 = 22;
const HALF: i32 = 1 << (PRECISION - 1);
/** What vectors may reach beyond an image. */
const SLACK: u64 = 16;

let sourceWidth: usize = 0;
let sourceHeight: usize = 0;
let width: usize = 0;
let taps: usize = 0;
let source: usize = 0;
/** The source at its new width. */
let narrow: usize = 0;
let target: usize = 0;
let firsts: usize = 0;
let weights: usize = 0;
let rowWeights: usize = 0;

/**
 * Lays two images out, and what one is made from the other with. Returns how many bytes of memory this needs, which the caller
 * sees to.
 * @param tapsOfColumns pixels that each column of the target may be the sum of, a multiple of four.
 * @param weightsOfRows how many there are.
 */
export function arrangeResize(
  widthBefore: u32,
  heightBefore: u32,
  widthAfter: u32,
  heightAfter: u32,
  tapsOfColumns: u32,
  weightsOfRows: u32,
): f64 {
  sourceWidth = widthBefore;
  sourceHeight = heightBefore;
  width = widthAfter;
  taps = tapsOfColumns;
  const columns = ((widthAfter as u64) + 3) & ~3;
  beginLayout();
  source = place((widthBefore as u64) * heightBefore + 4 * (taps as u64));
  narrow = place((widthAfter as u64) * heightBefore + SLACK);
  target = place((widthAfter as u64) * heightAfter + SLACK);
  firsts = place(4 * columns);
  weights = place(4 * columns * taps);
  rowWeights = place(4 * (weightsOfRows as u64));
  return endLayout();
}

export function sourceAddress(): usize {
  return source;
}

export function targetAddress(): usize {
  return target;
}

/** Where the caller puts, for each column of the target, which of the source is weighed first: i32, a multiple of four. */
export function firstsAddress(): usize {
  return firsts;
}

/** Where the caller puts the weights of each column, i32, `taps` places a column, 0 where there are fewer. */
export function columnWeightsAddress(): usize {
  return weights;
}

export function rowWeightsAddress(): usize {
  return rowWeights;
}

/** Makes rows as wide as they shall be. */
export function addColumns(): void {
  for (let y: usize = 0; y < sourceHeight; y++) {
    const row = source + y * sourceWidth;
    const line = narrow + y * width;
    for (let x: usize = 0; x < width; x += 4) {
      const first = firsts + 4 * x;
      const weight = weights + 4 * x * taps;
      const a = weighted(row + load<u32>(first), weight);
      const b = weighted(row + load<u32>(first, 4), weight + 4 * taps);
      const c = weighted(row + load<u32>(first, 8), weight + 8 * taps);
      const d = weighted(row + load<u32>(first, 12), weight + 12 * taps);
      const ab = i32x4.add(v128.shuffle<u32>(a, b, 0, 4, 1, 5), v128.shuffle<u32>(a, b, 2, 6, 3, 7));
      const cd = i32x4.add(v128.shuffle<u32>(c, d, 0, 4, 1, 5), v128.shuffle<u32>(c, d, 2, 6, 3, 7));
      const sums = i32x4.add(v128.shuffle<u32>(ab, cd, 0, 1, 4, 5), v128.shuffle<u32>(ab, cd, 2, 3, 6, 7));
      // The beginning of the next row, which is written over, or the slack.
      v128.store32_lane(line + x, bytesOf(sums, sums, sums, sums), 0);
    }
  }
}

/** Four sums that together are that of all taps, and one half. */
function weighted(from: usize, weight: usize): v128 {
  let sums = i32x4(HALF, 0, 0, 0);
  for (let end = from + taps; from < end; from += 4, weight += 16) {
    const four = i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(from)));
    sums = i32x4.add(sums, i32x4.mul(four, v128.load(weight)));
  }
  return sums;
}

/**
 * Makes row `to` of the target: `count` rows from `first` on, by the weights from number `weight` on. Rows are made from the top:
 * the beginning of the next is written over.
 */
export function addRows(to: u32, first: u32, count: u32, weight: u32): void {
  const line = target + (to as usize) * width;
  const from = narrow + (first as usize) * width;
  const firstWeight = rowWeights + 4 * (weight as usize);
  const lastWeight = firstWeight + 4 * (count as usize);
  for (let x: usize = 0; x < width; x += 16) {
    let a = i32x4.splat(HALF);
    let b = a;
    let c = a;
    let d = a;
    let at = from + x;
    for (let w = firstWeight; w < lastWeight; w += 4, at += width) {
      const factor = v128.load32_splat(w);
      const sixteen = v128.load(at);
      const low = i16x8.extend_low_i8x16_u(sixteen);
      const high = i16x8.extend_high_i8x16_u(sixteen);
      a = i32x4.add(a, i32x4.mul(i32x4.extend_low_i16x8_u(low), factor));
      b = i32x4.add(b, i32x4.mul(i32x4.extend_high_i16x8_u(low), factor));
      c = i32x4.add(c, i32x4.mul(i32x4.extend_low_i16x8_u(high), factor));
      d = i32x4.add(d, i32x4.mul(i32x4.extend_high_i16x8_u(high), factor));
    }
    v128.store(line + x, bytesOf(a, b, c, d));
  }
}

/** Sixteen sums without what is behind the point. */
function bytesOf(a: v128, b: v128, c: v128, d: v128): v128 {
  const low = i16x8.narrow_i32x4_s(i32x4.shr_u(a, PRECISION), i32x4.shr_u(b, PRECISION));
  const high = i16x8.narrow_i32x4_s(i32x4.shr_u(c, PRECISION), i32x4.shr_u(d, PRECISION));
  return i8x16.narrow_i16x8_u(low, high);
}
