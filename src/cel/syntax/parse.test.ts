import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Expr } from '../ast.ts';
import { formatIssues } from '../issues.ts';
import { printTree } from '../testing/print.ts';
import { type ParseOptions, parse } from './parse.ts';

const all: ParseOptions = {
  optionalSyntax: true,
  twoVariableMacros: true,
  bindings: true,
  mathMacros: true,
  escapedIdentifiers: true,
};

function tree(source: string, options: ParseOptions = all): string {
  const { expr, issues } = parse(source, options);
  expect(issues).toEqual([]);
  return printTree(expr!);
}

function issuesOf(source: string, options: ParseOptions = all): (readonly [number, string])[] {
  const { expr, issues } = parse(source, options);
  expect(expr).toBeUndefined();
  return issues.map(({ offset, message }) => [offset, message]);
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
    ['a.?b', '_?._(a, "b")'],
    ['a.?b[?0]', '_[?_](_?._(a, "b"), 0)'],
    ['[?a, b, ?c[?d]]', '[?a, b, ?_[?_](c, d)]'],
    ['{?"k": v}', '{?"k": v}'],
    ['Msg{?f: v}', 'Msg{?f: v}'],
    ['a.`b-c/d.e f`', 'a.b-c/d.e f'],
    ['a.?`in`', '_?._(a, "in")'],
    ['Msg{`in`: 1}', 'Msg{in: 1}'],
  ])('%s', (source, printed) => {
    expect(tree(source)).toBe(printed);
  });

  it('balances && and || so that their trees have the least depth', () => {
    expect(tree('a && b && c')).toBe('_&&_(_&&_(a, b), c)');
    expect(tree('a || b || c || d')).toBe('_||_(_||_(a, b), _||_(c, d))');
    expect(tree('a && b && c && d && e')).toBe('_&&_(_&&_(_&&_(a, b), c), _&&_(d, e))');
  });

  it('gives nodes the offsets of their operators, in code points', () => {
    const { expr } = parse('"😀" + a.b(c)[d] ? e.f : .g');
    const offsets: string[] = [];
    const visit = (node: Expr): void => {
      offsets.push(`${node.kind === 'call' ? node.function : printTree(node)}@${node.offset}`);
      if (node.kind === 'select') visit(node.operand);
      if (node.kind !== 'call') return;
      if (node.target !== undefined) visit(node.target);
      node.args.forEach(visit);
    };
    visit(expr!);
    expect(offsets).toEqual([
      ...['_?_:_@16', '_+_@4', '"😀"@0', '_[_]@12', 'b@9', 'a@6', 'c@10', 'd@13'],
      ...['e.f@19', 'e@18', '.g@25'],
    ]);
  });

  it('numbers the nodes from 1 without gaps', () => {
    const { expr } = parse('a.all(x, x > [1, {"k": b.c}][0]) && has(d.e)');
    const ids = [
      ...JSON.stringify(expr, (_key, value) => (typeof value === 'bigint' ? 0 : value)).matchAll(/"id":(\d+)/g),
    ];
    const sorted = ids.map(([, id]) => Number(id)).sort((one, other) => one - other);
    expect(new Set(sorted).size).toBe(sorted.length);
    expect(sorted[0]).toBe(1);
  });
});

describe('literals', () => {
  it.each([
    ['true', 'true'],
    ['false', 'false'],
    ['null', 'null'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['9223372036854775807', '9223372036854775807'],
    ['0x7fffffffffffffff', '9223372036854775807'],
    ['-0x8000000000000000', '-9223372036854775808'],
    ['000000000000000000000000000001', '1'],
    ['--1', '1'],
    ['1--1', '_-_(1, -1)'],
    ['18446744073709551615u', '18446744073709551615u'],
    ['0xFFU', '255u'],
    ['-1u', '-_(1u)'],
    ['1.5', '1.5'],
    ['.5e1', '5'],
    ['1e3', '1000'],
    ['1.0E-2', '0.01'],
    ['-0.0', '-0'],
    ['1e-400', '0'],
    [`'a"b'`, '"a\\"b"'],
    ['"\\a\\b\\f\\n\\r\\t\\v\\\\\\\'\\"\\?\\`"', JSON.stringify('\x07\b\f\n\r\t\v\\\'"?`')],
    [String.raw`"\x41\X42\u0043\U0001F600\101"`, '"ABC😀A"'],
    [String.raw`"\377"`, '"ÿ"'],
    [String.raw`r"\n" + R'\q'`, String.raw`_+_("\\n", "\\q")`],
    ["'''a'b''\nc'''", `"a'b''\\nc"`],
    ['"""a"b\r\nc\rd"""', '"a\\"b\\nc\\nd"'],
    ['r"""\\"""', '"\\\\"'],
    ["''", '""'],
    ["''''''", '""'],
    ['b"abc"', 'b"abc"'],
    [String.raw`b'ÿ\xff\377\n'`, JSON.stringify('Ã¿ÿÿ\n').replace(/^/, 'b')],
    [String.raw`bR'\x'`, 'b"\\\\x"'],
    ['[b, r, br]', '[b, r, br]'],
  ])('%s', (source, printed) => {
    expect(tree(source)).toBe(printed);
  });

  it.each([
    ['9223372036854775808', [[0, 'invalid int literal']]],
    ['1 + -9223372036854775809', [[4, 'invalid int literal']]],
    [`${'9'.repeat(1000)}`, [[0, 'invalid int literal']]],
    ['18446744073709551616u', [[0, 'invalid uint literal']]],
    ['1e400', [[0, 'invalid double literal']]],
    [String.raw`"\ud800"`, [[0, 'invalid unicode code point']]],
    [String.raw`"\U00110000"`, [[0, 'invalid unicode code point']]],
    [String.raw`b"\u0041"`, [[0, 'unable to unescape string']]],
  ])('%s is refused', (source, issues) => {
    expect(issuesOf(source)).toEqual(issues);
  });
});

describe('names', () => {
  it.each(['as', 'break', 'const', 'for', 'if', 'namespace', 'package', 'var', 'while'])('%s is reserved', (name) => {
    expect(issuesOf(`a + ${name}`)).toEqual([[4, `reserved identifier: ${name}`]]);
    expect(issuesOf(`${name}(1)`)).toEqual([[0, `reserved identifier: ${name}`]]);
    expect(tree(`a.${name}`)).toBe(`a.${name}`);
  });

  it('takes __proto__ and constructor as names', () => {
    expect(tree('__proto__.constructor(toString{__proto__: 1})')).toBe('__proto__.constructor(toString{__proto__: 1})');
  });
});

describe('syntax that is not enabled', () => {
  it.each([
    ['a.?b', [[1, "unsupported syntax '.?'"]]],
    ['a && a[?b]', [[6, "unsupported syntax '[?'"]]],
    ['[a, ?b]', [[4, "unsupported syntax '?'"]]],
    [
      'Msg{?f: v} && {?"k": v}',
      [
        [4, "unsupported syntax '?'"],
        [15, "unsupported syntax '?'"],
      ],
    ],
    ['{?a[?b]: c, d: e}', [[1, "unsupported syntax '?'"]]],
    ['a.`b`', [[2, "unsupported syntax: '`'"]]],
    ['Msg{a: 1, `b`: 2}', [[4, "unsupported syntax: '`'"]]],
  ])('%s', (source, issues) => {
    expect(issuesOf(source, {})).toEqual(issues);
  });

  it('leaves macros of other sets as calls', () => {
    expect(tree('a.all(i, v, b)', {})).toBe('a.all(i, v, b)');
    expect(tree('a.optMap(x, b)', {})).toBe('a.optMap(x, b)');
    expect(tree('cel.bind(x, a, x)', {})).toBe('cel.bind(x, a, x)');
    expect(tree('math.greatest(1, 2)', {})).toBe('math.greatest(1, 2)');
  });
});

describe('limits', () => {
  const depth = 'expression recursion limit exceeded: 250';
  const height = 'max recursion depth exceeded';
  it.each([
    ['(', 249, 'a', ')', undefined],
    ['(', 250, 'a', ')', depth],
    ['[', 99_000, '', '', depth],
    ['f(', 40_000, '', '', depth],
    ['{a: ', 20_000, '', '', depth],
    ['a ? a : ', 249, 'a', '', undefined],
    ['a ? a : ', 250, 'a', '', depth],
    ['a + ', 250, 'a', '', undefined],
    ['a + ', 251, 'a', '', height],
    ['a + ', 24_000, 'a', '', height],
    ['a.', 250, 'a', '', undefined],
    ['a.', 251, 'a', '', height],
    ['a.b().', 10_000, 'a', '', height],
    ['a < ', 20_000, 'a', '', height],
    ['a && ', 19_000, 'a', '', undefined],
    ['!', 99_000, 'a', '', undefined],
    ['-', 99_000, 'a', '', undefined],
    ['a.all(x, ', 240, 'x', ')', undefined],
  ])('%s repeated %i times', (opening, count, middle, closing, message) => {
    const source = opening.repeat(count) + middle + closing.repeat(count);
    const { issues } = parse(source);
    expect(issues).toEqual(message === undefined ? [] : [{ offset: -1, message }]);
  });

  it('counts the depth of rules, as operators nest them too', () => {
    const nested = (count: number): string => `${'a + a * ('.repeat(count)}a${')'.repeat(count)}`;
    expect(parse(nested(83)).issues).toEqual([]);
    expect(parse(nested(84)).issues).toEqual([{ offset: -1, message: depth }]);
  });

  it('refuses sources of more than 100,000 code points', () => {
    expect(parse(`"${'😀'.repeat(99_998)}"`).issues).toEqual([]);
    expect(issuesOf(`"${'a'.repeat(99_999)}"`)).toEqual([
      [-1, 'expression code point size exceeds limit: size: 100001, limit 100000'],
    ]);
  });

  it('bounds the depth of trees, which macros add to', () => {
    const nested = (count: number): string => `${'o.optMap(x, '.repeat(count)}x${')'.repeat(count)}`;
    expect(parse(nested(245), all).issues).toEqual([]);
    const terms = `x.transformList(i, v, p, ${'a && '.repeat(60)}`;
    const wide = `${terms.repeat(240)}x${')'.repeat(240)}`;
    for (const source of [wide, `[${wide}].optMap(x, x)`]) {
      expect(parse(source, all).issues).toEqual([{ offset: -1, message: 'expression depth limit exceeded: 1000' }]);
    }
  });

  it('bounds the nodes of trees whose macros copy their operands', () => {
    expect(tree(`a${'.optMap(x, x)'.repeat(3)}`)).toContain('optional.of(');
    expect(issuesOf(`a${'.optMap(x, x)'.repeat(100)}`)).toEqual([[-1, 'expression node limit exceeded: 250000']]);
  });
});

describe('properties', () => {
  const pieces = [
    ...['a', 'b', 'in', 'true', 'if', '1', '2.5', '3u', '"s"', "b'x'", '`e`', '.', ',', '(', ')', '[', ']', '{', '}'],
    ...['?', ':', '+', '-', '*', '!', '&&', '||', '<', '==', '=', '&', '$', '"', "'''", '\\', '\n', ' ', '// c', '😀'],
    ...['has(a.b)', '.all(x, ', '.map(x, ', 'f(', 'M{', '\ud800'],
  ];

  it('parses any text to a tree or to issues within the text', () => {
    const text = fc.oneof(
      fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((list) => list.join('')),
      fc.string(),
    );
    fc.assert(
      fc.property(text, (source) => {
        const { expr, issues } = parse(source, all);
        expect(expr === undefined).toBe(issues.length > 0);
        const size = Array.from(source).length;
        for (const { offset } of issues) expect(offset >= -1 && offset <= size).toBe(true);
        expect(formatIssues(source, issues).startsWith('ERROR: <input>:')).toBe(issues.length > 0);
      }),
      { numRuns: 2000 },
    );
  });

  it('parses the source of any tree to that tree', () => {
    type Pair = { readonly source: string; readonly printed: string };
    const leaf = fc.constantFrom(
      ...['a', '.b', 'true', '"s"', '1', '-2', '0.5', '3u', 'null'].map((source) => ({ source, printed: source })),
    );
    const binary = fc.constantFrom('+', '-', '*', '/', '%', '<', '==', 'in', '&&', '||');
    const { node } = fc.letrec<{ node: Pair }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 5, withCrossShrink: true },
        leaf,
        fc.tuple(binary, tie('node'), tie('node')).map(([operator, one, other]) => ({
          source: `(${one.source}) ${operator} (${other.source})`,
          printed: `${operator === 'in' ? '@in' : `_${operator}_`}(${one.printed}, ${other.printed})`,
        })),
        fc.tuple(tie('node'), tie('node'), tie('node')).map(([test, yes, no]) => ({
          source: `(${test.source}) ? (${yes.source}) : (${no.source})`,
          printed: `_?_:_(${test.printed}, ${yes.printed}, ${no.printed})`,
        })),
        tie('node').map(({ source, printed }) => ({ source: `!(${source})`, printed: `!_(${printed})` })),
        tie('node').map(({ source, printed }) => ({ source: `(${source}).f`, printed: `${printed}.f` })),
        fc.tuple(tie('node'), fc.array(tie('node'), { maxLength: 3 })).map(([target, args]) => ({
          source: `(${target.source}).g(${args.map(({ source }) => source).join(', ')})`,
          printed: `${target.printed}.g(${args.map(({ printed }) => printed).join(', ')})`,
        })),
        fc.array(tie('node'), { maxLength: 3 }).map((elements) => ({
          source: `[${elements.map(({ source }) => `${source},`).join(' ')}]`,
          printed: `[${elements.map(({ printed }) => printed).join(', ')}]`,
        })),
        fc.tuple(tie('node'), tie('node')).map(([key, value]) => ({
          source: `{${key.source}: ${value.source}}`,
          printed: `{${key.printed}: ${value.printed}}`,
        })),
      ),
    }));
    fc.assert(
      fc.property(node, ({ source, printed }) => {
        expect(tree(source)).toBe(printed);
      }),
      { numRuns: 300 },
    );
  });
});
