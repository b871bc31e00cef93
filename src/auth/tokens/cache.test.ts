import { describe, expect, it } from 'vitest';
import type { Authenticated, TokenAuthenticator } from '../types.ts';
import { cachedAuthenticator, type TokenLifetimes } from './cache.ts';
import { emptyTokenCounts } from './counts.ts';
import { invalidToken } from './types.ts';

const found: Authenticated = { user: { name: 'ada', groups: [] }, audiences: ['here'] };

function make(authenticate: TokenAuthenticator = () => found, lifetimes?: TokenLifetimes) {
  const clock = { time: 0, now: () => clock.time };
  const asked: string[] = [];
  const counts = emptyTokenCounts().cache;
  const cached = cachedAuthenticator(
    (token, audiences) => {
      asked.push(`${token} ${audiences.join()}`);
      return authenticate(token, audiences);
    },
    clock,
    counts,
    lifetimes,
  );
  return { cached, clock, asked, counts };
}

describe('cachedAuthenticator', () => {
  it('answers for a valid token at once for ten seconds', async () => {
    const { cached, clock, asked } = make();
    expect(await cached('a', ['here'])).toBe(found);
    clock.time = 9_999;
    expect(cached('a', ['here'])).toBe(found);
    expect(asked).toEqual(['a here']);
    clock.time = 10_000;
    expect(await cached('a', ['here'])).toBe(found);
    expect(asked).toHaveLength(2);
  });

  it('keeps each token apart, and each list of audiences', async () => {
    const { cached, asked } = make();
    await cached('a', ['here']);
    await cached('b', ['here']);
    await cached('a', ['here', 'there']);
    await cached('a', ['here,there']);
    await cached('a', []);
    expect(asked).toHaveLength(5);
  });

  it('remembers for other times, too, and which tokens nobody recognises', async () => {
    const answers = [found, undefined];
    const { cached, clock, asked } = make((token) => answers[Number(token)], { valid: 120_000, unknown: 5_000 });
    const both = async () => [await cached('0', ['here']), await cached('1', ['here'])];
    expect(await both()).toEqual(answers);
    clock.time = 4_999;
    expect(await both()).toEqual(answers);
    expect(asked).toEqual(['0 here', '1 here']);
    clock.time = 119_999;
    await both();
    expect(asked.slice(2)).toEqual(['1 here']);
    clock.time = 120_000;
    await both();
    expect(asked.slice(3)).toEqual(['0 here']);
  });

  it('remembers a valid token among any number of unknown ones', async () => {
    const { cached, asked } = make((token) => (token === 'a' ? found : undefined), { valid: 1_000, unknown: 1_000 });
    await cached('a', ['here']);
    for (let i = 0; i < 10_001; i++) await cached(`${i}`, ['here']);
    await cached('a', ['here']);
    await cached('0', ['here']);
    expect(asked.slice(10_002)).toEqual(['0 here']);
  });

  it('looks up an invalid token each time', async () => {
    const { cached, asked } = make(() => undefined);
    expect(await cached('a', [])).toBeUndefined();
    expect(await cached('a', [])).toBeUndefined();
    const refusing = make(() => Promise.reject(invalidToken('no')));
    await expect(refusing.cached('a', [])).rejects.toThrow('no');
    await expect(refusing.cached('a', [])).rejects.toThrow('no');
    expect([asked.length, refusing.asked.length]).toEqual([2, 2]);
  });

  it.each<[string, (size: number) => Authenticated]>([
    ['audiences', (size) => ({ ...found, audiences: ['x'.repeat(size)] })],
    ['many audiences', (size) => ({ ...found, audiences: Array(size / 8).fill('') })],
    ['a name', (size) => ({ ...found, user: { name: 'x'.repeat(size), groups: [] } })],
    ['groups', (size) => ({ ...found, user: { name: 'a', groups: ['x'.repeat(size)] } })],
    ['extra', (size) => ({ ...found, user: { name: 'a', groups: [], extra: { a: ['x'.repeat(size)] } } })],
  ])('does not keep a token whose %s take more than 16 Ki characters', async (_, resultOf) => {
    const asked = async (size: number) => {
      const { cached, asked } = make(() => resultOf(size));
      await cached('a', ['here']);
      await cached('a', ['here']);
      return asked.length;
    };
    expect([await asked(16_000), await asked(16_400)]).toEqual([1, 2]);
  });

  it('shares one lookup between requests with the same token', async () => {
    let finish: (value: Authenticated) => void = () => {};
    const { cached, asked } = make(
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    const all = [1, 2, 3].map(async () => cached('a', []));
    finish(found);
    expect(await Promise.all(all)).toEqual([found, found, found]);
    expect(asked).toHaveLength(1);
  });

  it('counts hits and misses, lookups by their outcome, and what is under way', async () => {
    let settle: (value: Authenticated | Promise<never>) => void = () => {};
    const { cached, counts } = make(
      () =>
        new Promise((resolve) => {
          settle = resolve;
        }),
    );
    const both = [cached('a', []), cached('a', [])];
    expect(counts).toEqual({ hits: 0, misses: 2, fetched: 0, failed: 0, inFlight: 1, blocked: 2 });
    settle(found);
    for (const one of both) await one;
    await cached('a', []);
    const refused = cached('b', []);
    settle(Promise.reject(invalidToken('no')));
    await expect(refused).rejects.toThrow('no');
    expect(counts).toEqual({ hits: 1, misses: 3, fetched: 1, failed: 1, inFlight: 0, blocked: 0 });
  });

  it('keeps 10,000 tokens, the latest ones', async () => {
    const { cached, asked } = make();
    for (let i = 0; i <= 10_000; i++) await cached(`token ${i}`, []);
    asked.length = 0;
    await cached('token 1', []);
    await cached('token 10000', []);
    expect(asked).toEqual([]);
    await cached('token 0', []);
    expect(asked).toEqual(['token 0 ']);
  });
});
