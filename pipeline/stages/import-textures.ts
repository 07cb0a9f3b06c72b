import { bankItemId } from '../bank.ts';
import { encodeJpeg } from '../bank-images.ts';
import { bankShard, type ImportTask, importFile, type NewItem, photoOf } from '../bank-stage.ts';
import { encodeLabel, textureLabelSchema } from '../labels.ts';
import { decodePhoto, openPhoto } from '../photo.ts';
import type { Stage } from '../stage.ts';

/**
 * A folder of texture images (VasTextures, say) → texture bank, checked and re-encoded. The photo a texture comes from is
 * its file name up to the first `_`: textures of one photo stay in one split.
 */
export const importTextures: Stage<ImportTask> = {
  name: 'import-textures',
  title: 'imported textures',
  unit: 'textures',
  reads: [],
  large: true,
  fills: 'textures',
  asked: ({ textures }) => textures,
  atMost: ({ importsAsked }) => !importsAsked.textures,

  async estimate({ configuration: { textures, shardSamples }, index }) {
    const samples = Math.min(textures, (await index('texture-files')).facts.files);
    return { samples, shards: Math.ceil(samples / shardSamples), bytesPerSample: 95_000, secondsPerSample: 0.02 };
  },

  async shardCount({ configuration: { shardSamples }, index }) {
    return (await index('texture-files')).blocks(shardSamples);
  },

  async *plan({ configuration: { shardSamples }, index }) {
    const files = await index('texture-files');
    for (let block = 0; block < files.blocks(shardSamples); block++) {
      yield bankShard(
        'textures',
        block,
        (await files.block(block, shardSamples)).map(file => ({ file })),
      );
    }
  },

  run({ file }, { configuration: { maxPixels, textureRegions } }) {
    return importFile('textures', file, async (): Promise<NewItem> => {
      const image = await decodePhoto(await openPhoto(file.path, maxPixels));
      const { width, height } = image;
      const id = bankItemId('textures', file.id, 0);
      const { source, split } = photoOf(file);
      const label = encodeLabel(textureLabelSchema, {
        id,
        split,
        width,
        height,
        found: null,
        photo: { id: source, width, height },
        provenance: file.provenance,
      });
      const jpeg = await encodeJpeg(image, textureRegions.quality, true);
      return { id, files: { jpg: jpeg }, label, facts: { source, split, rank: 0, width, height } };
    });
  },
};
