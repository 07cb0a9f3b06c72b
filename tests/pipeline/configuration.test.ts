import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Configuration, configure } from '../../pipeline/configuration.ts';
import type { GenerateValues } from '../../pipeline/generate-options.ts';
import { UsageError } from '../../pipeline/usage-error.ts';
import { LAST_SHAPES2D } from '../../scenes/recipe.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shapemill-recipe-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function withRecipe(content: string, flags: GenerateValues = {}, name = 'mine.yaml'): Promise<Configuration> {
  const recipe = join(folder, name);
  await writeFile(recipe, content);
  return configure({ recipe, ...flags });
}

/** What is said about a recipe, after its path. */
async function complaint(content: string, name?: string): Promise<string> {
  const error = await withRecipe(content, {}, name).catch(thrown => thrown);
  expect(error).toBeInstanceOf(UsageError);
  expect(error.message).not.toContain('\n');
  return error.message.replace(`${folder}/`, '').replace(/^mine\.\w+: /, '');
}

describe('default counts', () => {
  it.each([
    [350_000, 61_000, 53_000, 35_000],
    [40, 40, 40, 24], // at least eight instances of five images each
    [35_000, 6100, 5300, 3500],
    [1000, 175, 155, 100], // 174.3 and 151.4, in whole instances of five
    [1, 40, 40, 24],
  ])('%i shapes: %i and %i images, %i textures', async (shapes, shapes2dImages, textures2dImages, textures) => {
    expect(await configure({ shapes })).toMatchObject({ shapes, shapes2dImages, textures2dImages, textures });
  });

  it('come in whole instances of the recipe’s variations', async () => {
    const counts = await withRecipe('shapes: 350000\nshapes2d: { variations: 7 }\ntextures2d: { variations: 3 }');
    expect(counts.shapes2dImages).toBe(7 * Math.ceil(61_000 / 7));
    expect(counts.textures2dImages).toBe(3 * Math.ceil(53_000 / 3));
  });

  it('give way to counts that are given', async () => {
    const flags = { shapes: 350_000, textures: 5, 'shapes2d-images': 0, 'textures2d-images': 33 };
    expect(await configure(flags)).toMatchObject({ textures: 5, shapes2dImages: 0, textures2dImages: 33 });
  });
});

describe('configure', () => {
  it('has a complete configuration without any flag', async () => {
    expect(await configure({})).toMatchObject({
      recipe: 'last',
      seed: 1,
      subsets: ['shapes2d', 'textures2d', 'shapes3d', 'materials3d', 'silhouettes'],
      shapes: 40,
      photos: ['starter-photos'],
      segmentation: ['starter-cutouts'],
      shapeBank: null,
      textureBank: null,
      licences: null,
      maxPixels: 250_000_000,
      shardSamples: 1000,
      shapes2d: LAST_SHAPES2D,
      naturalShapes: { channelDraws: 15, thresholds: 20, workSide: 512, minArea: 20_000, maxAreaShare: 0.5 },
    });
    expect(await configure({ recipe: 'last' })).toEqual(await configure({}));
  });

  it('lays values over the defaults also within a mapping', async () => {
    const { shapes3d } = await withRecipe('shapes3d: { mapping: { scale-per-axis: 1, blend: 0.1 } }');
    expect(shapes3d.mapping).toEqual({
      offset: [0, 30],
      rotation: [0, 360],
      scale: [0.01, 10 ** 0.6],
      scalePerAxis: 1,
      blend: 0.1,
    });
    expect(await complaint('shapes3d: { mapping: { scaleperaxis: 1 } }')).toContain(
      'unknown name "shapes3d.mapping.scaleperaxis" (did you mean "scale-per-axis"?)',
    );
    expect(await complaint('shapes3d: { mapping: { scale-per-axis: 2 } }')).toMatch(
      /^shapes3d\.mapping\.scale-per-axis: expected a number from 0 to 1, got 2$/,
    );
  });

  it('keeps subsets in one order, however they are given', async () => {
    const { subsets } = await configure({ subsets: ['textures2d', 'shapes2d'] });
    expect(subsets).toEqual(['shapes2d', 'textures2d']);
    expect((await configure({ subsets: ['textures2d'] })).subsets).toEqual(['textures2d']);
  });

  it('takes flags over the recipe and the recipe over the defaults', async () => {
    const recipe = 'shapes: 100\nseed: 7\nphotos: [/data/a]\nlicences: CC0-1.0';
    const flags: GenerateValues = { seed: 8, photos: ['/data/b'] };
    expect(await withRecipe(recipe, flags)).toMatchObject({
      recipe: 'mine',
      shapes: 100,
      seed: 8,
      photos: ['/data/b'],
      licences: ['CC0-1.0'],
      shardSamples: 1000,
    });
  });
});

describe('a recipe file', () => {
  it('says the same in YAML and in JSON', async () => {
    const yaml = `
shapes: 350_000
seed: 3
subsets: [textures2d]
shape-bank: /data/shapes
max-pixels: 1e6
natural-shapes:
  min-area: 10000
  hsv-probability: 0.25
texture-regions: { cell-size: 40, cell-rounds: [1, 0.5] }
shapes2d:
  long-side: [0.2, 0.9]
  conditions:
    - natural-textured-black-unrotated
    - { source: natural, background: white, shape: colour, rotated: true }
textures2d: { conditions: [black-same], size: 256 }
`;
    const json = JSON.stringify({
      shapes: 350_000,
      seed: 3,
      subsets: ['textures2d'],
      'shape-bank': '/data/shapes',
      'max-pixels': 1_000_000,
      'natural-shapes': { 'min-area': 10_000, 'hsv-probability': 0.25 },
      'texture-regions': { 'cell-size': 40, 'cell-rounds': [1, 0.5] },
      shapes2d: {
        'long-side': [0.2, 0.9],
        conditions: [
          'natural-textured-black-unrotated',
          { source: 'natural', background: 'white', shape: 'colour', rotated: true },
        ],
      },
      textures2d: { conditions: ['black-same'], size: 256 },
    });
    const fromYaml = await withRecipe(yaml);
    expect(await withRecipe(json, {}, 'mine.json')).toEqual(fromYaml);
    expect(fromYaml).toMatchObject({
      shapes: 350_000,
      shapeBank: '/data/shapes',
      maxPixels: 1_000_000,
      naturalShapes: { minArea: 10_000, hsvProbability: 0.25, thresholds: 20 },
      textureRegions: { cellSize: 40, cellRounds: [1, 0.5] },
      shapes2d: { ...LAST_SHAPES2D, longSide: [0.2, 0.9], conditions: { length: 2 } },
      textures2d: { conditions: ['black-same'], size: 256, variations: 5 },
    });
  });

  it('may be empty', async () => {
    expect(await withRecipe('# nothing yet\n')).toEqual({ ...(await configure({})), recipe: 'mine' });
  });

  it('gives its name to the run', async () => {
    expect((await withRecipe('seed: 2', {}, 'black and white.json')).recipe).toBe('black and white');
  });

  it('has to be there, and to be YAML or JSON', async () => {
    const missing = join(folder, 'missing.yaml');
    await expect(configure({ recipe: missing })).rejects.toThrow(
      new UsageError(`--recipe: expected "last" or a readable YAML or JSON file, got "${missing}"`),
    );
    expect(await complaint('shapes: [1')).toMatch(/^expected YAML or JSON: /);
    expect(await complaint('seed: 1\nseed: 2')).toMatch(/^expected YAML or JSON: .*unique/);
    expect(await complaint('- 1\n- 2')).toBe('expected a mapping of names to values');
    expect(await complaint('40')).toBe('expected a mapping of names to values');
  });

  it('names itself in its errors', async () => {
    await expect(withRecipe('shapes: ten')).rejects.toThrow(
      `${join(folder, 'mine.yaml')}: shapes: expected a whole number of at least 1 and at most 1000000000, got "ten"`,
    );
  });

  it.each([
    ['shapes: 1.5', 'shapes: expected a whole number of at least 1 and at most 1000000000, got 1.5'],
    ['silhouettes: { margin: .nan }', 'silhouettes.margin: expected a number from 0 to 2, got NaN'],
    [
      'silhouettes: { max-side: 4 }',
      'silhouettes.max-side: expected a whole number of at least 8 and at most 4096, got 4',
    ],
    ['max-side: .nan', 'max-side: expected a whole number of at least 8 and at most 4096, got NaN'],
    ['shapes2d: { quality: x }', 'shapes2d.quality: expected a whole number of at least 1 and at most 100, got "x"'],
    ['seed: -1', 'seed: expected a whole number of at least 0, got -1'],
    ['photos: []', 'photos: expected pack ids, folders, globs, images or list files, got []'],
    ['subsets: [texture2d]', 'got ["texture2d"] (did you mean "textures2d"?)'],
    ['shape: 40', 'unknown name "shape" (did you mean "shapes"?)'],
    ['shape2d: {}', 'unknown name "shape2d" (did you mean "shapes2d"?)'],
    ['shapes2d: { qualty: 9 }', 'unknown name "shapes2d.qualty" (did you mean "quality"?)'],
    ['shapes2d: { longSide: [0.1, 0.2] }', 'unknown name "shapes2d.longSide" (did you mean "long-side"?)'],
    ['natural-shapes: { min-are: 9 }', 'unknown name "natural-shapes.min-are" (did you mean "min-area"?)'],
    ['shapes2d: 4', 'shapes2d: expected a mapping of names to values'],
    ['shapes2d: [4]', 'shapes2d: expected a mapping of names to values'],
    ['shapes2d: { long-side: [0.9, 0.2] }', 'shapes2d.long-side: expected [low, high] with low <= high'],
    ['shapes2d: { long-side: [0.9, 1.2] }', 'shapes2d.long-side.1: '],
    ['shapes2d: { quality: 101 }', 'shapes2d.quality: '],
    ['natural-shapes: { min-area: many }', 'natural-shapes.min-area: '],
    ['texture-regions: { cell-size: 2 }', 'texture-regions.cell-size: '],
  ])('is refused with its cause: %s', async (content, message) => expect(await complaint(content)).toContain(message));

  it.each(['out: x', 'workers: 3', 'stage: [shapes2d]', 'shard-range: 0..3', 'dry-run: true', 'fresh: true'])(
    'may not say what concerns the machine: %s',
    async content => {
      const name = content.split(':')[0];
      expect(await complaint(content)).toBe(
        `"${name}" concerns the machine and not the data: give --${name} on the command line`,
      );
    },
  );

  it('may have conditions of its own and of several sources, but no invisible shape', async () => {
    const own = '{ source: semantic, background: black, shape: colour, rotated: false }';
    const { shapes2d } = await withRecipe(`shapes2d: { conditions: [${own}, natural-coloured-coloured-rotated] }`);
    expect(shapes2d.conditions).toEqual([
      { source: 'semantic', background: 'black', shape: 'colour', rotated: false },
      'natural-coloured-coloured-rotated',
    ]);
    expect(await complaint(`shapes2d: { conditions: [${own.replace('colour', 'black')}] }`)).toContain(
      'shapes2d.conditions.0: expected a shape that differs from its background',
    );
  });

  it('that names no conditions has those of “last” for shapes of every source that is given', async () => {
    const semantic = ['coco:/data/coco'];
    const of = (source: string) => `${source}-textured-textured-rotated`;
    const conditions = async (...[content, flags]: Parameters<typeof withRecipe>) =>
      (await withRecipe(content, flags)).shapes2d.conditions;
    const own = 'shapes2d: { variations: 3 }';
    expect(await conditions(own)).toEqual([of('natural')]);
    expect(await conditions(own, { semantic })).toEqual([of('natural'), of('semantic')]);
    expect(await conditions(own, { projections: 0 })).toEqual([of('natural')]);
    expect(await conditions(own, { semantic, projections: 9 })).toEqual(['natural', 'semantic', 'projection'].map(of));
    expect(await conditions(own, { 'shape-bank': 'semantic:/data', projections: 9 })).toEqual(
      ['semantic', 'projection'].map(of),
    );
    expect(await conditions('shapes2d: { conditions: [natural-black-white-rotated] }', { semantic })).toEqual([
      'natural-black-white-rotated',
    ]);
  });

  it('with a number of semantic shapes but nothing they come from is refused', async () => {
    expect(await complaint('semantic-shapes: 9')).toContain('semantic-shapes: give --semantic name:DIR too');
    const semantic = ['coco:/data/coco'];
    expect(await withRecipe('semantic-shapes: 9', { semantic })).toMatchObject({ semanticShapes: 9 });
  });

  it('with a misspelt condition is refused', async () => {
    expect(await complaint('shapes2d: { conditions: [natural-black-white-rotatd] }')).toContain(
      'shapes2d.conditions.0: ',
    );
  });

  it('with a misspelt condition gets the nearest name', async () => {
    expect(await complaint('shapes2d: { conditions: [natural-black-white-rotatd] }')).toContain(
      'did you mean "natural-black-white-rotated"?',
    );
  });

  it('with a wrong value in a group hears what was expected and what came', async () => {
    expect(await complaint('shapes2d: { quality: 101 }')).toMatch(/^shapes2d\.quality: expected .*, got 101$/);
  });

  // A name that every object has is found among the groups.
  it.each(['constructor', 'toString'])('with the unknown name %s is refused', async name => {
    expect(await complaint(`${name}: 1`)).toContain('unknown name');
  });
});

describe('how 3D scenes are drawn', () => {
  const drawn = async (content: string, flags: GenerateValues = {}) => {
    const { engine, samples, denoise, aov } = await withRecipe(content, flags);
    return { engine, samples, denoise, aov };
  };
  const rasterised = { engine: 'raster', samples: null, denoise: false, aov: [] };

  it('is by rasterisation, without anything beside the picture, when nothing is said', async () => {
    expect(await drawn('{}')).toEqual(rasterised);
  });

  it('follows the recipe, and flags win', async () => {
    const traced = 'engine: pathtrace\nsamples: 64\ndenoise: true\naov: [normal, depth, depth]';
    expect(await drawn(traced)).toEqual({ engine: 'pathtrace', samples: 64, denoise: true, aov: ['depth', 'normal'] });
    expect(await drawn(traced, { samples: 8, aov: ['normal'] })).toMatchObject({ samples: 8, aov: ['normal'] });
    expect(await drawn('{}', { engine: 'pathtrace' })).toEqual({ ...rasterised, engine: 'pathtrace', samples: 120 });
  });

  it('leaves out what a recipe says of paths where a flag asks for the other engine', async () => {
    expect(await drawn('engine: pathtrace\nsamples: 64\ndenoise: true', { engine: 'raster' })).toEqual(rasterised);
  });

  it.each([
    ['samples: 64', {}, 'samples'],
    ['denoise: true', {}, 'denoise'],
    ['{}', { samples: 64 }, 'samples'],
    ['engine: raster', { denoise: true }, 'denoise'],
    ['engine: pathtrace', { engine: 'raster', samples: 64 }, 'samples'],
  ] as const)('refuses paths without path tracing: %s %j', async (content, flags, name) => {
    const error = await withRecipe(content, flags).catch(thrown => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect(error.message).toBe(
      `${name}: only path traced pictures have it: give --engine pathtrace too, or leave it out`,
    );
  });

  it('refuses to smooth a single path, which says nothing of its noise', async () => {
    await expect(withRecipe('engine: pathtrace', { denoise: true, samples: 1 })).rejects.toThrow(
      'denoise: expected --samples of 2 or more',
    );
  });

  it('says what engines and files there are', async () => {
    expect(await complaint('engine: cycles')).toContain('engine: expected one of raster, pathtrace, got "cycles"');
    expect(await complaint('aov: [depht]')).toContain('did you mean "depth"');
    expect(await complaint('samples: 0')).toContain('samples: expected a whole number of at least 1 and at most 65536');
  });
});
