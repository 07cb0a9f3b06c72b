/**
 * Where things lie. One image at a time is in memory: its pixels, a plane of bytes for each of its six channels (red, green,
 * blue, hue, saturation, value), cells of these, and the runs and labels of one mask. Nothing is ever freed; the next image
 * is laid over the last.
 *
 * Rows of planes begin every `stride` bytes, a multiple of 64, so that a row is read in whole words of 64 pixels. What lies
 * past the width is undefined: readers leave it out.
 */

export const CHANNELS: u32 = 6;
/** Side of a cell, in pixels. */
export const CELL_SIDE: u32 = 4;
/** Bytes of a run: its first column and the one past its last, both i32. */
export const RUN_BYTES: usize = 8;
/** Bytes of a label: the address of its parent, area, whether it reaches into the margin; u32 each. */
export const LABEL_BYTES: usize = 12;
/** Tables of counts side by side: see `countAbove`. */
export const COUNT_TABLES: usize = 4;

export let width: u32 = 0;
export let height: u32 = 0;
export let stride: u32 = 0;
export let cellStride: u32 = 0;

let planes: usize = 0;
let minima: usize = 0;
let maxima: usize = 0;
export let counts: usize = 0;
/** What functions give back that is more than a number. */
export let result: usize = 0;
/** The image's pixels until they are split, then the picture of the largest component. */
export let pixels: usize = 0;
/** One u16 for each column. */
export let columns: usize = 0;
/** For each row of a mask, where its runs begin. */
export let rows: usize = 0;
export let runs: usize = 0;
/** For each run, the label it was given: the address of one. */
export let runLabels: usize = 0;
export let labels: usize = 0;

let next: u64 = 0;

/** A layout begins: what is placed from here on lies over all there was. */
export function beginLayout(): void {
  next = 0;
  place(__heap_base);
}

/** Memory that the layout needs, bytes. */
export function endLayout(): f64 {
  return next as f64;
}

export function place(bytes: u64): usize {
  const address = next;
  next = (next + bytes + 63) & ~63;
  return address as usize;
}

/**
 * Lays an image out. Returns how many bytes of memory it needs, which the caller sees to; when these are more than 4 GiB,
 * the image cannot be worked on.
 */
export function arrange(imageWidth: u32, imageHeight: u32): f64 {
  width = imageWidth;
  height = imageHeight;
  stride = (width + 63) & ~63;
  cellStride = (stride / CELL_SIDE + 63) & ~63;
  const planeBytes = (stride as u64) * height;
  const cellBytes = (cellStride as u64) * (height / CELL_SIDE);
  // At most every other pixel of a row begins a run; one more a row, and one row more, for the sentinels.
  const mostRuns = ((height as u64) + 1) * ((width as u64) / 2 + 2);

  beginLayout();
  result = place(256 * 4);
  counts = place(COUNT_TABLES * 256 * 4);
  columns = place((stride as u64) * 2);
  planes = place(planeBytes * CHANNELS);
  minima = place(cellBytes * CHANNELS);
  maxima = place(cellBytes * CHANNELS);
  pixels = place((width as u64) * height * 3 + 64); // the last pixels are read with what follows them
  rows = place(((height as u64) + 2) * 4);
  runs = place(mostRuns * RUN_BYTES);
  runLabels = place(mostRuns * 4);
  labels = place(mostRuns * LABEL_BYTES);
  return endLayout();
}

/** Where the caller puts the image's pixels, red, green, blue, without gaps. */
export function rgbAddress(): usize {
  return pixels;
}

export function planeAddress(channel: u32): usize {
  return planes + (channel as usize) * stride * height;
}

/** The plane of each cell's smallest or largest value. */
export function cellAddress(channel: u32, largest: bool): usize {
  return (largest ? maxima : minima) + (channel as usize) * cellStride * (height / CELL_SIDE);
}
