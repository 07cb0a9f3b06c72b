import { describe, expect, it } from 'vitest';
import { type Channel, channelMaximum, HSV_CHANNELS, RGB_CHANNELS } from '../../../extractors/color-channels.ts';
import type { RgbImage } from '../../../extractors/image.ts';
import { ChannelMasks, ImageTooLarge } from '../../../extractors/kernel/channel-masks.ts';
import { integer } from '../../../sampling/distributions.ts';
import { type Rng, rng } from '../../../sampling/rng.ts';
import { rgbToHsv } from '../../oracle/opencv.ts';

const CHANNELS: readonly Channel[] = [...RGB_CHANNELS, ...HSV_CHANNELS];

function randomImage(random: Rng, width: number, height: number): RgbImage {
  return { width, height, data: Uint8Array.from({ length: 3 * width * height }, () => integer(random, 0, 255)) };
}

/** One of the three values of each pixel. */
function every3rd(interleaved: Uint8Array, first: number): Uint8Array {
  const values = new Uint8Array(interleaved.length / 3);
  for (let i = 0; i < values.length; i++) values[i] = interleaved[3 * i + first]!;
  return values;
}

function expectChannels(image: RgbImage): void {
  const masks = new ChannelMasks(image);
  const hsv = rgbToHsv(image);
  for (const [c, channel] of RGB_CHANNELS.entries()) {
    expect(Buffer.compare(masks.values(channel), every3rd(image.data, c)), channel).toBe(0);
  }
  for (const [c, channel] of HSV_CHANNELS.entries()) {
    expect(Buffer.compare(masks.values(channel), every3rd(hsv, c)), channel).toBe(0);
  }
}

describe('ChannelMasks', () => {
  it('gives hue, saturation and value of all 16.8 million colours bit for bit as OpenCV', () => {
    const image = { width: 1024, height: 1024, data: new Uint8Array(3 << 20) };
    for (let slab = 0; slab < 16; slab++) {
      for (let i = 0; i < 1 << 20; i++) {
        const colour = (slab << 20) | i;
        image.data[3 * i] = colour >> 16;
        image.data[3 * i + 1] = colour >> 8;
        image.data[3 * i + 2] = colour;
      }
      expectChannels(image);
    }
  });

  it('splits images of any width, small ones after large ones', () => {
    const random = rng(2, 'test', 'widths');
    for (const width of [200, 1, 2, 15, 16, 17, 31, 63, 64, 65, 129]) {
      for (const height of [1, 2, 7]) expectChannels(randomImage(random, width, height));
    }
  });

  it('counts the pixels above every level', () => {
    for (const width of [1, 7, 8, 9, 37, 64]) {
      const masks = new ChannelMasks(randomImage(rng(3, 'test', width), width, 11));
      for (const channel of CHANNELS) {
        for (const inverted of [false, true]) {
          const values = masks.values(channel).map(value => (inverted ? channelMaximum(channel) - value : value));
          const expected = Array.from({ length: 256 }, (_, level) => values.filter(v => v > level).length);
          expect([...masks.pixelsAbove(channel, inverted)]).toEqual(expected);
        }
      }
    }
  });

  it('refuses images beyond all memory, and goes on after them', () => {
    const nothing = new Uint8Array();
    expect(() => new ChannelMasks({ width: 20_000, height: 20_000, data: nothing })).toThrow(ImageTooLarge);
    expect(() => new ChannelMasks({ width: 1, height: 100_000_000, data: nothing })).toThrow(
      '1×100000000 pixels are too many',
    );
    expectChannels(randomImage(rng(4, 'test', 'after'), 20, 20));
  });

  it('answers for the newest image only', () => {
    const first = new ChannelMasks(randomImage(rng(5, 'test', 'first'), 8, 8));
    const second = new ChannelMasks(randomImage(rng(5, 'test', 'second'), 8, 8));
    expect(() => first.label('r', false, 100, 0)).toThrow('another image');
    expect(second.label('r', false, 100, 0).largest).toBeGreaterThan(0);
  });
});
