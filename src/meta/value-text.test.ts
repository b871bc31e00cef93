import { expect, it } from 'vitest';
import type { Json } from './json.ts';
import { valueText } from './value-text.ts';

it.each<[Json, string]>([
  [null, '<nil>'],
  ['a b', 'a b'],
  [['', 'x', [1, null]], '[ x [1 <nil>]]'],
  [{ ports: [{ containerPort: 80 }], image: 'x', '': true }, 'map[:true image:x ports:[map[containerPort:80]]]'],
])('%j is shown as %s, at any length from its beginning', (value, text) => {
  expect(valueText(value, 100)).toBe(text);
  for (let length = 0; length < text.length; length++) expect(valueText(value, length)).toBe(text.slice(0, length));
});

it('of a long value no more is read than is shown', () => {
  const list = Array.from<Json>({ length: 1_000 }).fill('x');
  Object.defineProperty(list, 500, {
    get: () => {
      throw new Error('read');
    },
  });
  expect(valueText(list, 100)).toBe(`[${'x '.repeat(100)}`.slice(0, 100));
});
