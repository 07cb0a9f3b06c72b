import { describe, expect, it } from 'vitest';
import { unlessAborted } from '../../pipeline/unless-aborted.ts';

const never = new Promise<never>(() => {});

describe('work that stops nowhere by itself', () => {
  it('is waited for', async () => {
    const { signal } = new AbortController();
    expect(await unlessAborted(Promise.resolve(7), signal)).toBe(7);
    await expect(unlessAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken');
  });

  it('is given up at the signal, before and on the way', async () => {
    const controller = new AbortController();
    const waiting = unlessAborted(never, controller.signal);
    controller.abort(new Error('Ctrl-C'));
    await expect(waiting).rejects.toThrow('Ctrl-C');
    await expect(unlessAborted(never, controller.signal)).rejects.toThrow('Ctrl-C');
  });
});
