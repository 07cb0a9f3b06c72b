/** A part of the work on a picture: these rows of all, so many samples more. */
export interface Portion {
  readonly firstRow: number;
  readonly rows: number;
  readonly samples: number;
}

/** What a draw should take, milliseconds: drivers end those that take long, and what shares the graphics card waits for them. */
const AIM = 30;

/** Rows are drawn in multiples of this where that is not too much: software works on small squares. */
const ROW_STEP = 16;

/** Samples a draw that are worth having fewer rows: a processor's lanes, which go through the shader together, then seldom wait. */
const SAMPLES = 8;

/** How fast what was learned of costly places is forgotten. */
const FADING = 0.9;

/**
 * Cuts the work on pictures into draws that take about {@link AIM} ms, by what earlier ones took: several samples of all rows at
 * once, or of a part of them. How it is cut does not change what is drawn.
 */
export class DrawPace {
  /** Milliseconds a sample of a pixel, of the costliest draw lately; at first, what slow software might take. */
  #cost = 0.01;
  #learned = false;

  /** How many samples the rows of a picture are to be given next. @param left that are still to be added. */
  samples(size: number, left: number): number {
    const ofRow = AIM / (this.#cost * size);
    const ofAll = Math.floor(ofRow / size);
    const ofFew = Math.floor(ofRow / ROW_STEP);
    return Math.min(left, Math.max(1, ofAll, Math.min(SAMPLES, ofFew)));
  }

  /** How many rows to draw next. @param left that lack these samples. */
  rows(size: number, left: number, samples: number): number {
    const affordable = Math.max(1, Math.floor(AIM / (this.#cost * size * samples)));
    return Math.min(left, affordable > ROW_STEP ? affordable - (affordable % ROW_STEP) : affordable);
  }

  /** Learns what a draw took. @param work samples of pixels. */
  took(milliseconds: number, work: number): void {
    this.#cost = Math.max(milliseconds / work, this.#learned ? FADING * this.#cost : 0);
    this.#learned = true;
  }
}
