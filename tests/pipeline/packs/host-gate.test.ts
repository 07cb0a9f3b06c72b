import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HostGate } from '../../../pipeline/packs/host-gate.ts';

describe('HostGate', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('lets nobody begin during a pause, and all of them after it', async () => {
    const gate = new HostGate(2);
    const { signal } = new AbortController();
    const begun: number[] = [];
    gate.pause(1000);
    const all = [0, 1, 2].map(i => gate.run(async () => void begun.push(i), signal));
    await vi.advanceTimersByTimeAsync(999);
    expect(begun).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await Promise.all(all);
    expect(begun.sort()).toEqual([0, 1, 2]);
  });

  it('gives a place free when work fails, and wakes those who wait when it is all over', async () => {
    const gate = new HostGate(1);
    const controller = new AbortController();
    await expect(gate.run(() => Promise.reject(new Error('no')), controller.signal)).rejects.toThrow('no');
    gate.pause(60_000);
    const waiting = [0, 1].map(() => gate.run(async () => {}, controller.signal));
    const ends = Promise.allSettled(waiting);
    controller.abort(new Error('Ctrl-C'));
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
});
