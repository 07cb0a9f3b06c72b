import type { Browser, Page } from 'puppeteer-core';
import { type DataTexture, FloatType, HalfFloatType, LinearFilter, RepeatWrapping, UnsignedInt5999Type } from 'three';
import { findBrowser } from '../../../renderers/browser.ts';
import { startDrawing } from '../../../renderers/gl-probe.ts';

export interface ShaderRun {
  /** GLSL under test, with `vec4 result(ivec2 place)`. */
  readonly glsl: string;
  readonly width: number;
  readonly height: number;
  /** By uniform. */
  readonly textures?: Readonly<Record<string, DataTexture>>;
  /** Floats by uniform, after one another: of 1, 2, 3, 4 or 9 components. */
  readonly uniforms?: Readonly<Record<string, readonly number[]>>;
}

/** Runs GLSL in the browser that renders, and hands the numbers back. */
export class ShaderBench {
  readonly #browser: Browser;
  readonly #page: Page;

  private constructor(browser: Browser, page: Page) {
    this.#browser = browser;
    this.#page = page;
  }

  static async start(): Promise<ShaderBench> {
    const { browser } = await startDrawing(await findBrowser(undefined), 'auto');
    const page = await browser.newPage();
    await page.evaluate(PAGE);
    return new ShaderBench(browser, page);
  }

  /** @returns four floats a place, row by row. */
  async run({ glsl, width, height, textures = {}, uniforms = {} }: ShaderRun): Promise<Float32Array> {
    const job = { glsl, width, height, uniforms, textures: Object.entries(textures).map(uploadOf) };
    const answer = (await this.#page.evaluate(`bench(${JSON.stringify(job)})`)) as string;
    const bytes = Buffer.from(answer, 'base64');
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}

const FORMATS = new Map<number, string>([
  [FloatType, 'RGBA32F RGBA FLOAT'],
  [HalfFloatType, 'RGBA16F RGBA HALF_FLOAT'],
  [UnsignedInt5999Type, 'RGB9_E5 RGB UNSIGNED_INT_5_9_9_9_REV'],
]);

/** A texture as three would upload it. */
function uploadOf([name, texture]: [string, DataTexture]) {
  const { width, height, data } = texture.image as { width: number; height: number; data: NodeJS.TypedArray };
  const levels = (texture.mipmaps?.length ? texture.mipmaps : [{ width, height, data }]) as (typeof texture.image)[];
  return {
    name,
    format: FORMATS.get(texture.type)!.split(' '),
    linear: texture.magFilter === LinearFilter,
    repeat: texture.wrapS === RepeatWrapping,
    levels: levels.map(level => {
      const { buffer, byteOffset, byteLength } = level.data as NodeJS.TypedArray;
      const bytes = Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength).toString('base64');
      return { width: level.width, height: level.height, bytes };
    }),
  };
}

/** Runs in the browser: plain WebGL 2. */
const PAGE = /* js */ `
const gl = new OffscreenCanvas(1, 1).getContext('webgl2');
gl.getExtension('EXT_color_buffer_float');
gl.getExtension('OES_texture_float_linear');
const bytesOf = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
const VIEWS = { FLOAT: Float32Array, HALF_FLOAT: Uint16Array, UNSIGNED_INT_5_9_9_9_REV: Uint32Array };
function shader(type, source) {
  const made = gl.createShader(type);
  gl.shaderSource(made, source);
  gl.compileShader(made);
  if (!gl.getShaderParameter(made, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(made));
  return made;
}
function texture({ format: [internal, format, type], linear, repeat, levels }) {
  const made = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, made);
  levels.forEach(({ width, height, bytes }, level) => {
    const data = new VIEWS[type](bytesOf(bytes).buffer);
    gl.texImage2D(gl.TEXTURE_2D, level, gl[internal], width, height, 0, gl[format], gl[type], data);
  });
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAX_LEVEL, levels.length - 1);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, linear ? gl.LINEAR : gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, linear ? gl.LINEAR : gl.NEAREST_MIPMAP_NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, repeat ? gl.REPEAT : gl.CLAMP_TO_EDGE);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
  return made;
}
globalThis.bench = async ({ glsl, width, height, textures, uniforms }) => {
  const program = gl.createProgram();
  gl.attachShader(program, shader(gl.VERTEX_SHADER, '#version 300 es\\nvoid main() {' +
    'gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }'));
  gl.attachShader(program, shader(gl.FRAGMENT_SHADER, '#version 300 es\\nprecision highp float; precision highp int;' +
    'precision highp sampler2D;\\n' + glsl + '\\nout vec4 written; void main() { written = result(ivec2(gl_FragCoord.xy)); }'));
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  gl.useProgram(program);
  const made = textures.map((each, unit) => {
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.uniform1i(gl.getUniformLocation(program, each.name), unit);
    return texture(each);
  });
  for (const [name, values] of Object.entries(uniforms)) {
    const place = gl.getUniformLocation(program, name);
    if (values.length === 9) gl.uniformMatrix3fv(place, false, values);
    else gl['uniform' + values.length + 'fv'](place, values);
  }
  gl.activeTexture(gl.TEXTURE15);
  const target = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, target);
  gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA32F, width, height);
  const frame = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, target, 0);
  gl.viewport(0, 0, width, height);
  gl.drawArrays(gl.TRIANGLES, 0, 3);
  const values = new Float32Array(4 * width * height);
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.FLOAT, values);
  const error = gl.getError();
  gl.deleteFramebuffer(frame);
  for (const each of [target, ...made]) gl.deleteTexture(each);
  gl.deleteProgram(program);
  if (error) throw new Error('WebGL error ' + error);
  let text = '';
  const bytes = new Uint8Array(values.buffer);
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return btoa(text);
};
`;
