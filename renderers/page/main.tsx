import { createRoot, extend, flushSync, type ReconcilerRoot } from '@react-three/fiber';
import { Group, Mesh, PerspectiveCamera, Quaternion, WebGLRenderer } from 'three';
import { ObjectScene } from '../../scenes/ObjectScene.tsx';
import { type Scene3d as Description, halfField, OBJECT_RADIUS } from '../../scenes/scene3d.ts';
import type { PathTraceEngine, RenderJob, RenderTimes } from '../render-job.ts';
import { isSwiftShader } from '../webgl-renderer.ts';
import { Assets } from './assets.ts';
import { BackdropMaterial, Background, backdropGeometry } from './background.ts';
import { Capture } from './capture.ts';
import { GeometryPass } from './geometry-pass.ts';
import { DepthMaterial, LaidMaterial, ObjectMaterial } from './object-material.ts';
import { type Drawn, PathTracer } from './path-tracer.ts';

extend({ Group, Mesh });

/** How finely a renderer can afford to shade. */
const samplesFor = (webglRenderer: string) => (isSwiftShader(webglRenderer) ? 1 : 2);

/** For rounding: what lies on the border is not cut off. */
const MARGIN = 0.01;
const NEAREST = 0.01;
/** Milliseconds between signs of life while an image is traced. */
const BETWEEN_SIGNS = 1000;

/** An image, and when its drawing might have and has begun. */
interface InTurn {
  readonly drawn: Drawn;
  readonly ready: number;
  readonly turn: number;
}

/** Draws scenes one after the other into one canvas. */
class Page {
  readonly #renderer: WebGLRenderer;
  readonly #root: ReconcilerRoot<HTMLCanvasElement>;
  readonly #assets: Assets;
  readonly #capture: Capture;
  readonly #geometryPass: GeometryPass;
  readonly #camera = new PerspectiveCamera();
  readonly #background = new Background();
  readonly #backdrop = { geometry: backdropGeometry(), material: new BackdropMaterial(this.#background) };
  readonly #laid = new LaidMaterial();
  readonly #depthOnly = new DepthMaterial(this.#laid);
  readonly #opaque = new ObjectMaterial(this.#laid, false);
  readonly #transmissive = new ObjectMaterial(this.#laid, true);

  #tracer: PathTracer | undefined;
  /** Until what is drawn now is done. */
  #turn: Promise<void> = Promise.resolve();
  /** When the host last heard that the page is at work. */
  #told = 0;

  private constructor(renderer: WebGLRenderer, root: ReconcilerRoot<HTMLCanvasElement>) {
    this.#renderer = renderer;
    this.#root = root;
    this.#assets = new Assets(renderer, location.pathname.replace(/\/$/, ''));
    this.#capture = new Capture(renderer, this.#background, this.#laid, samplesFor(this.webglRenderer));
    this.#geometryPass = new GeometryPass(renderer, this.#laid);
  }

  static async open(): Promise<Page> {
    const canvas = document.createElement('canvas');
    const renderer = new WebGLRenderer({ canvas, antialias: false, powerPreference: 'high-performance' });
    canvas.addEventListener('webglcontextlost', () => {
      Page.lost = true;
    });
    renderer.setClearColor(0, 0);
    const root = createRoot(canvas);
    await root.configure({
      gl: renderer,
      frameloop: 'never',
      flat: true,
      dpr: 1,
      size: { width: 1, height: 1, top: 0, left: 0 },
    });
    return new Page(renderer, root);
  }

  /** Whether the GPU took the context away: nothing this page draws is worth anything then. */
  static lost = false;

  get webglRenderer(): string {
    const gl = this.#renderer.getContext();
    const names = gl.getExtension('WEBGL_debug_renderer_info');
    return String(gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  }

  async render(number: number, job: RenderJob): Promise<RenderTimes> {
    const began = performance.now();
    const { engine } = job;
    const { drawn, ...times } = await (engine?.name === 'pathtrace'
      ? this.#traced(number, job, engine)
      : this.#rasterised(number, job));
    const sent = performance.now();
    const body = drawn.surface ? new Blob([drawn.pixels, drawn.surface]) : drawn.pixels;
    const response = await fetch(`frames/${number}`, { method: 'POST', body });
    if (!response.ok) throw new Error(`frames/${number}: ${response.status}`);
    if (Page.lost || this.#renderer.getContext().isContextLost()) throw new Error('the WebGL context was lost');
    return { load: times.ready - began, draw: sent - times.turn, send: performance.now() - sent };
  }

  async #rasterised(number: number, { scene, items, geometry, output }: RenderJob): Promise<InTurn> {
    const loaded = await this.#assets.forRaster(items, number);
    return this.#inTurn(loaded, () => {
      const seenThrough = loaded.material.transmissive;
      this.#laid.lay(loaded.material, scene.material);
      this.#background.show(loaded.panorama.texture, scene);
      const store = flushSync(() =>
        this.#root.render(
          <ObjectScene
            description={scene}
            assets={{
              geometry: loaded.mesh.geometry,
              material: seenThrough ? this.#transmissive : this.#opaque,
              depthOnly: this.#depthOnly,
              backdrop: seenThrough ? this.#backdrop : undefined,
              light: loaded.light.texture,
            }}
          />,
        ),
      );
      const root = store.getState().scene;
      root.environmentIntensity = scene.environment.strength;
      root.environmentRotation.setFromQuaternion(new Quaternion(...scene.environment.rotation));
      this.#point(scene.camera, OBJECT_RADIUS + MARGIN + scene.material.displacement);
      this.#renderer.setRenderTarget(this.#capture.target(scene.size));
      this.#renderer.render(root, this.#camera);
      const rotation = new Quaternion(...scene.object.rotation);
      this.#capture.outline(loaded.mesh.geometry, rotation, this.#camera);
      const pixels =
        output === 'picture'
          ? this.#capture.picture(scene.toneMapping, seenThrough)
          : this.#capture.radiance(seenThrough);
      if (!geometry) return { pixels };
      return { pixels, surface: this.#geometryPass.draw(loaded.mesh.geometry, rotation, this.#camera, scene.size) };
    });
  }

  async #traced(number: number, job: RenderJob, engine: PathTraceEngine): Promise<InTurn> {
    const loaded = await this.#assets.forTracing(job.items, number);
    return this.#inTurn(loaded, () => {
      this.#tracer ??= new PathTracer(this.#renderer, this.#laid);
      return this.#tracer.draw(job, engine, loaded, () => this.#tellAlive(number));
    });
  }

  /** Long images: the host takes silence for hanging. */
  #tellAlive(number: number): void {
    if (performance.now() < this.#told + BETWEEN_SIGNS) return;
    this.#told = performance.now();
    fetch(`alive/${number}`, { method: 'POST' }).catch(() => {}); // the host hears it at the next
  }

  /** Draws when all that was begun earlier is done: the renderer is not shared between two images. */
  async #inTurn(items: { release(): void }, draw: () => Drawn | Promise<Drawn>): Promise<InTurn> {
    const ready = performance.now();
    const before = this.#turn;
    let done!: () => void;
    this.#turn = new Promise(resolve => {
      done = resolve;
    });
    await before;
    try {
      const turn = performance.now();
      return { drawn: await draw(), ready, turn };
    } finally {
      items.release();
      done();
    }
  }

  /** @param reach from the object's centre. */
  #point(camera: Description['camera'], reach: number): void {
    this.#camera.fov = (2 * Math.atan(halfField(camera)) * 180) / Math.PI;
    this.#camera.near = Math.max(NEAREST, camera.distance - reach);
    this.#camera.far = camera.distance + reach;
    this.#camera.position.set(0, 0, camera.distance);
    this.#camera.updateProjectionMatrix();
    this.#camera.updateMatrixWorld();
  }
}

let page: Page | undefined;

globalThis.shapemill = {
  async open() {
    page = await Page.open();
    return page.webglRenderer;
  },
  render(number, job) {
    if (!page) throw new Error('the page is not open yet');
    return page.render(number, job);
  },
};
