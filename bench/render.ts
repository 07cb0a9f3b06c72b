import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RunSettings } from '../pipeline/generate.ts';
import type { GlBackEnd } from '../renderers/gl-back-ends.ts';
import type { BenchSettings } from './measure.ts';
import { runScenes3d, Scenes3d } from './scenes3d.ts';

/** Images of each measurement. */
const IMAGES = 120;
const SIZES = [256, 512];
const PAGES = [1, 2];

/**
 * 3D images through the whole pipeline: a new mesh, material and panorama for each, from the starter packs and 50 materials;
 * light prefiltered before. Wall-clock time, since the browser's processes do most of the work.
 */
export async function render({ count = IMAGES, browser, gl }: BenchSettings): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'shapemill-render-'));
  const drawing = { requireGpu: false, browser, gl: gl as GlBackEnd | undefined };
  try {
    const base = join(folder, 'base');
    console.log('preparing banks …');
    // The first images also fill the cache of prefiltered light.
    await runScenes3d(base, { textures: 50, materials: 50, 'shapes3d-images': 60, 'materials3d-images': 0 }, drawing);
    const record = JSON.parse(await readFile(join(base, 'run.json'), 'utf8'));
    console.log(`drawn by ${record.renderers[0]}, ${availableParallelism()} cores`);
    for (const size of SIZES) {
      for (const pages of PAGES) {
        const recipe = join(folder, `${size}.json`);
        await writeFile(recipe, JSON.stringify({ shapes3d: { variations: 1, size } }));
        const out = join(folder, `${size}-${pages}`);
        const banks = { 'texture-bank': base, 'material-bank': base };
        const what = { recipe, ...banks, 'shapes3d-images': count, 'materials3d-images': 0 };
        const { stages } = await runScenes3d(out, what, { ...drawing, pages });
        const { made, seconds } = stages.find(({ stage }) => stage.name === 'shapes3d')!;
        console.log(
          `${size}²  ${pages} page${pages > 1 ? 's' : ' '}  ${(made / seconds).toFixed(1).padStart(6)} images/s all in`,
        );
      }
    }
    for (const size of SIZES) await shares(base, size, count, drawing);
    await cycles();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Where the time of an image goes, one image at a time in one page. */
async function shares(base: string, size: number, count: number, drawing: RunSettings['drawing']): Promise<void> {
  const scenes = await Scenes3d.start(base, size, drawing);
  // Shaders are compiled and panoramas handed over once a page.
  for (let i = 0; i < 20; i++) await scenes.next();
  const sums = { load: 0, draw: 0, send: 0, host: 0 };
  const began = performance.now();
  for (let i = 0; i < count; i++) {
    await scenes.next(({ times }, milliseconds) => {
      const { load, draw, send } = times;
      sums.load += load;
      sums.draw += draw;
      sums.send += send;
      sums.host += milliseconds - load - draw - send;
    });
  }
  const total = performance.now() - began;
  await scenes.host.close();
  const parts = Object.entries({
    'load (read, decode, hand over)': sums.load,
    'draw and read back': sums.draw,
    'send to Node': sums.send,
    'host and page calls': sums.host,
    'view, encode, label': total - sums.load - sums.draw - sums.send - sums.host,
  });
  console.log(`${size}², one at a time: ${(total / count).toFixed(0)} ms an image`);
  for (const [name, ms] of parts) {
    const share = ((100 * ms) / total).toFixed(0);
    console.log(`  ${name.padEnd(32)}${(ms / count).toFixed(1).padStart(7)} ms ${share.padStart(4)} %`);
  }
}

/** Blender's path tracer on the same kind of scene, where it is installed. */
async function cycles(): Promise<void> {
  const script = [
    'import bpy, time, os, tempfile',
    's = bpy.context.scene; s.render.engine = "CYCLES"; s.cycles.samples = 120; s.cycles.use_denoising = False',
    's.render.resolution_x = s.render.resolution_y = 512; s.render.resolution_percentage = 100',
    'bpy.ops.object.select_all(action="SELECT"); bpy.ops.object.delete()',
    'bpy.ops.mesh.primitive_monkey_add(); bpy.ops.object.camera_add(location=(0, -4, 0), rotation=(1.5708, 0, 0))',
    's.camera = bpy.context.object; s.render.filepath = os.path.join(tempfile.mkdtemp(), "a.png")',
    't = time.time(); bpy.ops.render.render(write_still=True); print("seconds", time.time() - t)',
  ].join('\n');
  const ran = await promisify(execFile)('blender', ['-b', '--python-expr', script]).catch(() => undefined);
  const seconds = /seconds ([\d.]+)/.exec(ran?.stdout ?? '')?.[1];
  console.log(
    seconds
      ? `Blender Cycles, 512², 120 samples: ${Number(seconds).toFixed(1)} s an image`
      : 'Blender Cycles: skipped, no blender on the PATH',
  );
}
