import { describe, expect, it } from 'vitest';
import {
  CELL_SIDE,
  type Channel,
  type ChannelPlane,
  ColorChannels,
  cellMinima,
  channelMaximum,
  HSV_CHANNELS,
  pixelsAbove,
  RGB_CHANNELS,
} from '../../extractors/color-channels.ts';
import type { RgbImage } from '../../extractors/image.ts';
import { integer } from '../../sampling/distributions.ts';
import { type Rng, rng } from '../../sampling/rng.ts';
import { rgbToHsv } from '../oracle/opencv.ts';

const CHANNELS: readonly Channel[] = [...RGB_CHANNELS, ...HSV_CHANNELS];

function randomImage(random: Rng, width: number, height: number, maximum = 255): RgbImage {
  return { width, height, data: Uint8Array.from({ length: 3 * width * height }, () => integer(random, 0, maximum)) };
}

function pixels({ width, height, stride, bytes }: ChannelPlane): number[] {
  return Array.from({ length: width * height }, (_, i) => bytes[Math.floor(i / width) * stride + (i % width)]!);
}

/** What lies past the width must read as 0. */
function padding({ width, stride, bytes }: ChannelPlane): number[] {
  return [...bytes.filter((_, i) => i % stride >= width)];
}

describe('ColorChannels', () => {
  it('gives hue, saturation and value bit for bit as OpenCV', () => {
    const random = rng(1, 'test', 'hsv');
    // Dark and grey pixels have the coarsest quotients, so they get images of their own.
    for (const maximum of [255, 40, 3, 1]) {
      const image = randomImage(random, 701, 150, maximum);
      const hsv = rgbToHsv(image);
      for (const [c, channel] of HSV_CHANNELS.entries()) {
        const expected = hsv.filter((_, i) => i % 3 === c);
        expect(Buffer.compare(Uint8Array.from(pixels(new ColorChannels(image).plane(channel))), expected)).toBe(0);
      }
    }
  });

  it('gives every channel its place, inverts it within its own range, and pads with 0', () => {
    for (const width of [1, 2, 3, 4, 5, 31, 32, 33, 64]) {
      const image = randomImage(rng(2, 'test', width), width, 3);
      const channels = new ColorChannels(image);
      for (const [c, channel] of RGB_CHANNELS.entries()) {
        expect(pixels(channels.plane(channel))).toEqual([...image.data.filter((_, i) => i % 3 === c)]);
      }
      for (const channel of CHANNELS) {
        const [plane, inverted] = [channels.plane(channel), channels.plane(channel, true)];
        expect(pixels(inverted)).toEqual(pixels(plane).map(value => channelMaximum(channel) - value));
        expect(new Set([...padding(plane), ...padding(inverted), 0])).toEqual(new Set([0]));
      }
    }
  });
});

describe('pixelsAbove', () => {
  it('counts the pixels above every level', () => {
    const channels = new ColorChannels(randomImage(rng(3, 'test', 'above'), 37, 11));
    for (const channel of CHANNELS) {
      for (const inverted of [false, true]) {
        const plane = channels.plane(channel, inverted);
        const expected = Array.from({ length: 256 }, (_, level) => pixels(plane).filter(v => v > level).length);
        expect([...pixelsAbove(plane)]).toEqual(expected);
      }
    }
  });
});

describe('cellMinima', () => {
  it('takes the smallest pixel of each whole cell', () => {
    for (const [width, height] of [
      [4, 4],
      [3, 9],
      [41, 23],
      [132, 20],
    ] as const) {
      const plane = new ColorChannels(randomImage(rng(4, 'test', width), width, height)).plane('g');
      const cells = cellMinima(plane);
      expect([cells.width, cells.height]).toEqual([Math.floor(width / CELL_SIDE), Math.floor(height / CELL_SIDE)]);
      const expected = Array.from({ length: cells.width * cells.height }, (_, i) => {
        const left = (i % cells.width) * CELL_SIDE;
        const top = Math.floor(i / cells.width) * CELL_SIDE;
        const inside = pixels(plane).filter((_, j) => {
          const [x, y] = [j % width, Math.floor(j / width)];
          return x >= left && x < left + CELL_SIDE && y >= top && y < top + CELL_SIDE;
        });
        return Math.min(...inside);
      });
      expect(pixels(cells)).toEqual(expected);
      expect(new Set([...padding(cells), 0])).toEqual(new Set([0]));
    }
  });
});
