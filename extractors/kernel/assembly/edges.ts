/**
 * The edges of an object by Canny's rule, and its outline. Two rows after the other are worked on: the gradients of one, the
 * crests of the one above it, so that what is worked on stays near. Images are without gaps; some bytes beside them are read
 * or written where whole vectors reach beyond a row.
 */
import { beginLayout, endLayout, place } from './memory';

/** What vectors may reach beyond. */
const SLACK: u64 = 64;
const EDGE: u8 = 255;
const CREST: u8 = 1;

let width: usize = 0;
let height: usize = 0;
let luminance: usize = 0;
let inside: usize = 0;
let edges: usize = 0;
/** Of one row, where the pixel, the one above and the one below are inside; a clear pixel before and after it. */
let tall: usize = 0;
/** Three rows of squared lengths (i32), and of gradients rightwards and downwards (i16), in turns. */
let squares: usize = 0;
let across: usize = 0;
let down: usize = 0;
/** From a row of i16 to the next; rows of i32 are twice as far apart. */
let step: usize = 0;
/** Addresses of edge pixels whose neighbours are to be looked at. */
let pending: usize = 0;
let pendingEnd: usize = 0;

/** Lays the images of an object out. Returns how many bytes of memory this needs, which the caller sees to. */
export function arrangeEdges(imageWidth: u32, imageHeight: u32): f64 {
  width = imageWidth;
  height = imageHeight;
  const pixels = (imageWidth as u64) * imageHeight;
  step = (2 * width + 127) & ~63;
  beginLayout();
  place(SLACK);
  luminance = place(pixels + SLACK);
  inside = place(pixels + SLACK);
  edges = place(pixels + SLACK);
  place(SLACK);
  tall = place((width as u64) + SLACK);
  squares = place(6 * (step as u64));
  across = place(3 * (step as u64));
  down = place(3 * (step as u64));
  pending = place(4 * pixels);
  return endLayout();
}

/** Where the caller puts the luminance, one byte a pixel. */
export function luminanceAddress(): usize {
  return luminance;
}

/** Where the caller puts what is inside the object: 255, elsewhere 0. */
export function insideAddress(): usize {
  return inside;
}

/**
 * Draws the edges, 255 on 0; gives their address.
 * @param weak, strong squared lengths of the Sobel gradient.
 */
export function drawEdges(weak: i32, strong: i32): usize {
  pendingEnd = pending;
  store<u8>(tall - 1, 0);
  // Above and below there is nothing inside, hence no gradient, and all that is inside belongs to the outline.
  memory.fill(squares, 0, 6 * step);
  memory.copy(edges, inside, width);
  for (let y: usize = 1; y + 1 < height; y++) {
    outlineAndGradients(y);
    if (y > 1) findCrests(y - 1, weak, strong);
  }
  if (height > 1) {
    const last = (height - 1) * width;
    memory.copy(edges + last, inside + last, width);
  }
  if (height > 2) {
    memory.fill(squares + 2 * step * ((height - 1) % 3), 0, 2 * step);
    findCrests(height - 2, weak, strong);
  }
  follow();
  for (let i: usize = 0; i < width * height; i += 16) {
    v128.store(edges + i, i8x16.eq(v128.load(edges + i), i8x16.splat(EDGE as i8)));
  }
  return edges;
}

/** Outline and gradients of a row that has one above and one below. */
function outlineAndGradients(y: usize): void {
  const row = inside + y * width;
  const outline = edges + y * width;
  for (let x: usize = 0; x < width; x += 16) {
    const here = v128.load(row + x);
    const three = v128.and(v128.and(v128.load(row + x - width), here), v128.load(row + x + width));
    const surrounded = v128.and(three, v128.and(v128.load(row + x - 1), v128.load(row + x + 1)));
    v128.store(tall + x, three);
    v128.store(outline + x, v128.andnot(here, surrounded));
  }
  v128.store(tall + width, i8x16.splat(0));
  // Beside these there is nothing; what lies before and after them in memory belongs to other rows.
  store<u8>(outline, load<u8>(row));
  store<u8>(outline + width - 1, load<u8>(row + width - 1));

  const slot = y % 3;
  const square = squares + 2 * step * slot;
  const rightwards = across + step * slot;
  const downwards = down + step * slot;
  const light = luminance + y * width;
  for (let x: usize = 0; x < width; x += 8) {
    // 255, read as −1, has all bits set in 16 bits as well.
    const middle = v128.load8x8_s(tall + x);
    const nine = v128.and(middle, v128.and(v128.load8x8_s(tall + x - 1), v128.load8x8_s(tall + x + 1)));
    const to = square + 4 * x;
    if (!v128.any_true(nine)) {
      v128.store(to, i32x4.splat(0));
      v128.store(to, i32x4.splat(0), 16);
      continue;
    }
    const above = light + x - width;
    const here = light + x;
    const below = here + width;
    const aboveLeft = v128.load8x8_u(above - 1);
    const aboveRight = v128.load8x8_u(above + 1);
    const belowLeft = v128.load8x8_u(below - 1);
    const belowRight = v128.load8x8_u(below + 1);
    const falling = i16x8.sub(belowRight, aboveLeft);
    const rising = i16x8.sub(aboveRight, belowLeft);
    const sideways = i16x8.sub(v128.load8x8_u(here + 1), v128.load8x8_u(here - 1));
    const upright = i16x8.sub(v128.load8x8_u(below), v128.load8x8_u(above));
    const dx = v128.and(nine, i16x8.add(i16x8.add(falling, rising), i16x8.shl(sideways, 1)));
    const dy = v128.and(nine, i16x8.add(i16x8.sub(falling, rising), i16x8.shl(upright, 1)));
    v128.store(rightwards + 2 * x, dx);
    v128.store(downwards + 2 * x, dy);
    v128.store(to, i32x4.add(i32x4.extmul_low_i16x8_s(dx, dx), i32x4.extmul_low_i16x8_s(dy, dy)));
    v128.store(to, i32x4.add(i32x4.extmul_high_i16x8_s(dx, dx), i32x4.extmul_high_i16x8_s(dy, dy)), 16);
  }
}

/**
 * Marks where in a row the gradient is longest along its own direction (to the nearest 45°); of two equal ones the first is.
 * Those that are strong are edges at once.
 */
function findCrests(y: usize, weak: i32, strong: i32): void {
  const slot = y % 3;
  const row = squares + 2 * step * slot;
  const above = squares + 2 * step * ((slot + 2) % 3);
  const below = squares + 2 * step * ((slot + 1) % 3);
  const rightwards = across + step * slot;
  const downwards = down + step * slot;
  const line = edges + y * width;
  const least = i32x4.splat(max(weak, 1));
  for (let x: usize = 0; x < width; x += 4) {
    const i: usize = 4 * x;
    const square = v128.load(row + i);
    const steep = i32x4.ge_s(square, least);
    if (!v128.any_true(steep)) continue;
    const dx = v128.load16x4_s(rightwards + 2 * x);
    const dy = v128.load16x4_s(downwards + 2 * x);
    const a = i32x4.abs(dx);
    const b = i32x4.abs(dy);
    // The tangent of 22.5° is √2 − 1: b ≤ (√2 − 1) a where (a + b)² ≤ 2 a².
    const sum = i32x4.add(a, b);
    const both = i32x4.mul(sum, sum);
    const sideways = i32x4.le_s(both, i32x4.shl(i32x4.mul(a, a), 1));
    const upright = i32x4.le_s(both, i32x4.shl(i32x4.mul(b, b), 1));
    const rising = i32x4.shr_s(v128.xor(dx, dy), 31);
    let before = v128.bitselect(v128.load(above + i + 4), v128.load(above + i - 4), rising);
    let after = v128.bitselect(v128.load(below + i - 4), v128.load(below + i + 4), rising);
    before = v128.bitselect(v128.load(above + i), before, upright);
    after = v128.bitselect(v128.load(below + i), after, upright);
    before = v128.bitselect(v128.load(row + i - 4), before, sideways);
    after = v128.bitselect(v128.load(row + i + 4), after, sideways);
    const crest = v128.and(steep, v128.and(i32x4.gt_s(square, before), i32x4.ge_s(square, after)));
    for (let bits = i32x4.bitmask(crest); bits !== 0; bits &= bits - 1) {
      const at = x + (ctz(bits) as usize);
      const pixel = line + at;
      if (load<i32>(row + 4 * at) >= strong) reach(pixel);
      else store<u8>(pixel, CREST);
    }
  }
}

function reach(pixel: usize): void {
  store<u8>(pixel, EDGE);
  store<u32>(pendingEnd, pixel as u32);
  pendingEnd += 4;
}

/** What hangs together with an edge is one. No crest is at the border: rows that end and begin there are not mixed up. */
function follow(): void {
  while (pendingEnd > pending) {
    pendingEnd -= 4;
    const pixel: usize = load<u32>(pendingEnd);
    for (let at = pixel - width; at <= pixel + width; at += width) {
      if (load<u8>(at - 1) === CREST) reach(at - 1);
      if (load<u8>(at) === CREST) reach(at);
      if (load<u8>(at + 1) === CREST) reach(at + 1);
    }
  }
}
