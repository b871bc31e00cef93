import { describe, expect, it } from 'vitest';
import { CustomColumnsPrinter, columnsOfFile, columnsOfSpec } from './custom-columns.ts';
import { descriptionOf } from './description.ts';
import { goText } from './go-value.ts';
import { compactJson, indentedJson } from './json.ts';
import { jsonPath } from './jsonpath/evaluate.ts';
import { sortedBy } from './sort.ts';
import { TabWriter } from './tab-writer.ts';
import { goTemplate } from './template/evaluate.ts';
import { unifiedDiff } from './unified-diff.ts';
import { foldedYaml } from './yaml.ts';

const list = {
  kind: 'List',
  items: [
    { metadata: { name: 'a', labels: { 'example.com/x': '1' } }, spec: { n: 2, on: true } },
    { metadata: { name: 'b' }, spec: { n: 10, on: false } },
  ],
};

describe('JSONPath', () => {
  it.each([
    ['{.items[*].metadata.name}', 'a b'],
    ['{.items[0].metadata.labels.example\\.com/x}', '1'],
    ["{.items[0].metadata.labels['example.com/x']}", '1'],
    ['{range .items[*]}{.metadata.name}:{.spec.n}{"\\n"}{end}', 'a:2\nb:10\n'],
    ['{.items[?(@.spec.n>5)].metadata.name}', 'b'],
    ['{.items[?(@.spec.on==true)].metadata.name}', 'a'],
    ['{.items[?(@.metadata.labels)].metadata.name}', 'a'],
    ['{..name}', 'a b'],
    ['{.items[-1].metadata.name}', 'b'],
    ['{.items[0:1].metadata.name}', 'a'],
    ['{.items[1,0].metadata.name}', 'b a'],
    ["{.items[0]['kind','spec']}", '{"n":2,"on":true}'],
    ['{$.kind} {@.kind} text', 'List List text'],
    ['{.nothing}', ''],
    ['{.items[0].spec}', '{"n":2,"on":true}'],
  ])('%s prints %j', (template, printed) => {
    expect(jsonPath(template).print(list)).toBe(printed);
  });

  it.each([
    ['{.a', 'unclosed action'],
    ['{.a[}', 'unterminated array'],
    ['{range .a}', 'unterminated range'],
    ['{end}', 'not in range, nothing to end'],
    ['{.items[x]}', 'invalid array index x'],
    ['{"a}', 'unclosed action'],
  ])('%s is refused: %s', (template, message) => {
    expect(() => jsonPath(template)).toThrow(message);
  });

  it('refuses a missing field where it must be there, and an index beyond the list', () => {
    expect(() => jsonPath('{.nothing}', false).print(list)).toThrow('nothing is not found');
    expect(() => jsonPath('{.items[5]}').print(list)).toThrow('array index out of bounds: index 5, length 2');
  });

  it('treats keys such as __proto__ as data', () => {
    expect(jsonPath('{.__proto__}{.constructor}').print(list)).toBe('');
    expect(goTemplate('{{.__proto__}}')(list)).toBe('<no value>');
  });
});

describe('templates', () => {
  it.each([
    ['{{.kind}}', 'List'],
    ['{{range .items}}{{.metadata.name}},{{end}}', 'a,b,'],
    ['{{range $i, $e := .items}}{{$i}}={{$e.metadata.name}} {{end}}', '0=a 1=b '],
    ['{{range .none}}x{{else}}empty{{end}}', 'empty'],
    ['{{if and .kind (not .none)}}yes{{end}}', 'yes'],
    ['{{with $x := .kind}}{{$x}}{{end}}', 'List'],
    ['a {{- /* comment */ -}} b', 'ab'],
    ['{{len .items}} {{(index .items 1).metadata.name}}', '2 b'],
    ['{{printf "%-4s|%3d|%q" .kind 7 "x"}}', 'List|  7|"x"'],
    ['{{"aGk=" | base64decode}}', 'hi'],
    ['{{if exists . "kind"}}is{{end}}{{if gt (len .items) 1}} many{{end}}', 'is many'],
    ['{{(index .items 0).spec}}', 'map[n:2 on:true]'],
    ['{{.none}}', '<no value>'],
  ])('%s prints %j', (template, printed) => {
    expect(goTemplate(template)(list)).toBe(printed);
  });

  it.each([
    ['{{foo}}', 'function "foo" not defined'],
    ['{{if .a}}', 'unexpected EOF'],
    ['{{end}}', 'unexpected {{end}}'],
    ['{{.a', 'unclosed action'],
    ['{{.a | }}', 'missing value for command'],
    ['{{$x}}', 'undefined variable "$x"'],
  ])('%s is refused: %s', (template, message) => {
    expect(() => goTemplate(template)(list)).toThrow(message);
  });
});

describe('columns', () => {
  const print = (columns: ReturnType<typeof columnsOfSpec>) => {
    const lines: string[] = [];
    const printer = new CustomColumnsPrinter(columns, false, (text) => lines.push(text));
    for (const item of list.items) printer.print(item);
    printer.flush();
    return lines.join('');
  };

  it('print fields of objects under headers, and <none> for what is missing', () => {
    const spec = columnsOfSpec('NAME:.metadata.name,X:{.metadata.labels},SPEC:spec');
    expect(print(spec)).toBe(
      'NAME   X                      SPEC\na      map[example.com/x:1]   map[n:2 on:true]\nb      <none>                 map[n:10 on:false]\n',
    );
    expect(print(columnsOfFile('NAME N\n.metadata.name .spec.n\n'))).toBe('NAME   N\na      2\nb      10\n');
  });

  it('are as wide as their widest cell, also when rows come later', () => {
    const lines: string[] = [];
    const writer = new TabWriter((text) => lines.push(text));
    writer.row(['A', 'B']);
    writer.row(['longer', 'x']);
    writer.flush();
    writer.row(['y', 'z']);
    writer.flush();
    expect(lines.join('')).toBe('A        B\nlonger   x\ny        z\n');
  });

  it('sort by numbers, quantities and bytes, and refuse a path that no object has', () => {
    const names = (field: string, ...values: string[]) =>
      sortedBy(
        values.map((value) => ({ value })),
        field,
        (row) => row,
      ).map(({ value }) => value);
    expect(names('.value', 'a10', 'a9', 'a')).toEqual(['a', 'a10', 'a9']);
    expect(names('{.value}', '1Gi', '500Mi', '2k')).toEqual(['2k', '500Mi', '1Gi']);
    expect(() => names('.nope', 'a')).toThrow(`couldn't find any field with path "{.nope}" in the list of objects`);
  });
});

describe('values', () => {
  it('print as JSON with sorted keys and escaped markup, and in the notation of Go', () => {
    expect(compactJson({ b: '<&>', a: [1, 9_007_199_254_740_993n] })).toBe(
      '{"a":[1,9007199254740993],"b":"\\u003c\\u0026\\u003e"}',
    );
    expect(indentedJson({ a: [], b: {}, c: [1] })).toBe(
      '{\n    "a": [],\n    "b": {},\n    "c": [\n        1\n    ]\n}',
    );
    expect(goText({ b: [1, null], a: { c: 'd' } })).toBe('map[a:map[c:d] b:[1 <nil>]]');
  });

  it('print as YAML with long texts folded after 80 columns, but not those of block scalars', () => {
    const long = `${'word '.repeat(20)}end`;
    const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ');
    expect(foldedYaml({ a: long })).toBe(`a: ${words(16)}\n  ${words(4)} end\n`);
    expect(foldedYaml({ b: `${long}\nx` })).toBe(`b: |-\n  ${long}\n  x\n`);
  });
});

describe('a unified diff', () => {
  it('shows changed lines with three lines around them', () => {
    const before = Array.from({ length: 20 }, (_, i) => `${i}\n`).join('');
    expect(unifiedDiff(before, before.replace('5\n', 'five\n').replace('18\n', ''))).toBe(
      '@@ -3,7 +3,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n@@ -16,5 +16,4 @@\n 15\n 16\n 17\n-18\n 19\n',
    );
  });

  it('of a new text adds all its lines, and of equal texts is empty', () => {
    expect(unifiedDiff('', 'a\nb\n')).toBe('@@ -0,0 +1,2 @@\n+a\n+b\n');
    expect(unifiedDiff('a\n', 'a\n')).toBe('');
  });
});

describe('a description', () => {
  it('has the fields under readable names, and the sizes of the values of secrets', () => {
    const object = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'keys', namespace: 'shop', labels: { a: 'b' }, uid: 'u' },
      data: { token: Buffer.from('secret').toString('base64') },
    };
    expect(descriptionOf(object, ['Events', '<none>'])).toBe(`Name:         keys
Namespace:    shop
Labels:       a=b
Annotations:  <none>
API Version:  v1
Kind:         Secret
Metadata:
  UID:  u
Data:
  Token:  6 bytes
Events:   <none>
`);
  });
});
