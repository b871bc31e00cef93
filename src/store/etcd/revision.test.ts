import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { realClock } from '../testing/real-time.ts';
import { Members } from './members.ts';
import { loadRpc } from './rpc.ts';

describe('reads of the latest revision', () => {
  let members: Members;
  /** Those that have begun and are not answered yet. */
  let inFlight: { answer(revision: number): void; fail(): void }[];
  let begun: number;
  beforeEach(async () => {
    inFlight = [];
    begun = 0;
    members = await Members.open({
      endpoints: ['http://127.0.0.1:1'],
      tls: async () => ({ ca: undefined, cert: undefined, key: undefined }),
      probe: Buffer.from('/'),
      clock: realClock(),
      rpc: await loadRpc(),
    });
    members.read = () => {
      begun++;
      return new Promise((resolve, reject) => {
        inFlight.push({
          answer: (revision) => resolve({ header: { revision } } as never),
          fail: () => reject(new Error('no answer')),
        });
      });
    };
  });
  afterEach(() => members.close());
  const next = async () => {
    await expect.poll(() => inFlight.length).toBeGreaterThan(0);
    return inFlight.shift();
  };

  it('are shared only with calls that came before they began', async () => {
    const first = members.revision();
    const during = members.revision();
    (await next())?.answer(1);
    expect(await first).toBe(1);
    // The next one has not begun.
    const after = members.revision();
    expect(begun).toBe(1);
    const second = await next();
    const late = members.revision();
    second?.answer(2);
    expect(await Promise.all([during, after])).toEqual([2, 2]);
    (await next())?.answer(3);
    expect(await late).toBe(3);
    expect(begun).toBe(3);
  });

  it('fail together with the unanswered one before them, and succeed later', async () => {
    const calls = [members.revision(), members.revision(), members.revision()];
    (await next())?.fail();
    for (const call of await Promise.allSettled(calls)) expect(call.status).toBe('rejected');
    expect(begun).toBe(1);
    const later = members.revision();
    (await next())?.answer(4);
    expect(await later).toBe(4);
  });
});
