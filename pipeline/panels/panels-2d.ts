import type { Mask } from '../../extractors/image.ts';
import { composite, newCanvases, paintPixels } from '../../renderers/composite.ts';
import { coverageFacts, renderCoverage } from '../../renderers/coverage.ts';
import type { Rng } from '../../sampling/rng.ts';
import type { PanelCondition } from '../../scenes/panel-conditions.ts';
import { instancesOf, type Triple } from '../../scenes/panel-plan.ts';
import type { Pool } from '../../scenes/panel-pool.ts';
import { type Choice, PANEL_SIZE, PANELS, type PanelScene2d, toScene2d } from '../../scenes/panel-scene.ts';
import { sampleShapePanels, sampleTexturePanels } from '../../scenes/panel-test.ts';
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
  const shown = instancesOf(triple, answer);
  const sheet = new PanelSheet();
  const painter = new Painter(pools);
  const panels: Partial<Test2d['panels']> = {};
  const masks = [];
  for (const [place, panel] of PANELS.entries()) {
    const free = drawn[place]!;
    const instance = pools.instances.item(shown[panel]);
    const shapes = pools.shapes!;
    const shape = free.shape ? shapes.sizeOf(free.shape.id) : instance;
    const scene = toScene2d(free, instance, shape);
    const { picture, coverage } = await painter.paint(panel, scene);
    sheet.put(panel, picture);
    masks.push(coverage);
    panels[panel] = { instance: instance.id, free, scene, facts: coverageFacts(coverage) };
  }
  const letters = sheet.letter(masks);
  return {
    image: sheet.image,
    quality: QUALITY,
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
): readonly PanelScene2d[] | undefined {
  return condition.subset === 'shapes2d'
    ? sampleShapePanels(random, { ...shapes2d, size: PANEL_SIZE }, condition.values, textures ?? NO_TEXTURES)
    : sampleTexturePanels(random, PANEL_SIZE, condition.values, triple, shapes!, textures!);
}

/** Draws the panels of one test; what several of them show is read and decoded once. */
class Painter {
  readonly sources = new PanelSources();
  readonly #pools: PanelPools;
  readonly #masks = new Map<string, Promise<Mask>>();
  readonly #canvases = newCanvases(PANEL_SIZE);

  constructor(pools: PanelPools) {
    this.#pools = pools;
  }

  /** The picture stays as it is until the next one is drawn. */
  async paint(panel: (typeof PANELS)[number], scene: Scene2d) {
    const read = async (role: 'shape' | 'fill' | 'background', pool: BankPool, id: string) => {
      const { image, label } = await readItem(pool.bank, pool.find(id));
      const { photo, provenance } = label as ShapeLabel | TextureLabel;
      this.sources.add(panel, { role, id, photo: photo.id, ...provenance });
      return image;
    };
    const pixels = async (role: 'fill' | 'background', paint: Paint) => {
      if (paint.kind === 'colour') return paintPixels(paint, undefined);
      const textures = this.#pools.textures!;
      const image = await read(role, textures, paint.id);
      return paintPixels(paint, await decodeCrop(image, textures.sizeOf(paint.id), paint, scene.size));
    };
    const shape = await read('shape', this.#pools.shapes!, scene.shape.id);
    const mask = await this.#mask(scene.shape.id, shape);
    const coverage = renderCoverage(mask, scene.placement, scene.size);
    const fill = await pixels('fill', scene.fill);
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
