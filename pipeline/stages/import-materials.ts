import { dirname } from 'node:path';
import { hashId } from '../../sampling/hash.ts';
import { bankShard, type ImportTask, importFile } from '../bank-stage.ts';
import { materialItem } from '../material-files.ts';
import { readMaterialSet } from '../material-sets.ts';
import { splitOf } from '../photo-index.ts';
import type { Stage } from '../stage.ts';

/**
 * A folder of PBR map sets (ambientCG, Poly Haven) → material bank: maps found by their names, brought to one size and to
 * +Y normals. Each set is known by its colour map; one asset in several resolutions is one source, in one split.
 */
export const importMaterials: Stage<ImportTask> = {
  name: 'import-materials',
  title: 'imported PBR materials',
  unit: 'materials',
  reads: [],
  large: true,
  fills: 'materials',
  asked: ({ materials }) => materials,
  atMost: ({ importsAsked }) => !importsAsked.materials,

  async estimate({ configuration: { materials, shardSamples }, index }) {
    const samples = Math.min(materials, (await index('material-files')).facts.files);
    return { samples, shards: Math.ceil(samples / shardSamples), bytesPerSample: 230_000, secondsPerSample: 0.3 };
  },

  async shardCount({ configuration: { shardSamples }, index }) {
    return (await index('material-files')).blocks(shardSamples);
  },

  async *plan({ configuration: { shardSamples }, index }) {
    const files = await index('material-files');
    for (let block = 0; block < files.blocks(shardSamples); block++) {
      const tasks = (await files.block(block, shardSamples)).map(file => ({ file }));
      yield bankShard('materials', block, tasks);
    }
  },

  run({ file }, { configuration: { maxPixels, materialMaps } }) {
    return importFile('materials', file, async () => {
      const { asset, maps, made } = await readMaterialSet(file.path, materialMaps.size, maxPixels);
      const { provenance } = file;
      const source = hashId(`${provenance.pack}/${dirname(provenance.file)}/${asset}`);
      return materialItem(
        {
          hex: file.id,
          source,
          split: splitOf(source),
          rank: 0,
          maps,
          label: { sources: [{ texture: null, photo: source, provenance }], made },
        },
        materialMaps.quality,
      );
    });
  },
};
