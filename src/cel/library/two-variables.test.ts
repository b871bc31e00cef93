import { expect, test } from 'vitest';
import { check } from '../check/check.ts';
import { createEnvironment } from '../check/environment.ts';
import { formatType } from '../check/format.ts';
import { CelError, EntriesValue } from '../values.ts';
import { standardLibrary } from './standard.ts';
import { twoVariablesLibrary } from './two-variables.ts';

const environment = createEnvironment({ variables: [], libraries: [standardLibrary, twoVariablesLibrary] });

test.each([
  ['["a"].all(i, v, i > 0 && v > "")', 'bool'],
  ['["a"].transformList(i, v, i + size(v))', 'list(int)'],
  ['["a"].transformMap(i, v, v == "b")', 'map(int, bool)'],
  ['{"a": 1}.transformMap(k, v, v > 1, v + 1)', 'map(string, int)'],
  ['{"a": 1}.transformMapEntry(k, v, {v: k})', 'map(int, string)'],
])('%s has the type %s', (source, type) => {
  expect(formatType(check(environment, source).type)).toBe(type);
});

test('an entry is inserted once', () => {
  const [insert, merge] = twoVariablesLibrary.functions['cel.@mapInsert'] ?? [];
  const map = new EntriesValue([['a', 1]]);
  const inserted = insert?.call(map, 'b', 2);
  expect(inserted instanceof EntriesValue && [...inserted.keys()]).toEqual(['a', 'b']);
  expect(() => merge?.call(map, map)).toThrow(new CelError('insert failed: key already exists'));
});
