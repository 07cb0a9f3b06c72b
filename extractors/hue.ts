import type { RgbImage } from './image.ts';

/** Red, green or blue of a colour by its hue; where on the circle each is darkest is what the hue is counted from here. */
const PHASES = { r: 5, g: 3, b: 1 } as const;
export type Rgb = keyof typeof PHASES;

/**
 * Hue of a colour times its chroma, in sixths of the circle (red is 0, green 2): no division, and none by zero for greys.
 * The hexcone of HSV, as OpenCV and CSS count it. @returns 0 to below 6 · chroma; 0 for greys.
 */
export function hueTimesChroma(r: number, g: number, b: number, max: number, chroma: number): number {
  if (max === r) return g >= b ? g - b : g - b + 6 * chroma;
  return max === g ? b - r + 2 * chroma : r - g + 4 * chroma;
}

/** What a channel's hue is moved by when the colour's is: for {@link channelAt}. @param degrees 0 to below 360. */
export function channelShift(channel: Rgb, degrees: number): number {
  return (PHASES[channel] + degrees / 60) % 6;
}

/**
 * One channel of a colour whose hue was moved.
 * @param hue as {@link hueTimesChroma} gives it. @param shift as {@link channelShift} does. @param max largest channel.
 */
export function channelAt(hue: number, shift: number, max: number, chroma: number): number {
  const moved = hue + shift * chroma;
  const k = moved < 6 * chroma ? moved : moved - 6 * chroma;
  return max - Math.max(0, Math.min(k, 4 * chroma - k, chroma));
}

/** The picture with all hues moved along the circle; saturation and value stay. @param degrees 0 to below 360. */
export function shiftHue({ width, height, data }: RgbImage, degrees: number): RgbImage {
  const shifted = new Uint8Array(data.length);
  const [red, green, blue] = [channelShift('r', degrees), channelShift('g', degrees), channelShift('b', degrees)];
  for (let i = 0; i < data.length; i += 3) {
    const r = data[i]!;
    const g = data[i + 1]!;
    const b = data[i + 2]!;
    const max = Math.max(r, g, b);
    const chroma = max - Math.min(r, g, b);
    const hue = hueTimesChroma(r, g, b, max, chroma);
    shifted[i] = channelAt(hue, red, max, chroma) + 0.5;
    shifted[i + 1] = channelAt(hue, green, max, chroma) + 0.5;
    shifted[i + 2] = channelAt(hue, blue, max, chroma) + 0.5;
  }
  return { width, height, data: shifted };
}
