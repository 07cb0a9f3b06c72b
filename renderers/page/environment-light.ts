import {
  EquirectangularReflectionMapping,
  HalfFloatType,
  LinearMipmapLinearFilter,
  LinearSRGBColorSpace,
  Mesh,
  OrthographicCamera,
  PMREMGenerator,
  ShaderMaterial,
  type Texture,
  WebGLCubeRenderTarget,
  type WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import { backdropGeometry } from './background.ts';

/**
 * A panorama's prefiltered light (three's PMREM: a cube whose mip levels hold radiance for rising roughness), and its way to
 * disk and back: making it takes the better part of a second on software GL, reading it a few milliseconds.
 *
 * The form on disk is the levels from the sharpest on, six faces each, RGBA half floats: the bytes of the GPU.
 */
const BYTES_A_TEXEL = 8;
const FACES = 6;
/** Faces of the roughest level, pixels (three's LOD_MIN). */
const LAST_SIDE = 8;

/**
 * Wider panoramas are shrunk to this before they are prefiltered. Reflections are sharp enough then, the light has 17 MB;
 * with faces four times as wide it has 268 MB, and software works on it for minutes.
 */
const MAX_WIDTH = 2048;

/** Prefilters a panorama. */
export function prefilter(renderer: WebGLRenderer, panorama: Texture): WebGLCubeRenderTarget {
  const shrunk = panorama.width > MAX_WIDTH ? shrink(renderer, panorama) : undefined;
  const source = shrunk?.texture ?? panorama;
  const generator = new PMREMGenerator(renderer);
  const { mapping } = source;
  source.mapping = EquirectangularReflectionMapping;
  const light = generator.fromEquirectangular(source) as unknown as WebGLCubeRenderTarget;
  source.mapping = mapping;
  generator.dispose();
  shrunk?.dispose();
  return light;
}

/** A panorama in fewer pixels, each the mean of what it replaces. */
function shrink(renderer: WebGLRenderer, panorama: Texture): WebGLRenderTarget {
  const samples = Math.ceil(panorama.width / MAX_WIDTH);
  const height = Math.round((panorama.height * MAX_WIDTH) / panorama.width);
  const target = new WebGLRenderTarget(MAX_WIDTH, height, { type: HalfFloatType, depthBuffer: false });
  const material = new ShaderMaterial({
    uniforms: { panorama: { value: panorama } },
    vertexShader: 'void main() { gl_Position = vec4(position.xy, 0.0, 1.0); }',
    fragmentShader: /* glsl */ `
uniform sampler2D panorama;
void main() {
  vec3 light = vec3(0.0);
  for (int i = 0; i < ${samples * samples}; i++) {
    vec2 within = (vec2(i % ${samples}, i / ${samples}) + 0.5) / ${samples}.0;
    vec2 place = (floor(gl_FragCoord.xy) + within) / vec2(${MAX_WIDTH}, ${height});
    light += textureLod(panorama, place, 0.0).rgb;
  }
  gl_FragColor = vec4(light / ${samples * samples}.0, 1.0);
}
`,
    depthTest: false,
    depthWrite: false,
    toneMapped: false,
  });
  const screen = new Mesh(backdropGeometry(), material);
  screen.frustumCulled = false;
  renderer.setRenderTarget(target);
  renderer.render(screen, new OrthographicCamera());
  renderer.setRenderTarget(null);
  screen.geometry.dispose();
  material.dispose();
  return target;
}

/** The bytes of a prefiltered light. */
export function exportLight(renderer: WebGLRenderer, light: WebGLCubeRenderTarget): Uint8Array<ArrayBuffer> {
  const gl = renderer.getContext() as WebGL2RenderingContext;
  const bytes = new Uint8Array(lightBytes(light.width));
  const framebuffer = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
  let at = 0;
  for (const [level, side] of sides(light.width).entries()) {
    for (let face = 0; face < FACES; face++) {
      const target = gl.TEXTURE_CUBE_MAP_POSITIVE_X + face;
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, target, glTexture(renderer, light), level);
      const texels = new Uint16Array(bytes.buffer, at, 4 * side * side);
      gl.readPixels(0, 0, side, side, gl.RGBA, gl.HALF_FLOAT, texels);
      at += texels.byteLength;
    }
  }
  gl.deleteFramebuffer(framebuffer);
  renderer.resetState();
  // Alpha is 1 in every texel. When the GPU's process died, the last are not read; they would be kept as darkness for all later runs.
  if (bytes.at(-1) === 0) throw new Error('the GPU gave no light');
  return bytes;
}

/** A light from the bytes of {@link exportLight}; undefined when they are of another form. */
export function importLight(
  renderer: WebGLRenderer,
  bytes: Uint8Array<ArrayBuffer>,
): WebGLCubeRenderTarget | undefined {
  const side = [256, 512, 1024].find(s => lightBytes(s) === bytes.length);
  if (side === undefined) return undefined;
  const light = new WebGLCubeRenderTarget(side, {
    minFilter: LinearMipmapLinearFilter,
    generateMipmaps: false,
    type: HalfFloatType,
    colorSpace: LinearSRGBColorSpace,
    depthBuffer: false,
  });
  for (const s of sides(side)) light.texture.mipmaps!.push({ width: s, height: s } as never);
  (light.texture as { isPMREMTexture?: boolean }).isPMREMTexture = true;
  renderer.initRenderTarget(light);
  const gl = renderer.getContext() as WebGL2RenderingContext;
  gl.bindTexture(gl.TEXTURE_CUBE_MAP, glTexture(renderer, light));
  gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, false);
  let at = 0;
  for (const [level, s] of sides(side).entries()) {
    for (let face = 0; face < FACES; face++) {
      const texels = new Uint16Array(bytes.buffer, bytes.byteOffset + at, 4 * s * s);
      const target = gl.TEXTURE_CUBE_MAP_POSITIVE_X + face;
      gl.texSubImage2D(target, level, 0, 0, s, s, gl.RGBA, gl.HALF_FLOAT, texels);
      at += texels.byteLength;
    }
  }
  renderer.resetState();
  return light;
}

/** Sides of the faces of all levels. */
function sides(side: number): number[] {
  const all: number[] = [];
  for (let s = side; s >= LAST_SIDE; s >>= 1) all.push(s);
  return all;
}

function lightBytes(side: number): number {
  return sides(side).reduce((sum, s) => sum + FACES * s * s * BYTES_A_TEXEL, 0);
}

function glTexture(renderer: WebGLRenderer, light: WebGLCubeRenderTarget): WebGLTexture {
  return (renderer.properties.get(light.texture) as { __webglTexture: WebGLTexture }).__webglTexture;
}
