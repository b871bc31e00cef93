import { describe, expect, it } from 'vitest';
import { printTree } from '../testing/print.ts';
import { type ParseOptions, parse } from './parse.ts';

const all: ParseOptions = {
  ...{ optionalSyntax: true, twoVariableMacros: true, bindings: true, mathMacros: true, escapedIdentifiers: true },
};

function tree(source: string, options: ParseOptions = all): string {
  const { expr, issues } = parse(source, options);
  expect(issues).toEqual([]);
  return printTree(expr!);
}

describe('grammar', () => {
  it.each([
    ['a', 'a'],
    ['.a', '.a'],
    ['.a.b', '.a.b'],
    ['.f(1)', '.f(1)'],
    ['(a)', 'a'],
    ['a + b * c', '_+_(a, _*_(b, c))'],
    ['a * b + c', '_+_(_*_(a, b), c)'],
    ['a - b - c', '_-_(_-_(a, b), c)'],
    ['a / b % c * d', '_*_(_%_(_/_(a, b), c), d)'],
    ['a + b < c + d', '_<_(_+_(a, b), _+_(c, d))'],
    ['a < b == c', '_==_(_<_(a, b), c)'],
    ['a <= b', '_<=_(a, b)'],
    ['a >= b', '_>=_(a, b)'],
    ['a != b', '_!=_(a, b)'],
    ['a in b', '@in(a, b)'],
    ['a > b && c || d', '_||_(_&&_(_>_(a, b), c), d)'],
    ['a ? b : c ? d : e', '_?_:_(a, b, _?_:_(c, d, e))'],
    ['(a ? b : c) ? d : e', '_?_:_(_?_:_(a, b, c), d, e)'],
    ['!a', '!_(a)'],
    ['!!a', 'a'],
    ['!!!a.b', '!_(a.b)'],
    ['-a', '-_(a)'],
    ['---a', '-_(a)'],
    ['!-1', '!_(-1)'],
    ['a.b.c', 'a.b.c'],
    ['a.b(c).d', 'a.b(c).d'],
    ['a[0].b["c"]', '_[_](_[_](a, 0).b, "c")'],
    ['f()', 'f()'],
    ['f(a, b)', 'f(a, b)'],
    ['a.if.in_.package()', 'a.if.in_.package()'],
    ['[]', '[]'],
    ['[,]', '[]'],
    ['[1, 2,]', '[1, 2]'],
    ['{}', '{}'],
    ['{,}', '{}'],
    ['{1: 2, "a": b,}', '{1: 2, "a": b}'],
    ['Msg{}', 'Msg{}'],
    ['.a.B{c: 1, in_: 2,}', '.a.B{c: 1, in_: 2}'],
    ['a.b{c: d}.c', 'a.b{c: d}.c'],
    ['a // comment\n + b // another', '_+_(a, b)'],
    ['\t a\r\n\f.b', 'a.b'],
  ])('%s', (source, printed) => {
    expect(tree(source)).toBe(printed);
  });
});
