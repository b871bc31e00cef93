import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type Json, MAX_DEPTH, type StatusError } from '../meta/index.ts';
import { parseYaml, parseYamlAsJson } from './yaml.ts';
import { stringifyYaml, stringifyYamlInSteps } from './yaml-write.ts';

/** Nested maps, each the value of an explicit key (`?`). */
const explicitValues = (depth: number): string =>
  Array.from({ length: depth }, (_, i) => `${' '.repeat(i)}? a\n${' '.repeat(i)}:\n`).join('');
const listsInMaps = (depth: number): string =>
  Array.from({ length: depth }, (_, i) => `${'  '.repeat(i)}- a:\n`).join('');
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
  it('resolves booleans, null and numbers as YAML 1.1 does, also in keys', () => {
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

  it('resolves only true and false as booleans where YAML 1.2 is meant', () => {
    // The output of kubectl 1.33 kustomize for these scalars.
    const text = Buffer.from('[yes, on, n, true, False, ~, 010, 1_000, 1e3, "true"]');
    expect(parseYaml(text, { coreBooleans: true }).value).toEqual([
      'yes',
      'on',
      'n',
      true,
      false,
      null,
      8,
      1000,
      1000,
      'true',
    ]);
  });

  it('resolves an integer of base 2, 8 or 16 beyond 64 bits as text', () => {
    const [most, more] = [`0x${'f'.repeat(16)}`, `0x1${'0'.repeat(16)}`];
    const zeros = `0b${'0'.repeat(1000)}1`;
    expect(
      read(`[${most}, -${most}, ${more}, -${more}, 0o${'7'.repeat(22)}, 0x${'f'.repeat(400)}, ${zeros}]`).value,
    ).toEqual([2n ** 64n - 1n, 1n - 2n ** 64n, more, `-${more}`, `0o${'7'.repeat(22)}`, `0x${'f'.repeat(400)}`, 1]);
  });

  it('reports duplicate keys with their lines, as the reference server does; the last value wins', () => {
    // Recorded in objects.fieldValidation ("yaml strict").
    expect(read('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: fv\n  name: fv2\nbogus: 1\n')).toEqual({
      value: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'fv2' }, bogus: 1 },
      findings: ['yaml: unmarshal errors:\n  line 5: key "name" already set in map'],
    });
    expect(read('{"a":1,\n"a":2,\n"a":3}').findings).toEqual([
      'yaml: unmarshal errors:\n  line 2: key "a" already set in map\n  line 3: key "a" already set in map',
    ]);
  });

  it('reports a duplicate key at its value, after those within the value', () => {
    const lines = (text: string) => read(text).findings.flatMap((found) => found.match(/line .*/g));
    const already = (line: number, key: string) => `line ${line}: key "${key}" already set in map`;
    const nested = 'l: {a: "1"}\nl:\n  b: "1"\n  b: "2"\nd:\n  z: "1"\n  z: "2"\n';
    expect(lines(nested)).toEqual([already(4, 'b'), already(3, 'l'), already(7, 'z')]);
    expect(lines('a: 1\na:\nb: 2\n')).toEqual([already(2, 'a')]);
    expect(lines('a: 1\na:\n- 1\n- 2\n')).toEqual([already(3, 'a')]);
  });

  it('resolves aliases and merge keys; keys of the map itself win', () => {
    expect(read('a: &x {p: 1, q: 2}\nb: *x\nc:\n  <<: [*x, {q: 3, r: 4}]\n  p: 9\n').value).toEqual({
      a: { p: 1, q: 2 },
      b: { p: 1, q: 2 },
      c: { p: 9, q: 2, r: 4 },
    });
  });

  it('returns the first document, and null for an empty one', () => {
    expect(read('a: 1\n---\nb: 2\n').value).toEqual({ a: 1 });
    expect([read('').value, read('# nothing\n').value]).toEqual([null, null]);
  });

  it('ignores errors after the first document', () => {
    for (const rest of ['---\n]', '...\n]\n', '--- !<', '...\n%x\n', `---\n${'- '.repeat(2000)}`]) {
      expect(read(`a: 1\n${rest}`).value).toEqual({ a: 1 });
    }
    expect(fault('a: 1\n]')).toBe('line 2: Unexpected flow-seq-end token in YAML stream: "]"');
  });

  it('is parsed as JSON only when it is a JSON object without duplicate keys', () => {
    const json = (text: string) => parseYamlAsJson(Buffer.from(text));
    expect(json('{"a":[1]}')).toEqual({ value: { a: [1] }, findings: [] });
    for (const other of ['{"a":1,"a":2}', '{a: 1}', 'a: 1', '', '[1]', '{"a":']) expect(json(other)).toBeUndefined();
  });

  it('keeps __proto__ as a plain key', () => {
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
  ])('rejects %s', (text, message) => {
    expect(fault(text)).toBe(message);
  });

  it.each([
    ['lists on one line', (depth: number) => `${'- '.repeat(depth)}a`],
    [
      'lists on separate lines',
      (depth: number) => Array.from({ length: depth }, (_, i) => `${' '.repeat(i)}-\n`).join(''),
    ],
    ['block maps', (depth: number) => Array.from({ length: depth }, (_, i) => `${' '.repeat(i)}a:\n`).join('')],
    ['values of explicit keys', explicitValues],
    ['flow lists', (depth: number) => '['.repeat(depth) + ']'.repeat(depth)],
    ['flow maps', (depth: number) => `${'{a: '.repeat(depth)}b${'}'.repeat(depth)}`],
    ['pairs in flow lists', (depth: number) => '[a: '.repeat(depth / 2) + ']'.repeat(depth / 2)],
    ['lists in maps', (depth: number) => listsInMaps(depth / 2)],
  ])('counts %s in the depth', (_, nested) => {
    const depthOf = (value: Json): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    expect(depthOf(read(nested(MAX_DEPTH)).value)).toBe(MAX_DEPTH);
    for (const depth of [MAX_DEPTH + 2, 5_000]) expect(fault(nested(depth))).toBe('exceeded max depth');
  });

  it.each(['- ', '? ', '- ? ', '? - ', ': ', '- : ', '[{', '{? ', '[: '])(
    'rejects %j repeated 5,000 and 100,000 times',
    (part) => {
      for (let i = 0; i < 3; i++) expect(fault(`${part.repeat(5_000)}a`)).not.toBe('accepted');
      expect(fault(part.repeat(100_000))).not.toBe('accepted');
    },
  );

  it('rejects more than 400,000 tokens, and does not count brackets inside scalars', () => {
    const tooMany = 'document is too large: it may not have more than 400000 tokens';
    expect(fault('-\n'.repeat(300_000))).toBe(tooMany);
    expect(fault(`[${'[],'.repeat(200_000)}]`)).toBe(tooMany);
    // Brackets inside scalars are not nesting.
    expect(read(`a: |\n${'  [\n'.repeat(2000)}b: "${'['.repeat(2000)}"\n`).value).toEqual({
      a: '[\n'.repeat(2000),
      b: '['.repeat(2000),
    });
  });

  it('reports the first error only', () => {
    expect(fault(`a: 1\n${']\n'.repeat(300_000)}`)).toBe('line 2: Unexpected flow-seq-end token in YAML stream: "]"');
    expect(fault(`a: "\\q"\nb: "\\z"\n`)).toBe('line 1: Invalid escape sequence \\q');
    expect(fault(`${'- [\n'.repeat(200)}a: "\\q"`)).toMatch(/^line \d+: /);
  });

  it('rejects more than 100 directives, and one of more than 200 characters', () => {
    const tooMany = 'too many directives, or one that is too long';
    const directive = (i: number) => `%TAG !t${i}! tag:example.com,2000:app/\n`;
    const some = Array.from({ length: 100 }, (_, i) => directive(i)).join('');
    expect(read(`${some}---\na: !t7!x 1\n`).value).toEqual({ a: 1 });
    expect(fault(`${some}${directive(100)}---\na: 1\n`)).toBe(tooMany);
    expect(fault(`%TAG !t! ${'x'.repeat(200)}\n---\na: 1\n`)).toBe(tooMany);
  });

  it('ignores the tags of collections', () => {
    expect(read('a: !!omap [x: 1, x: 2]\nb: !!set {p, q}\nc: !!pairs [x: 1]\n').value).toEqual({
      a: [{ x: 1 }, { x: 2 }],
      b: { p: null, q: null },
      c: [{ x: 1 }],
    });
  });

  it('replaces unpaired surrogates with U+FFFD', () => {
    expect(read('["\\ud800", "\\ud83d\\ude00", "\\uD800\\n": 1]').value).toEqual(['\ufffd', '😀', { '\ufffd\n': 1 }]);
  });

  it('rejects control characters', () => {
    for (const character of ['\0', '\u0001', '\u001f', '\u007f', '\u0090']) {
      expect(fault(`a: b${character}`)).toBe('control characters are not allowed');
    }
    expect(read('a: "\t\u0085\u00a0\ufeff"\r\n').value).toEqual({ a: '\t\u0085\u00a0\ufeff' });
  });

  it('rejects aliases that add too many values or characters', () => {
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
  it('has the form of the reference server: keys sorted, lists not indented, times quoted', () => {
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
  ])('writes %o', (value, text) => {
    expect(stringifyYaml(value)).toBe(text);
    expect(read(text).value).toEqual(value);
  });

  it('escapes characters beyond U+FFFF', () => {
    // Recorded from kubectl 1.32 (create configmap -o yaml).
    expect(stringifyYaml({ a: '😀', b: 'é漢' })).toBe('a: "\\U0001F600"\nb: é漢\n');
  });

  it('writes a key of 2,000 characters as an explicit key, and a map of 100,000 keys', () => {
    const value = { ['k'.repeat(2000)]: [Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, i]))] };
    expect(stringifyYaml(value)).toMatch(/^\? k{2000}\n:\n- k0: 0\n {2}k1: 1\n/);
    expect(read(stringifyYaml({ ['k'.repeat(2000)]: [1] })).value).toEqual({ ['k'.repeat(2000)]: [1] });
  });

  it('yields between the parts of a large value, not in a small one', () => {
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

  it('sorts the keys of a large map in steps', () => {
    const keys = Array.from({ length: 3_000 }, (_, i) => `k${(i * 7) % 3_000}`);
    let steps = 0;
    for (const _ of stringifyYamlInSteps(Object.fromEntries(keys.map((key) => [key, {}])))) steps++;
    expect(steps).toBeGreaterThanOrEqual(6);
    const text = stringifyYaml(Object.fromEntries(keys.map((key) => [key, 1])));
    expect(text).toBe(keys.map((_, i) => `k${i}: 1\n`).join(''));
  });

  it('writes text that parseYaml parses to the same value', () => {
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
