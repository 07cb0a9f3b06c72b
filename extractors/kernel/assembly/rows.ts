/** Weighted sums of rows: what is left to do of resizing when rows are as long as they shall be. */
import { beginLayout, endLayout, place } from './memory';

/** Bits of the weights behind the point. */
const PRECISION: i32 = 22;
/** What vectors may reach beyond a row. */
const SLACK: u64 = 16;

let width: usize = 0;
let source: usize = 0;
let target: usize = 0;
let weights: usize = 0;

/**
 * Lays rows of `rowWidth` bytes out, without gaps, and as many weights (i32) as are asked for. Returns how many bytes of memory
 * this needs, which the caller sees to.
 */
export function arrangeRows(rowWidth: u32, sourceRows: u32, targetRows: u32, weightCount: u32): f64 {
  width = rowWidth;
  beginLayout();
  source = place((rowWidth as u64) * sourceRows + SLACK);
  target = place((rowWidth as u64) * targetRows + SLACK);
  weights = place((weightCount as u64) * 4);
  return endLayout();
}

export function sourceRowsAddress(): usize {
  return source;
}

export function targetRowsAddress(): usize {
  return target;
}

export function weightsAddress(): usize {
  return weights;
}

/**
 * Makes target row `to`: `count` source rows from `first` on, by the weights from number `weight` on, rounded. Rows are made from
 * the top: the beginning of the next is written over.
 */
export function addRows(to: u32, first: u32, count: u32, weight: u32): void {
  const half = i32x4.splat(1 << (PRECISION - 1));
  const line = target + (to as usize) * width;
  const from = source + (first as usize) * width;
  const firstWeight = weights + 4 * (weight as usize);
  const lastWeight = firstWeight + 4 * (count as usize);
  for (let x: usize = 0; x < width; x += 16) {
    let a = half;
    let b = half;
    let c = half;
    let d = half;
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
    const low = i16x8.narrow_i32x4_s(i32x4.shr_u(a, PRECISION), i32x4.shr_u(b, PRECISION));
    const high = i16x8.narrow_i32x4_s(i32x4.shr_u(c, PRECISION), i32x4.shr_u(d, PRECISION));
    v128.store(line + x, i8x16.narrow_i16x8_u(low, high));
  }
}
