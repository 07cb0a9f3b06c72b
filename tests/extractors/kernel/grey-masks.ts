import type { GreyImage } from '../../../extractors/image.ts';
import { ChannelMasks } from '../../../extractors/kernel/channel-masks.ts';

/** The masks of a picture whose red is the grey. */
export function masksOf({ width, height, data }: GreyImage): ChannelMasks {
  const rgb = new Uint8Array(3 * data.length);
  for (let i = 0; i < data.length; i++) rgb[3 * i] = data[i]!;
  return new ChannelMasks({ width, height, data: rgb });
}

/** A picture of 0 and 255. */
export function picture(width: number, height: number, isSet: (x: number, y: number) => boolean): GreyImage {
  const data = new Uint8Array(width * height);
  for (let i = 0; i < data.length; i++) if (isSet(i % width, Math.floor(i / width))) data[i] = 255;
  return { width, height, data };
}

/** A picture from lines of # and anything else. */
export function drawn(...lines: string[]): GreyImage {
  return picture(lines[0]!.length, lines.length, (x, y) => lines[y]![x] === '#');
}

/** A line that winds inwards with a gap as wide as itself; every turn of it is one component. */
export function spiral(size: number): GreyImage {
  const data = new Uint8Array(size * size);
  let [x, y, dx, dy] = [0, 0, 1, 0] as [number, number, number, number];
  for (let length = size - 1; length > 1; length -= 2) {
    for (let side = 0; side < (length === size - 1 ? 3 : 2); side++) {
      for (let i = 0; i < length; i++, x += dx, y += dy) data[y * size + x] = 255;
      [dx, dy] = [-dy, dx];
    }
  }
  return { width: size, height: size, data };
}
