import { expect, it } from 'vitest';
import { formatIssues } from './issues.ts';

const at = (offset: number, message = 'wrong') => ({ offset, message });

it('prints the line of an issue with a mark below', () => {
  expect(formatIssues('self.nope > 1', [at(4, "undefined field 'nope'")])).toBe(
    "ERROR: <input>:1:5: undefined field 'nope'\n | self.nope > 1\n | ....^",
  );
});

it('shows no line of an empty expression', () => {
  expect(formatIssues('', [at(0)])).toBe('ERROR: <input>:1:0: wrong');
});

it('prints issues in the order of their positions', () => {
  expect(formatIssues('a\n+ b\n+ c', [at(8, 'c'), at(0, 'a'), at(4, 'b'), at(4, 'also b')])).toBe(
    [
      'ERROR: <input>:1:1: a\n | a\n | ^',
      'ERROR: <input>:2:3: b\n | + b\n | ..^',
      'ERROR: <input>:2:3: also b\n | + b\n | ..^',
      'ERROR: <input>:3:3: c\n | + c\n | ..^',
    ].join('\n'),
  );
});

it('prints marks of the width of what is above', () => {
  expect(formatIssues("'é' in [中, 𝒂]", [at(8), at(11)])).toBe(
    [
      "ERROR: <input>:1:9: wrong\n | 'é' in [中, 𝒂]\n | .．......＾",
      "ERROR: <input>:1:12: wrong\n | 'é' in [中, 𝒂]\n | .．......．..＾",
    ].join('\n'),
  );
});

it('prints tabs as spaces, and issues at the end', () => {
  expect(formatIssues('\ta +', [at(4)])).toBe('ERROR: <input>:1:5: wrong\n |  a +\n | ....^');
  expect(formatIssues('a\n', [at(2)])).toBe('ERROR: <input>:2:1: wrong\n | \n | ^');
});

it('prints issues of the expression as a whole without a line', () => {
  expect(formatIssues('a', [at(0), at(-1, 'too deep')])).toBe(
    'ERROR: <input>:-1:0: too deep\nERROR: <input>:1:1: wrong\n | a\n | ^',
  );
});

it('prints no line of more than 16,384 bytes, and no more than 100 issues', () => {
  expect(formatIssues('a'.repeat(16_385), [at(3)])).toBe('ERROR: <input>:1:4: wrong');
  expect(formatIssues('é'.repeat(8_193), [at(3)])).toBe('ERROR: <input>:1:4: wrong');
  const lines = formatIssues('a'.repeat(16_385), new Array(120).fill(at(3))).split('\n');
  expect(lines).toHaveLength(101);
  expect(lines[100]).toBe('20 more errors were truncated');
});
