import { describe, expect, it } from 'vitest';
import { Pace } from '../../pipeline/progress.ts';

/** Adds `perSecond` samples a second, in ten looks a second. */
function run(pace: Pace, from: number, to: number, perSecond: number): void {
  for (let tick = from * 10 + 1; tick <= to * 10; tick++) pace.add(perSecond / 10, tick / 10);
}

describe('the pace', () => {
  it('is the mean at first', () => {
    const pace = new Pace(100);
    run(pace, 100, 103, 8);
    expect(pace.rate).toBeCloseTo(8, 6);
  });

  it('is that of the last minutes when the yield has fallen, however long it was high', () => {
    const pace = new Pace(0);
    run(pace, 0, 3600, 10);
    run(pace, 3600, 3900, 1);
    // The mean of all that time is 9.3: the time left would be told nine times too short.
    expect(pace.rate).toBeGreaterThan(1);
    expect(pace.rate).toBeLessThan(1.1);
  });

  it('falls while nothing is found', () => {
    const pace = new Pace(0);
    run(pace, 0, 120, 10);
    pace.add(0, 180);
    expect(pace.rate).toBeLessThan(5);
  });
});
