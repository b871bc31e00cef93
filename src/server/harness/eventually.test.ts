import { describe, expect, it } from 'vitest';
import { eventually } from './eventually.ts';

describe('eventually', () => {
  it('resolves with the result of the first attempt that neither throws nor results in false', async () => {
    let attempts = 0;
    const result = await eventually(
      () => {
        attempts += 1;
        if (attempts === 1) throw new Error('not yet');
        return attempts > 2 && 'done';
      },
      { interval: 1 },
    );
    expect([result, attempts]).toEqual(['done', 3]);
    expect(await eventually(async () => undefined)).toBeUndefined();
  });

  it('fails after the timeout with the last error', async () => {
    const failing = eventually(() => Promise.reject(new Error('2 of 3 are ready')), { timeout: '50ms', interval: 5 });
    await expect(failing).rejects.toMatchObject({
      message: 'not within 50 ms: 2 of 3 are ready',
      cause: { message: '2 of 3 are ready' },
    });
    const never = eventually(() => false, { timeout: 20, interval: 5 });
    await expect(never).rejects.toThrow('not within 20 ms: the last attempt resulted in false');
    const hanging = eventually(() => new Promise(() => {}), { timeout: 20 });
    await expect(hanging).rejects.toThrow('not within 20 ms: the first attempt has not ended');
    await expect(eventually(() => true, { timeout: '1 second' })).rejects.toThrow(
      'timeout "1 second" must be a duration',
    );
  });

  it('moves a clock on between attempts, up to the timeout', async () => {
    let now = 100;
    const clock = {
      now: () => now,
      advance: async (ms: number | string) => {
        now += Number(ms);
      },
    };
    expect(await eventually(() => now >= 1_600 && now, { clock, timeout: '2s', interval: 500 })).toBe(1_600);
    now = 0;
    const seen: number[] = [];
    const failing = eventually(() => seen.push(now) < 0, { clock, timeout: '2500ms' });
    await expect(failing).rejects.toThrow('not within 2500 ms');
    expect(seen).toEqual([0, 1_000, 2_000, 2_500]);
  });
});
