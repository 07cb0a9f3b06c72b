/**
 * The rule for natural shapes word for word: every try is made, every pixel looked at. Shares no code with the version in
 * extractors/, only types.
 */
import type { Channel } from '../../extractors/color-channels.ts';
import type { Box, Mask, RgbImage } from '../../extractors/image.ts';
import type { NaturalShapeOptions, Rejection, Try } from '../../extractors/natural-shape.ts';

export interface LiteralShape {
  readonly mask: Mask;
  readonly box: Box;
  readonly area: number;
  readonly tryIndex: number;
}

export function literalNaturalShape(
  image: RgbImage,
  tries: readonly Try[],
  options: NaturalShapeOptions,
): { shape: LiteralShape | undefined; rejections: Record<Rejection, number> } {
  const rejections = { empty: 0, border: 0, 'too-small': 0, 'too-large': 0, 'too-thin': 0 };
  const channels = new Map<Channel, number[]>();
  for (const [tryIndex, { channel, inverted, threshold }] of tries.entries()) {
    const values = channels.get(channel) ?? channelValues(image, channel);
    channels.set(channel, values);
    const maximum = channel === 'h' ? 179 : 255;
    const pixels = values.map(value => (inverted ? maximum - value : value) / maximum > threshold);
    const component = largestComponent(pixels, image.width, image.height);
    const rejection = reject(component, image, options);
    if (rejection) rejections[rejection]++;
    else return { shape: { ...cutOut(component, image.width), tryIndex }, rejections };
  }
  return { shape: undefined, rejections };
}

function channelValues({ data }: RgbImage, channel: Channel): number[] {
  const values: number[] = [];
  for (let i = 0; i < data.length; i += 3) values.push(channelValue(data[i]!, data[i + 1]!, data[i + 2]!, channel));
  return values;
}

function channelValue(r: number, g: number, b: number, channel: Channel): number {
  const value = Math.max(r, g, b);
  const range = value - Math.min(r, g, b);
  switch (channel) {
    case 'r':
      return r;
    case 'g':
      return g;
    case 'b':
      return b;
    case 'h':
      return hue(r, g, b);
    case 's':
      return value === 0 ? 0 : fixedPoint(range, 255, value);
    case 'v':
      return value;
  }
}

function hue(r: number, g: number, b: number): number {
  const value = Math.max(r, g, b);
  const range = value - Math.min(r, g, b);
  if (range === 0) return 0;
  if (value === r) return (fixedPoint(g - b, 30, range) + 180) % 180;
  if (value === g) return fixedPoint(b - r + 2 * range, 30, range);
  return fixedPoint(r - g + 4 * range, 30, range);
}

/** a × scale / b the way OpenCV divides: the reciprocal rounded to 1/4096, then the product rounded half up. */
function fixedPoint(a: number, scale: number, b: number): number {
  return Math.floor((a * Math.round((scale * 4096) / b)) / 4096 + 0.5);
}

/** Pixel indices of the largest 8-connected component; of equal ones, of the first in raster order. */
function largestComponent(pixels: readonly boolean[], width: number, height: number): number[] {
  const seen = pixels.map(() => false);
  let largest: number[] = [];
  for (let i = 0; i < pixels.length; i++) {
    if (!pixels[i] || seen[i]) continue;
    const component = [i];
    seen[i] = true;
    for (let next = 0; next < component.length; next++) {
      const x = component[next]! % width;
      const y = Math.floor(component[next]! / width);
      for (let ny = Math.max(0, y - 1); ny <= Math.min(height - 1, y + 1); ny++) {
        for (let nx = Math.max(0, x - 1); nx <= Math.min(width - 1, x + 1); nx++) {
          const neighbour = ny * width + nx;
          if (!pixels[neighbour] || seen[neighbour]) continue;
          seen[neighbour] = true;
          component.push(neighbour);
        }
      }
    }
    if (component.length > largest.length) largest = component;
  }
  return largest;
}

function boundingBox(component: readonly number[], width: number): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -1, -1] as [number, number, number, number];
  for (const pixel of component) {
    left = Math.min(left, pixel % width);
    right = Math.max(right, pixel % width);
    top = Math.min(top, Math.floor(pixel / width));
    bottom = Math.max(bottom, Math.floor(pixel / width));
  }
  return { left, top, width: right - left + 1, height: bottom - top + 1 };
}

function reject(
  component: readonly number[],
  { width, height }: RgbImage,
  options: NaturalShapeOptions,
): Rejection | undefined {
  if (component.length === 0) return 'empty';
  const scale = Math.min(width, height) / 512;
  const border = Math.max(1, Math.round(options.border * scale));
  const box = boundingBox(component, width);
  if (box.left < border || box.top < border) return 'border';
  if (box.left + box.width > width - border || box.top + box.height > height - border) return 'border';
  if (component.length < options.minArea * scale ** 2) return 'too-small';
  if (component.length > options.maxAreaShare * width * height) return 'too-large';
  const side = nearestOdd(options.erosionSide * scale);
  if (erodedArea(cutOut(component, width).mask, side) < options.minErodedArea * scale ** 2) return 'too-thin';
  return undefined;
}

/** The odd number from 3 on that is nearest; of two, the larger. */
function nearestOdd(x: number): number {
  let odd = 3;
  while (Math.abs(odd + 2 - x) <= Math.abs(odd - x)) odd += 2;
  return odd;
}

function cutOut(component: readonly number[], width: number): { mask: Mask; box: Box; area: number } {
  const box = boundingBox(component, width);
  const data = new Uint8Array(box.width * box.height);
  for (const pixel of component) {
    const x = (pixel % width) - box.left;
    const y = Math.floor(pixel / width) - box.top;
    data[y * box.width + x] = 255;
  }
  return { mask: { width: box.width, height: box.height, data }, box, area: component.length };
}

/** Pixels none of whose neighbours within the square is unset; neighbours outside the mask do not matter. */
function erodedArea({ width, height, data }: Mask, side: number): number {
  const radius = (side - 1) / 2;
  let survivors = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) if (squareIsSet(x, y)) survivors++;
  }
  return survivors;

  function squareIsSet(x: number, y: number): boolean {
    for (let ny = Math.max(0, y - radius); ny <= Math.min(height - 1, y + radius); ny++) {
      for (let nx = Math.max(0, x - radius); nx <= Math.min(width - 1, x + radius); nx++) {
        if (data[ny * width + nx] === 0) return false;
      }
    }
    return true;
  }
}
