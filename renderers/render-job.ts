import type { Scene3d } from '../scenes/scene3d.ts';

/** What a scene is made of, by number: the host serves their bytes to the page. */
export interface SceneItems {
  readonly mesh: number;
  readonly material: number;
  readonly environment: number;
}

/** Draws by rasterisation with prefiltered light. */
export interface RasterEngine {
  readonly name: 'raster';
}

/** Draws by following paths of light. */
export interface PathTraceEngine {
  readonly name: 'pathtrace';
  /** Paths a pixel. */
  readonly samples: number;
  /** Whether noise is smoothed, guided by the first hit's normal and base colour. */
  readonly denoise: boolean;
  /** Chooses the pixels' sequences of samples; unsigned, 32 bits. */
  readonly seed: number;
  /** Radiance above which a path's light after its first bounce is clamped (fireflies); not at all when left out, for measurements. */
  readonly clamp?: number;
  /** How the panorama's light is found: by its brightness, by the material, or by both, weighted; for tests other than `both`. */
  readonly strategy?: 'both' | 'light' | 'material';
}

export type Engine = RasterEngine | PathTraceEngine;

/** One image to be drawn by the page. */
export interface RenderJob {
  readonly scene: Scene3d;
  readonly items: SceneItems;
  /** Rasterised when left out. */
  readonly engine?: Engine;
  /**
   * Whether depth and normals come too, behind the pixels; not when left out. RGBA 32-bit floats, rows from the top down, of the surface that a
   * pixel's middle shows. Red, green and blue are the unit normal in the camera's axes (x right, y up, z towards the camera),
   * alpha is the depth along the camera's axis from the camera; all 0 beside the object.
   */
  readonly geometry?: boolean;
  /**
   * `picture`: RGBA bytes, tone mapped sRGB, alpha the coverage of the object. `radiance`: RGBA 32-bit floats, linear, for
   * measurements. Rows from the top down.
   */
  readonly output: 'picture' | 'radiance';
}

/** Milliseconds that the parts of an image took in the page. */
export interface RenderTimes {
  /** Waiting for meshes, materials and panoramas, and handing them to the GPU. */
  readonly load: number;
  /** Drawing, until the pixels are there. */
  readonly draw: number;
  /** Handing the pixels over. */
  readonly send: number;
}

/** What the page makes, and the host keeps for later: prefiltered panoramas, and trees of meshes to trace rays in. */
export const KEPT_KINDS = ['lights', 'trees'] as const;
export type KeptKind = (typeof KEPT_KINDS)[number];

/** Kinds of assets that the page asks for, as paths below its token. */
export const ASSET_KINDS = ['meshes', 'materials', 'environments', ...KEPT_KINDS] as const;
export type AssetKind = (typeof ASSET_KINDS)[number];

/** Stands in errors of the page about what an image is made of, and in no others: another page would fare no better. */
export const UNUSABLE = 'cannot be used';

/** What the page offers to the host. */
export interface RenderPage {
  /** Makes the context and compiles the shaders; tells the WebGL renderer. */
  open(): Promise<string>;
  /** Draws an image and posts its pixels to `frames/<number>`. */
  render(number: number, job: RenderJob): Promise<RenderTimes>;
}

declare global {
  var shapemill: RenderPage;
}
