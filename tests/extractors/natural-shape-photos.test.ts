import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { RgbImage } from '../../extractors/image.ts';
import { DEFAULTS, drawTries, findNaturalShape, type Try } from '../../extractors/natural-shape.ts';
import { decodePhoto, openPhoto } from '../../pipeline/photo.ts';
import { rng } from '../../sampling/rng.ts';
import { literalNaturalShape } from '../literal/natural-shape.ts';

const FOLDER = fileURLToPath(new URL('../../assets/starter/photos/', import.meta.url));
const photos = readdirSync(FOLDER).filter(name => /\.(jpe?g|png|webp|avif|tiff?)$/i.test(name));

it('has photos to look at', () => expect(photos.length).toBeGreaterThan(0));

function expectLiteralShape(image: RgbImage, tries: readonly Try[]): void {
  const { try: _, ...found } = findNaturalShape(image, tries, DEFAULTS).shape ?? {};
  expect(found).toEqual(literalNaturalShape(image, tries, DEFAULTS).shape ?? {});
}

it.each(photos)('finds the shapes of the literal version in %s, at full size and small', async name => {
  const photo = await openPhoto(FOLDER + name);
  // At 512 px a try takes the literal version tens of milliseconds: one threshold for each of four channel draws.
  const sparse = { ...DEFAULTS, channelDraws: 4, thresholds: 1 };
  expectLiteralShape(await decodePhoto(photo, { shortSide: 512 }), drawTries(rng(1, 'test', name), sparse));
  const small = await decodePhoto(photo, { shortSide: 56 });
  expectLiteralShape(small, drawTries(rng(2, 'test', name), DEFAULTS));
});
