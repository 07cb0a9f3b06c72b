import type { Box } from '../../extractors/image.ts';
import { jointExpression } from '../card/licence-terms.ts';
import { fileOf } from '../card/survey.ts';
import type { Sample2dLabel, Sample3dLabel, SilhouetteLabel } from '../labels.ts';

/** The label of a sample that has an image and a mask. */
export type MaskedLabel = Sample2dLabel | Sample3dLabel;
export type SampleLabel = MaskedLabel | SilhouetteLabel;

/** x, y, width, height. */
export function boxValues({ left, top, width, height }: Box): [number, number, number, number] {
  return [left, top, width, height];
}

/** A source, as labels of samples and of panel tests name it. */
interface NamedSource {
  readonly id: string;
  readonly photo?: string | undefined;
  readonly licence: string | null;
}

/** The licences of all that an image was made from, as one SPDX expression. */
export function licenceOf({ sources }: { readonly sources: readonly NamedSource[] }): string {
  return jointExpression(sources.map(({ licence }) => licence));
}

/** The id that a source of a label has in `attribution.csv`: that of the photo or file it was made from. */
export function sourceId({ id, photo }: NamedSource): string {
  return photo ?? fileOf(id);
}

/** What distinguishes the images of an instance, in one word. */
export function conditionOf(label: MaskedLabel): string {
  return 'condition' in label ? label.condition : label.varies.join('-');
}
