import { describe, expect, it } from 'vitest';
import { estimateRounds, gainOf, type Round } from '../../pipeline/bank-stage.ts';

const rounds: Round[] = [
  { gives: 0.5, seconds: 1 },
  { gives: 0.1, seconds: 2 },
  { gives: 0.1, seconds: 2 },
];

describe('what rounds of looks will take', () => {
  it('ends within the first round when that gives enough, with the block that completes it', () => {
    const estimate = estimateRounds(110, 10_000, 100, rounds, 7);
    expect(estimate).toMatchObject({ samples: 110, shards: 3, bytesPerSample: 7 });
    expect(estimate.secondsPerSample * 110).toBeCloseTo(300);
    expect(estimate.warning).toBeUndefined();
  });

  it('goes on into later rounds', () => {
    // 500 in the first; 50 more come from half of the blocks.
    const estimate = estimateRounds(550, 1000, 100, rounds, 7);
    expect(estimate).toMatchObject({ samples: 550, shards: 15 });
    expect(estimate.secondsPerSample * 550).toBeCloseTo(1000 + 2 * 500);
    expect(estimate.warning).toBeUndefined();
  });

  it('says when the photos will not do', () => {
    const estimate = estimateRounds(1000, 1000, 300, rounds, 7);
    expect(estimate).toMatchObject({ samples: 700, shards: 12 });
    expect(estimate.warning).toBe(
      'expect about 700 in all, not the 1000 that were asked for. More photos help (--photos)',
    );
  });

  it('takes rounds that give nothing to their end', () => {
    const idle = [rounds[0]!, { gives: 0, seconds: 0 }];
    expect(estimateRounds(1000, 1000, 100, idle, 7)).toMatchObject({ samples: 500, shards: 20 });
  });

  it('gives for one of the first round', () => {
    expect(gainOf(rounds)).toBeCloseTo(1.4);
    expect(gainOf(rounds.slice(0, 1))).toBe(1);
  });
});
