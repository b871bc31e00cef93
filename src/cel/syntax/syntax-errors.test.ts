import { expect, it } from 'vitest';
import { formatIssues } from '../issues.ts';
import { parse } from './parse.ts';

const start =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** The line, the column and the message of each issue, as the reference prints them. */
const cases: [string, string[]][] = [
  ['self.n +', [`1:9 mismatched input '<EOF>' expecting ${start}`]],
  ['self.n <= ', [`1:11 mismatched input '<EOF>' expecting ${start}`]],
  ['', [`1:0 mismatched input '<EOF>' expecting ${start}`]],
  ['in', [`1:1 mismatched input 'in' expecting ${start}`, `1:3 mismatched input '<EOF>' expecting ${start}`]],
  ['?', [`1:1 mismatched input '?' expecting ${start}`, `1:2 mismatched input '<EOF>' expecting ${start}`]],
  ['--', ["1:3 no viable alternative at input '-'", `1:3 mismatched input '<EOF>' expecting ${start}`]],
  ['!', [`1:2 extraneous input '<EOF>' expecting ${start}`]],
  ['-!a', ["1:2 no viable alternative at input '-!'"]],
  ['object.', ["1:8 no viable alternative at input '.'"]],
  ['object.spec. == 1', ["1:14 no viable alternative at input '. =='"]],
  ['a.true', ["1:3 mismatched input 'true' expecting IDENTIFIER"]],
  ['a.1', ["1:2 extraneous input '.1' expecting <EOF>"]],
  ['a.?', ["1:4 mismatched input '<EOF>' expecting {IDENTIFIER, ESC_IDENTIFIER}"]],
  ['a.?b(c)', ["1:5 mismatched input '(' expecting <EOF>"]],
  ['a b', ["1:3 extraneous input 'b' expecting <EOF>"]],
  ['a)', ["1:2 extraneous input ')' expecting <EOF>"]],
  ['(a', ["1:3 missing ')' at '<EOF>'"]],
  ['((a)', ["1:5 missing ')' at '<EOF>'"]],
  ['f(a', ["1:4 missing ')' at '<EOF>'"]],
  ['f(a,)', [`1:5 mismatched input ')' expecting ${start}`]],
  [
    'f(,a)',
    [
      "1:3 extraneous input ',' expecting {'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
    ],
  ],
  ['f(a b)', ["1:5 extraneous input 'b' expecting ')'"]],
  ['a ? b', ["1:6 mismatched input '<EOF>' expecting ':'"]],
  ['a ? b c', ["1:7 missing ':' at 'c'"]],
  ['a ? : c', [`1:5 extraneous input ':' expecting ${start}`, "1:8 mismatched input '<EOF>' expecting ':'"]],
  ['[1 2]', ["1:4 extraneous input '2' expecting {']', ','}"]],
  ['[1, + 2]', ["1:5 missing ']' at '+'", "1:8 extraneous input ']' expecting <EOF>"]],
  ['[1', ["1:3 mismatched input '<EOF>' expecting {']', ','}"]],
  [
    'a[',
    [
      "1:3 mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
    ],
  ],
  ['a[1 2]', ["1:5 extraneous input '2' expecting ']'"]],
  ['{a}', ["1:3 mismatched input '}' expecting ':'"]],
  ['{a: }', [`1:5 mismatched input '}' expecting ${start}`]],
  ['{1: 2 3: 4}', ["1:7 mismatched input '3' expecting {'}', ','}"]],
  ['M{1: 2}', ["1:3 mismatched input '1' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"]],
  ['M{a}', ["1:4 mismatched input '}' expecting ':'"]],
  ['M{a: 1 b: 2}', ["1:8 mismatched input 'b' expecting {'}', ','}"]],
  [
    'M{{a}}',
    [
      "1:3 extraneous input '{' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}",
      "1:5 mismatched input '}' expecting ':'",
      "1:6 extraneous input '}' expecting <EOF>",
    ],
  ],
  ['`a`', [`1:1 mismatched input '\`a\`' expecting ${start}`]],
  ['`a`()', [`1:1 extraneous input '\`a\`' expecting ${start}`, `1:5 mismatched input ')' expecting ${start}`]],
  ['a.`b`()', ["1:6 mismatched input '(' expecting <EOF>"]],
  [
    'a.`$`',
    [
      "1:3 token recognition error at: '`$'",
      "1:5 token recognition error at: '`'",
      "1:6 no viable alternative at input '.'",
    ],
  ],
  ['a = b', ["1:3 token recognition error at: '= '", "1:5 extraneous input 'b' expecting <EOF>"]],
  ['a & b', ["1:3 token recognition error at: '& '", "1:5 extraneous input 'b' expecting <EOF>"]],
  ['a | b', ["1:3 token recognition error at: '| '", "1:5 extraneous input 'b' expecting <EOF>"]],
  ['$a', ["1:1 token recognition error at: '$'"]],
  ["'abc", ["1:1 token recognition error at: ''abc'", `1:5 mismatched input '<EOF>' expecting ${start}`]],
  ['"a\\qb"', ["1:1 token recognition error at: '\"a\\q'", "1:6 token recognition error at: '\"'"]],
  ['"a\nb"', ["1:1 token recognition error at: '\"a\n'", "2:2 token recognition error at: '\"'"]],
  ['1 +\n  * 2', [`2:3 extraneous input '*' expecting ${start}`]],
  [
    'a ? b ((?))',
    [
      `1:9 mismatched input '?' expecting ${start}`,
      `1:10 mismatched input ')' expecting ${start}`,
      "1:12 mismatched input '<EOF>' expecting ':'",
    ],
  ],
  ['0x', ["1:2 extraneous input 'x' expecting <EOF>"]],
  ['1.5u', ["1:4 extraneous input 'u' expecting <EOF>"]],
  ['a..b', ["1:3 no viable alternative at input '..'"]],
  ['1 + + 2', [`1:5 extraneous input '+' expecting ${start}`]],
  ['true false', ["1:6 extraneous input 'false' expecting <EOF>"]],
  ['a == b == ', [`1:11 mismatched input '<EOF>' expecting ${start}`]],
  ['a && || b', [`1:6 extraneous input '||' expecting ${start}`]],
  ['a <> b', [`1:4 extraneous input '>' expecting ${start}`]],
  ['a === b', ["1:5 token recognition error at: '= '"]],
  ['a++', [`1:3 mismatched input '+' expecting ${start}`, `1:4 mismatched input '<EOF>' expecting ${start}`]],
  ['x.all(y, y > )', [`1:14 mismatched input ')' expecting ${start}`]],
  ["a in ['é', 中 ]", ["1:12 token recognition error at: '中'"]],
  ['.', ["1:2 no viable alternative at input '.'"]],
  ['-1.', ["1:4 no viable alternative at input '.'"]],
];

it.each(cases)('%j', (source, expected) => {
  const { expr, issues } = parse(source);
  expect(expr).toBeUndefined();
  const printed = issues.map((issue) => formatIssues(source, [issue]).split('\n | ')[0]);
  expect(printed).toEqual(expected.map((text) => `ERROR: <input>:${text.replace(' ', ': Syntax error: ')}`));
});

it('stops after 30 recoveries', () => {
  const { issues } = parse('== '.repeat(100));
  expect(issues.at(-1)!.message).toBe('Syntax error: error recovery attempt limit exceeded: 30');
});

it('stops when one recovery skips 256 tokens', () => {
  const { issues } = parse('a b '.repeat(1000));
  expect(issues.map(({ offset, message }) => [offset, message])).toEqual([
    [-1, 'error recovery token lookahead limit exceeded: 256'],
    [2, "Syntax error: mismatched input 'b' expecting <EOF>"],
  ]);
});

it('stops after 100 issues', () => {
  const { issues } = parse('$'.repeat(1000));
  expect(issues).toHaveLength(101);
  expect(issues[100]).toEqual({ offset: 100, message: 'Syntax error: More than 100 syntax errors' });
});

it.each([
  ['(', 'a b', ')'],
  ['a + a * (', 'a b', ')'],
  ['[', '', ''],
  ['a ? a : ', '+', ''],
])('stops at the depth limit of %s', (opening, middle, closing) => {
  const { expr, issues } = parse(opening.repeat(5000) + middle + closing.repeat(5000));
  expect(expr).toBeUndefined();
  expect(issues).toContainEqual({ offset: -1, message: 'expression recursion limit exceeded: 250' });
});

it('explains errors at the greatest depth', () => {
  const { issues } = parse(`${'a < a + a * ('.repeat(82)}a b${')'.repeat(82)}`);
  expect(issues.map(({ message }) => message)).toEqual(["Syntax error: extraneous input 'b' expecting ')'"]);
});
