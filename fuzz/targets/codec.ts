import {
  acceptsGzip,
  parseJson,
  parseYaml,
  prettyJson,
  readCborObjectInSteps,
  readCborPatchInSteps,
  readProtobuf,
  strictFindings,
  stringifyJson,
  stringifyYaml,
  type TypeMeta,
  writeCbor,
  writeProtobuf,
} from '../../src/codec/index.ts';
import { createCodecs } from '../../src/http/codecs/codecs.ts';
import { bodyCodec, metaTransforms, negotiator, patchType } from '../../src/http/codecs/negotiation.ts';
import { at, atOnce, bufferOf, jsonEqual, parseExact } from '../../src/meta/index.ts';
import { compile } from '../../src/schema/index.ts';
import { findType } from '../../src/types/find-type.ts';
import { names } from '../names.ts';
import { protobufOf, samples } from '../samples.ts';
import { headerSize, law, type Target } from '../target.ts';
import { oddJson, oddYaml } from '../texts.ts';
import { anyJson, nested } from '../values.ts';

const text = (lines: readonly string[]) => lines.map((line) => Buffer.from(line));
const jsonSeeds = text([
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"b":"c"}},"data":{"d":"e"}}',
  '[1,-0,1e3,12345678901234567890,0.1,"\\ud83d\\ude00\\n",true,null,{}]',
  '{"a":1,"a":2,"b":{"c":[{"d":1,"d":2}]}}',
]);
const jsonWords = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  '\\u',
  '\\ud800',
  '"a":',
  '{"a":{"a":',
  'e',
  '-',
  '.',
  '1e',
  'tru',
];

const json: Target = {
  name: 'codec-json',
  seeds: jsonSeeds,
  words: jsonWords,
  generate: (random) => oddJson(random, random.once(4) ? nested(random, anyJson(random)) : anyJson(random, 5)),
  run: (bytes) => {
    const { value, findings } = parseJson(bytes);
    law(jsonEqual(parseJson(Buffer.from(stringifyJson(value))).value, value), 'JSON reads back');
    law(jsonEqual(parseJson(Buffer.from(prettyJson(value))).value, value), 'indented JSON reads back');
    law(findings.length <= 100, 'findings are bounded');
    if (findings.length > 0) law(strictFindings(bytes, []).length === findings.length, 'both readings find the same');
  },
};

const exactJson: Target = {
  ...json,
  name: 'codec-json-exact',
  run: (bytes) => {
    const { value } = parseExact(Buffer.from(bytes).toString(), { maxDepth: 512 });
    law(jsonEqual(parseJson(bytes).value, value), 'both readers of JSON agree');
  },
};

const yaml: Target = {
  name: 'codec-yaml',
  threadMs: 10_000,
  seeds: text([
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a # comment\n  labels: {b: c, "d": \'e\'}\ndata:\n  f: |\n    g\n    h\n  i: >-\n    j\n',
    '- 1\n- 0x1F\n- 0o17\n- 1_000\n- yes\n- ~\n- .5\n- 12:30\n- 2024-01-01\n- !!binary YQ==\n- &a {b: c}\n- *a\n- <<: *a\n',
    '%YAML 1.2\n---\n? a\n: b\n? [c]\n: d\n...\n---\ne\n',
    '"a\\tb\\x41\\u00e9\\\n  c"',
  ]),
  words: [
    '- ',
    '? ',
    ': ',
    '\n  ',
    '&a ',
    '*a',
    '<<: ',
    '|\n ',
    '>-\n ',
    '!!str ',
    '{',
    '[',
    ', ',
    "'",
    '"',
    '\\q',
    '# ',
    '---\n',
    '%TAG ! a\n',
    '\t',
  ],
  generate: (random) => oddYaml(random, random.once(4) ? nested(random, anyJson(random)) : anyJson(random, 5)),
  run: (bytes) => {
    const { value, findings } = parseYaml(bytes);
    law(findings.length <= 100, 'findings are bounded');
    const written = Buffer.from(stringifyYaml(value));
    law(jsonEqual(parseYaml(written).value, value), 'YAML reads back');
  },
};

const schemas = new Map(samples.map(({ apiVersion, kind, schema }) => [`${apiVersion} ${kind}`, schema]));
const schemaFor = ({ apiVersion, kind }: TypeMeta) => schemas.get(`${apiVersion} ${kind}`);

const protobuf: Target = {
  name: 'codec-protobuf',
  seeds: samples.map(protobufOf),
  words: [
    'k8s\0',
    '\x0a\x00',
    '\x0a\xff\xff\xff\xff\x0f',
    '\x12\x04\x0a\x02\x0a\x00',
    '\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01',
    '\x1a\x00\x22\x00',
  ],
  run: (bytes) => {
    const { value } = readProtobuf(bytes, { apiVersion: 'v1', kind: 'Pod' }, schemaFor, names);
    const type = { apiVersion: value['apiVersion'] as string, kind: value['kind'] as string };
    const schema = schemaFor(type);
    if (schema === undefined) return;
    const object = compile(schema, names).decode(value).value;
    const written = writeProtobuf(schema, type, object, names);
    const again = compile(schema, names).decode(readProtobuf(written, type, schemaFor, names).value).value;
    law(jsonEqual(again, object), 'protobuf reads back');
  },
};

const hex = (...items: readonly string[]) => items.map((item) => Buffer.from(item, 'hex').toString('latin1'));

const cbor: Target = {
  name: 'codec-cbor',
  seeds: samples.map(({ apiVersion, kind, object, schema }) =>
    bufferOf(writeCbor({ apiVersion, kind, ...object }, schema, names)),
  ),
  words: hex(
    'd9d9f7',
    'd6',
    'c0',
    'c1',
    'c2',
    '5f',
    '7f',
    '9f',
    'bf',
    'ff',
    'f7',
    'f97e00',
    'fb7ff0000000000000',
    '1b7fffffffffffffff',
    '3bffffffffffffffff',
    '9bffffffffffffffff',
    '5a7fffffff',
    '495f5f70726f746f5f5f',
    'a1413001',
  ),
  generate: (random) => {
    const value = { v: random.once(4) ? nested(random, anyJson(random)) : anyJson(random, 5) };
    return bufferOf(writeCbor(value, undefined, names));
  },
  run: (bytes) => {
    const { value } = atOnce(readCborPatchInSteps(bytes, names));
    const again = atOnce(readCborPatchInSteps(bufferOf(writeCbor(value, undefined, names)), names)).value;
    law(jsonEqual(again, value), 'CBOR reads back');
    law(jsonEqual(parseJson(Buffer.from(stringifyJson(value))).value, value), 'JSON and CBOR have the same values');
    const type = { apiVersion: at(value, 'apiVersion') as string, kind: at(value, 'kind') as string };
    const schema = schemaFor(type);
    if (schema === undefined) return;
    const read = (bytes: Uint8Array) =>
      compile(schema, names).decode(atOnce(readCborObjectInSteps(bytes, type, schema, names)).value).value;
    const object = read(bytes);
    law(jsonEqual(read(bufferOf(writeCbor(object, schema, names))), object), 'an object of a type reads back');
  },
};

const acceptHeaders = text([
  'application/json',
  'application/json;as=Table;v=v1;g=meta.orch.io,application/json;q=0.5',
  'application/vnd.orch.protobuf;stream=watch, */*;q=0.1',
  'text/html, application/yaml;q=0.9;pretty=1',
]);
const { all: codecs, patches } = createCodecs({ findType, names, cbor: true });
const offer = {
  codecs,
  listed: codecs,
  watchable: true,
  route: 'streams',
  transforms: metaTransforms(names),
} as const;

const negotiation: Target = {
  name: 'codec-negotiation',
  limit: headerSize,
  seeds: acceptHeaders,
  words: [';', ',', '=', '"', '*/*', 'application/', ';q=', ';as=', ';stream=watch', 'gzip', 'q=0.'],
  run: (bytes) => {
    const header = Buffer.from(bytes).toString('latin1');
    acceptsGzip(header);
    for (const route of ['none', 'plain', 'streams'] as const) negotiator({ ...offer, route })(header);
  },
};

const contentType: Target = {
  name: 'codec-content-type',
  limit: headerSize,
  seeds: text(['application/json; charset=utf-8', 'application/merge-patch+json', 'application/apply-patch+yaml']),
  words: negotiation.words,
  run: (bytes) => {
    const header = Buffer.from(bytes).toString('latin1');
    try {
      bodyCodec(header, offer);
    } finally {
      patchType(header, patches, { strategic: true });
    }
  },
};

export const codecTargets: readonly Target[] = [json, exactJson, yaml, protobuf, cbor, negotiation, contentType];
