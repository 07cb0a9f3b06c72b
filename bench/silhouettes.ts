import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import sharp from 'sharp';
import type { Box, GreyImage, RgbImage } from '../extractors/image.ts';
import { expandCounts, placedRunLengths } from '../extractors/run-lengths.ts';
import { resizeTriangle } from '../extractors/triangle-filter.ts';
import { encodeGrey, encodeJpeg } from '../pipeline/bank-images.ts';
import { type Configuration, configure } from '../pipeline/configuration.ts';
import { readAlpha } from '../pipeline/datasets/binary-mask.ts';
import { type DatasetDetail, readObjects, resolveDatasets } from '../pipeline/datasets/datasets.ts';
import { decodePng } from '../pipeline/datasets/png.ts';
import { encodeGreyPng } from '../pipeline/grey-png.ts';
import type { SilhouetteLabel } from '../pipeline/labels.ts';
import { decodePhoto, MAX_PIXELS, openPhoto } from '../pipeline/photo.ts';
import { buildPhotoIndex, type IndexedFile } from '../pipeline/photo-index.ts';
import { type SilhouetteTask, silhouettes as stage } from '../pipeline/stages/silhouettes.ts';
import { decodeTar } from '../pipeline/tar.ts';
import { type BenchSettings, cpuSeconds, oneByOne, printRows } from './measure.ts';

const PICTURES_A_TURN = 20;
/** A worker makes thousands: so long the compiler is still at work. */
const WARM_UP = 200;
const DEFAULT_DATA = ['sprites', 'starter-cutouts'];

/** Silhouettes as a worker makes them, against decoding their pictures, sizing two pictures and encoding what was made. */
export async function silhouettes({ segmentation, count = 300 }: BenchSettings): Promise<void> {
  for (const data of segmentation === undefined ? DEFAULT_DATA : [segmentation]) await silhouettesOf(data, count);
}

async function silhouettesOf(data: string, count: number): Promise<void> {
  const configuration = await configure({ subsets: ['silhouettes'], segmentation: [data] });
  const tasks = await tasksOf(data, count);
  await oneByOne(tasks.slice(0, WARM_UP), task => stage.run(task, { configuration, banks: {} }));
  let [images, ours, floor, lowest] = [0, 0, 0, 0];
  // In turns, a few pictures at a time: the machine's speed changes within minutes, and then does so for all.
  for (let first = 0; first < count; first += PICTURES_A_TURN) {
    const turn = tasks.slice(first, first + PICTURES_A_TURN);
    const made = await cpuSeconds(() => oneByOne(turn, task => stage.run(task, { configuration, banks: {} })));
    const outputs: Output[] = [];
    for (const [i, { bytes }] of made.result.entries()) {
      outputs.push(...(await readBack(turn[i]!.file, bytes, configuration)));
    }
    const usual = await cpuSeconds(() => oneByOne(outputs, output => decodeAndEncode(output, configuration)));
    const needed = await cpuSeconds(() => oneByOne(outputs, output => decodeAndEncodeOurselves(output, configuration)));
    images += outputs.length;
    ours += made.seconds;
    floor += usual.seconds;
    lowest += needed.seconds;
  }
  printRows(`${data} silhouettes`, [
    {
      name: 'ours',
      count: images,
      seconds: ours,
      note: 'mask, choice, four modes, checked label with statistics, tar',
    },
    {
      name: 'floor',
      count: images,
      seconds: floor,
      note: 'the same pictures decoded, two pictures sized, the same files encoded: by libvips, as in the other benches',
    },
    { name: 'lowest', count: images, seconds: lowest, note: 'the same, PNGs by our own codecs' },
  ]);
  const share = (seconds: number) => ((100 * seconds) / ours).toFixed(0);
  console.log(`         ${share(floor)} % of the floor's speed, ${share(lowest)} % of the lowest's`);
}

/** The first pictures of a dataset in the order of a run; where it has fewer, they come again. */
async function tasksOf(data: string, count: number): Promise<SilhouetteTask[]> {
  const folder = await mkdtemp(join(tmpdir(), 'shapemill-bench-'));
  try {
    const index = await buildPhotoIndex(join(folder, 'pictures'), await resolveDatasets([data], null), 1);
    const files: IndexedFile[] = await index.block(0, Math.min(count, index.facts.files));
    return Array.from({ length: count }, (_, number) => ({ number, file: files[number % files.length]! }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What was made of an object, decoded; where it was made from. */
interface Output {
  readonly path: string;
  /** Whether one decoding gives its colours and its mask. */
  readonly isCutOut: boolean;
  readonly maskFiles: readonly string[];
  /** What is sized: the object's mask, and a channel of what its box shows of the picture. */
  readonly sized: readonly GreyImage[];
  readonly shortSide: number | undefined;
  readonly pictures: readonly GreyImage[];
  /** Undefined where the picture's own file was kept. */
  readonly hq: RgbImage | undefined;
}

/** Decodes what was made, so that the floor can be measured on the same pixels. */
async function readBack(file: IndexedFile, bytes: Uint8Array, configuration: Configuration): Promise<Output[]> {
  const { path } = file;
  const isCutOut = (await readObjects(file)).objects.some(({ decoded }) => decoded);
  const files = decodeTar(Buffer.from(bytes.buffer), path);
  const outputs: Output[] = [];
  for (let first = 0; first < files.length; first += 5) {
    const [edge, grey, hq, json, silhouette] = files.slice(first, first + 5).map(file => file.data);
    const { object }: SilhouetteLabel = JSON.parse(Buffer.from(json!).toString());
    const photo = await openPhoto(path, configuration.maxPixels);
    const kept = photo.bytes.equals(hq!);
    const scale = (2 * configuration.silhouettes.maxSide) / Math.max(object.box.width, object.box.height);
    const [height, width] = object.mask.size;
    const { mask } = placedRunLengths({ height, width, counts: expandCounts(object.mask.counts) })!;
    outputs.push({
      path,
      isCutOut,
      maskFiles: maskFilesOf(file),
      sized: [mask, channelOf(await decodePhoto(photo), object.box)],
      shortSide: kept && scale <= 1 / 3 ? Math.ceil(Math.min(photo.width, photo.height) * scale) : undefined,
      pictures: await oneByOne([edge!, grey!, silhouette!], decodeGrey),
      hq: kept ? undefined : await decodePhoto(await openPhoto(path)),
    });
  }
  return outputs;
}

/** PNG files that a dataset has of a picture beside it. */
function maskFilesOf({ detail }: IndexedFile): string[] {
  const { entry } = detail as DatasetDetail;
  const values: unknown[] = Object.values(entry ?? {});
  return values.filter(value => typeof value === 'string').filter(value => isAbsolute(value) && /\.png$/i.test(value));
}

function channelOf(image: RgbImage, { left, top, width, height }: Box): GreyImage {
  const data = Uint8Array.from({ length: width * height }, (_, i) => {
    const pixel = (top + Math.floor(i / width)) * image.width + left + (i % width);
    return image.data[3 * pixel + 1]!;
  });
  return { data, width, height };
}

async function decodeGrey(png: Uint8Array): Promise<GreyImage> {
  const { data, info } = await sharp(png).toColourspace('b-w').raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

/** What cannot be avoided, by the fastest codecs that there are here. Masks of cut-outs come with their pictures, those of COCO with the list; others are files. */
async function decodeAndEncodeOurselves(
  { path, isCutOut, maskFiles, sized, shortSide, pictures, hq }: Output,
  { silhouettes: { quality } }: Configuration,
): Promise<void> {
  if (isCutOut) await readAlpha(path);
  else await decodePhoto(await openPhoto(path), { ...(shortSide !== undefined && { shortSide }) });
  for (const file of maskFiles) decodePng(await readFile(file), MAX_PIXELS);
  const { width, height } = pictures[0]!;
  for (const image of sized) resizeTriangle(image, width, height);
  for (const picture of pictures) encodeGreyPng(picture);
  if (hq) await encodeJpeg(hq, quality, true);
}

/** What nobody can avoid who has libvips and no codecs of his own. Masks of cut-outs come with their pictures, those of COCO with the list. */
async function decodeAndEncode(
  { path, isCutOut, maskFiles, sized, shortSide, pictures, hq }: Output,
  { silhouettes: { quality } }: Configuration,
): Promise<void> {
  if (isCutOut) await sharp(path).ensureAlpha().raw().toBuffer();
  else await decodePhoto(await openPhoto(path), { ...(shortSide !== undefined && { shortSide }) });
  for (const file of maskFiles) await decodeGrey(await readFile(file));
  const { width, height } = pictures[0]!;
  for (const image of sized) {
    await sharp(image.data, { raw: { width: image.width, height: image.height, channels: 1 } })
      .resize(width, height, { fit: 'fill', kernel: 'linear' })
      .raw()
      .toBuffer();
  }
  for (const picture of pictures) await encodeGrey(picture);
  if (hq) await encodeJpeg(hq, quality, true);
}
