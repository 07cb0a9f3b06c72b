import type { Scene3d } from '../scenes/scene3d.ts';

/** What a scene is made of, by number: the host serves their bytes to the page. */
export interface SceneItems {
  readonly mesh: number;
  readonly material: number;
  readonly environment: number;
}

/** One image to be drawn by the page. */
export interface RenderJob {
  readonly scene: Scene3d;
  readonly items: SceneItems;
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

/** Kinds of assets that the page asks for, as paths below its token. `lights` are prefiltered panoramas. */
export const ASSET_KINDS = ['meshes', 'materials', 'environments', 'lights'] as const;
export type AssetKind = (typeof ASSET_KINDS)[number];

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
