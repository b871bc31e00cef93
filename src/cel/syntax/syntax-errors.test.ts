import { expect, it } from 'vitest';
import { formatIssues } from '../issues.ts';
import { parse } from './parse.ts';

const start =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

it.each([
  ['self.n +', [[9, `mismatched input '<EOF>' expecting ${start}`]]],
  ['object.', [[8, `no viable alternative at input '.'`]]],
])('syntax errors: %s', (source, expected) => {
  const { expr, issues } = parse(source);
  expect(expr).toBeUndefined();
  expect(issues.map(({ offset, message }) => [offset + 1, message])).toEqual(
    expected.map(([column, message]) => [column, `Syntax error: ${message}`]),
  );
});

it('formats issues with their line', () => {
  expect(formatIssues('self.n +', parse('self.n +').issues)).toBe(
    `ERROR: <input>:1:9: Syntax error: mismatched input '<EOF>' expecting ${start}\n | self.n +\n | ........^`,
  );
});
