import { expect, it } from 'vitest';
import { textAnswer } from './answers.ts';
import { Warnings, withWarnings } from './warnings.ts';

const warningsOf = (texts: string[]) => withWarnings(textAnswer(200, ''), new Set(texts)).headers['warning'];

it('quotes a text as recorded', () => {
  expect(warningsOf(['duplicate field "metadata.name"'])).toEqual(['299 - "duplicate field \\"metadata.name\\""']);
});

it('escapes quotes and line breaks, so that a text adds no header', () => {
  expect(warningsOf(['a\\b"c\r\nx-evil: 1'])).toEqual(['299 - "a\\\\b\\"c x-evil: 1"']);
});

it('sends text beyond ASCII as UTF-8 bytes', () => {
  expect(Buffer.from((warningsOf(['zu groß']) as string[])[0] as string, 'latin1').toString()).toBe('299 - "zu groß"');
});

it('adds no header for a duplicate or an empty text', () => {
  expect(warningsOf(['a', 'a', 'b'])).toEqual(['299 - "a"', '299 - "b"']);
  expect(warningsOf([])).toBeUndefined();
});

it('shortens long texts when the total exceeds 4096 characters, and drops the rest', () => {
  const texts = Array.from({ length: 30 }, (_, i) => String(i).padStart(2, '0').repeat(200));
  const kept = warningsOf(texts) as string[];
  // 16 texts of 256 characters are 4096.
  expect(kept).toHaveLength(16);
  expect(kept[0]).toBe(`299 - "${'00'.repeat(128)}"`);
  const whole = warningsOf(['x'.repeat(4000)]) as string[];
  expect(whole[0]).toHaveLength(4000 + '299 - ""'.length);
});

it('includes the text that exceeds the limit, and counts Unicode characters', () => {
  expect(warningsOf(Array.from({ length: 20 }, (_, i) => `${String(i).padEnd(250)}x`))).toHaveLength(17);
  const faces = (count: number) => '\u{1F600}'.repeat(count);
  const [whole] = warningsOf([faces(4096)]) as [string];
  expect(Buffer.from(whole, 'latin1').toString()).toBe(`299 - "${faces(4096)}"`);
  const [cut] = warningsOf([faces(4097)]) as [string];
  expect(Buffer.from(cut, 'latin1').toString()).toBe(`299 - "${faces(256)}"`);
});

it('reads no more texts than could fit', () => {
  let asked = 0;
  const texts = new Set(Array.from({ length: 100_000 }, (_, i) => String(i)));
  const counting = new Proxy(texts, {
    get: (set, name) =>
      name === Symbol.iterator
        ? function* () {
            for (const text of set) {
              asked++;
              yield text;
            }
          }
        : Reflect.get(set, name, set),
  });
  expect(withWarnings(textAnswer(200, ''), counting).headers['warning']).toHaveLength(1_302);
  expect(asked).toBe(4_097);
});

it('keeps no more distinct warnings of a request than 65,536 characters, of which each counts 256 at most', () => {
  const warnings = new Warnings();
  for (let i = 0; i < 10_000; i++) warnings.add(`${i} ${'x'.repeat(5_000)}`).add('0');
  expect(warnings.size).toBe(257);
});
