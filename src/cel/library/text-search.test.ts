import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TextSearch } from './text-search.ts';

/** Repetitive texts, in which a part begins at many places. */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 200 }),
  fc
    .tuple(fc.constantFrom('a', 'ab', 'aab', 'ü', '😀'), fc.nat(60), fc.string({ unit: fc.constantFrom('a', 'b') }))
    .map(([unit, times, end]) => unit.repeat(times) + end),
);

it('finds what the methods of strings find', () => {
  fc.assert(
    fc.property(text, text, fc.nat(250), fc.nat(5), fc.nat(200), (around, part, index, limit, start) => {
      fc.pre(part !== '');
      const searched = `${around}${part.slice(start)}${part}${around}`;
      const search = new TextSearch(part);
      expect(search.firstIn(searched)).toBe(searched.indexOf(part));
      expect(search.firstIn(searched, index)).toBe(searched.indexOf(part, index));
      expect(search.lastIn(searched)).toBe(searched.lastIndexOf(part));
      expect(search.lastIn(searched, index)).toBe(searched.lastIndexOf(part, index));
      expect(search.split(searched, limit)).toEqual(searched.split(part, limit));
      expect(search.split(searched, 1_000)).toEqual(searched.split(part));
    }),
    { numRuns: 3_000 },
  );
});

it('takes time linear in the lengths of the part and the text', () => {
  const search = new TextSearch(`${'a'.repeat(50_000)}b${'a'.repeat(50_000)}`);
  const around = 'a'.repeat(1_000_000);
  // V8's own search takes minutes here.
  expect(search.firstIn(around)).toBe(-1);
  expect(search.lastIn(around)).toBe(-1);
  expect(search.split(`${around}b${around}`, 10)).toEqual(['a'.repeat(950_000), 'a'.repeat(950_000)]);
});
