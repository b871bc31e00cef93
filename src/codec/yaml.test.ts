import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type StatusError } from '../meta/index.ts';
import { parseYaml, parseYamlInSteps } from './yaml.ts';
import { stringifyYaml, stringifyYamlInSteps } from './yaml-write.ts';

const read = (text: string) => parseYaml(Buffer.from(text));
const fault = (text: string): string => {
  try {
    read(text);
  } catch (error) {
    return (error as StatusError).message.replace('error converting YAML to JSON: yaml: ', '');
  }
  return 'accepted';
};

describe('parseYaml', () => {
  it('reads words and numbers as YAML 1.1 does, the key n included', () => {
    // `n: "1"` as a key is recorded in objects.badBodies ("yaml create").
    const text = `
n: "1"
list: [yes, Off, "yes", ~, null, 'null', !!str true, y1]
numbers: [12, -0x1F, 0o17, 017, 0b101, 1_000, 1.5, .5, 1., 1e3, 08, +7]
exact: [9007199254740993, 18446744073709551615]
text: [2024-01-01, 2024-01-01T00:00:00Z, "12", 1:30, 1.2.3, 0x, ., !!binary aGk=, v1]
5: five
`;
    expect(read(text)).toEqual({
      value: {
        false: '1',
        list: [true, false, 'yes', null, null, 'null', 'true', 'y1'],
        numbers: [12, -31, 15, 15, 5, 1000, 1.5, 0.5, 1, 1000, 8, 7],
        exact: [9007199254740993n, 18446744073709551615n],
        text: ['2024-01-01', '2024-01-01T00:00:00Z', '12', '1:30', '1.2.3', '0x', '.', 'aGk=', 'v1'],
        '5': 'five',
      },
      findings: [],
    });
  });

  it('tells of duplicate keys by their lines, in the recorded words; the last value counts', () => {
    // Recorded in objects.fieldValidation ("yaml strict").
    expect(read('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: fv\n  name: fv2\nbogus: 1\n')).toEqual({
      value: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'fv2' }, bogus: 1 },
      findings: ['yaml: unmarshal errors:\n  line 5: key "name" already set in map'],
    });
    expect(read('{"a":1,\n"a":2,\n"a":3}').findings).toEqual([
      'yaml: unmarshal errors:\n  line 2: key "a" already set in map\n  line 3: key "a" already set in map',
    ]);
  });

  it('follows aliases and merges maps; keys of the map itself win', () => {
    expect(read('a: &x {p: 1, q: 2}\nb: *x\nc:\n  <<: [*x, {q: 3, r: 4}]\n  p: 9\n').value).toEqual({
      a: { p: 1, q: 2 },
      b: { p: 1, q: 2 },
      c: { p: 9, q: 2, r: 4 },
    });
  });

  it('reads the first document, and an empty one as null', () => {
    expect(read('a: 1\n---\nb: 2\n').value).toEqual({ a: 1 });
    expect([read('').value, read('# nothing\n').value]).toEqual([null, null]);
  });

  it('reads a long document in steps, to the same end', () => {
    const items = Array.from({ length: 5_000 }, (_, i) => i);
    const bytes = Buffer.from(`a:\n${items.map((i) => `- ${i}\n`).join('')}`);
    const steps = parseYamlInSteps(bytes);
    let count = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) count++;
    // Each item is four tokens at the least: its mark, a space, a scalar, the end of its line.
    expect(count).toBeGreaterThanOrEqual(10);
    expect(step.value).toEqual({ value: { a: items }, findings: [] });
    expect(parseYamlInSteps(Buffer.from('{"a":1}')).next().done).toBe(true);
  });

  it('takes __proto__ as a key like any other', () => {
    const { value } = read('__proto__:\n  a: 1\nb: {<<: {__proto__: 2}}\n');
    if (!isJsonObject(value)) throw new Error('no object');
    expect(Object.keys(value)).toEqual(['__proto__', 'b']);
    expect(({} as JsonRecord)['a']).toBeUndefined();
  });
  type JsonRecord = { [key: string]: unknown };

  it.each([
    // Recorded in apply.errors ("broken yaml").
    ['a: [', 'line 1: did not find expected node content'],
    ['a: [1, 2', "line 1: did not find expected ',' or ']'"],
    ['a:\n\t- b', 'line 2: found character that cannot start any token'],
    ['a: b: c', 'line 1: mapping values are not allowed in this context'],
    ['a: *x', "unknown anchor 'x' referenced"],
    ['a: &x [*x]', "anchor 'x' value contains itself"],
    ['? [a]\n: b', 'line 1: a key must be text, a number or a boolean'],
    ['<<: 1', 'line 1: map merge requires map or sequence of maps as the value'],
    ['a: .inf', 'line 1: unsupported value: .inf'],
    [`a: ${'['.repeat(600)}${']'.repeat(600)}`, 'exceeded max depth'],
  ])('refuses %s', (text, message) => {
    expect(fault(text)).toBe(message);
  });

  it('refuses nesting that would exhaust the stack or the memory', () => {
    expect(fault('['.repeat(3_000_000))).toBe('exceeded max depth');
    expect(fault('- '.repeat(20_000))).toBe('line 1: exceeded max depth');
    expect(fault('-\n'.repeat(300_000))).toBe('document is too large: it may not have more than 400000 tokens');
    // Brackets in text nest nothing.
    expect(read(`a: |\n${'  [\n'.repeat(2000)}b: "${'['.repeat(2000)}"\n`).value).toEqual({
      a: '[\n'.repeat(2000),
      b: '['.repeat(2000),
    });
  });

  it('refuses a bomb of aliases, by values and by bytes', () => {
    const lists = Array.from(
      { length: 20 },
      (_, i) => `a${i + 1}: &a${i + 1} [${'*aN,'.repeat(9).replaceAll('N', String(i))}]`,
    );
    expect(fault(`a0: &a0 x\n${lists.join('\n')}\n`)).toBe('document contains excessive aliasing');
    expect(fault(`a: &a ${'x'.repeat(100_000)}\nb: [${'*a,'.repeat(100)}]\n`)).toBe(
      'document contains excessive aliasing',
    );
  });
});

describe('stringifyYaml', () => {
  it('has the recorded form: keys sorted, lists not indented, times in quotes', () => {
    // Recorded in objects.badBodies ("yaml list").
    const list = {
      kind: 'ConfigMapList',
      apiVersion: 'v1',
      metadata: { resourceVersion: '391' },
      items: [{ metadata: { name: 'x', creationTimestamp: '2024-01-01T00:00:00Z', resourceVersion: '391', uid: 'u' } }],
    };
    expect(stringifyYaml(list)).toBe(
      'apiVersion: v1\nitems:\n- metadata:\n    creationTimestamp: "2024-01-01T00:00:00Z"\n    name: x\n    resourceVersion: "391"\n    uid: u\nkind: ConfigMapList\nmetadata:\n  resourceVersion: "391"\n',
    );
  });

  it.each<[Json, string]>([
    [null, 'null\n'],
    ['a', 'a\n'],
    [[], '[]\n'],
    [{}, '{}\n'],
    [{ a: [], b: {}, c: null, d: true, e: 2n ** 60n }, 'a: []\nb: {}\nc: null\nd: true\ne: 1152921504606846976\n'],
    [[1, [2, { b: 3, c: [4] }]], '- 1\n- - 2\n  - b: 3\n    c:\n    - 4\n'],
    [{ a10: 1, a2: 2, 'a-': 3, B: 4 }, 'B: 4\na-: 3\na2: 2\na10: 1\n'],
    [
      { y: 'no', x: '1', w: '', v: '1:30', u: '0x1', t: '<<' },
      't: "<<"\nu: "0x1"\nv: "1:30"\nw: ""\nx: "1"\n"y": "no"\n',
    ],
    [
      { a: 'b: c', d: '- e', f: ' g', h: "it's: so", i: '#j', k: 'l #m', n1: 'o#p' },
      "a: 'b: c'\nd: '- e'\nf: ' g'\nh: 'it''s: so'\ni: '#j'\nk: 'l #m'\nn1: o#p\n",
    ],
    [
      { a: 'one\ntwo\n', b: 'one\ntwo', c: 'x\n\n', d: ' x\ny\n' },
      'a: |\n  one\n  two\nb: |-\n  one\n  two\nc: |+\n  x\n\nd: |2\n   x\n  y\n',
    ],
    [{ a: 'x \ny', b: 'tab\t', c: '\u0000' }, 'a: "x \\ny"\nb: "tab\\t"\nc: "\\u0000"\n'],
  ])('%o', (value, text) => {
    expect(stringifyYaml(value)).toBe(text);
    expect(read(text).value).toEqual(value);
  });

  it('writes long lists and long keys', () => {
    const value = { ['k'.repeat(2000)]: [Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, i]))] };
    expect(stringifyYaml(value)).toMatch(/^\? k{2000}\n:\n- k0: 0\n {2}k1: 1\n/);
    expect(read(stringifyYaml({ ['k'.repeat(2000)]: [1] })).value).toEqual({ ['k'.repeat(2000)]: [1] });
  });

  it('writes a large value in steps', () => {
    const stepsOf = (value: Json) => {
      let steps = 0;
      for (const _ of stringifyYamlInSteps(value)) steps++;
      return steps;
    };
    const texts = Array.from({ length: 50_000 }, (_, i) => `t${i}`);
    expect(stepsOf({ a: 1 })).toBe(0);
    expect(stepsOf(texts)).toBeGreaterThanOrEqual(5);
    expect(stepsOf({ deep: [{ list: texts.map((ip) => ({ ip })) }] })).toBeGreaterThanOrEqual(5);
    expect(stepsOf(Object.fromEntries(texts.map((text) => [text, 1])))).toBeGreaterThanOrEqual(5);
  });

  it('writes what parseYaml reads back, whatever the text', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.string({
        unit: fc.constantFrom('a', ' ', '\n', ':', '#', '-', "'", '"', '1', '.', '\t', '\\', '?', '|', '&', '{', ','),
        maxLength: 10,
      }),
      fc.constantFrom('y', 'null', '~', '0x1', '1e3', '2024-01-01', '__proto__', '...', '---', '=', 'é\n', '-', '.inf'),
    );
    const value: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.constant(null),
        fc.boolean(),
        fc.integer(),
        fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n }),
        fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }).map((n) => (n === 0 ? 0 : n)),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(text, tie('value'), { maxKeys: 3, noNullPrototype: true }),
      ),
    })).value;
    fc.assert(
      fc.property(value, (drawn) => {
        expect(read(stringifyYaml(drawn))).toEqual({ value: drawn, findings: [] });
      }),
      { numRuns: 1000 },
    );
  });
});
