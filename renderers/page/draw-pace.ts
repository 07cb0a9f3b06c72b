/** What a draw should take, milliseconds: drivers end those that take long, and what shares the graphics card waits for them. */
const AIM = 30;

/** Rows are drawn in multiples of this where that is not too much: software works on small squares. */
const ROW_STEP = 16;

/** Samples a draw that are worth having fewer rows: a processor's lanes, which go through the shader together, then seldom wait. */
const SAMPLES = 8;

/** A draw that took less makes the next one larger by this factor at most: a costly part of the picture may follow a cheap one. */
const GROWTH = 1.2;
/** And one that took more makes it smaller by this at most: something else may have kept the machine busy. */
const SHRINKING = 0.25;

/** Draws of a smaller part of what was planned, the last rows, say, tell of the cost of a draw and not of its size. */
const TELLING = 0.4;

/**
 * Cuts the work on pictures into draws that take about {@link AIM} ms, by what earlier ones took: several samples of all rows at
 * once, or of a part of them. How it is cut does not change what is drawn.
 */
export class DrawPace {
  /** Samples of pixels that a draw should add; at first, what slow software can. */
  #work = 4096;

  /** How many samples the rows of a picture are to be given next. @param left that are still to be added. */
  samples(size: number, left: number): number {
    const ofAll = Math.floor(this.#work / (size * size));
    const ofFew = Math.floor(this.#work / (size * ROW_STEP));
    return Math.min(left, Math.max(1, ofAll, Math.min(SAMPLES, ofFew)));
  }

  /** How many rows to draw next. @param left that lack these samples. */
  rows(size: number, left: number, samples: number): number {
    const affordable = Math.max(1, Math.floor(this.#work / (size * samples)));
    return Math.min(left, affordable > ROW_STEP ? affordable - (affordable % ROW_STEP) : affordable);
  }

  /** Learns what a draw took. @param work samples of pixels. */
  took(milliseconds: number, work: number): void {
    if (milliseconds < AIM && work < TELLING * this.#work) return;
    const factor = (work * AIM) / Math.max(milliseconds, 1) / this.#work;
    this.#work *= Math.min(GROWTH, Math.max(SHRINKING, factor));
  }
}
