import { readFile } from 'node:fs/promises';
import { tightMask } from '../../extractors/placed-mask.ts';
import { decodeMask } from '../bank-images.ts';
import { bankShard, type ImportTask, importFile, type NewItem, parseBankSource, photoOf } from '../bank-stage.ts';
import { asInputFault, InputFault } from '../faults.ts';
import { shapeItem } from '../shape-item.ts';
import type { Stage } from '../stage.ts';

/**
 * A folder of shape images (LAS&T's published PNGs, say) → shape bank, checked, cut to their boxes and binarised. The
 * photo a shape comes from is its file name up to the first `_`: shapes of one photo stay in one split.
 */
export const importShapes: Stage<ImportTask> = {
  name: 'import-shapes',
  title: 'imported shapes',
  unit: 'shapes',
  reads: [],
  fills: 'shapes',
  asked: ({ shapes }) => shapes,
  atMost: ({ importsAsked }) => !importsAsked.shapes,

  async estimate({ configuration: { shapes, shardSamples }, index }) {
    const samples = Math.min(shapes, (await index('shape-files')).facts.files);
    return { samples, shards: Math.ceil(samples / shardSamples), bytesPerSample: 4600, secondsPerSample: 0.005 };
  },

  async shardCount({ configuration: { shardSamples }, index }) {
    return (await index('shape-files')).blocks(shardSamples);
  },

  async *plan({ configuration: { shardSamples }, index }) {
    const files = await index('shape-files');
    for (let block = 0; block < files.blocks(shardSamples); block++) {
      yield bankShard(
        'shapes',
        block,
        (await files.block(block, shardSamples)).map(file => ({ file })),
      );
    }
  },

  run({ file }, { configuration }) {
    return importFile('shapes', file, async (): Promise<NewItem> => {
      const { kind } = parseBankSource(configuration.shapeBank!);
      const bytes = await readFile(file.path).catch(error => {
        throw asInputFault(error, 'cannot read');
      });
      const whole = await decodeMask(bytes);
      const tight = tightMask(whole);
      if (!tight) throw new InputFault('expected a white shape on black, found no white pixel');
      return shapeItem('shapes', tight.mask, {
        kind,
        ...photoOf(file),
        file: file.id,
        rank: 0,
        area: tight.area,
        picture: whole,
        provenance: file.provenance,
      });
    });
  },
};
