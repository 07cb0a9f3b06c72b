import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { decode } from 'fast-png';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Sample3dLabel, sample3dLabelSchema } from '../../pipeline/labels.ts';
import type { Progress } from '../../pipeline/progress.ts';
import { validate } from '../../pipeline/validate/validate.ts';
import { jsonLines } from '../readers/plain-readers.ts';
import { browserProcessesBelow } from '../renderers/3d/browser-processes.ts';
import { contentOf, damagedShards, filesIn, generate, scratchFolder, shapemill, sidecarsOf, start } from './command.ts';
import { writeTextures } from './panel-inputs.ts';
import { writeRecipe } from './photo-folder.ts';
import { refusal } from './refusal.ts';
import { changed, rewriteShard } from './rewrite-shard.ts';
import { labelsIn, readShard, type ShardFile } from './shard-files.ts';

/** A whole run that is path traced, with depth and normals: all that rasterised ones pass. */
const scratch = scratchFolder();
const whole = join(scratch, 'whole');
const SIZE = 64;
const ENGINE = ['--engine', 'pathtrace', '--samples', '4', '--aov', 'depth,normal'];
let inputs: string[];

beforeAll(async () => {
  const recipe = await writeRecipe(join(scratch, 'traced.json'), {
    subsets: ['shapes3d', 'materials3d'],
    textures: 6,
    materials: 6,
    'shapes3d-images': 4,
    'materials3d-images': 4,
    'shard-samples': 2,
    'material-maps': { size: 128 },
    'environment-preparation': { width: 256 },
    shapes3d: { variations: 2, size: SIZE },
    materials3d: { variations: 2, size: SIZE },
  });
  const meshes = join(scratch, 'meshes');
  await mkdir(meshes);
  await writeFile(join(meshes, 'cut.glb'), 'glTF');
  const banks = ['--texture-bank', await writeTextures(scratch, 6), '--meshes', 'starter-meshes', meshes];
  inputs = [...banks, '--recipe', recipe];
  await generate([...inputs, ...ENGINE, '--out', whole]);
});

/** Labels of all 3D samples of a run, each checked against its schema. */
async function labels(run: string): Promise<Sample3dLabel[]> {
  const all = [...(await labelsIn(run, 'shapes3d/')), ...(await labelsIn(run, 'materials3d/'))];
  return all.map(label => sample3dLabelSchema.parse(label));
}

async function imageShards(run: string): Promise<string[]> {
  return (await filesIn(run)).filter(file => /^(shapes|materials)3d\/.*\.tar$/.test(file));
}

/**
 * Kills the GPU process of a run's browser while it draws, once. The browser that draws has been chosen when the run notes its
 * renderer: one whose GPU process dies while it is only tried is passed over for another, which draws other pixels.
 */
async function killGpuProcess(run: string, pid: number, over: () => boolean): Promise<boolean> {
  while (!over()) {
    await sleep(50);
    const record = await readFile(join(run, 'run.json'), 'utf8').catch(() => '{}');
    if (!JSON.parse(record).renderers?.length) continue;
    for (const gpu of await browserProcessesBelow(pid, 'gpu-process')) {
      process.kill(gpu, 'SIGKILL');
      return true;
    }
  }
  return false;
}

describe('a path traced run with depth and normals', () => {
  it('says in every label what drew it, and how its files are to be read', async () => {
    const all = await labels(whole);
    expect(all).toHaveLength(8);
    for (const { key, renderer, files, aov } of all) {
      expect(renderer).toEqual({ engine: 'pathtrace', samples: 4, denoise: false });
      expect(files).toMatchObject({ 'depth.png': `${key}.depth.png`, 'normal.png': `${key}.normal.png` });
      expect(aov!['depth.png']).toMatchObject({ scale: 2 ** -14, offset: 0 });
      expect(aov!['normal.png']).toMatchObject({ scale: 2 / 65_535, offset: -1 });
    }
  });

  it('has depth and normals of 16 bits where the mask is, that are what the label’s scene shows', async () => {
    for (const shard of await imageShards(whole)) {
      const files = await readShard(join(whole, shard));
      const samples = new Map<string, ShardFile[]>();
      for (const file of files) {
        const key = file.name.slice(0, file.name.indexOf('.'));
        samples.set(key, [...(samples.get(key) ?? []), file]);
      }
      for (const [key, sample] of samples) {
        const names = ['depth.png', 'jpg', 'json', 'mask.png', 'normal.png'];
        expect(sample.map(({ name }) => name)).toEqual(names.map(field => `${key}.${field}`));
        const [depthFile, , json, maskFile, normalFile] = sample.map(({ data }) => data);
        const { scene, aov }: Sample3dLabel = JSON.parse(json!.toString());
        const [depth, mask, normal] = [depthFile!, maskFile!, normalFile!].map(bytes => decode(bytes));
        expect(depth).toMatchObject({ width: SIZE, height: SIZE, depth: 16, channels: 1 });
        expect(normal).toMatchObject({ width: SIZE, height: SIZE, depth: 16, channels: 3 });
        const form = { depth: aov!['depth.png']!, normal: aov!['normal.png']! };
        const reach = Math.sqrt(3) / 2 + scene.material.displacement;
        let [inside, covered, outside, away, length] = [0, 0, 0, 0, 0];
        for (let i = 0; i < SIZE * SIZE; i++) {
          const stored = normal!.data.subarray(3 * i, 3 * i + 3);
          const there = depth!.data[i]! > 0;
          if (mask!.data[i] === 255) covered++;
          if (mask!.data[i] === 255 && there) inside++;
          if (mask!.data[i] === 0 && there) outside++;
          if (!there) {
            if (stored.some(value => value !== 0)) expect([...stored]).toEqual([0, 0, 0]);
            continue;
          }
          const d = depth!.data[i]! * form.depth.scale + form.depth.offset;
          away = Math.max(away, Math.abs(d - scene.camera.distance));
          const n = Array.from(stored, value => value * form.normal.scale + form.normal.offset);
          length = Math.max(length, Math.abs(Math.hypot(...n) - 1));
        }
        expect(away).toBeLessThan(reach);
        expect(length).toBeLessThan(1e-3);
        // What the middle of a pixel shows need not be among the few places that four paths start from.
        expect(inside).toBeGreaterThan(0.97 * covered);
        expect(outside).toBeLessThan(0.03 * SIZE * SIZE);
      }
    }
  });

  it('passes validation, and records the mesh that cannot be read', async () => {
    const { errors, findings } = await validate(whole, 20, SILENT, new AbortController().signal);
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(errors).toBe(0);
    const faults = Object.values(await sidecarsOf(whole)).flatMap(sidecar => sidecar.faults);
    expect(faults.map(({ item }) => item)).toEqual([join(scratch, 'meshes', 'cut.glb')]);
  });

  it('is written as folders with all its files', async () => {
    const out = join(scratch, 'folders');
    const { code, stderr } = await shapemill('export', whole, '--format', 'folders', '--out', out);
    expect(code, stderr).toBe(0);
    const files = await filesIn(out);
    for (const { split, instance, variation } of await labelsIn<Sample3dLabel>(whole, 'shapes3d/')) {
      const place = `shapes3d/${split}/${String(instance.number).padStart(6, '0')}/${variation}`;
      const wanted = [`${place}.jpg`, `masks/${place}.png`, `depth/${place}.png`, `normal/${place}.png`];
      expect(files).toEqual(expect.arrayContaining(wanted));
    }
  });

  it('describes them for Croissant and Hugging Face, with their scales', async () => {
    const croissant = JSON.parse(await readFile(join(whole, 'croissant.json'), 'utf8'));
    const records = croissant.recordSet.find(({ '@id': id }: { '@id': string }) => id === 'shapes3d');
    const names = records.field.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['depth', 'depth_scale', 'normal', 'normal_scale']));
    const out = join(scratch, 'imagefolder');
    const { code, stderr } = await shapemill('export', whole, '--format', 'imagefolder', '--out', out);
    expect(code, stderr).toBe(0);
    const files = await filesIn(out);
    const lists = files.filter(file => /^shapes3d\/.*\/metadata.jsonl$/.test(file));
    expect(lists.length).toBeGreaterThan(0);
    for (const list of lists) {
      const folder = list.slice(0, -'/metadata.jsonl'.length);
      for (const row of jsonLines(await readFile(join(out, list), 'utf8'))) {
        expect(row).toMatchObject({ depth_scale: 2 ** -14, normal_scale: 2 / 65_535 });
        const named = [row.file_name, row.mask_file_name, row.depth_file_name, row.normal_file_name];
        expect(files).toEqual(expect.arrayContaining(named.map(name => `${folder}/${name}`)));
      }
    }
  });

  it.each<[string, 'depth.png' | 'normal.png', (data: Uint16Array) => Uint16Array, string]>([
    ['upside down', 'depth.png', data => data.toReversed(), 'geometry lies elsewhere'],
    [
      'all far',
      'depth.png',
      data => data.map(stored => (stored > 0 ? 65_535 : 0)),
      'depth that no place of the object has',
    ],
    ['missing', 'normal.png', data => data.map(() => 0), 'normals that are none'],
    ['too long', 'normal.png', data => data.map(stored => Math.min(65_535, stored * 2)), 'normals that are none'],
  ])('fails validation where it is %s: %s', async (name, field, harm, kind) => {
    const run = join(scratch, `harmed ${name}`);
    await cp(whole, run, { recursive: true });
    const [shard] = (await filesIn(run)).filter(file => /^shapes3d\/.*\.tar$/.test(file));
    const channels = field === 'depth.png' ? 1 : 3;
    await rewriteShard(join(run, shard!), files =>
      changed(files, field, async png => {
        const data = harm(Uint16Array.from(decode(png).data));
        return sharp(data, { raw: { width: SIZE, height: SIZE, channels } })
          .toColourspace(channels === 1 ? 'grey16' : 'rgb16')
          .png()
          .toBuffer();
      }),
    );
    const { findings } = await validate(run, 20, SILENT, new AbortController().signal);
    expect(findings.map(finding => finding.kind)).toContain(kind);
    await rm(run, { recursive: true });
  });

  it('loses the GPU process, continues after kill -9, and ends with the same bytes', async () => {
    const run = join(scratch, 'killed');
    const { child, ended } = start(['generate', ...inputs, ...ENGINE, '--out', run]);
    let over = false;
    void ended.then(() => {
      over = true;
    });
    if (process.platform === 'linux') expect(await killGpuProcess(run, child.pid!, () => over)).toBe(true);
    while (!over && (await imageShards(run)).length === 0) await sleep(20);
    child.kill('SIGKILL');
    await ended;
    expect(await damagedShards(run)).toEqual([]);
    await generate([...inputs, ...ENGINE, '--out', run]);
    expect(await contentOf(run)).toEqual(await contentOf(whole));
  });

  it('is not continued with another engine, other samples or other files', async () => {
    const before = await readFile(join(whole, 'run.json'));
    for (const [drawn, difference] of [
      [['--engine', 'raster', '--aov', 'depth,normal'], 'engine: was "pathtrace", is "raster"'],
      [['--engine', 'pathtrace', '--samples', '8', '--aov', 'depth,normal'], 'samples: was 4, is 8.'],
      [['--engine', 'pathtrace', '--samples', '4', '--aov', 'depth'], 'aov: was ["depth","normal"], is ["depth"].'],
    ] as const) {
      expect(await refusal('generate', ...inputs, ...drawn, '--out', whole)).toContain(`differs in ${difference}`);
    }
    expect(await readFile(join(whole, 'run.json'))).toEqual(before);
  });
});

const SILENT: Progress = { begin() {}, found() {}, advance() {}, end() {}, count() {}, info() {}, warn() {} };
