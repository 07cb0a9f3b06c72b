import sharp from 'sharp';
import type { Box, RgbImage } from '../../extractors/image.ts';
import { permutation } from '../../sampling/distributions.ts';
import type { Rng } from '../../sampling/rng.ts';
import { REAL_CONDITION } from '../../scenes/panel-conditions.ts';
import { instancesOf, type Triple } from '../../scenes/panel-plan.ts';
import { type Choice, PANEL_SIZE, PANELS } from '../../scenes/panel-scene.ts';
import { type Fault, InputFault } from '../faults.ts';
import type { PanelTest } from '../labels.ts';
import { decodePhoto, openPhoto } from '../photo.ts';
import { folderSource, PHOTO_FILES } from '../photo-sources.ts';
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

/**
 * The instances in a folder: a folder each, with their photographs.
 * @returns also the names of folders with a single one. @throws UsageError when there is no such folder.
 */
export async function realInstances(folder: string): Promise<{ instances: RealInstance[]; tooFew: string[] }> {
  const source = await folderSource(folder, PHOTO_FILES).catch(() => {
    throw new UsageError(`--real: expected a folder with a folder of photographs for each object, got "${folder}"`);
  });
  const found = new Map<string, { file: string; path: string }[]>();
  for await (const { file, path } of source.files()) {
    const name = file.slice(0, Math.max(0, file.indexOf('/')));
    found.set(name, [...(found.get(name) ?? []), { file, path }]);
  }
  found.delete(''); // pictures that lie in no instance's folder
  const byName =
    <T>(name: (value: T) => string) =>
    (a: T, b: T) =>
      name(a) < name(b) ? -1 : 1;
  const all = [...found].map(([name, photos]) => ({
    pack: source.pack,
    name,
    photos: photos.sort(byName(({ file }) => file)),
  }));
  all.sort(byName(({ name }) => name));
  return {
    instances: all.filter(({ photos }) => photos.length >= MIN_PHOTOS),
    tooFew: all.filter(({ photos }) => photos.length < MIN_PHOTOS).map(({ name }) => name),
  };
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

/** The middle square of a photograph, as large as a panel. */
async function readSquare(
  path: string,
): Promise<{ picture: RgbImage; size: { width: number; height: number }; crop: Box }> {
  const photo = await openPhoto(path);
  const { width, height } = photo;
  const side = Math.min(width, height);
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
