import { describe, expect, it } from 'vitest';
import type { Mask, RgbImage } from '../../extractors/image.ts';
import { decodeCrop, decodeMask, encodeGrey, encodeJpeg } from '../../pipeline/bank-images.ts';
import { composite, paintPixels } from '../../renderers/composite.ts';
import { renderCoverage } from '../../renderers/coverage.ts';
import type { TexturePaint } from '../../scenes/scene2d.ts';

const SIZE = 128;

/** A bank texture of one colour, as a paint and its crop: encoded, decoded, enlarged and cut as scenes do it. */
async function uniformTexture(level: number, width: number, height: number, quarterTurns: number) {
  const data = new Uint8Array(3 * width * height).fill(level);
  const bytes = await encodeJpeg({ data, width, height }, 95, true);
  const scale = Math.max(1, SIZE / Math.min(width, height));
  const paint: TexturePaint = { kind: 'texture', id: `${level}`, scale, left: 0, top: 0, quarterTurns };
  return paintPixels(paint, await decodeCrop(bytes, { width, height }, paint, SIZE));
}

async function whiteShapeOnBlack(mask: Mask, rotation: number): Promise<RgbImage> {
  const stored = await decodeMask(await encodeGrey(mask));
  const coverage = renderCoverage(stored, { scale: 1.7, rotation, center: [64.3, 63.8] }, SIZE);
  // Both enlarged: the crops' own edges are resampled too.
  return composite(await uniformTexture(255, 61, 90, 1), await uniformTexture(0, 77, 50, 2), coverage);
}

describe('the edge between a white texture and a black one', () => {
  const square: Mask = { width: 40, height: 40, data: new Uint8Array(1600).fill(255) };

  it.each([0, 17, 45, 80])(
    'rises and falls without a fringe, in every row and column (turned by %i°)',
    async rotation => {
      const { data } = await whiteShapeOnBlack(square, rotation);
      const at = (x: number, y: number) => data[3 * (y * SIZE + x)]!;
      const faults: string[] = [];
      let ramps = 0;
      for (let line = 0; line < SIZE; line++) {
        for (const [name, values] of [
          ['row', Array.from({ length: SIZE }, (_, x) => at(x, line))],
          ['column', Array.from({ length: SIZE }, (_, y) => at(line, y))],
        ] as const) {
          const steps = values.slice(1).map((value, i) => Math.sign(value - values[i]!));
          const changes = steps.filter(step => step !== 0);
          // A convex shape: first upwards only, then downwards only.
          if (changes.lastIndexOf(1) > changes.indexOf(-1) && changes.includes(-1)) faults.push(`${name} ${line}`);
          if (values[0] !== 0 || values[SIZE - 1] !== 0) faults.push(`${name} ${line} does not begin and end black`);
          if (values.includes(255)) ramps++;
        }
      }
      expect(faults).toEqual([]);
      expect(ramps).toBeGreaterThan(80);
    },
  );

  it('is grey in all three channels alike', async () => {
    const { data } = await whiteShapeOnBlack(square, 30);
    const coloured = data.filter((value, i) => value !== data[i - (i % 3)]);
    expect(coloured).toHaveLength(0);
    expect(data.filter(value => value > 0 && value < 255).length).toBeGreaterThan(100);
  });
});
