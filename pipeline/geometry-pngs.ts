import sharp from 'sharp';
import type { Scene3dRecipe } from '../scenes/recipe3d.ts';
import { OBJECT_RADIUS } from '../scenes/scene3d.ts';
import { AOV_FIELDS, type Aov } from './rendering.ts';

/** The largest value of 16 bits. */
const MOST = 65_535;
/** Components of a pixel that the page sends: the unit normal, then the depth; all 0 where nothing is. */
const COMPONENTS = 4;

/** What labels say of the files, so that a reader needs nothing else: value = stored × scale + offset, and 0 where nothing is. */
export interface AovForms {
  'depth.png'?: { scale: number; offset: 0; unit: 'longest side of the object'; along: 'axis of the camera' };
  'normal.png'?: { scale: number; offset: -1; axes: 'of the camera: x right, y up, z towards the camera' };
}

/**
 * What a stored depth of 1 is, in longest sides of the object: the same for all images of a recipe, and a power of two, so that
 * depths are exact as floats. With it, the farthest place that any of its scenes can show fits.
 */
export function depthScale({ distance, displacement }: Pick<Scene3dRecipe, 'distance' | 'displacement'>): number {
  return 2 ** Math.ceil(Math.log2((distance[1] + OBJECT_RADIUS + displacement) / MOST));
}

/** The forms of the files that are asked for. @param scale that of depths. */
export function aovForms(aov: readonly Aov[], scale: number): AovForms {
  return {
    ...(aov.includes('depth') && {
      'depth.png': { scale, offset: 0, unit: 'longest side of the object', along: 'axis of the camera' },
    }),
    ...(aov.includes('normal') && {
      'normal.png': { scale: 2 / MOST, offset: -1, axes: 'of the camera: x right, y up, z towards the camera' },
    }),
  };
}

/**
 * The files that are asked for, by field.
 * @param geometry depth and normals as `RenderJob.geometry` says, `size` × `size` pixels.
 * @param scale of depths, see {@link depthScale}.
 */
export async function encodeGeometry(
  geometry: Float32Array,
  size: number,
  aov: readonly Aov[],
  scale: number,
): Promise<Record<string, Uint8Array>> {
  const encode = { depth: () => encodeDepth(geometry, size, scale), normal: () => encodeNormal(geometry, size) };
  return Object.fromEntries(
    await Promise.all(aov.map(async name => [AOV_FIELDS[name], await encode[name]()] as const)),
  );
}

/** 16-bit grey: depth / scale, 0 where nothing is. */
function encodeDepth(geometry: Float32Array, size: number, scale: number): Promise<Buffer> {
  const stored = new Uint16Array(size * size);
  for (let i = 0; i < stored.length; i++) {
    const depth = geometry[COMPONENTS * i + 3]!;
    if (depth > 0) stored[i] = Math.min(MOST, Math.max(1, Math.round(depth / scale)));
  }
  return encode16(stored, size, 1);
}

/** 16-bit red, green, blue: (x, y, z) from −1 to 1, black where nothing is. */
function encodeNormal(geometry: Float32Array, size: number): Promise<Buffer> {
  const stored = new Uint16Array(3 * size * size);
  for (let from = 0, to = 0; to < stored.length; from += COMPONENTS, to += 3) {
    if (geometry[from + 3]! === 0) continue;
    for (let c = 0; c < 3; c++) {
      stored[to + c] = Math.min(MOST, Math.max(0, Math.round(((geometry[from + c]! + 1) / 2) * MOST)));
    }
  }
  return encode16(stored, size, 3);
}

/** Smooth surfaces are small by what they differ from the pixels beside: rows are filtered before they are packed. */
function encode16(data: Uint16Array, size: number, channels: 1 | 3): Promise<Buffer> {
  return sharp(data, { raw: { width: size, height: size, channels }, limitInputPixels: false })
    .toColourspace(channels === 1 ? 'grey16' : 'rgb16')
    .png({ compressionLevel: 6, adaptiveFiltering: true })
    .toBuffer();
}
