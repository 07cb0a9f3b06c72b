import { readFile, stat } from 'node:fs/promises';
import { decodePanorama, encodePanorama } from '../../scenes/panorama-format.ts';
import { bankItemId } from '../bank.ts';
import { bankShard, type ImportTask, importFile, type NewItem } from '../bank-stage.ts';
import { CacheFolder, cacheKey } from '../cache-folder.ts';
import type { EnvironmentPreparationRecipe } from '../configuration.ts';
import { asInputFault, InputFault } from '../faults.ts';
import { type EnvironmentLabel, encodeLabel, environmentLabelSchema } from '../labels.ts';
import { decodePanoramaFile } from '../panoramas/panorama-file.ts';
import { panoramaLight, shrinkPanorama } from '../panoramas/solid-angle.ts';
import type { Stage } from '../stage.ts';

/**
 * HDR and EXR panoramas → environment bank: cleaned, shrunk to the recipe's width, packed as the render page takes them. What
 * was made of a file is kept in the user's cache folder, by content.
 */
export const prepareEnvironments: Stage<ImportTask> = {
  name: 'prepare-environments',
  title: 'environments',
  unit: 'environments',
  reads: [],
  large: true,
  fills: 'environments',
  asked: () => null,

  async estimate({ configuration, index }) {
    const samples = (await index('environment-files')).facts.files;
    const shards = Math.ceil(samples / shardFiles(configuration));
    return { samples, shards, bytesPerSample: 1_160_000, secondsPerSample: 0.4 };
  },

  async shardCount({ configuration, index }) {
    return (await index('environment-files')).blocks(shardFiles(configuration));
  },

  async *plan({ configuration, index }) {
    const files = await index('environment-files');
    const size = shardFiles(configuration);
    for (let block = 0; block < files.blocks(size); block++) {
      yield bankShard(
        'environments',
        block,
        (await files.block(block, size)).map(file => ({ file })),
      );
    }
  },

  run({ file }, { configuration }) {
    return importFile('environments', file, async (): Promise<NewItem> => {
      const { id: source, split, provenance } = file;
      const bytes = await readPanoramaFile(file.path);
      const { packed, facts } = await prepareCached(bytes, configuration.environmentPreparation);
      const most = Math.max(...facts.light.mean);
      if (most < LEAST_LIGHT) {
        throw new InputFault(`no light comes from it: expected a mean radiance of ${LEAST_LIGHT} or more, got ${most}`);
      }
      const { width, height } = facts;
      const id = bankItemId('environments', source, 0);
      const label = encodeLabel(environmentLabelSchema, { id, split, panorama: source, ...facts, provenance });
      return { id, files: { rgb9e5: packed }, label, facts: { source, split, rank: 0, width, height } };
    });
  },
};

/** Less shows nothing, however strong a scene makes it. */
const LEAST_LIGHT = 1e-4;

const SHARD_BYTES = 512 * 1024 * 1024;

/** Panoramas of a shard: large ones fill it before `--shard-samples` are there. */
function shardFiles(recipe: {
  readonly shardSamples: number;
  readonly environmentPreparation: EnvironmentPreparationRecipe;
}): number {
  const { width } = recipe.environmentPreparation;
  // Four bytes a pixel, half as high as wide.
  return Math.max(1, Math.min(recipe.shardSamples, Math.floor(SHARD_BYTES / (2 * width * width))));
}

/** Node reads no larger file at once. */
const MAX_FILE_BYTES = 2 ** 31 - 1;

async function readPanoramaFile(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size > MAX_FILE_BYTES) throw new InputFault(`${size} bytes exceed the limit of ${MAX_FILE_BYTES}`);
    return await readFile(path);
  } catch (error) {
    throw asInputFault(error, 'cannot read');
  }
}

/** What a panorama's label says of its content alone, wherever the file lies. */
type EnvironmentFacts = Omit<EnvironmentLabel, 'id' | 'split' | 'panorama' | 'provenance'>;

interface PreparedEnvironment {
  readonly packed: Uint8Array;
  readonly facts: EnvironmentFacts;
}

/** To be raised when the same file gives another result, so that older ones are not taken for it. */
const PREPARATION_VERSION = 1;

async function prepareCached(bytes: Buffer, recipe: EnvironmentPreparationRecipe): Promise<PreparedEnvironment> {
  const cache = new CacheFolder();
  const key = cacheKey('environments', bytes, [PREPARATION_VERSION, recipe]);
  const entry = await cache.get(key);
  if (entry) return fromEntry(entry);
  const prepared = await prepareEnvironment(bytes, recipe);
  await cache.put(key, toEntry(prepared));
  return prepared;
}

/** An entry is the facts as one line of JSON, then the packed panorama. */
function toEntry({ packed, facts }: PreparedEnvironment): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(facts)}\n`), packed]);
}

function fromEntry(entry: Buffer): PreparedEnvironment {
  const line = entry.indexOf('\n');
  return { facts: JSON.parse(entry.toString('utf8', 0, line)), packed: entry.subarray(line + 1) };
}

/**
 * Makes of a file's bytes what the bank keeps, and measures it.
 * @throws InputFault for what is no panorama that can be used.
 */
export async function prepareEnvironment(
  bytes: Uint8Array,
  { width, maxPixels, maxBrokenShare }: EnvironmentPreparationRecipe,
): Promise<PreparedEnvironment> {
  const whole = await decodePanoramaFile(bytes, { maxPixels, maxBrokenShare });
  const shrunk = shrinkPanorama(whole, width);
  const { bytes: packed, clamped } = encodePanorama(shrunk);
  const facts: EnvironmentFacts = {
    width: shrunk.width,
    height: shrunk.height,
    file: { format: whole.format, compression: whole.compression, width: whole.width, height: whole.height },
    cleaned: whole.cleaned,
    clamped,
    light: panoramaLight(decodePanorama(packed)),
  };
  return { packed, facts };
}
