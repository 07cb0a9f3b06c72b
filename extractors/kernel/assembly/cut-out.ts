/** The largest component of the mask labelled last as a picture, and how thick it is. */
import { firstRun, labelOf, largest, NO_COLUMN, rootOf } from './components';
import { columns, pixels, RUN_BYTES } from './memory';

/** Draws the component, 0 and 255, without gaps. Gives the address. */
export function drawLargest(left: i32, top: i32, width: i32, height: i32): usize {
  memory.fill(pixels, 0, (width as usize) * height);
  for (let y: i32 = 0; y < height; y++) drawLine(pixels + (y as usize) * width, top + y, left, width, 0);
  return pixels;
}

/**
 * How many pixels of the component survive one erosion with a `side` × `side` square, `side` odd: those whose whole square
 * is set. What lies outside the component's box counts as set (OpenCV's default border for `erode`).
 */
export function erodedLargest(left: i32, top: i32, width: i32, height: i32, side: i32): u32 {
  // The square is a horizontal bar moved along a vertical one. `columns` holds, for each, how many bars fit one above the
  // other in the rows up to this one; the rows above the box are all set, and so are those below.
  const radius = side >> 1;
  const enough = i16x8.splat(side as i16);
  for (let x: i32 = 0; x < width; x += 8) v128.store(columns + 2 * (x as usize), i16x8.splat(radius as i16));
  let survivors: u32 = 0;
  const lastBits: i32 = (1 << (((width - 1) & 7) + 1)) - 1;
  for (let y: i32 = 0; y < height + radius; y++) {
    memory.fill(pixels, y < height ? 0 : 255, width);
    if (y < height) drawLine(pixels, top + y, left, width, radius);
    for (let x: i32 = 0; x < width; x += 8) {
      const set = v128.load8x8_s(pixels + (x as usize));
      const column = columns + 2 * (x as usize);
      const bars = v128.and(i16x8.add_sat_u(v128.load(column), i16x8.splat(1)), set);
      v128.store(column, bars);
      const fits = i16x8.bitmask(i16x8.ge_u(bars, enough));
      if (y >= radius) survivors += popcnt(x + 8 < width ? fits : fits & lastBits);
    }
  }
  return survivors;
}

/** Sets the pixels of one line of the component, but for the `radius` at either end of each run that is not at the box's edge. */
function drawLine(to: usize, y: i32, left: i32, width: i32, radius: i32): void {
  for (let run = firstRun(y); load<i32>(run) !== NO_COLUMN; run += RUN_BYTES) {
    if (rootOf(load<u32>(labelOf(run))) !== largest) continue;
    let from = load<i32>(run) - left;
    let end = load<i32>(run, 4) - left;
    if (from > 0) from += radius;
    if (end < width) end -= radius;
    if (from < end) memory.fill(to + from, 255, end - from);
  }
}
