import { readFile } from 'node:fs/promises';
import type { Mask } from '../../extractors/image.ts';
import { shapeStatistics } from '../../extractors/shape-statistics.ts';
import { coverageFacts } from '../../renderers/coverage.ts';
import { bankItemId } from '../bank.ts';
import { decodeMask, encodeGrey } from '../bank-images.ts';
import { bankShard, type ImportTask, importFile, type NewItem, parseBankSource, photoOf } from '../bank-stage.ts';
import { asInputFault, InputFault } from '../faults.ts';
import { encodeLabel, shapeLabelSchema } from '../labels.ts';
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
      const { mask, area } = tight(whole);
      const { width, height } = mask;
      const id = bankItemId('shapes', file.id, 0);
      const { source, split } = photoOf(file);
      const label = encodeLabel(shapeLabelSchema, {
        id,
        kind,
        split,
        width,
        height,
        area,
        found: null,
        annotated: null,
        projected: null,
        statistics: shapeStatistics(mask),
        photo: { id: source, width: whole.width, height: whole.height },
        provenance: file.provenance,
      });
      return {
        id,
        files: { png: await encodeGrey(mask) },
        label,
        facts: { source, split, kind, rank: 0, width, height },
      };
    });
  },
};

/** The mask cut to its bounding box. @throws InputFault when nothing is set. */
function tight(mask: Mask): { mask: Mask; area: number } {
  const { box, area } = coverageFacts(mask);
  if (area === 0) throw new InputFault('expected a white shape on black, found no white pixel');
  const data = new Uint8Array(box.width * box.height);
  for (let row = 0; row < box.height; row++) {
    const start = (box.top + row) * mask.width + box.left;
    data.set(mask.data.subarray(start, start + box.width), row * box.width);
  }
  return { mask: { data, width: box.width, height: box.height }, area };
}
