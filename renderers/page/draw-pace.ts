/** A part of the work on a picture: these rows of all, so many samples more. */
export interface Portion {
  readonly firstRow: number;
  readonly rows: number;
  readonly samples: number;
}

/** What a draw should take, milliseconds: drivers end those that take long, and what shares the graphics card waits for them. */
const AIM = 30;

/** Rows are drawn in multiples of this, but for the last: software works on small squares. */
const ROW_STEP = 16;

/** How fast what was learned of costly places is forgotten. */
const FADING = 0.9;

/**
 * Cuts the work on pictures into draws that take about {@link AIM} ms, by what earlier ones took: several samples at once, or a
 * sample of a part of the rows. How it is cut does not change what is drawn.
 */
export class DrawPace {
  /** Milliseconds a sample of a pixel, of the costliest draw lately; unknown at first. */
  #cost: number | undefined;

  /** What to draw next. @param row first one that lacks its sample. @param samples that are still to be added. */
  next(size: number, row: number, samples: number): Portion {
    if (this.#cost === undefined) return { firstRow: row, rows: Math.min(ROW_STEP, size - row), samples: 1 };
    const rows = AIM / (this.#cost * size);
    if (row === 0 && rows >= size)
      return { firstRow: 0, rows: size, samples: Math.min(samples, Math.floor(rows / size)) };
    const step = Math.max(ROW_STEP, Math.floor(rows / ROW_STEP) * ROW_STEP);
    return { firstRow: row, rows: Math.min(step, size - row), samples: 1 };
  }

  /** Learns what a draw took. */
  took(milliseconds: number, { rows, samples }: Portion, size: number): void {
    const cost = milliseconds / (rows * size * samples);
    this.#cost = Math.max(cost, FADING * (this.#cost ?? 0));
  }
}
