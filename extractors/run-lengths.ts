/**
 * A mask as COCO writes it: lengths of runs of clear and set pixels in turn, down the columns from the left, the first of
 * them clear (and possibly 0 long).
 */
export interface RunLengths {
  readonly height: number;
  readonly width: number;
  readonly counts: readonly number[];
}
