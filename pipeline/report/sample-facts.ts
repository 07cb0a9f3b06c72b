import { join } from 'node:path';
import sharp from 'sharp';
import { rgbToLab } from '../../scenes/paint.ts';
import { readRange } from '../bank.ts';
import { finishedShards } from '../finished-shards.ts';
import { SUBSETS, type Subset } from '../generate-options.ts';
import { LABEL_SCHEMAS, type Sample2dLabel, type Sample3dLabel, type SilhouetteLabel } from '../labels.ts';
import type { RunFolder } from '../run-folder.ts';
import { evenlySpread } from '../shape-diversity.ts';
import { jsonFrom } from '../shard-writer.ts';
import { SPLITS } from '../splits.ts';
import { readTar, type TarMember } from '../tar.ts';
import type { SampledColour } from './charts.ts';

/** What is looked at of a subset: so many labels of each split, from so many of its shards; the first pictures are decoded. */
export const MOST_LABELS = 500;
const MOST_SHARDS = 5;
export const MOST_PICTURES = 60;

export type SampleLabel = Sample2dLabel | Sample3dLabel | SilhouetteLabel;

/** Some of the samples of a subset. */
export interface SampleFacts {
  readonly subset: Subset;
  /** All that the run has. */
  readonly images: number;
  readonly labels: readonly SampleLabel[];
  readonly colours: readonly SampledColour[];
}

/** A bounded number of samples of each subset, over all splits; labels that do not match their schema are left out. */
export async function sampleFacts(folder: RunFolder): Promise<SampleFacts[]> {
  const facts: SampleFacts[] = [];
  for (const subset of SUBSETS) {
    const labels: SampleLabel[] = [];
    const colours: SampledColour[] = [];
    let images = 0;
    for (const split of SPLITS) {
      const tars: string[] = [];
      for await (const { tar, sidecar } of finishedShards(folder.at(join(subset, split)))) {
        tars.push(tar);
        images += sidecar.samples;
      }
      const read = evenlySpread(tars.length, MOST_SHARDS).map(i => tars[i]!);
      for (const tar of read) {
        const most = Math.ceil(MOST_LABELS / read.length);
        const pictures = Math.ceil(MOST_PICTURES / SPLITS.length / read.length);
        await readSome(tar, subset, most, pictures, labels, colours);
      }
    }
    if (labels.length > 0) facts.push({ subset, images, labels, colours });
  }
  return facts;
}

async function readSome(
  tar: string,
  subset: Subset,
  mostLabels: number,
  mostPictures: number,
  labels: SampleLabel[],
  colours: SampledColour[],
): Promise<void> {
  const [pictureField, schema] = [subset === 'silhouettes' ? 'hq.jpg' : 'jpg', LABEL_SCHEMAS[`${subset}-sample`]];
  let [found, decoded] = [0, 0];
  for await (const member of readTar(tar)) {
    const field = member.name.slice(member.name.indexOf('.') + 1);
    if (field === 'json') {
      const label = schema.safeParse(jsonFrom((await bytesOf(tar, member)).toString('utf8'))).data;
      if (label) labels.push(label);
      if (++found === mostLabels) return;
    } else if (field === pictureField && decoded < mostPictures) {
      decoded++;
      colours.push(await meanColour(await bytesOf(tar, member)));
    }
  }
}

const bytesOf = (tar: string, { offset, size }: TarMember) => readRange(tar, offset, size);

/** Mean of a picture's pixels, in sRGB. */
export async function meanColour(picture: Buffer): Promise<SampledColour> {
  // JPEG is decoded at an eighth of its size, which is all that a mean needs.
  const { data } = await sharp(picture)
    .resize({ width: 32, height: 32, fit: 'fill', kernel: 'linear' })
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  const rgb: [number, number, number] = [0, 0, 0];
  for (let i = 0; i < data.length; i++) rgb[i % 3]! += (3 * data[i]!) / data.length;
  return { rgb, lab: rgbToLab(rgb) };
}
