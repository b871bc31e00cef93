import { namesFor } from '../../meta/index.ts';
import {
  anyObject,
  anyValue,
  bool,
  type Fields,
  field,
  int32,
  list,
  map,
  quantity,
  type StructSchema,
  string,
  struct,
} from '../../schema/index.ts';

/** A test type with every merge strategy. */

export const names = namesFor('k8s.io');

const meta = struct('test/v1.Meta', {
  name: field(1, string),
  namespace: field(3, string),
  uid: field(5, string),
  resourceVersion: field(6, string),
  generation: field(7, int32),
  creationTimestamp: field(8, string),
  labels: field(11, map(string)),
  annotations: field(12, map(string)),
  finalizers: field(14, list(string), { listType: 'set', duplicates: true }),
  managedFields: field(17, list(anyObject), { listType: 'atomic' }),
});

const port = struct('test/v1.Port', {
  port: field(1, int32, { required: true, always: true }),
  protocol: field(2, string, { default: 'TCP' }),
  name: field(3, string),
});
const env = struct('test/v1.Env', { name: field(1, string, { always: true }), value: field(2, string) });
const container = struct('test/v1.Container', {
  name: field(1, string, { always: true }),
  image: field(2, string),
  args: field(3, list(string)),
  env: field(4, list(env), { patchStrategy: 'merge', patchMergeKey: 'name' }),
  ports: field(5, list(port), { listType: 'map', listMapKeys: ['port', 'protocol'] }),
  limits: field(6, map(quantity)),
});
const strategy = struct('test/v1.Strategy', { type: field(1, string), max: field(2, int32) });
const reference = struct(
  'test/v1.Reference',
  { kind: field(1, string), name: field(2, string) },
  { structType: 'atomic' },
);
const pair = struct('test/v1.Pair', { a: field(1, string), b: field(2, string) });
const condition = struct('test/v1.Condition', { type: field(1, string, { always: true }), status: field(2, string) });

const specFields = {
  replicas: field(1, int32, { nullable: true, default: 1 }),
  text: field(2, string),
  flag: field(3, bool, { nullable: true }),
  tags: field(4, list(string), { listType: 'set' }),
  numbers: field(5, list(int32), { listType: 'set' }),
  containers: field(6, list(container), { listType: 'map', listMapKeys: ['name'] }),
  selector: field(7, map(string), { mapType: 'atomic' }),
  strategy: field(8, strategy, { nullable: true }),
  ref: field(9, reference, { nullable: true }),
  args: field(10, list(string)),
  pairs: field(11, map(pair)),
  free: field(12, anyValue, { nullable: true }),
  raw: field(13, anyObject, { nullable: true }),
  whole: field(14, strategy, { nullable: true, mapType: 'atomic' }),
  finalizers: field(15, list(string), { patchStrategy: 'merge' }),
} as const;

/** `Thing` with some fields of its spec redeclared or removed. */
export function thing(changes: { readonly [name: string]: Fields[string] | undefined } = {}): StructSchema {
  const fields = Object.entries({ ...specFields, ...changes }).filter(([, declared]) => declared !== undefined);
  return struct('test/v1.Thing', {
    kind: field(1, string),
    apiVersion: field(2, string),
    metadata: field(3, meta),
    data: field(4, map(string)),
    spec: field(5, struct('test/v1.Spec', Object.fromEntries(fields) as Fields), { nullable: true }),
    status: field(
      6,
      struct('test/v1.Status', {
        ready: field(1, bool, { nullable: true }),
        count: field(2, int32),
        conditions: field(3, list(condition), { listType: 'map', listMapKeys: ['type'] }),
      }),
      { nullable: true },
    ),
  });
}
