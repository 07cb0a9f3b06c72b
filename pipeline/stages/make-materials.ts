import sharp, { type Sharp } from 'sharp';
import type { RgbImage } from '../../extractors/image.ts';
import { drawMix, drawMixCount, type MixPlan, mixMaps } from '../../extractors/material-mix.ts';
import { drawMaterial, type MaterialPlan } from '../../extractors/material-plan.ts';
import { type MaterialMaps, makeMaps } from '../../extractors/pbr-maps.ts';
import { integer } from '../../sampling/distributions.ts';
import { hashId } from '../../sampling/hash.ts';
import { type Rng, rng } from '../../sampling/rng.ts';
import { type Bank, bankItemId, itemSize, readItem } from '../bank.ts';
import { bankResult, bankShard, type NewItem } from '../bank-stage.ts';
import type { Configuration } from '../configuration.ts';
import { InputFault } from '../faults.ts';
import type { TextureLabel } from '../labels.ts';
import { materialItem } from '../material-files.ts';
import { decodeFault } from '../photo.ts';
import type { Stage } from '../stage.ts';

interface Task {
  /** Number in the texture bank. */
  readonly texture: number;
  /** 0: the first material made of this texture. */
  readonly rank: number;
}

/**
 * Textures → PBR materials (`extractors/pbr-maps.ts` has the rule). Every texture gives its first material, then every one
 * its second: N materials show as many textures as there are. A material is in the split of its texture's photo.
 */
export const makeMaterials: Stage<Task> = {
  name: 'make-materials',
  title: 'PBR materials',
  unit: 'materials',
  reads: ['textures'],
  fills: 'materials',
  asked: ({ materials }) => materials,

  async estimate({ configuration: { materials, shardSamples } }) {
    const shards = Math.ceil(materials / shardSamples);
    return { samples: materials, shards, bytesPerSample: 230_000, secondsPerSample: 0.06 };
  },

  async shardCount({ configuration: { materials, shardSamples }, banks }) {
    return banks.textures?.items === 0 ? 0 : Math.ceil(materials / shardSamples);
  },

  async *plan({ configuration: { materials, shardSamples }, banks }) {
    const textures = banks.textures!.items;
    if (textures === 0) return;
    for (let first = 0; first < materials; first += shardSamples) {
      const tasks: Task[] = [];
      for (let i = first; i < Math.min(materials, first + shardSamples); i++) {
        tasks.push({ texture: i % textures, rank: Math.floor(i / textures) });
      }
      yield bankShard('materials', first / shardSamples, tasks);
    }
  },

  async run(task, { configuration, banks }) {
    const counts = { looks: 1 };
    try {
      const item = await makeMaterial(task, configuration, banks.textures!);
      return bankResult('materials', [item], { faults: [], counts });
    } catch (error) {
      if (!(error instanceof InputFault)) throw error;
      const item = itemSize(banks.textures!, task.texture).id;
      return bankResult('materials', [], { faults: [{ item, reason: error.message }], counts });
    }
  },
};

async function makeMaterial({ texture, rank }: Task, configuration: Configuration, bank: Bank): Promise<NewItem> {
  const { seed, materialMaps: recipe } = configuration;
  // Two textures of one photo must not give one id: it is made from the texture's own.
  const hex = hashId(itemSize(bank, texture).id);
  const random = rng(seed, 'make-materials', bankItemId('materials', hex, rank));
  const first = await readTexture(bank, texture, recipe.size);
  const plan = drawMaterial(random, recipe);
  const { photo, split } = first.label;
  const partners = drawPartners(random, drawMixCount(random, recipe), texture, bank.bySplit[split]);
  const plans = [plan, ...partners.map(() => drawMaterial(random, recipe))];
  const used = [first, ...(await Promise.all(partners.map(i => readTexture(bank, i, recipe.size))))];
  const mix = partners.length === 0 ? null : drawMix(random, plans.length, recipe);
  return materialItem(
    {
      hex,
      source: photo.id,
      split,
      rank,
      maps: mix === null ? makeMaps(first.image, plan) : await makeMixed(used, plans, mix),
      label: {
        sources: used.map(({ label }) => ({ texture: label.id, photo: label.photo.id, provenance: label.provenance })),
        made: { kind: 'from-textures', plans, mix },
      },
    },
    recipe.quality,
  );
}

interface Texture {
  readonly image: RgbImage;
  readonly label: TextureLabel;
}

/** A texture of the bank, its longer side at most `size`. @throws InputFault when it cannot be decoded. */
async function readTexture(bank: Bank, i: number, size: number): Promise<Texture> {
  const { image, label } = await readItem(bank, i);
  const { width, height } = itemSize(bank, i);
  if (image.length === 0) throw new InputFault('expected an image, got an empty file');
  const picture = sharp(image, { failOn: 'error' });
  const smaller =
    Math.max(width, height) > size ? picture.resize({ width: size, height: size, fit: 'inside' }) : picture;
  return { image: await rgbPixels(smaller), label: label as TextureLabel };
}

async function rgbPixels(picture: Sharp): Promise<RgbImage> {
  const { data, info } = await picture
    .removeAlpha()
    .toColourspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
    .catch(error => {
      throw decodeFault(error);
    });
  return { width: info.width, height: info.height, data };
}

/** The other textures of a mixed material: of its split, so that nothing of one photo is in two. */
function drawPartners(random: Rng, count: number, texture: number, split: Uint32Array): number[] {
  if (split.length === 1) return [];
  const own = split.indexOf(texture);
  const drawOther = () => {
    const place = integer(random, 0, split.length - 2);
    return split[place < own ? place : place + 1]!;
  };
  return Array.from({ length: count - 1 }, drawOther);
}

/** The partners' textures are brought to the first one's size, before they are turned. */
async function makeMixed(
  textures: readonly Texture[],
  plans: readonly MaterialPlan[],
  mix: MixPlan,
): Promise<MaterialMaps> {
  const maps: MaterialMaps[] = [];
  for (const [i, { image }] of textures.entries()) {
    const first = maps[0]?.color;
    const plan = plans[i]!;
    const texture = first ? await fitted(image, first, plan.augmentation.quarterTurn) : image;
    maps.push(makeMaps(texture, { ...plan, occlusion: false }));
  }
  const strengths = plans.map(({ normalStrength }) => normalStrength);
  return mixMaps(maps, strengths, mix, plans[0]!.occlusion);
}

function fitted(image: RgbImage, { width, height }: RgbImage, turned: boolean): Promise<RgbImage> | RgbImage {
  const size = turned ? { width: height, height: width } : { width, height };
  if (image.width === size.width && image.height === size.height) return image;
  const raw = { width: image.width, height: image.height, channels: 3 as const };
  return rgbPixels(sharp(image.data, { raw, limitInputPixels: false }).resize({ ...size, fit: 'fill' }));
}
