import type { Box, Mask } from '../extractors/image.ts';
import { type Canvases, composite, cropPart, newCanvases, paintPixels } from '../renderers/composite.ts';
import { coverageFacts, renderCoverage } from '../renderers/coverage.ts';
import { type Rng, rng } from '../sampling/rng.ts';
import type { ShapeSource } from '../scenes/conditions.ts';
import type { ItemSize, Paint, Scene2d } from '../scenes/scene2d.ts';
import { type Bank, itemSize, itemsOf, readItem, sameSource } from './bank.ts';
import { decodeCrop, decodeMask, encodeGrey, encodeJpeg } from './bank-images.ts';
import { DamagedFile, type Fault, InputFault } from './faults.ts';
import { sampleFileNames, sampleFiles, sampleKey } from './image-sample.ts';
import { type InstancePlan, pickInWindow, windowStart } from './instances.ts';
import { encodeLabel, type Sample2dLabel, type ShapeLabel, sample2dLabelSchema, type TextureLabel } from './labels.ts';
import type { Split } from './splits.ts';
import type { TaskResult } from './stage.ts';
import { encodeTar, type TarFile } from './tar.ts';

/** One instance of a 2D subset, as a worker gets it. */
export interface Task2d extends InstancePlan {
  readonly split: Split;
  /** Number of the shard within the subset: decides which windows of the banks its images draw from. */
  readonly shard: number;
}

/** What differs between the 2D subsets: which bank an instance comes from, and how a scene is drawn. */
export interface Subset2d {
  readonly subset: 'shapes2d' | 'textures2d';
  readonly seed: number;
  readonly quality: number;
  readonly instanceBank: keyof Banks2d;
  /** The sources (undefined: any) of which an instance draws a shape that all its images may share. */
  readonly sharedShapes: readonly (ShapeSource | undefined)[];
  /**
   * Draws one image. Textures and shapes are drawn through `draw`, so that what a scene names can be found again.
   * @param item number of the instance's bank item.
   */
  sample(random: Rng, item: number, draw: Draw): { scene: Scene2d; condition: string };
}

/** The banks that 2D scenes draw from. */
export interface Banks2d {
  readonly shapes: Bank;
  readonly textures: Bank;
}

/** Draws from the banks: window of the shard, split of the instance. */
export interface Draw {
  /** A shape of a source; of any when left out. */
  shape(random: Rng, source?: ShapeSource): ItemSize;
  /** The shape of that source that all images of the instance share. */
  sharedShape(source?: ShapeSource): ItemSize;
  /** A texture of another photo than the one given. */
  texture(random: Rng, not?: string): ItemSize;
}

/** How often an image is drawn anew when what it draws is broken, before the window counts as unusable. */
const MAX_ATTEMPTS = 20;

/** Makes all images of an instance. */
export async function renderInstance(task: Task2d, kind: Subset2d, banks: Banks2d): Promise<TaskResult> {
  const faults: Fault[] = [];
  const instance = await firstUsable(task.items, banks[kind.instanceBank], kind.instanceBank, faults);
  if (!instance) return { bytes: new Uint8Array(0), samples: 0, faults, counts: { 'instances-lost': 1 } };
  const shared: Instance['shared'] = new Map();
  for (const source of kind.sharedShapes) shared.set(source, await drawSharedShape(task, kind, banks, source, faults));
  const canvas = spareCanvases.pop() ?? new Canvas();
  const files: TarFile[] = [];
  for (let variation = 0; variation < task.variations; variation++) {
    files.push(...(await renderVariation(task, kind, banks, { ...instance, shared, canvas }, variation, faults)));
  }
  spareCanvases.push(canvas);
  return { bytes: encodeTar(files).bytes, samples: task.variations, faults, counts: {} };
}

/** The first item of the list that can be decoded. */
async function firstUsable(items: Iterable<number>, bank: Bank, kind: keyof Banks2d, faults: Fault[]) {
  for (const item of items) {
    try {
      const { image } = await readItem(bank, item);
      return { item, mask: kind === 'shapes' ? await decodeMask(image) : undefined };
    } catch (error) {
      faults.push(asFault(error, itemSize(bank, item).id));
    }
  }
  return undefined;
}

/** The shape that all images of an instance share, where the condition says so. */
async function drawSharedShape(
  task: Task2d,
  kind: Subset2d,
  banks: Banks2d,
  source: ShapeSource | undefined,
  faults: Fault[],
): Promise<number> {
  const name = [task.number, 'shape', ...(source ? [source] : [])].join('/');
  const draws = Array.from({ length: MAX_ATTEMPTS }, (_, attempt) =>
    pickItem(rng(kind.seed, kind.subset, name, attempt), task, kind, banks.shapes, source),
  );
  const usable = await firstUsable(draws, banks.shapes, 'shapes', faults);
  if (!usable) throw damaged(name);
  return usable.item;
}

/** An item of the shard's window, in the instance's split. @param source of shapes: the window is one of that source. */
function pickItem(
  random: Rng,
  { split, shard }: Task2d,
  { seed, subset }: Pick<Subset2d, 'seed' | 'subset'>,
  bank: Bank,
  source?: ShapeSource,
): number {
  const items = itemsOf(bank, split, source);
  return pickInWindow(random, items, windowStart(seed, subset, shard, source ?? bank.kind, items.length));
}

function damaged(name: string): Error {
  return new DamagedFile(`${name}: ${MAX_ATTEMPTS} draws met broken bank items; the bank is damaged`);
}

/** What the images of an instance have in common while they are made. */
interface Instance {
  readonly item: number;
  /** The shape, where it is the instance. */
  readonly mask: Mask | undefined;
  /** The shapes that all images share, where the condition says so, by the source they were drawn from. */
  readonly shared: Map<ShapeSource | undefined, number>;
  readonly canvas: Canvas;
}

/** Buffers that one image after the other is drawn into: megabytes that need not be new each time. */
class Canvas {
  #size = 0;
  #coverage = new Uint8Array(0);
  #images = newCanvases(0);

  of(size: number): { coverage: Uint8Array<ArrayBuffer>; images: Canvases } {
    if (this.#size !== size) {
      this.#size = size;
      this.#coverage = new Uint8Array(size * size);
      this.#images = newCanvases(size);
    }
    return { coverage: this.#coverage, images: this.#images };
  }
}

/** Canvases that no instance is drawn into right now: as many as a thread ever drew at once. */
const spareCanvases: Canvas[] = [];

async function renderVariation(
  task: Task2d,
  kind: Subset2d,
  banks: Banks2d,
  instance: Instance,
  variation: number,
  faults: Fault[],
): Promise<TarFile[]> {
  const name = `${task.number}/${variation}`;
  const key = sampleKey(kind.subset, task.number, variation);
  const self = itemSize(banks[kind.instanceBank], instance.item);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const drawn = new DrawnItems(task, kind, banks, instance);
    const { scene, condition } = kind.sample(rng(kind.seed, kind.subset, name, attempt), instance.item, drawn);
    try {
      const rendered = await renderScene(scene, kind.quality, drawn, instance);
      const label = encodeLabel(sample2dLabelSchema, {
        key,
        subset: kind.subset,
        split: task.split,
        instance: { number: task.number, id: self.id },
        variation,
        seed: kind.seed,
        attempt,
        condition,
        scene,
        facts: rendered.facts,
        files: sampleFileNames(key),
        sources: rendered.sources,
      });
      return sampleFiles(key, { jpg: rendered.jpg, json: label, 'mask.png': rendered.mask });
    } catch (error) {
      faults.push(asFault(error, key));
    }
  }
  throw damaged(key);
}

async function renderScene(scene: Scene2d, quality: number, drawn: DrawnItems, { mask, canvas }: Instance) {
  const sources: Sample2dLabel['sources'] = [];
  const read = async (role: 'shape' | 'fill' | 'background', id: string) => {
    const { bank, item } = drawn.find(id);
    const { image, label } = await readItem(bank, item);
    const { photo, provenance } = label as ShapeLabel | TextureLabel;
    sources.push({ role, id, photo: photo.id, ...provenance });
    return { image, size: itemSize(bank, item) };
  };
  const pixels = async (role: 'fill' | 'background', paint: Paint, seen?: Box) => {
    if (paint.kind === 'colour') return paintPixels(paint, undefined);
    const { image, size } = await read(role, paint.id);
    const part = seen && cropPart(paint, scene.size, seen);
    return paintPixels(paint, await decodeCrop(image, size, paint, scene.size, part));
  };
  const shape = await read('shape', scene.shape.id);
  const { size } = scene;
  const drawnMask = mask ?? (await decodeMask(shape.image));
  const buffers = canvas.of(size);
  const coverage = renderCoverage(drawnMask, scene.placement, size, buffers.coverage);
  const fill = await pixels('fill', scene.fill, coverage.within);
  const background = await pixels('background', scene.background);
  const jpg = await encodeJpeg(composite(fill, background, coverage, buffers.images), quality);
  return { jpg, mask: await encodeGrey(coverage), facts: coverageFacts(coverage), sources };
}

/** Draws bank items for one image and remembers them by id. */
class DrawnItems implements Draw {
  readonly #task: Task2d;
  readonly #kind: Subset2d;
  readonly #banks: Banks2d;
  readonly #shared: Instance['shared'];
  readonly #found = new Map<string, { bank: Bank; item: number }>();

  constructor(task: Task2d, kind: Subset2d, banks: Banks2d, instance: Pick<Instance, 'item' | 'shared'>) {
    this.#task = task;
    this.#kind = kind;
    this.#banks = banks;
    this.#shared = instance.shared;
    this.#remember(banks[kind.instanceBank], instance.item);
  }

  find(id: string): { bank: Bank; item: number } {
    return this.#found.get(id)!;
  }

  shape(random: Rng, source?: ShapeSource): ItemSize {
    const { shapes } = this.#banks;
    return this.#remember(shapes, pickItem(random, this.#task, this.#kind, shapes, source));
  }

  sharedShape(source?: ShapeSource): ItemSize {
    return this.#remember(this.#banks.shapes, this.#shared.get(source)!);
  }

  texture(random: Rng, not?: string): ItemSize {
    const { textures } = this.#banks;
    const item = pickItem(random, this.#task, this.#kind, textures);
    if (not === undefined) return this.#remember(textures, item);
    return this.#remember(textures, this.#ofAnotherPhoto(item, this.find(not).item));
  }

  /** `item`, or the next one of its split that comes from another photo than `other`; the plan made sure there is one. */
  #ofAnotherPhoto(item: number, other: number): number {
    const { textures } = this.#banks;
    const items = textures.bySplit[this.#task.split];
    let place = items.indexOf(item);
    while (sameSource(textures, items[place]!, other)) place = (place + 1) % items.length;
    return items[place]!;
  }

  #remember(bank: Bank, item: number): ItemSize {
    const size = itemSize(bank, item);
    this.#found.set(size.id, { bank, item });
    return size;
  }
}

/** A fault of the data; any other error goes on. */
function asFault(error: unknown, item: string): Fault {
  if (!(error instanceof InputFault)) throw error;
  return { item, reason: error.message };
}
