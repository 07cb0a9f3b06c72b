import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { DEFAULTS, findTextureRegions } from '../../extractors/texture-regions.ts';
import { decodePhoto, openPhoto } from '../../pipeline/photo.ts';
import { literalTextureRegions } from '../literal/texture-regions.ts';

const FOLDER = fileURLToPath(new URL('../../assets/starter/photos/', import.meta.url));
const photos = readdirSync(FOLDER)
  .filter(name => /\.(jpe?g|png|webp)$/i.test(name))
  .sort()
  .slice(0, 4);

it('has photos to look at', () => expect(photos).toHaveLength(4));

// Small photos, small cells and squares of four, so that the literal rule takes seconds and finds something.
it.each(photos)('equals the literal rule on %s', async name => {
  const image = await decodePhoto(await openPhoto(FOLDER + name), { shortSide: 260 });
  const options = { ...DEFAULTS, cellSize: 20, minCells: 4, minSimilarity: 0.45 };
  const fast = findTextureRegions(image, options);
  const literal = literalTextureRegions(image, options);
  expect(fast.rejected).toEqual(literal.rejected);
  expect(fast.regions.map(region => region.box)).toEqual(literal.regions.map(region => region.box));
  for (const [i, { score }] of fast.regions.entries()) expect(score).toBeCloseTo(literal.regions[i]!.score, 9);
});
