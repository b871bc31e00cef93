import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { shorten } from './index.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const heapBytes = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

it('returns the beginning of a long text, whatever its characters', () => {
  expect(shorten('abc', 3)).toBe('abc');
  expect(shorten('ab\u{1f600}', 3)).toBe('ab\ud83d...');
  expect(shorten('"\n\u2028x', 3)).toBe('"\n\u2028...');
});

it('keeps nothing of the rest of a long text', () => {
  const before = heapBytes();
  const kept = Array.from({ length: 50 }, (_, i) => shorten(String(i % 10).repeat(1 << 20)));
  expect(heapBytes() - before).toBeLessThan(10 << 20);
  expect(kept).toHaveLength(50);
});
