import type { Box, Mask } from '../../extractors/image.ts';
import { type Canvases, composite, cropPart, newCanvases, paintPixels } from '../../renderers/composite.ts';
import { coverageFacts, renderCoverage } from '../../renderers/coverage.ts';
import type { Rng } from '../../sampling/rng.ts';
import type { PanelCondition } from '../../scenes/panel-conditions.ts';
import { instancesOf, type Triple } from '../../scenes/panel-plan.ts';
import type { Pool } from '../../scenes/panel-pool.ts';
import {
  type Choice,
  PANEL_SIZE,
  PANELS,
  type PanelName,
  type PanelScene2d,
  toScene2d,
} from '../../scenes/panel-scene.ts';
import { type Panels, sampleShapePanels, sampleTexturePanels } from '../../scenes/panel-test.ts';
import type { Paint, Scene2d } from '../../scenes/scene2d.ts';
import { readItem } from '../bank.ts';
import { decodeCrop, decodeMask } from '../bank-images.ts';
import type { Configuration } from '../configuration.ts';
import type { PanelTest, ShapeLabel, TextureLabel } from '../labels.ts';
import type { Banks } from '../stage.ts';
import { type BankPool, PANEL_SPLIT, type PanelPools, poolsOf } from './panel-pools.ts';
import { PanelSheet, PanelSources } from './panel-sheet.ts';
import type { DrawnPanels } from './panel-task.ts';

type Condition2d = Extract<PanelCondition, { values: unknown }>;
type Test2d = Extract<PanelTest, { subset: 'shapes2d' | 'textures2d' }>;

/** JPEG quality: the published script's default. */
const QUALITY = 95;

/**
 * Samples, draws and joins the panels of a 2D test.
 * @returns undefined when the condition's pools are too small. @throws InputFault when an item cannot be decoded.
 */
export async function draw2dPanels(
  random: Rng,
  condition: Condition2d,
  triple: Triple,
  answer: Choice,
  configuration: Configuration,
  banks: Banks,
): Promise<DrawnPanels | undefined> {
  const pools = (await poolsOf(condition, banks)) as PanelPools;
  const drawn = samplePanels(random, condition, triple, configuration, pools);
  if (!drawn) return undefined;
  const buffers = spareBuffers.pop() ?? newBuffers();
  try {
    return await drawSheet(condition, instancesOf(triple, answer), drawn, pools, buffers);
  } finally {
    spareBuffers.push(buffers);
  }
}

/** What a test is drawn in. */
interface Buffers {
  readonly sheet: PanelSheet;
  readonly canvases: Canvases;
  /** Of each panel: where the letters may stand is known when all are drawn. */
  readonly coverages: readonly Uint8Array<ArrayBuffer>[];
}

function newBuffers(): Buffers {
  return {
    sheet: new PanelSheet(),
    canvases: newCanvases(PANEL_SIZE),
    coverages: PANELS.map(() => new Uint8Array(PANEL_SIZE * PANEL_SIZE)),
  };
}

/** Buffers that no test is drawn into right now: megabytes that need not be new each time. */
const spareBuffers: Buffers[] = [];

async function drawSheet(
  condition: Condition2d,
  shown: Readonly<Record<PanelName, number>>,
  drawn: Panels<PanelScene2d>,
  pools: PanelPools,
  { sheet, canvases, coverages }: Buffers,
): Promise<DrawnPanels> {
  const painter = new Painter(pools, canvases);
  const panels: Partial<Test2d['panels']> = {};
  const masks = [];
  for (const [place, panel] of PANELS.entries()) {
    const free = drawn[place]!;
    const instance = pools.instances.item(shown[panel]);
    const shapes = pools.shapes!;
    const shape = free.shape ? shapes.sizeOf(free.shape.id) : instance;
    const scene = toScene2d(free, instance, shape);
    const { picture, coverage } = await painter.paint(panel, scene, coverages[place]!);
    sheet.put(panel, picture);
    masks.push(coverage);
    panels[panel] = { instance: instance.id, free, scene, facts: coverageFacts(coverage) };
  }
  const letters = sheet.letter(masks);
  return {
    jpg: await sheet.encode(QUALITY),
    label: {
      subset: condition.subset,
      split: PANEL_SPLIT,
      panels: panels as Test2d['panels'],
      letters,
      sources: painter.sources.list(),
    },
  };
}

/** What conditions without textures draw from. */
const NO_TEXTURES: Pool = { count: 0, item: () => ({ id: '', width: 0, height: 0 }), related: () => false };

function samplePanels(
  random: Rng,
  condition: Condition2d,
  triple: Triple,
  { shapes2d }: Configuration,
  { shapes, textures }: PanelPools,
): Panels<PanelScene2d> | undefined {
  return condition.subset === 'shapes2d'
    ? sampleShapePanels(random, { ...shapes2d, size: PANEL_SIZE }, condition.values, textures ?? NO_TEXTURES)
    : sampleTexturePanels(random, PANEL_SIZE, condition.values, triple, shapes!, textures!);
}

/** Draws the panels of one test; what several of them show is read and decoded once. */
class Painter {
  readonly sources = new PanelSources();
  readonly #pools: PanelPools;
  readonly #masks = new Map<string, Promise<Mask>>();
  readonly #canvases: Canvases;

  constructor(pools: PanelPools, canvases: Canvases) {
    this.#pools = pools;
    this.#canvases = canvases;
  }

  /** @param data takes the coverage. @returns the picture, which stays as it is until the next one is drawn. */
  async paint(panel: PanelName, scene: Scene2d, data: Uint8Array<ArrayBuffer>) {
    const read = async (role: 'shape' | 'fill' | 'background', pool: BankPool, id: string) => {
      const { image, label } = await readItem(pool.bank, pool.find(id));
      const { photo, provenance } = label as ShapeLabel | TextureLabel;
      this.sources.add(panel, { role, id, photo: photo.id, ...provenance });
      return image;
    };
    const pixels = async (role: 'fill' | 'background', paint: Paint, seen?: Box) => {
      if (paint.kind === 'colour') return paintPixels(paint, undefined);
      const textures = this.#pools.textures!;
      const image = await read(role, textures, paint.id);
      const part = seen && cropPart(paint, scene.size, seen);
      return paintPixels(paint, await decodeCrop(image, textures.sizeOf(paint.id), paint, scene.size, part));
    };
    const shape = await read('shape', this.#pools.shapes!, scene.shape.id);
    const mask = await this.#mask(scene.shape.id, shape);
    const coverage = renderCoverage(mask, scene.placement, scene.size, data);
    const fill = await pixels('fill', scene.fill, coverage.within);
    const background = await pixels('background', scene.background);
    return { picture: composite(fill, background, coverage, this.#canvases), coverage };
  }

  #mask(id: string, png: Buffer): Promise<Mask> {
    let mask = this.#masks.get(id);
    if (!mask) {
      mask = decodeMask(png);
      this.#masks.set(id, mask);
    }
    return mask;
  }
}
