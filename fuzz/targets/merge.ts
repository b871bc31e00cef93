import { parseJson } from '../../src/codec/index.ts';
import { difference, equalSets, intersection, union } from '../../src/merge/field-set.ts';
import { parseFieldsV1, toFieldsV1 } from '../../src/merge/fields-v1.ts';
import {
  applyJsonPatch,
  applyMergePatch,
  readOperations,
  strategicMergePatch,
  unknownMembers,
  updateManagedFields,
  visitedBy,
} from '../../src/merge/index.ts';
import { applyAtOnce } from '../../src/merge/testing/apply.ts';
import { thing } from '../../src/merge/testing/thing.ts';
import type { ManagedType } from '../../src/merge/transition.ts';
import {
  type ApiObject,
  atOnce,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEqual,
  oneStep,
  statusError,
} from '../../src/meta/index.ts';
import { compile } from '../../src/schema/index.ts';
import { names } from '../names.ts';
import type { Random } from '../random.ts';
import { law, type Target } from '../target.ts';
import { oddJson } from '../texts.ts';
import { anyJson, anyKey, changed, valueFor } from '../values.ts';

/** A pair of JSON values is encoded as a list of two. */
const pair = (random: Random, first: Json, second: Json) => oddJson(random, [first, second]);

function readPair(bytes: Uint8Array): readonly [Json, Json] {
  const { value } = parseJson(bytes);
  if (!Array.isArray(value) || value.length !== 2) throw statusError.badRequest('not a list of two');
  return value as [Json, Json];
}

const objectIn = (value: Json): JsonObject => {
  if (!isJsonObject(value)) throw statusError.badRequest('no object');
  return value;
};

const seedsOf = (...values: readonly Json[]) => values.map((value) => Buffer.from(JSON.stringify(value)));

const jsonPatch: Target = {
  name: 'merge-json-patch',
  seeds: seedsOf(
    [
      { a: [1, { b: 2 }] },
      [
        { op: 'add', path: '/a/-', value: 3 },
        { op: 'test', path: '/a/0', value: 1 },
      ],
    ],
    [
      { a: { b: 1 } },
      [
        { op: 'move', from: '/a/b', path: '/c' },
        { op: 'copy', from: '/a', path: '/d~1e' },
      ],
    ],
    [
      [1, 2, 3],
      [
        { op: 'remove', path: '/1' },
        { op: 'replace', path: '', value: null },
      ],
    ],
  ),
  words: [
    '"op":"add"',
    '"op":"move"',
    '"op":"copy"',
    '"path":"/a/0/b"',
    '"from":"/a"',
    '/-',
    '~0',
    '~1',
    '~2',
    '/',
    ',{"op":"copy","from":"","path":"/-"}',
  ],
  generate: (random) =>
    pair(
      random,
      anyJson(random, 4),
      random.list(0, random.power(5), () => operation(random)),
    ),
  run: (bytes) => {
    const [document, patch] = readPair(bytes);
    const operations = readOperations(patch);
    unknownMembers(operations);
    const before = JSON.stringify(document, bigints);
    const after = applyJsonPatch(document, operations);
    law(JSON.stringify(document, bigints) === before, 'a patch does not change its document');
    law(after !== undefined, 'a patch gives a document');
    visitedBy(operations);
  },
};

const bigints = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value);

function operation(random: Random): Json {
  const pointer = () =>
    random.list(0, 4, () => `/${random.pick(['a', 'b', '0', '1', '-', '', '__proto__', '~01'])}`).join('');
  const op = random.pick(['add', 'remove', 'replace', 'move', 'copy', 'test', 'other']);
  return { op, path: pointer(), from: pointer(), value: anyJson(random, 2) };
}

const mergePatch: Target = {
  name: 'merge-merge-patch',
  seeds: seedsOf([{ a: { b: 1, c: [1] } }, { a: { b: null, c: 2 }, d: {} }], [null, { a: { b: null } }]),
  words: ['null', '{}', '"a":', '{"a":null}', '"__proto__":', '"constructor":'],
  generate: (random) => {
    const document = anyJson(random, 4);
    return pair(random, document, changed(random, document));
  },
  run: (bytes) => {
    const [document, patch] = readPair(bytes);
    const after = applyMergePatch(document, patch);
    law(jsonEqual(applyMergePatch(after, patch), after), 'a merge patch that was applied changes nothing');
  },
};

const schema = thing();
const type = compile(schema, names);
const thingSeed = {
  kind: 'Thing',
  apiVersion: 'v1',
  metadata: { name: 't', labels: { a: 'b' }, finalizers: ['x/y'] },
  data: { a: 'b' },
  spec: {
    replicas: 2,
    tags: ['a', 'b'],
    containers: [{ name: 'c', image: 'i', args: ['x'], env: [{ name: 'A', value: 'b' }], ports: [{ port: 80 }] }],
    selector: { a: 'b' },
    ref: { kind: 'K', name: 'n' },
    pairs: { p: { a: '1', b: '2' } },
    free: { any: [1] },
  },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
};

const aThing = (random: Random): JsonObject => {
  const made = random.once(2) ? changed(random, thingSeed) : valueFor(random, schema);
  return { ...thingSeed, ...(isJsonObject(made) ? made : {}), kind: 'Thing', apiVersion: 'v1' };
};

const directives: readonly JsonObject[] = [
  { $patch: 'replace' },
  { $patch: 'delete' },
  { $patch: 'merge' },
  { $retainKeys: ['type'] },
  { '$setElementOrder/containers': [{ name: 'c' }, { name: 'd' }] },
  { '$deleteFromPrimitiveList/finalizers': ['x/y', 1] },
  { '$setElementOrder/finalizers': ['a', { b: 1 }] },
  { $setElementOrder: 1 },
];

function withDirectives(random: Random, value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => withDirectives(random, item));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, withDirectives(random, item)] as const);
  return { ...Object.fromEntries(entries), ...(random.once(5) ? random.pick(directives) : {}) };
}

const strategic: Target = {
  name: 'merge-strategic-patch',
  // Entries without merge key and unknown directives.
  codes: [500],
  seeds: seedsOf(
    [
      thingSeed,
      {
        spec: {
          containers: [
            { name: 'c', image: 'j' },
            { $patch: 'delete', name: 'd' },
          ],
        },
      },
    ],
    [
      thingSeed,
      {
        spec: { $retainKeys: ['tags'], tags: null },
        metadata: { finalizers: ['a'], '$setElementOrder/finalizers': ['a', 'x/y'] },
      },
    ],
  ),
  words: [
    '"$patch":"replace"',
    '"$patch":"delete"',
    '"$retainKeys":[]',
    '"$setElementOrder/containers":[]',
    '"name":"c"',
    'null',
    '{}',
  ],
  generate: (random) => pair(random, aThing(random), withDirectives(random, changed(random, aThing(random)))),
  run: (bytes) => {
    const [given, patch] = readPair(bytes);
    const object = type.decode(given).value;
    atOnce(strategicMergePatch(object, patch, schema, names));
  },
};

/** An object with its managed fields, in the only version. */
const owned: ManagedType = {
  names,
  fieldFilter: { exclude: {} },
  version: (apiVersion) =>
    apiVersion !== 'v1'
      ? undefined
      : {
          schema,
          convert: (object) => oneStep(() => object),
        },
};
const normalize = (object: JsonObject) => type.decode(object).value as ApiObject;
const writer = (manager: string) => ({ manager, apiVersion: 'v1', now: '2024-01-01T00:00:00Z' });

const apply: Target = {
  name: 'merge-apply',
  // Values that do not match the schema.
  codes: [500],
  seeds: seedsOf(
    [thingSeed, { ...thingSeed, spec: { containers: [{ name: 'd' }], tags: ['c'] } }],
    [thingSeed, thingSeed],
  ),
  words: ['null', '{}', '[]', '"name":"c"', '"port":80', '"managedFields":[]', '"f:spec"'],
  generate: (random) => pair(random, aThing(random), aThing(random)),
  run: (bytes) => {
    const [first, second] = readPair(bytes).map(objectIn) as [JsonObject, JsonObject];
    const request = { type: owned, writer: writer('one'), force: true };
    const live = applyAtOnce({ ...request, live: undefined, applyConfig: first }, normalize);
    const after = applyAtOnce({ ...request, live, applyConfig: second, writer: writer('two') }, normalize);
    const again = applyAtOnce({ ...request, live: after, applyConfig: second, writer: writer('two') }, normalize);
    law(jsonEqual(again, after), 'the same apply again changes nothing');
  },
};

const update: Target = {
  name: 'merge-update',
  // The apply before the update is rejected for values that do not match the schema.
  codes: [500],
  seeds: seedsOf([
    thingSeed,
    {
      ...thingSeed,
      metadata: {
        name: 't',
        managedFields: [
          {
            manager: 'm',
            operation: 'Update',
            apiVersion: 'v1',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:data': { '.': {} } },
          },
        ],
      },
    },
  ]),
  words: [
    '"manager":',
    '"operation":"Apply"',
    '"fieldsV1":{',
    '"f:spec":{}',
    '"k:{\\"name\\":\\"c\\"}":{}',
    '"v:1":{}',
    '"i:0":{}',
    '".":{}',
  ],
  generate: (random) => {
    const before = aThing(random);
    const managedFields = random.list(0, 12, () => entry(random));
    const metadata = { name: 't', ...(random.once(2) ? { managedFields } : {}) };
    return pair(random, before, { ...aThing(random), metadata } as Json);
  },
  run: (bytes) => {
    const [first, second] = readPair(bytes).map((value) => type.decode(value).value as ApiObject) as [
      ApiObject,
      ApiObject,
    ];
    const live = applyAtOnce(
      {
        type: owned,
        writer: writer('one'),
        force: false,
        live: undefined,
        applyConfig: withoutOwners(first),
      },
      normalize,
    );
    second.metadata ??= {};
    atOnce(updateManagedFields({ type: owned, writer: writer('two'), before: live, after: second }));
  },
};

function withoutOwners(object: ApiObject): JsonObject {
  const { managedFields: _, ...metadata } = object.metadata ?? {};
  return { ...object, metadata } as JsonObject;
}

const entry = (random: Random): Json => ({
  manager: random.pick(['a', 'b', anyKey(random)]),
  operation: random.pick(['Apply', 'Update', 'Other']),
  apiVersion: random.pick(['v1', 'v2', '']),
  fieldsType: 'FieldsV1',
  fieldsV1: fieldsV1(random, 4),
});

function fieldsV1(random: Random, depth: number): Json {
  const out: JsonObject = random.once(3) ? { '.': {} } : {};
  if (depth === 0) return out;
  const element = () =>
    random.pick([
      'f:spec',
      'f:data',
      'f:a',
      `f:${anyKey(random)}`,
      'k:{"name":"c"}',
      'k:{"port":80,"protocol":"TCP"}',
      'v:"a"',
      'v:1',
      'i:0',
      'i:01',
      'x:y',
      'k:{}',
      'k:[',
      'v:{"b":1,"a":2}',
      'v:12345678901234567890',
      `v:${'['.repeat(random.power(13))}`,
      `v:${'[1,'.repeat(9)}0${']'.repeat(9)}`,
      nestedElement(random.power(15)),
    ]);
  for (const name of random.list(0, 3, element)) out[name] = fieldsV1(random, depth - 1);
  return out;
}

const nestedElement = (depth: number) => `v:${'['.repeat(depth)}${']'.repeat(depth)}`;

const fieldSet: Target = {
  name: 'merge-field-set',
  seeds: seedsOf(
    {
      'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
      'f:spec': { 'k:{"name":"c"}': { '.': {}, 'f:image': {} } },
    },
    { 'v:"a"': {}, 'v:1': {}, 'i:3': {}, 'f:': {} },
  ),
  words: ['"f:a":{', '"f:__proto__":{}', '"k:{\\"a\\":1}":{}', '"v:1":{}', '"i:0":{}', '".":{}', '}', '{'],
  generate: (random) => oddJson(random, fieldsV1(random, 6)),
  run: (bytes) => {
    const set = parseFieldsV1(parseJson(bytes).value);
    law(equalSets(parseFieldsV1(toFieldsV1(set)), set), 'a field set reads back');
    law(equalSets(union(set, set), set), 'a set united with itself is itself');
    law(equalSets(intersection(set, set), set), 'a set is what it has in common with itself');
    law(Object.keys(difference(set, set)).length === 0, 'nothing is left of a set without itself');
  },
};

export const mergeTargets: readonly Target[] = [jsonPatch, mergePatch, strategic, apply, update, fieldSet];
