import { describe, expect, it } from 'vitest';
import type { Mask } from '../../extractors/image.ts';
import { coverageFacts, renderCoverage } from '../../renderers/coverage.ts';
import { integer, uniform } from '../../sampling/distributions.ts';
import { type Rng, rng } from '../../sampling/rng.ts';
import type { Placement } from '../../scenes/scene2d.ts';
import { imageToMask, literalCoverage } from '../literal/coverage.ts';

/** A mask drawn by a rule for each pixel. */
function drawn(width: number, height: number, isSet: (x: number, y: number) => boolean): Mask {
  const data = Uint8Array.from({ length: width * height }, (_, i) =>
    isSet(i % width, Math.floor(i / width)) ? 255 : 0,
  );
  return { width, height, data };
}

/** Smooth outlines: where a sum of waves is above zero. */
function blob(random: Rng, width: number, height: number): Mask {
  const waves = Array.from({ length: 4 }, () => ({
    x: uniform(random, -6, 6) / width,
    y: uniform(random, -6, 6) / height,
    phase: uniform(random, 0, 7),
  }));
  return drawn(width, height, (x, y) => waves.reduce((sum, w) => sum + Math.sin(w.x * x + w.y * y + w.phase), 0) > 0);
}

/** The roughest outline there is: every pixel by chance. */
function noise(random: Rng, width: number, height: number): Mask {
  const share = uniform(random, 0.3, 0.8);
  return drawn(width, height, () => random.next() < share);
}

/** Differences to the literal version over some placements, most of them partly outside the image. */
function errors(draw: typeof blob, scales: readonly number[]) {
  let [worst, sum, signed, edgePixels] = [0, 0, 0, 0];
  for (const [number, nominal] of scales.entries()) {
    for (let i = 0; i < 4; i++) {
      const random = rng(1, `coverage/${draw.name}`, number, i);
      const size = integer(random, 20, 36);
      const side = () => Math.ceil((size / nominal) * uniform(random, 0.4, 1.2));
      const mask = draw(random, side(), side());
      const placement: Placement = {
        scale: nominal * uniform(random, 0.9, 1.1),
        rotation: integer(random, 0, 359),
        center: [uniform(random, 0, size), uniform(random, 0, size)],
      };
      const { data } = renderCoverage(mask, placement, size);
      const expected = literalCoverage(mask, placement, size, 32);
      for (let pixel = 0; pixel < data.length; pixel++) {
        const error = data[pixel]! / 255 - expected[pixel]!;
        worst = Math.max(worst, Math.abs(error));
        if (expected[pixel] === 0 || expected[pixel] === 1) continue;
        edgePixels++;
        sum += Math.abs(error);
        signed += error;
      }
    }
  }
  return { worst, mean: sum / edgePixels, bias: Math.abs(signed) / edgePixels, edgePixels };
}

describe('renderCoverage', () => {
  it('agrees with the literal version along smooth outlines, at any scale, turn and place', () => {
    const { worst, mean, bias, edgePixels } = errors(blob, [0.3, 0.6, 1, 1.9, 3.6]);
    expect(edgePixels).toBeGreaterThan(1000);
    // Each cell of 4 × 4 in a pixel holds one of the 16 sub-samples, and a straight edge crosses at most 7 of them. A
    // crossed cell errs by a uniform amount of at most 1/16, so the error's deviation is at most √(7/12)/16 = 0.048 …
    expect(mean).toBeLessThan(0.048);
    // … its worst case among thousands 5 deviations, and it has no preferred sign.
    expect(worst).toBeLessThan(0.25);
    expect(bias).toBeLessThan(0.01);
  });

  it('agrees with the literal version on masks of noise as closely as 16 sub-samples can', () => {
    const { worst, mean, bias, edgePixels } = errors(noise, [0.2, 0.7, 1.3, 4]);
    expect(edgePixels).toBeGreaterThan(3000);
    // Where nothing is known between sub-samples, the deviation of a mean of 16 is at most √(½·½/16) = 1/8.
    expect(mean).toBeLessThan(0.125);
    expect(worst).toBeLessThan(4 * 0.125);
    expect(bias).toBeLessThan(0.01);
  });

  it.each([
    [1, 0],
    [1, 90],
    [2, 180],
    [2, 270],
    [3, 0],
    [3, 90],
    [5, 270],
  ])(
    'draws a rectangle enlarged %i times and turned by %i° exactly, but for its rounded corners',
    (scale, rotation) => {
      const [width, height] = [6, 4];
      const size = 50; // not a whole number of tiles
      const upright = rotation % 180 === 0;
      const [across, down] = upright ? [width * scale, height * scale] : [height * scale, width * scale];
      const [left, top] = [9, 14];
      const { data } = renderCoverage(
        drawn(width, height, () => true),
        { scale, rotation, center: [left + across / 2, top + down / 2] },
        size,
      );
      const corner = Math.ceil(scale / 2);
      let cornerSum = 0;
      const wrong: string[] = [];
      for (let y = 0; y < size; y++) {
        for (let x = 0; x < size; x++) {
          const value = data[y * size + x]!;
          const fromEdgeX = Math.min(x - left, left + across - 1 - x);
          const fromEdgeY = Math.min(y - top, top + down - 1 - y);
          const inside = fromEdgeX >= 0 && fromEdgeY >= 0;
          if (inside && fromEdgeX < corner && fromEdgeY < corner) cornerSum += value / 255;
          else if (value !== (inside ? 255 : 0)) wrong.push(`${value} at ${x}, ${y}`);
        }
      }
      expect(wrong).toEqual([]);
      // Between pixel centre and corner, the mask is (1−u)(1−v) for u, v in 0 … ½; that is at least ½ on ½ − ½ ln 2 of the ¼.
      const missing = 4 * scale ** 2 * (0.25 - (0.5 - Math.log(2) / 2));
      const sampled = 4 * corner ** 2 - cornerSum;
      expect(sampled).toBeGreaterThan(0);
      // Good to two sub-samples in each of the pixels that the curve crosses.
      expect(Math.abs(sampled - missing)).toBeLessThan((4 * corner * 2) / 16);
    },
  );

  it('half covers pixels that an edge cuts in half', () => {
    const { data } = renderCoverage(
      drawn(20, 20, () => true),
      { scale: 1, rotation: 0, center: [20.5, 20] },
      40,
    );
    const row = [...data.subarray(20 * 40, 21 * 40)];
    expect(row.slice(0, 10)).toEqual(new Array(10).fill(0));
    expect([row[10], row[30]]).toEqual([128, 128]); // 8 of 16
    expect(row.slice(11, 30)).toEqual(new Array(19).fill(255));
  });

  it.each([0.3, 0.77, 1, 2.4])('covers π r² s² of a large disc at scale %f', scale => {
    const radius = 75 / scale;
    const side = Math.ceil(2 * radius);
    const disc = drawn(side, side, (x, y) => Math.hypot(x + 0.5 - side / 2, y + 0.5 - side / 2) < radius);
    const { data } = renderCoverage(disc, { scale, rotation: 31, center: [90.3, 87.9] }, 180);
    const area = data.reduce((sum, value) => sum + value / 255, 0);
    expect(Math.abs(area / (Math.PI * 75 ** 2) - 1)).toBeLessThan(0.005);
  });

  it.each([
    [0, 'right'],
    [30, 'right and a little below'],
    [90, 'below'],
    [180, 'left'],
    [270, 'above'],
  ])('turned by %i°, puts a mark at the right of the box %s of its centre', rotation => {
    const mark = drawn(41, 21, (x, y) => x >= 36 && y >= 8 && y < 13);
    const distance = 38.5 - 20.5;
    const center: [number, number] = [40.25, 37.5];
    const { data } = renderCoverage(mark, { scale: 1.5, rotation, center }, 80);
    let [sum, x, y] = [0, 0, 0];
    for (const [i, value] of data.entries()) {
      sum += value;
      x += value * ((i % 80) + 0.5);
      y += value * (Math.floor(i / 80) + 0.5);
    }
    const angle = (rotation * Math.PI) / 180;
    expect(Math.abs(x / sum - center[0] - 1.5 * distance * Math.cos(angle))).toBeLessThan(0.05);
    expect(Math.abs(y / sum - center[1] - 1.5 * distance * Math.sin(angle))).toBeLessThan(0.05);
  });

  it('draws nothing outside the turned box and everything inside a full one', () => {
    let [drawnOutside, holes] = [0, 0];
    for (let i = 0; i < 20; i++) {
      const random = rng(1, 'coverage/box', i);
      const box = { width: integer(random, 5, 40), height: integer(random, 5, 40) };
      const placement: Placement = {
        scale: uniform(random, 0.5, 4),
        rotation: integer(random, 0, 359),
        center: [uniform(random, 0, 60), uniform(random, 0, 60)],
      };
      const { data } = renderCoverage(
        drawn(box.width, box.height, () => true),
        placement,
        60,
      );
      for (let pixel = 0; pixel < data.length; pixel++) {
        const [u, v] = imageToMask((pixel % 60) + 0.5, Math.floor(pixel / 60) + 0.5, box, placement);
        // Image pixels from the pixel's centre to the outline, negative inside.
        const outside = placement.scale * Math.max(-u, u - box.width, -v, v - box.height);
        if (outside > Math.SQRT1_2 && data[pixel] !== 0) drawnOutside++;
        // Corners are cut by less than half a mask pixel.
        if (outside < -Math.SQRT1_2 - placement.scale / 2 && data[pixel] !== 255) holes++;
      }
    }
    expect({ drawnOutside, holes }).toEqual({ drawnOutside: 0, holes: 0 });
  });

  it('covers nothing outside of the box it tells', () => {
    for (let i = 0; i < 30; i++) {
      const random = rng(1, 'coverage/within', i);
      const { data, within } = renderCoverage(
        blob(random, integer(random, 5, 40), integer(random, 5, 40)),
        {
          scale: uniform(random, 0.2, 4),
          rotation: integer(random, 0, 359),
          center: [uniform(random, -20, 80), uniform(random, -20, 80)],
        },
        61,
      );
      const { left, top, width, height } = within!;
      const outside = data.filter((_, k) => {
        const [x, y] = [k % 61, Math.floor(k / 61)];
        return x < left || y < top || x >= left + width || y >= top + height;
      });
      expect(outside.every(value => value === 0)).toBe(true);
    }
  });

  it('leaves the image empty for an empty mask and for one that lies outside', () => {
    const full = drawn(10, 10, () => true);
    const empty = drawn(10, 10, () => false);
    expect(Math.max(...renderCoverage(empty, { scale: 3, rotation: 45, center: [20, 20] }, 40).data)).toBe(0);
    for (const center of [
      [-8, 20],
      [48, 20],
      [20, -8],
      [20, 48],
      [-1000, 1000],
    ] as const) {
      expect(Math.max(...renderCoverage(full, { scale: 1, rotation: 45, center: [...center] }, 40).data)).toBe(0);
    }
  });

  it('fills an image that lies wholly inside the shape', () => {
    const full = drawn(100, 100, () => true);
    const { width, height, data } = renderCoverage(full, { scale: 1.2, rotation: 45, center: [20, 20] }, 39);
    expect([width, height, data.length]).toEqual([39, 39, 39 * 39]);
    expect(Math.min(...data)).toBe(255);
  });
});

it('a mask drawn once is drawn elsewhere as if it were new', () => {
  const random = rng(1, 'coverage/again', 0);
  const mask = blob(random, 60, 40);
  for (let i = 0; i < 5; i++) {
    const placement: Placement = {
      scale: uniform(random, 0.4, 1.5),
      rotation: integer(random, 0, 359),
      center: [uniform(random, 0, 64), uniform(random, 0, 64)],
    };
    const fresh = { ...mask, data: Uint8Array.from(mask.data) };
    expect(renderCoverage(mask, placement, 64)).toEqual(renderCoverage(fresh, placement, 64));
  }
});

describe('coverageFacts', () => {
  it('counts pixels of at least half coverage', () => {
    const data = Uint8Array.from([
      ...[0, 127, 0, 0, 0],
      ...[0, 0, 128, 255, 0],
      ...[0, 0, 200, 127, 0],
      ...[127, 0, 0, 0, 255],
    ]);
    expect(coverageFacts({ width: 5, height: 4, data })).toEqual({
      box: { left: 2, top: 1, width: 3, height: 3 },
      area: 4,
      coverage: 4 / 20,
    });
  });

  it('has an empty box where nothing is half covered', () => {
    expect(coverageFacts({ width: 3, height: 2, data: new Uint8Array(6).fill(127) })).toEqual({
      box: { left: 0, top: 0, width: 0, height: 0 },
      area: 0,
      coverage: 0,
    });
  });

  it('covers all of a full image, and one pixel where one is set', () => {
    const full = { width: 3, height: 3, data: new Uint8Array(9).fill(255) };
    expect(coverageFacts(full)).toEqual({ box: { left: 0, top: 0, width: 3, height: 3 }, area: 9, coverage: 1 });
    const single = { width: 3, height: 3, data: Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 128]) };
    expect(coverageFacts(single).box).toEqual({ left: 2, top: 2, width: 1, height: 1 });
  });
});
