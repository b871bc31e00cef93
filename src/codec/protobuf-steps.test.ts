import { describe, expect, it } from 'vitest';
import { inTurns, type Json, type JsonObject, namesFor } from '../meta/index.ts';
import { EveryStep } from '../meta/testing/every-step.ts';
import { compile, type StructSchema } from '../schema/index.ts';
import { apiextensionsV1, appsV1, authorizationV1, coreV1, metaV1 } from '../types/index.ts';
import { ProtobufList, readProtobuf, readProtobufInSteps, writeProtobuf, writeProtobufInSteps } from './index.ts';

const names = namesFor('orch.io');
/** As many fields of a map, and items of a list, as take several steps. */
const many = 16_000;
const manyItems = 20_000;
const nothing = { apiVersion: '', kind: '' };
const type = { apiVersion: 'v1', kind: 'Any' };

const keyed = <T extends Json>(value: (i: number) => T): { [key: string]: T } =>
  Object.fromEntries(Array.from({ length: many }, (_, i) => [`k${i}`, value(i)]));
const listed = <T extends Json>(value: (i: number) => T): T[] => Array.from({ length: manyItems }, (_, i) => value(i));

const cases: readonly (readonly [string, StructSchema, JsonObject])[] = [
  ['a map of texts', coreV1.ConfigMap, { metadata: { name: 'a', labels: { b: 'c' } }, data: keyed(() => 'value') }],
  [
    'a map whose keys are not ASCII',
    coreV1.ConfigMap,
    { data: keyed((i) => `ü${i}`), binaryData: { '\uffff': '', '😀': '' } },
  ],
  ['a map of bytes', coreV1.Secret, { data: keyed(() => 'dmFsdWU=') }],
  ['a list of texts', coreV1.Pod, { spec: { containers: [{ name: 'a', args: listed((i) => `a${i}`) }] } }],
  [
    'a list of messages',
    coreV1.Pod,
    { spec: { containers: [{ name: 'a', env: listed((i) => ({ name: `e${i}`, value: 'v' })) }] } },
  ],
  [
    'a list of numbers',
    coreV1.Pod,
    { spec: { containers: [], securityContext: { supplementalGroups: listed((i) => i) } } },
  ],
  ['any value', appsV1.ControllerRevision, { data: keyed(() => ({ a: [1, 'b', null] })), revision: 1 }],
  [
    'managed fields',
    coreV1.ConfigMap,
    { metadata: { managedFields: [{ manager: 'm', fieldsV1: { 'f:data': keyed(() => ({})) } }] } },
  ],
  [
    'a list in a map',
    authorizationV1.SubjectAccessReview,
    { spec: { user: 'u', extra: { a: listed((i) => `t${i}`), b: ['c'] } } },
  ],
  [
    'one of several options',
    apiextensionsV1.CustomResourceDefinition,
    {
      spec: {
        group: 'example.com',
        names: { plural: 'as', kind: 'A' },
        scope: 'Cluster',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                items: { properties: keyed(() => ({ type: 'string' })) },
                additionalProperties: { enum: listed((i) => i) },
              },
            },
          },
        ],
      },
    },
  ],
];

describe.each(cases)('%s', (_, schema, value) => {
  const normal = compile(schema, names).decode({ ...type, ...value }).value;
  const bytes = writeProtobuf(schema, type, normal, names);

  it('of a large object is written in steps, with the same bytes', async () => {
    const turns = new EveryStep();
    const written = await inTurns(writeProtobufInSteps(schema, type, normal, names), turns);
    expect(Buffer.compare(written, bytes)).toBe(0);
    expect(turns.count).toBeGreaterThan(3);
  });

  it('of a large object is read in steps, with the same value', async () => {
    const turns = new EveryStep();
    const read = await inTurns(
      readProtobufInSteps(bytes, nothing, () => schema, names),
      turns,
    );
    expect(read).toEqual(readProtobuf(bytes, nothing, () => schema, names));
    expect(turns.count).toBeGreaterThan(3);
  });
});

it('objects that are written by turns have their own bytes', async () => {
  const [a, b] = [{ data: keyed(() => 'a') }, { data: keyed(() => 'b') }];
  const list = new ProtobufList(coreV1.ConfigMap, metaV1.ListMeta, names);
  const written = await Promise.all([a, b].map((value) => inTurns(list.itemInSteps(value), new EveryStep())));
  expect(written).toEqual([list.item(a), list.item(b)]);
});

it('a packed list of numbers is read in steps', async () => {
  const packed = (tag: number, body: readonly number[]): number[] => {
    const { length } = body;
    return [tag * 8 + 2, (length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14, ...body];
  };
  const groups = packed(
    4,
    listed(() => 5),
  );
  const bytes = Uint8Array.from([0x6b, 0x38, 0x73, 0, ...packed(2, packed(2, packed(14, groups)))]);
  const turns = new EveryStep();
  const { value } = await inTurns(
    readProtobufInSteps(bytes, type, () => coreV1.Pod, names),
    turns,
  );
  expect(value).toMatchObject({ spec: { securityContext: { supplementalGroups: listed(() => 5) } } });
  expect(turns.count).toBeGreaterThan(1);
});

it('a malformed large object is refused as a small one is', async () => {
  const bytes = writeProtobuf(coreV1.ConfigMap, type, { data: keyed(() => 'value') }, names);
  const cut = bytes.with(Buffer.from(bytes).lastIndexOf('value') - 1, 0x7f);
  const expected = { apiVersion: 'v1', kind: 'ConfigMap' };
  const outcome = async (read: () => unknown) => {
    try {
      return await read();
    } catch (error) {
      return error;
    }
  };
  const schemaFor = () => coreV1.ConfigMap;
  const atOnce = await outcome(() => readProtobuf(cut, expected, schemaFor, names));
  expect(atOnce).toMatchObject({ code: 400 });
  expect(await outcome(() => inTurns(readProtobufInSteps(cut, expected, schemaFor, names), new EveryStep()))).toEqual(
    atOnce,
  );
});
