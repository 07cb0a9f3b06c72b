import type { Engine, RenderJob, SceneItems } from '../renderers/render-job.ts';
import { hash128 } from '../sampling/hash.ts';
import type { Scene3d } from '../scenes/scene3d.ts';

/** How 3D scenes can be drawn: `docs/rendering.md` says what each does. */
export const ENGINES = ['raster', 'pathtrace'] as const satisfies readonly Engine['name'][];

/** What can come beside a picture, and the field of a sample that holds it. */
export const AOVS = ['depth', 'normal'] as const;
export type Aov = (typeof AOVS)[number];
export const AOV_FIELDS = { depth: 'depth.png', normal: 'normal.png' } as const satisfies Record<Aov, string>;

/** How the 3D scenes of a run are drawn, as far as it shows in the data. */
export interface Rendering {
  readonly engine: Engine['name'];
  /** Paths a pixel; null: none are traced. */
  readonly samples: number | null;
  /** Whether path traced pictures are smoothed. */
  readonly denoise: boolean;
  /** In the order of {@link AOVS}. */
  readonly aov: readonly Aov[];
}

/** When nothing else is said, and in runs that are older than the choice. */
export const RASTERISED: Rendering = { engine: 'raster', samples: null, denoise: false, aov: [] };

/** Paths a pixel when nothing else is said: as many as the published pictures were rendered with. */
export const SAMPLES = 120;

/**
 * Radiance above which light is cut off that a single path brings after its first bounce (fireflies). AgX shows 16.3 and more
 * as white, so a pixel that is full of such light looks no different; and of 120 paths, one that is cut off moves its pixel by
 * no more than 0.13. The same for `none`, where white is 1 and a lower limit would darken light that comes by a few paths.
 */
const CLAMP = 16;

/** What the page is asked to draw for a scene. */
export function sceneJob(scene: Scene3d, items: SceneItems, rendering: Rendering): RenderJob {
  return { scene, items, engine: engineOf(scene, rendering), output: 'picture' };
}

function engineOf(scene: Scene3d, { engine, samples, denoise }: Rendering): Engine {
  if (engine === 'raster') return { name: 'raster' };
  return { name: 'pathtrace', samples: samples!, denoise, seed: sceneSeed(scene), clamp: CLAMP };
}

/** 32 bits that only a scene's values decide, not the order in which they are written. */
export function sceneSeed(scene: Scene3d): number {
  return hash128(JSON.stringify(scene, (_, value) => (isMapping(value) ? ordered(value) : value)))[0];
}

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const ordered = (mapping: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(mapping).sort(([a], [b]) => (a < b ? -1 : 1)));

/** How a picture was drawn, as its label says it. */
export function rendererOf({ engine, samples, denoise }: Rendering): RendererLabel {
  return engine === 'raster' ? { engine } : { engine, samples: samples!, denoise };
}
type RendererLabel = { engine: 'raster' } | { engine: 'pathtrace'; samples: number; denoise: boolean };
