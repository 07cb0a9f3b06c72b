/** From pixels to channel planes, their cells and their counts. */
import {
  CELL_SIDE,
  CHANNELS,
  COUNT_TABLES,
  cellAddress,
  cellStride,
  counts,
  height,
  pixels,
  planeAddress,
  result,
  stride,
  width,
} from './memory';

/** Fills the six planes. Hue, saturation and value are bit for bit those of OpenCV's 8-bit RGB → HSV. */
export function split(): void {
  const plane = (stride as usize) * height;
  for (let y: u32 = 0; y < height; y++) {
    let from = pixels + (y as usize) * width * 3;
    let to = planeAddress(0) + (y as usize) * stride;
    for (let x: u32 = 0; x < width; x += 16, from += 48, to += 16) {
      const first = v128.load(from);
      const second = v128.load(from, 16);
      const third = v128.load(from, 32);
      // Every third byte of the first two, then of the third.
      let r = v128.shuffle<u8>(first, second, 0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 0, 0, 0, 0, 0);
      let g = v128.shuffle<u8>(first, second, 1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 0, 0, 0, 0, 0);
      let b = v128.shuffle<u8>(first, second, 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 0, 0, 0, 0, 0, 0);
      r = v128.shuffle<u8>(r, third, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 20, 23, 26, 29);
      g = v128.shuffle<u8>(g, third, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 18, 21, 24, 27, 30);
      b = v128.shuffle<u8>(b, third, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 19, 22, 25, 28, 31);
      const value = i8x16.max_u(i8x16.max_u(r, g), b);
      const range = i8x16.sub(value, i8x16.min_u(i8x16.min_u(r, g), b));
      const lowHues = hues(
        i16x8.extend_low_i8x16_u(r),
        i16x8.extend_low_i8x16_u(g),
        i16x8.extend_low_i8x16_u(b),
        i16x8.extend_low_i8x16_u(value),
        i16x8.extend_low_i8x16_u(range),
      );
      const highHues = hues(
        i16x8.extend_high_i8x16_u(r),
        i16x8.extend_high_i8x16_u(g),
        i16x8.extend_high_i8x16_u(b),
        i16x8.extend_high_i8x16_u(value),
        i16x8.extend_high_i8x16_u(range),
      );
      const lowSaturations = quotients(i16x8.extend_low_i8x16_u(range), 255, i16x8.extend_low_i8x16_u(value));
      const highSaturations = quotients(i16x8.extend_high_i8x16_u(range), 255, i16x8.extend_high_i8x16_u(value));
      v128.store(to, r);
      v128.store(to + plane, g);
      v128.store(to + 2 * plane, b);
      v128.store(to + 3 * plane, i8x16.narrow_i16x8_u(lowHues, highHues));
      v128.store(to + 4 * plane, i8x16.narrow_i16x8_u(lowSaturations, highSaturations));
      v128.store(to + 5 * plane, value);
    }
  }
}

/** 0–179, in steps of 2°; 0 for grey. `value` is the largest of the colours, `range` what it exceeds the smallest by. */
function hues(r: v128, g: v128, b: v128, value: v128, range: v128): v128 {
  const twice = i16x8.add(range, range);
  const afterGreen = i16x8.add(i16x8.sub(b, r), twice);
  const afterBlue = i16x8.add(i16x8.sub(r, g), i16x8.add(twice, twice));
  const notRed = v128.bitselect(afterGreen, afterBlue, i16x8.eq(value, g));
  const sixths = v128.bitselect(i16x8.sub(g, b), notRed, i16x8.eq(value, r));
  const signed = quotients(sixths, 180 / 6, range);
  return i16x8.add(signed, v128.and(i16x8.splat(180), i16x8.shr_s(signed, 15)));
}

/** Eight times a × scale / b as OpenCV divides in fixed point; a is 0 where b is. */
function quotients(a: v128, scale: i32, b: v128): v128 {
  const nonZero = i16x8.max_u(b, i16x8.splat(1));
  return i16x8.narrow_i32x4_s(
    fixedPointQuotients(i32x4.extend_low_i16x8_s(a), scale, i32x4.extend_low_i16x8_s(nonZero)),
    fixedPointQuotients(i32x4.extend_high_i16x8_s(a), scale, i32x4.extend_high_i16x8_s(nonZero)),
  );
}

// RGB2HSV_b (imgproc, color_hsv) multiplies by reciprocals with 12 fractional bits, rounded, and rounds the product half
// up. Floats of 24 bits are enough for both to come out exactly; a test tries all colours that differ.
const FRACTION_BITS: i32 = 12;
/** Added to a whole number between ± 2²², it leaves that number in the low bits of the float. */
const SHIFTER: f32 = 12582912;
const SHIFTER_BITS: i32 = 0x4b400000;

function fixedPointQuotients(a: v128, scale: i32, b: v128): v128 {
  const numerator = f32x4.splat((scale << FRACTION_BITS) as f32);
  const reciprocal = f32x4.nearest(f32x4.div(numerator, f32x4.convert_i32x4_s(b)));
  const product = f32x4.mul(f32x4.convert_i32x4_s(a), reciprocal);
  const whole = i32x4.sub(f32x4.add(product, f32x4.splat(SHIFTER)), i32x4.splat(SHIFTER_BITS));
  return i32x4.shr_s(i32x4.add(whole, i32x4.splat(1 << (FRACTION_BITS - 1))), FRACTION_BITS);
}

/** Fills the cells of all planes: the least and the greatest of 4 × 4 pixels each; leftover rows have none. */
export function minimaAndMaxima(): void {
  for (let channel: u32 = 0; channel < CHANNELS; channel++) {
    for (let y: u32 = 0; y < height / CELL_SIDE; y++) {
      let from = planeAddress(channel) + (y as usize) * CELL_SIDE * stride;
      let least = cellAddress(channel, false) + (y as usize) * cellStride;
      let greatest = cellAddress(channel, true) + (y as usize) * cellStride;
      for (let x: u32 = 0; x < stride; x += 64, from += 64, least += 16, greatest += 16) {
        v128.store(least, packed(leastOf(from), leastOf(from + 16), leastOf(from + 32), leastOf(from + 48)));
        v128.store(
          greatest,
          packed(greatestOf(from), greatestOf(from + 16), greatestOf(from + 32), greatestOf(from + 48)),
        );
      }
    }
  }
}

/** The least of each of four cells side by side, in the lowest byte of each i32. */
function leastOf(from: usize): v128 {
  const upper = i8x16.min_u(v128.load(from), v128.load(from + stride));
  const lower = i8x16.min_u(v128.load(from + 2 * stride), v128.load(from + 3 * stride));
  const four = i8x16.min_u(upper, lower);
  const two = i8x16.min_u(four, i32x4.shr_u(four, 16));
  return i8x16.min_u(two, i32x4.shr_u(two, 8));
}

function greatestOf(from: usize): v128 {
  const upper = i8x16.max_u(v128.load(from), v128.load(from + stride));
  const lower = i8x16.max_u(v128.load(from + 2 * stride), v128.load(from + 3 * stride));
  const four = i8x16.max_u(upper, lower);
  const two = i8x16.max_u(four, i32x4.shr_u(four, 16));
  return i8x16.max_u(two, i32x4.shr_u(two, 8));
}

/** The lowest bytes of sixteen i32. */
function packed(a: v128, b: v128, c: v128, d: v128): v128 {
  const low = i32x4.splat(255);
  return i8x16.narrow_i16x8_u(
    i16x8.narrow_i32x4_u(v128.and(a, low), v128.and(b, low)),
    i16x8.narrow_i32x4_u(v128.and(c, low), v128.and(d, low)),
  );
}

const TABLE_BYTES: usize = 256 * 4;

/** For each of 0–255 how many pixels of a plane are greater: the address of 256 u32. */
export function countAbove(channel: u32): usize {
  // Neighbours are often equal. With a table for every second of them, one count need not wait for the last.
  memory.fill(counts, 0, TABLE_BYTES * COUNT_TABLES);
  for (let y: u32 = 0; y < height; y++) {
    let from = planeAddress(channel) + (y as usize) * stride;
    let x: u32 = 8;
    for (; x <= width; x += 8, from += 8) {
      const eight = load<u64>(from);
      count(0, (eight & 255) as usize);
      count(1, ((eight >> 8) & 255) as usize);
      count(2, ((eight >> 16) & 255) as usize);
      count(3, ((eight >> 24) & 255) as usize);
      count(0, ((eight >> 32) & 255) as usize);
      count(1, ((eight >> 40) & 255) as usize);
      count(2, ((eight >> 48) & 255) as usize);
      count(3, (eight >> 56) as usize);
    }
    for (x -= 8; x < width; x++, from++) count(0, load<u8>(from));
  }
  let above: u32 = 0;
  for (let value = 255; value >= 0; value--) {
    store<u32>(result + 4 * value, above);
    for (let table: usize = 0; table < COUNT_TABLES; table++) {
      above += load<u32>(counts + table * TABLE_BYTES + 4 * value);
    }
  }
  return result;
}

function count(table: usize, value: usize): void {
  const at = counts + table * TABLE_BYTES + 4 * value;
  store<u32>(at, load<u32>(at) + 1);
}
