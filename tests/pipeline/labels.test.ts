import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { aovForms } from '../../pipeline/geometry-pngs.ts';
import {
  encodeLabel,
  type Sample2dLabel,
  type Sample3dLabel,
  type ShapeLabel,
  sample2dLabelSchema,
  sample3dLabelSchema,
  shapeLabelSchema,
  type TextureLabel,
  textureLabelSchema,
} from '../../pipeline/labels.ts';
import { SCHEMA_FOLDER, schemaFiles } from '../../scripts/write-schemas.ts';
import { scene as stillLife } from '../renderers/3d/still-life.ts';

const provenance = { pack: 'photos', file: 'a.jpg', licence: null, author: null, url: null };
const box = { left: 0, top: 0, width: 10, height: 10 };

const shape: ShapeLabel = {
  id: '00000000000000ab-r0',
  kind: 'natural',
  split: 'train',
  width: 10,
  height: 10,
  area: 50,
  found: { round: 0, window: null, scale: 0.5, channel: 'r', inverted: false, threshold: 0.5, box },
  annotated: null,
  projected: null,
  statistics: {
    area: 50,
    perimeter: 30,
    solidity: 0.9,
    convexity: 0.9,
    holes: 0,
    eulerNumber: 1,
    elongation: 0.2,
    complexity: 1.4,
    thickness: 0.8,
  },
  photo: { id: '00000000000000ab', width: 100, height: 80 },
  provenance,
};
const texture: TextureLabel = {
  id: '00000000000000ab-t0',
  split: 'val',
  width: 10,
  height: 10,
  found: { round: 0, rank: 0, score: 0.6, cells: 7, cellSize: 40, box },
  photo: shape.photo,
  provenance,
};
const sample: Sample2dLabel = {
  key: 'shapes2d-000001-0',
  subset: 'shapes2d',
  split: 'test',
  instance: { number: 1, id: shape.id },
  variation: 0,
  seed: 1,
  attempt: 0,
  condition: 'natural-textured-textured-rotated',
  scene: {
    size: 64,
    shape: { id: shape.id },
    placement: { scale: 1, rotation: 90, center: [32, 32] },
    fill: { kind: 'colour', rgb: [1, 2, 3] },
    background: { kind: 'texture', id: texture.id, scale: 1, left: 0, top: 0, quarterTurns: 1 },
  },
  facts: { box, area: 50, coverage: 0.5 },
  files: { jpg: 'a.jpg', 'mask.png': 'a.mask.png', json: 'a.json' },
  sources: [{ role: 'shape', id: shape.id, photo: shape.photo.id, ...provenance }],
};

const { condition, scene, ...common } = sample;
const sample3d: Sample3dLabel = {
  ...common,
  key: 'shapes3d-000001-0',
  subset: 'shapes3d',
  varies: ['orientation'],
  scene: stillLife(),
  renderer: { engine: 'pathtrace', samples: 120, denoise: true },
  files: { ...sample.files, 'depth.png': 'a.depth.png', 'normal.png': 'a.normal.png' },
  aov: aovForms(['depth', 'normal'], 2 ** -14),
  sources: (['object', 'material', 'environment'] as const).map(role => ({ role, id: shape.id, ...provenance })),
};

function older({ renderer, aov, ...rest }: Sample3dLabel): Sample3dLabel {
  return { ...rest, files: sample.files };
}

describe('a label that matches its schema', () => {
  it.each([
    ['shape', shapeLabelSchema, shape],
    ['texture', textureLabelSchema, texture],
    ['sample', sample2dLabelSchema, sample],
    ['3D sample', sample3dLabelSchema, sample3d],
    ['3D sample that is older than path tracing', sample3dLabelSchema, older(sample3d)],
  ])('is written as it is: %s', (_, schema, label) => {
    expect(JSON.parse(Buffer.from(encodeLabel(schema as never, label as never)).toString())).toEqual(label);
  });
});

describe('a label that does not match its schema fails:', () => {
  it.each([
    ['a field missing', { split: undefined }],
    ['a field too many', { colour: 'red' }],
    ['a split that is none', { split: 'training' }],
    ['an area of nothing', { area: 0 }],
    ['a fraction of a pixel', { width: 10.5 }],
    ['a number as text', { height: '10' }],
    ['a threshold above 1', { found: { ...shape.found, threshold: 1.5 } }],
    ['a box of negative size', { found: { ...shape.found, box: { ...box, width: -1 } } }],
    ['a number that is none', { found: { ...shape.found, scale: Number.NaN } }],
    ['a provenance without a licence', { provenance: { ...provenance, licence: undefined } }],
  ])('shape with %s', (_, change) => {
    expect(() => encodeLabel(shapeLabelSchema, { ...shape, ...change } as never)).toThrow();
  });

  it.each([
    ['a dot in its key', { key: 'shapes2d-000001.5-0' }],
    ['too short a number in its key', { key: 'shapes2d-1-0' }],
    ['another subset', { subset: 'shapes3d' }],
    ['a negative variation', { variation: -1 }],
    ['a colour above 255', { scene: { ...sample.scene, fill: { kind: 'colour', rgb: [0, 0, 256] } } }],
    ['a paint of no kind', { scene: { ...sample.scene, fill: { kind: 'glass' } } }],
    ['a coverage above 1', { facts: { ...sample.facts, coverage: 1.1 } }],
    ['a file missing', { files: { jpg: 'a.jpg', json: 'a.json' } }],
    ['no sources', { sources: [] }],
  ])('sample with %s', (_, change) => {
    expect(() => encodeLabel(sample2dLabelSchema, { ...sample, ...change } as never)).toThrow();
  });
});

describe('a label of a 3D sample fails with', () => {
  it.each([
    ['an engine that is none', { renderer: { engine: 'cycles' } }],
    ['paths without their number', { renderer: { engine: 'pathtrace', denoise: false } }],
    ['paths of the raster engine', { renderer: { engine: 'raster', samples: 120 } }],
    ['depths in metres', { aov: { 'depth.png': { ...sample3d.aov!['depth.png'], unit: 'metre' } } }],
    ['a scale of 0', { aov: { 'normal.png': { ...sample3d.aov!['normal.png'], scale: 0 } } }],
  ])('%s', (_, change) => {
    expect(() => encodeLabel(sample3dLabelSchema, { ...sample3d, ...change } as never)).toThrow();
  });
});

describe('the published schemas', () => {
  it('are those that labels are checked against', async () => {
    const files = schemaFiles();
    expect((await readdir(SCHEMA_FOLDER)).sort()).toEqual([...files.keys()].sort());
    for (const [name, text] of files) expect(await readFile(`${SCHEMA_FOLDER}/${name}`, 'utf8')).toBe(text);
  });
});
