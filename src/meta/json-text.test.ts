import { expect, test } from 'vitest';
import { readJsonTextInSteps } from './json-text.ts';

function read(text: string) {
  const steps = readJsonTextInSteps(text);
  for (let count = 1; ; count++) {
    const { done, value } = steps.next();
    if (done === true) return { value, count };
  }
}

const fields = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, {}])));

test('untrusted JSON is read in steps in proportion to its members', () => {
  const [one, two] = [read(fields(10_000)), read(fields(20_000))];
  expect(JSON.stringify(two.value)).toBe(fields(20_000));
  expect(one.count).toBeGreaterThanOrEqual(10);
  expect(two.count).toBeGreaterThanOrEqual(1.5 * one.count);
});

test.each(['', '{', `{"a":"${'x'.repeat(100_000)}`, '['.repeat(100_000), `${'['.repeat(600)}${']'.repeat(600)}`])(
  'a text that is no JSON, or nests too deep, has no value: %.20s',
  (text) => {
    expect(read(text).value).toBeUndefined();
  },
);
