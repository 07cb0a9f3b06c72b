import {
  FloatType,
  GLSL3,
  Matrix3,
  Matrix4,
  Mesh,
  NearestFilter,
  OrthographicCamera,
  Quaternion,
  RGBAFormat,
  ShaderMaterial,
  type Texture,
  Vector3,
  type WebGLRenderer,
  WebGLRenderTarget,
} from 'three';
import { halfField, OBJECT_RADIUS, type Scene3d } from '../../scenes/scene3d.ts';
import type { PathTraceEngine, RenderJob } from '../render-job.ts';
import { albedoTexture } from './albedo-table.ts';
import type { TracedItems } from './assets.ts';
import { Background, backdropGeometry } from './background.ts';
import { Denoiser } from './denoiser.ts';
import { Develop } from './develop.ts';
import { DrawPace } from './draw-pace.ts';
import { type MeshTree, type PlacedTree, TREE_ROW } from './mesh-tree.ts';
import type { LaidMaterial } from './object-material.ts';
import { DISPLACED_VERTICES, FILLING, FIRST_SURFACES, PATH_TRACING } from './path-tracer-shader.ts';
import { readFloats, readPixels } from './read-back.ts';
import { TreeUniforms } from './tree-rays.ts';

/** An image as it goes to the host. */
export interface Drawn {
  readonly pixels: Uint8Array<ArrayBuffer> | Float32Array<ArrayBuffer>;
  /** Normals and depth. */
  readonly surface?: Float32Array<ArrayBuffer>;
}

/** Points of the object by which noise is smoothed, within a pixel along each axis; one where two would take gigabytes. */
const surfacesAPixel = (size: number) => (size > 1024 ? 1 : 2);

/** For what rounding adds to the object. */
const MARGIN = 1e-3;

/** Primary rays a draw: some ten milliseconds in software. */
const RAYS_A_DRAW = 1 << 18;

/** A draw that the GPU works on. */
interface Flight {
  readonly sync: WebGLSync;
  /** Samples of pixels. */
  readonly work: number;
  readonly began: number;
}

/** Draws by following paths of light; one image at a time. */
export class PathTracer {
  readonly #renderer: WebGLRenderer;
  readonly #laid: LaidMaterial;
  readonly #develop: Develop;
  readonly #denoiser: Denoiser;
  readonly #tree = new TreeUniforms();
  readonly #uniforms;
  readonly #tracing: { readonly opaque: ShaderMaterial; readonly transmissive: ShaderMaterial };
  readonly #surfaces: ShaderMaterial;
  readonly #vertices: ShaderMaterial;
  readonly #screen: Mesh<ReturnType<typeof backdropGeometry>, ShaderMaterial>;
  readonly #camera = new OrthographicCamera();
  readonly #pace = new DrawPace();
  readonly #compiled = new Set<ShaderMaterial>();
  /** Whether the material of the image in work lets light through. */
  #transmissive = false;
  /** Sums of light and coverage: the one that was added to last comes first. */
  #sums: [WebGLRenderTarget, WebGLRenderTarget] | undefined;

  /** @param laid the material is laid around the object when an image is begun. */
  constructor(renderer: WebGLRenderer, laid: LaidMaterial) {
    this.#renderer = renderer;
    this.#laid = laid;
    this.#develop = new Develop(renderer, new Background(), { light: 1 });
    this.#denoiser = new Denoiser(renderer);
    this.#uniforms = {
      ...laid.uniforms,
      ...this.#tree.uniforms,
      albedoTable: { value: albedoTexture() },
      vertexPositions: { value: null as Texture | null },
      vertexNormals: { value: null as Texture | null },
      cameraPlace: { value: new Vector3() },
      cameraAxes: { value: new Matrix3() },
      field: { value: 1 },
      side: { value: 1 },
      near: { value: 0 },
      panorama: { value: null as Texture | null },
      environmentTable: { value: null as Texture | null },
      toPanorama: { value: new Matrix3() },
      strength: { value: 1 },
      sums: { value: null as Texture | null },
      firstSample: { value: 0 },
      endSample: { value: 0 },
      seed: { value: 0 },
      clampAbove: { value: 0 },
      byLight: { value: true },
      byMaterial: { value: true },
    };
    const program = (fragmentShader: string, defines: Record<string, boolean> = {}) =>
      new ShaderMaterial({
        defines,
        glslVersion: GLSL3,
        uniforms: this.#uniforms,
        vertexShader: FILLING,
        fragmentShader,
        depthTest: false,
        depthWrite: false,
        toneMapped: false,
      });
    this.#tracing = { opaque: program(PATH_TRACING), transmissive: program(PATH_TRACING, { TRANSMISSIVE: true }) };
    this.#surfaces = program(FIRST_SURFACES);
    this.#vertices = program(DISPLACED_VERTICES);
    this.#screen = new Mesh(backdropGeometry(), this.#surfaces);
    this.#screen.frustumCulled = false;
  }

  /**
   * Draws an image.
   * @param onProgress told after each step.
   */
  async draw(
    { scene, output, geometry }: RenderJob,
    engine: PathTraceEngine,
    items: TracedItems,
    onProgress: () => void,
  ): Promise<Drawn> {
    const { size } = scene;
    const u = this.#uniforms;
    u.seed.value = engine.seed;
    u.clampAbove.value = engine.clamp ?? 0;
    u.byLight.value = engine.strategy !== 'material';
    u.byMaterial.value = engine.strategy !== 'light';
    const placed = this.#begin(scene, items);
    try {
      // A single sample says nothing of its noise.
      const denoise = engine.denoise && engine.samples > 1;
      const light = denoise
        ? await this.#denoised(size, engine.samples, onProgress)
        : await this.#sum(size, 0, engine.samples, onProgress);
      const exposure = { light, share: denoise ? 1 : 1 / engine.samples, backdropDrawn: true };
      const pixels =
        output === 'picture'
          ? this.#develop.picture(exposure, size, scene.toneMapping)
          : this.#develop.radiance(exposure, size);
      return { pixels, ...(geometry && { surface: await this.#geometry(size, onProgress) }) };
    } finally {
      if (scene.material.displacement > 0) placed.dispose();
    }
  }

  /** Mean light without its noise, which the halves of the samples tell by their difference. */
  async #denoised(size: number, samples: number, onProgress: () => void): Promise<Texture> {
    const half = Math.floor(samples / 2);
    this.#denoiser.keepFirst(await this.#sum(size, 0, half, onProgress), half, size);
    const sums = await this.#sum(size, half, samples, onProgress);
    const target = await this.#firstSurfaces(surfacesAPixel(size) * size, onProgress);
    const [surfaceNormals, baseColors] = target.textures as [Texture, Texture];
    const light = await this.#denoiser.denoise({ sums, samples, surfaceNormals, baseColors }, size, () =>
      this.#finished(onProgress),
    );
    target.dispose();
    return light;
  }

  /** Normals and depth, rows from the top down. */
  async #geometry(size: number, onProgress: () => void): Promise<Float32Array<ArrayBuffer>> {
    const target = await this.#firstSurfaces(size, onProgress);
    const pixels = readFloats(this.#renderer, target);
    target.dispose();
    return pixels;
  }

  /** What rays through the middles of `side` × `side` parts of the image meet; to be disposed of. */
  async #firstSurfaces(side: number, onProgress: () => void): Promise<WebGLRenderTarget> {
    const target = floats(side, side, 2);
    const u = this.#uniforms;
    const before = u.side.value;
    u.side.value = side;
    target.scissorTest = true;
    const rows = Math.ceil(RAYS_A_DRAW / side);
    for (let row = 0; row < side; row += rows) {
      target.scissor.set(0, row, side, Math.min(rows, side - row));
      this.#draw(this.#surfaces, target);
      await this.#finished(onProgress);
    }
    u.side.value = before;
    return target;
  }

  /** Waits until the GPU has done what it was told, and tells that it is at work. */
  async #finished(onProgress: () => void): Promise<void> {
    await this.#passed(this.#fence());
    onProgress();
  }

  #begin({ object, camera, environment, material, size }: Scene3d, traced: TracedItems): PlacedTree {
    const { tree } = traced;
    this.#laid.lay(traced.material, material);
    this.#transmissive = traced.material.transmissive;
    const u = this.#uniforms;
    u.vertexPositions.value = tree.positions;
    u.vertexNormals.value = tree.normals;
    const toObject = new Quaternion(...object.rotation).invert();
    u.cameraPlace.value.set(0, 0, camera.distance).applyQuaternion(toObject);
    u.cameraAxes.value.setFromMatrix4(new Matrix4().makeRotationFromQuaternion(toObject));
    u.field.value = halfField(camera);
    u.side.value = size;
    u.panorama.value = traced.panorama.texture;
    u.environmentTable.value = traced.lightTable;
    const toPanorama = new Quaternion(...environment.rotation).invert().multiply(new Quaternion(...object.rotation));
    u.toPanorama.value.setFromMatrix4(new Matrix4().makeRotationFromQuaternion(toPanorama));
    u.strength.value = environment.strength;
    u.near.value = Math.max(0, camera.distance - OBJECT_RADIUS - MARGIN - material.displacement);
    const placed = material.displacement > 0 ? this.#displaced(tree) : tree.undisplaced;
    this.#tree.use(placed);
    return placed;
  }

  #displaced(tree: MeshTree): PlacedTree {
    const rows = Math.ceil(tree.vertices / TREE_ROW);
    const target = floats(TREE_ROW, rows);
    const places = new Float32Array(4 * TREE_ROW * rows);
    this.#draw(this.#vertices, target);
    readPixels(this.#renderer, target, places);
    target.dispose();
    return tree.place(places, 4);
  }

  /** Adds samples of all pixels up, in portions; two are always in flight, so that the GPU never waits. */
  async #sum(size: number, first: number, end: number, onProgress: () => void): Promise<Texture> {
    if (this.#sums?.[0].width !== size) {
      for (const target of this.#sums ?? []) target.dispose();
      this.#sums = [floats(size, size), floats(size, size)];
    }
    const u = this.#uniforms;
    const program = this.#transmissive ? this.#tracing.transmissive : this.#tracing.opaque;
    await this.#compile(program, first);
    const flights: Flight[] = [];
    let landed = performance.now();
    const land = async ({ sync, work, began }: Flight) => {
      await this.#passed(sync);
      const now = performance.now();
      this.#pace.took(now - Math.max(began, landed), work);
      landed = now;
      onProgress();
    };
    for (let done = first; done < end; ) {
      const [from, to]: WebGLRenderTarget[] = this.#sums!;
      to!.scissorTest = true;
      u.firstSample.value = done;
      u.sums.value = from!.texture;
      const samples = this.#pace.samples(size, end - done);
      u.endSample.value = done + samples;
      for (let row = 0; row < size; ) {
        const rows = this.#pace.rows(size, size - row, samples);
        to!.scissor.set(0, row, size, rows);
        const began = performance.now();
        this.#draw(program, to!);
        flights.push({ sync: this.#fence(), work: samples * rows * size, began });
        if (flights.length > 1) await land(flights.shift()!);
        row += rows;
      }
      this.#sums!.reverse();
      done += samples;
    }
    for (const flight of flights) await land(flight);
    return this.#sums![0].texture;
  }

  /** Compiles a program, which takes seconds on software and says nothing of how fast it draws: by adding no samples. */
  async #compile(program: ShaderMaterial, first: number): Promise<void> {
    if (this.#compiled.has(program)) return;
    this.#uniforms.firstSample.value = first;
    this.#uniforms.endSample.value = first;
    this.#uniforms.sums.value = this.#sums![0].texture;
    this.#draw(program, this.#sums![1]);
    await this.#passed(this.#fence());
    this.#compiled.add(program);
  }

  #fence(): WebGLSync {
    const gl = this.#renderer.getContext() as WebGL2RenderingContext;
    const sync = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    if (!sync) throw new Error('the WebGL context was lost');
    return sync;
  }

  /** Waits, without holding up the page, until the GPU has done what was before a fence. */
  async #passed(sync: WebGLSync): Promise<void> {
    const gl = this.#renderer.getContext() as WebGL2RenderingContext;
    let state: number = gl.TIMEOUT_EXPIRED;
    while (state === gl.TIMEOUT_EXPIRED) {
      await new Promise(resolve => setTimeout(resolve));
      if (gl.isContextLost()) throw new Error('the WebGL context was lost');
      state = gl.clientWaitSync(sync, 0, 0);
    }
    gl.deleteSync(sync);
  }

  #draw(program: ShaderMaterial, target: WebGLRenderTarget): void {
    this.#screen.material = program;
    this.#renderer.setRenderTarget(target);
    this.#renderer.render(this.#screen, this.#camera);
  }
}

function floats(width: number, height: number, count = 1): WebGLRenderTarget {
  return new WebGLRenderTarget(width, height, {
    count,
    type: FloatType,
    format: RGBAFormat,
    minFilter: NearestFilter,
    magFilter: NearestFilter,
    depthBuffer: false,
  });
}
