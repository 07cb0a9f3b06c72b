import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DataTexture,
  DoubleSide,
  EquirectangularReflectionMapping,
  FloatType,
  LinearFilter,
  Mesh,
  MeshPhysicalMaterial,
  PerspectiveCamera,
  Quaternion,
  Scene,
  SRGBColorSpace,
  WebGLRenderer,
} from 'three';
import { WebGLPathTracer } from 'three-gpu-pathtracer';
import { halfField } from '../../../scenes/scene3d.ts';
import type { PeerScene } from '../peer-scene.ts';

/** Draws between which the GPU is waited for, so that none of them piles up. */
const DRAWS_AHEAD = 4;

/** 8-bit levels. */
const LEVEL = 1 / 255;

let renderer: WebGLRenderer;
let tracer: WebGLPathTracer;

/** Loads a scene. */
async function open(description: PeerScene): Promise<void> {
  const { size, camera: view, object, environment } = description.scene;
  renderer = new WebGLRenderer({ antialias: false, powerPreference: 'high-performance' });
  renderer.setPixelRatio(1);
  renderer.setSize(size, size, false);
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(decoded(description.positions)), 3));
  geometry.setAttribute('normal', new BufferAttribute(new Float32Array(decoded(description.normals)), 3));
  geometry.setIndex(new BufferAttribute(new Uint32Array(decoded(description.indices)), 1));
  const { color, roughness, metalness, transmission = 0 } = description.material;
  const [r, g, b] = color.map(level => level * LEVEL) as [number, number, number];
  const material = new MeshPhysicalMaterial({
    color: new Color().setRGB(r, g, b, SRGBColorSpace),
    roughness: roughness * LEVEL,
    metalness: metalness * LEVEL,
    transmission: transmission * LEVEL,
    ior: transmission > 0 ? 1.45 : 1.5,
    side: DoubleSide,
  });
  const mesh = new Mesh(geometry, material);
  mesh.quaternion.set(...object.rotation);
  const { width, height } = description.panorama;
  const panorama = new DataTexture(new Float32Array(decoded(description.panorama.pixels)), width, height);
  panorama.type = FloatType;
  panorama.mapping = EquirectangularReflectionMapping;
  panorama.magFilter = panorama.minFilter = LinearFilter;
  panorama.needsUpdate = true;
  const scene = new Scene();
  scene.environment = scene.background = panorama;
  scene.environmentIntensity = scene.backgroundIntensity = environment.strength;
  scene.environmentRotation.setFromQuaternion(new Quaternion(...environment.rotation));
  scene.backgroundRotation.copy(scene.environmentRotation);
  scene.add(mesh);
  const camera = new PerspectiveCamera((2 * Math.atan(halfField(view)) * 180) / Math.PI, 1, 0.001, 100);
  camera.position.set(0, 0, view.distance);

  tracer = new WebGLPathTracer(renderer);
  tracer.bounces = description.bounces;
  tracer.transmissiveBounces = description.bounces;
  tracer.filterGlossyFactor = 0;
  tracer.multipleImportanceSampling = true;
  tracer.tiles.set(1, 1);
  tracer.renderDelay = 0;
  tracer.renderToCanvas = false;
  tracer.rasterizeScene = false;
  tracer.dynamicLowRes = false;
  tracer.setScene(scene, camera);
  await begin();
}

/** Starts anew, with other samples than before, the shader compiled. */
async function begin(): Promise<void> {
  tracer.reset();
  tracer.renderSample();
  while (tracer.samples < 1) {
    await new Promise(resolve => setTimeout(resolve, 10));
    tracer.renderSample();
  }
  tracer.reset();
  wait();
}

/** Adds so many samples a pixel. @returns seconds, waiting for the GPU included. */
function advance(samples: number): number {
  const began = performance.now();
  for (let i = 1; i <= samples; i++) {
    tracer.renderSample();
    if (i % DRAWS_AHEAD === 0 || i === samples) wait();
  }
  return (performance.now() - began) / 1000;
}

/** RGBA floats, rows from the top down, as base64; the mean of as many samples as were drawn. */
function picture(): { pixels: string; samples: number } {
  const size = renderer.domElement.width;
  const pixels = new Float32Array(4 * size * size);
  renderer.readRenderTargetPixels(tracer.target, 0, 0, size, size, pixels);
  const row = 4 * size;
  const turned = new Float32Array(pixels.length);
  for (let y = 0; y < size; y++) turned.set(pixels.subarray(y * row, (y + 1) * row), (size - 1 - y) * row);
  return { pixels: encoded(new Uint8Array(turned.buffer)), samples: tracer.samples };
}

const onePixel = new Float32Array(4);

function wait(): void {
  renderer.readRenderTargetPixels(tracer.target, 0, 0, 1, 1, onePixel);
}

function decoded(base64: string): ArrayBuffer {
  return Uint8Array.from(atob(base64), letter => letter.charCodeAt(0)).buffer;
}

function encoded(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 32_768) text += String.fromCharCode(...bytes.subarray(i, i + 32_768));
  return btoa(text);
}

globalThis.peer = { open, begin, advance, picture };
