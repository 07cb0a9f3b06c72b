import { type Bank, itemSize, openBank, readItem } from '../bank.ts';
import { decodeMask } from '../bank-images.ts';
import type { RunFolder } from '../run-folder.ts';
import { evenlySpread } from '../shape-diversity.ts';
import { SPLITS } from '../splits.ts';
import { SAME_SHAPE } from '../validate/duplicates.ts';
import { type AlikeShapes, NearestShapes } from '../validate/nearest-shapes.ts';
import { grouped, paragraph, section, table } from './html.ts';

/** Shapes of each bank that are compared; `validate` compares all. */
const MOST_SHAPES = 300;
const SHOWN_PAIRS = 20;

/** Shapes of one split that are nearly one of another. @throws DamagedFile when a bank is not what was written. */
export async function twinSection(folder: RunFolder): Promise<string> {
  const shapes = new NearestShapes();
  const ids: string[] = [];
  let all = 0;
  for (const kind of ['shapes', 'semantic-shapes', 'projected-shapes'] as const) {
    const bank = await openBank(folder.bank(kind));
    if (!bank) continue;
    all += bank.items;
    for (const item of evenlySpread(bank.items, MOST_SHAPES)) {
      shapes.add(await decodeMask((await readItem(bank, item)).image), bank.columns.flags[item]! & 3);
      ids.push(`${itemSize(bank, item).id} (${splitOf(bank, item)})`);
    }
  }
  if (ids.length === 0) return '';
  const pairs: AlikeShapes[] = [];
  for await (const pair of shapes.pairs(SAME_SHAPE)) pairs.push(pair);
  pairs.sort((a, b) => b.likeness - a.likeness);
  const compared = `${grouped(ids.length)} of ${grouped(all)} shapes were compared with the nearest ones of the other splits, at any size and turn, and mirrored`;
  if (pairs.length === 0)
    return section('duplicates', 'Duplicates', paragraph(`${compared}: none overlaps by ${SAME_SHAPE} or more.`));
  const rows = pairs
    .slice(0, SHOWN_PAIRS)
    .map(({ shape, other, likeness }) => [ids[shape]!, ids[other]!, likeness.toFixed(2)]);
  return section(
    'duplicates',
    'Duplicates',
    paragraph(`${compared}: ${pairs.length} overlap by ${SAME_SHAPE} or more.`),
    table(['shape', 'is nearly', 'overlap'], rows),
  );
}

const splitOf = ({ columns }: Bank, item: number) => SPLITS[columns.flags[item]! & 3]!;
