import { stat } from 'node:fs/promises';
import sharp from 'sharp';
import type { Box, RgbImage } from '../../extractors/image.ts';
import { permutation } from '../../sampling/distributions.ts';
import { hash128 } from '../../sampling/hash.ts';
import type { Rng } from '../../sampling/rng.ts';
import { REAL_CONDITION } from '../../scenes/panel-conditions.ts';
import { instancesOf, type Triple } from '../../scenes/panel-plan.ts';
import { type Choice, PANEL_SIZE, PANELS } from '../../scenes/panel-scene.ts';
import { type Fault, InputFault, unlessMissing } from '../faults.ts';
import type { PanelTest } from '../labels.ts';
import { decodePhoto, openPhoto, type Photo } from '../photo.ts';
import { folderSource, PHOTO_FILES } from '../photo-sources.ts';
import { sha256OfFile } from '../sha256.ts';
import { UsageError } from '../usage-error.ts';
import { PanelSheet, PanelSources } from './panel-sheet.ts';
import type { DrawnPanels } from './panel-task.ts';

type TestReal = Extract<PanelTest, { subset: typeof REAL_CONDITION }>;

/** Photographs of one object. */
export interface RealInstance {
  /** Name of the folder of instances, and of the instance's folder in it. */
  readonly pack: string;
  readonly name: string;
  /** By name within the folder of instances, sorted. */
  readonly photos: readonly { readonly file: string; readonly path: string }[];
}

/** Photographs that an instance needs: A and the answer show two. */
const MIN_PHOTOS = 2;

/** JPEG quality: as of the rendered objects. */
const QUALITY = 90;

/** Photographs whose shorter side is less show no object that could be told from others, pixels. */
const MIN_SIDE = 64;

/** The photographs of a folder by instance, and what of them cannot be used. */
export interface RealPhotographs {
  readonly instances: readonly RealInstance[];
  readonly faults: readonly Fault[];
  /** Of names and lengths of all photographs: whether they are the same as before. */
  readonly digest: string;
}

/**
 * The instances in a folder: a folder each, with their photographs in it. A file that is there twice counts once: as two photographs it
 * would tell the answer by its pixels, or make two instances of one.
 * @throws UsageError when there is no such folder.
 */
export async function realInstances(folder: string): Promise<RealPhotographs> {
  const files = await photographsIn(folder);
  const digest = hash128(files.map(({ file, bytes }) => `${file} ${bytes}`).join('\n')).join('-');
  const faults: Fault[] = [];
  const skip = (item: string, reason: string) => void faults.push({ item, reason });
  const copies = await copiesAmong(files);
  const found = new Map<string, RealInstance & { photos: { file: string; path: string }[] }>();
  for (const { pack, file, path } of files) {
    const [name, ...rest] = file.split('/') as [string, ...string[]];
    const first = copies.get(file);
    if (rest.length !== 1) skip(file, 'expected photographs as DIR/object/photograph, got another depth of folders');
    else if (first !== undefined) skip(file, `the same file as ${first}`);
    else if (await isUsable(path, reason => skip(file, reason))) {
      const instance = found.get(name) ?? { pack, name, photos: [] };
      instance.photos.push({ file, path });
      found.set(name, instance);
    }
  }
  const instances: RealInstance[] = [];
  for (const instance of found.values()) {
    if (instance.photos.length >= MIN_PHOTOS) instances.push(instance);
    else skip(instance.name, 'expected two photographs or more, found one');
  }
  return { instances, faults, digest };
}

/** A photograph by its name within the folder of instances. */
interface RealFile {
  readonly pack: string;
  readonly file: string;
  readonly path: string;
  readonly bytes: number;
}

/** All photographs below a folder, by name. Links that lead nowhere have no length, and are told when they are opened. */
async function photographsIn(folder: string): Promise<RealFile[]> {
  const refuse = () => {
    throw new UsageError(`--real: expected a folder with a folder of photographs for each object, got "${folder}"`);
  };
  if (!(await stat(folder).catch(refuse)).isDirectory()) refuse();
  const source = await folderSource(folder, PHOTO_FILES);
  const files: RealFile[] = [];
  for await (const { file, path } of source.files()) {
    const facts = await stat(path).catch(unlessMissing);
    files.push({ pack: source.pack, file, path, bytes: facts?.size ?? 0 });
  }
  return files.sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** Of each file that holds the same bytes as one before it: the name of that one. Only files of one length are read. */
async function copiesAmong(files: readonly RealFile[]): Promise<Map<string, string>> {
  const lengths = new Map<number, number>();
  for (const { bytes } of files) lengths.set(bytes, (lengths.get(bytes) ?? 0) + 1);
  const copies = new Map<string, string>();
  const firsts = new Map<string, string>();
  for (const { file, path, bytes } of files) {
    if (bytes === 0 || lengths.get(bytes) === 1) continue;
    const sha256 = await sha256OfFile(path);
    const first = firsts.get(sha256);
    if (first === undefined) firsts.set(sha256, file);
    else copies.set(file, first);
  }
  return copies;
}

async function isUsable(path: string, skip: (reason: string) => void): Promise<boolean> {
  try {
    await openLarge(path);
    return true;
  } catch (error) {
    if (!(error instanceof InputFault)) throw error;
    skip(error.message);
    return false;
  }
}

/**
 * Joins photographs to a test: two different ones of the instance that is looked for, one of each other.
 * @param faults takes those that cannot be read; another one of the instance takes their place.
 * @throws InputFault when an instance has no other.
 */
export async function drawRealPanels(
  random: Rng,
  triple: Triple,
  answer: Choice,
  instances: Readonly<Record<number, RealInstance>>,
  faults: Fault[],
): Promise<DrawnPanels> {
  const orders = new Map(triple.map(i => [i, permutation(random, instances[i]!.photos.length).values()]));
  const shown = instancesOf(triple, answer);
  const sheet = new PanelSheet();
  const sources = new PanelSources();
  const panels: Partial<TestReal['panels']> = {};
  for (const panel of PANELS) {
    const instance = instances[shown[panel]]!;
    const { file, picture, ...label } = await firstReadable(instance, orders.get(shown[panel])!, faults);
    sheet.put(panel, picture);
    sources.add(panel, {
      role: 'photograph',
      id: file,
      pack: instance.pack,
      file,
      licence: null,
      author: null,
      url: null,
    });
    panels[panel] = { instance: instance.name, photograph: { file, ...label.size }, crop: label.crop };
  }
  // What of a photograph is the object nobody says, so no corner is known to be free.
  const letters = sheet.letter(undefined);
  return {
    jpg: await sheet.encode(QUALITY),
    label: {
      subset: REAL_CONDITION,
      split: null,
      panels: panels as TestReal['panels'],
      letters,
      sources: sources.list(),
    },
  };
}

/** The next photograph of an order that can be read. */
async function firstReadable({ name, photos }: RealInstance, order: Iterator<number>, faults: Fault[]) {
  for (let next = order.next(); !next.done; next = order.next()) {
    const { file, path } = photos[next.value]!;
    try {
      return { file, ...(await readSquare(path)) };
    } catch (error) {
      if (!(error instanceof InputFault)) throw error;
      faults.push({ item: file, reason: error.message });
    }
  }
  throw new InputFault(`too few photographs of ${name} can be read`);
}

/** Opens a photograph; its pixels are not decoded yet. @throws InputFault when it is none, or too small. */
async function openLarge(path: string): Promise<Photo> {
  const photo = await openPhoto(path);
  const { width, height } = photo;
  if (Math.min(width, height) < MIN_SIDE) {
    throw new InputFault(`expected at least ${MIN_SIDE} pixels on each side, got ${width}×${height}`);
  }
  return photo;
}

/** The middle square of a photograph, as large as a panel. */
async function readSquare(
  path: string,
): Promise<{ picture: RgbImage; size: { width: number; height: number }; crop: Box }> {
  const photo = await openPhoto(path);
  const { width, height } = photo;
  const side = Math.min(width, height);
  if (side < MIN_SIDE)
    throw new InputFault(`expected at least ${MIN_SIDE} pixels on each side, got ${width}×${height}`);
  const crop = {
    left: Math.floor((width - side) / 2),
    top: Math.floor((height - side) / 2),
    width: side,
    height: side,
  };
  const square = await decodePhoto(photo, { window: crop, shortSide: PANEL_SIZE });
  const picture = square.width === PANEL_SIZE ? square : await enlarge(square);
  return { picture, size: { width, height }, crop };
}

async function enlarge({ data, width, height }: RgbImage): Promise<RgbImage> {
  const size = PANEL_SIZE;
  const raw = { width, height, channels: 3 as const };
  const pixels = await sharp(data, { raw }).resize({ width: size, height: size, fit: 'fill' }).raw().toBuffer();
  return { data: pixels, width: size, height: size };
}
