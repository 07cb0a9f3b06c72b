import { describe, expect, it } from 'vitest';
import { LogProgress, Pace, type Progress } from '../../pipeline/progress.ts';

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

describe('a log', () => {
  it('has a line at the ends of a stage, and one every ten seconds between', () => {
    const lines: { msg: string; stage?: string; made?: number; number?: number }[] = [];
    let now = 0;
    const log: Progress = new LogProgress({ write: line => lines.push(JSON.parse(line)) }, () => now);
    const stage = (name: string, seconds: number) => {
      log.begin({ name, title: name, unit: 'images', total: seconds });
      for (let i = 0; i < 4 * seconds; i++) {
        now += 0.25;
        log.advance(1, []);
      }
      log.end();
    };
    stage('short', 9);
    expect(lines.map(({ msg }) => msg)).toEqual(['stage begins', 'stage ends']);
    lines.length = 0;
    stage('long', 35);
    expect(lines.map(({ msg, made }) => [msg, made])).toEqual([
      ['stage begins', undefined],
      ['progress', 40],
      ['progress', 80],
      ['progress', 120],
      ['stage ends', 140],
    ]);
    lines.length = 0;
    for (const what of ['files', 'labels']) for (let i = 1; i <= 25; i++, now++) log.count(what, i);
    expect(lines.map(({ msg, number }) => [msg, number])).toEqual([
      ['files', 11],
      ['files', 21],
      ['labels', 11],
      ['labels', 21],
    ]);
  });
});
