import type { Mask } from '../extractors/image.ts';
import { shapeStatistics } from '../extractors/shape-statistics.ts';
import { bankItemId } from './bank.ts';
import { encodeGrey } from './bank-images.ts';
import type { BankKind } from './bank-kinds.ts';
import type { NewItem } from './bank-stage.ts';
import { encodeLabel, type ShapeLabel, shapeLabelSchema } from './labels.ts';

/** What is known of a shape beside its mask. How it came about is told by one of the last three; by none of an imported one. */
export interface ShapeFacts
  extends Pick<ShapeLabel, 'kind' | 'split' | 'provenance'>,
    Partial<Pick<ShapeLabel, 'found' | 'annotated' | 'projected'>> {
  /** Id of what the shape comes from: photo, file or mesh. */
  readonly source: string;
  /** Which of the shapes of the id that the item's id begins with, and the bank's first order. */
  readonly rank: number;
  /** What the item's id begins with, where that is not the source. */
  readonly file?: string;
  /** Set pixels of the mask. */
  readonly area: number;
  /** Size of the picture that the shape was found in. */
  readonly picture: { readonly width: number; readonly height: number };
}

/** A shape as an item of a bank of shapes: its mask as PNG, and its label. @param mask tight. */
export async function shapeItem(bank: BankKind, mask: Mask, facts: ShapeFacts): Promise<NewItem> {
  const { kind, split, source, file = source, rank, area, picture, provenance } = facts;
  const { found = null, annotated = null, projected = null } = facts;
  const { width, height } = mask;
  const id = bankItemId(bank, file, rank);
  return {
    id,
    files: { png: await encodeGrey(mask) },
    label: encodeLabel(shapeLabelSchema, {
      id,
      kind,
      split,
      width,
      height,
      area,
      found,
      annotated,
      projected,
      statistics: shapeStatistics(mask),
      photo: { id: source, width: picture.width, height: picture.height },
      provenance,
    }),
    facts: { source, split, kind, rank, width, height },
  };
}
