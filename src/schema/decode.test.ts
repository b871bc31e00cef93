import { describe, expect, it } from 'vitest';
import { atOnce, type Json, type JsonObject, namesFor, StatusError } from '../meta/index.ts';
import {
  anyObject,
  bool,
  bytes,
  compile,
  duration,
  either,
  type Field,
  type FieldOptions,
  field,
  inline,
  int32,
  type LazySchema,
  lazy,
  list,
  map,
  microTime,
  quantity,
  type Schema,
  type StructSchema,
  string,
  struct,
  time,
} from './index.ts';

const names = namesFor('orch.io');
const decode = (schema: StructSchema, value: Json) => compile(schema, names).decode(value);

/** A struct with one field, `it`. */
const one = (schema: Schema, options: FieldOptions = {}) => struct('test/v1.One', { it: field(1, schema, options) });
/** The value of a field after decoding; undefined when it is not written. */
const through = (schema: Schema, value: Json, options?: FieldOptions) =>
  decode(one(schema, options), { it: value }).value['it'];

function failure(run: () => unknown): StatusError {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(StatusError);
    return error as StatusError;
  }
  throw new Error('nothing was thrown');
}
const refusal = (schema: StructSchema, value: Json) => {
  const error = failure(() => decode(schema, value));
  expect(error.code).toBe(400);
  return error.message;
};

describe('normal form', () => {
  it('has no time for the first moment of the first year', () => {
    const zero = '0001-01-01T00:00:00Z';
    expect(through(time, zero)).toBeNull();
    expect(through(time, '0001-01-01T01:00:00+01:00', { nullable: true })).toBeUndefined();
    expect(through(microTime, '0001-01-01T00:00:00.000000Z', { nullable: true })).toBeUndefined();
    expect(through(time, '0001-01-01T00:00:01Z')).toBe('0001-01-01T00:00:01Z');
    const spec = struct('test/v1.Spec', { at: field(1, time, { nullable: true }) });
    expect(atOnce(compile(one(spec), names).decodeInSteps({ it: { at: zero } })).value).toEqual({ it: {} });
  });

  const Port = struct('core/v1.Port', { name: field(1, string), port: field(2, int32, { always: true }) });
  const Service = struct('core/v1.Service', {
    kind: field(0, string),
    metadata: field(1, struct('meta/v1.Meta', { name: field(1, string), labels: field(2, map(string)) })),
    ports: field(2, list(Port)),
    status: field(3, struct('core/v1.Status', {})),
  });

  it('has fields in the order of the declaration and map keys sorted', () => {
    const given = { ports: [{ port: 1, name: 'a' }], metadata: { labels: { b: '1', a: '2' }, name: 'x' }, kind: 'S' };
    expect(JSON.stringify(decode(Service, given).value)).toBe(
      '{"kind":"S","metadata":{"name":"x","labels":{"a":"2","b":"1"}},"ports":[{"name":"a","port":1}],"status":{}}',
    );
  });

  it('does not change the input and shares no struct, list or map with it', () => {
    const given = { metadata: { labels: { a: '1' } }, ports: [{ port: 1 }] };
    const copy = structuredClone(given);
    const { value } = decode(Service, given);
    (value['metadata'] as { labels: JsonObject }).labels['a'] = 'changed';
    (value['ports'] as Json[]).push(1);
    expect(given).toEqual(copy);
  });

  it('reads the fields of an embedded struct from the parent', () => {
    const Source = struct('core/v1.Source', { secret: field(1, string), hostPath: field(2, Port, { nullable: true }) });
    const Volume = struct('core/v1.Volume', { name: field(1, string), ...inline(2, 'source', Source) });
    expect(decode(Volume, { hostPath: { port: 1 }, name: 'v' }).value).toEqual({ name: 'v', hostPath: { port: 1 } });
    // The message names the struct that the fields stand in.
    expect(refusal(Volume, { hostPath: 1 })).toBe(
      'json: cannot unmarshal number into Go struct field Volume.hostPath of type v1.Port',
    );
  });
});

describe('unknown fields', () => {
  const Port = struct('core/v1.ContainerPort', { containerPort: field(1, int32) });
  const Container = struct('core/v1.Container', {
    name: field(1, string),
    image: field(2, string),
    ports: field(3, list(Port)),
    limits: field(4, map(Port)),
    raw: field(5, anyObject, { nullable: true }),
  });
  const Pod = struct('core/v1.Pod', {
    spec: field(1, struct('core/v1.PodSpec', { containers: field(1, list(Container)) })),
  });

  it('are pruned and reported in the order of the body, as recorded', () => {
    const { value, unknown } = decode(Pod, {
      spec: {
        containers: [{ name: 'c', imagee: 'x', image: 'i', ports: [{ containerPort: 80, foo: 1 }] }],
        unknown: true,
      },
    });
    expect(unknown).toEqual([
      ['spec', 'containers', 0, 'imagee'],
      ['spec', 'containers', 0, 'ports', 0, 'foo'],
      ['spec', 'unknown'],
    ]);
    expect(value).toEqual({
      spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }] },
    });
  });

  it('have map keys in their paths', () => {
    const { unknown } = decode(Pod, { spec: { containers: [{}, { limits: { 'a/b': { x: 1 } } }] } });
    expect(unknown).toEqual([['spec', 'containers', 1, 'limits', 'a/b', 'x']]);
  });

  it('do not exist in values of type object', () => {
    expect(decode(Pod, { spec: { containers: [{ raw: { x: { y: 1 } } }] } }).unknown).toEqual([]);
  });

  it('are reported at most 100 times', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`f${i}`, i]));
    expect(decode(Pod, many).unknown).toHaveLength(100);
  });

  it('are none in a valid body', () => {
    expect(decode(Pod, { spec: { containers: [] } }).unknown).toEqual([]);
  });
});

describe('type errors', () => {
  const Meta = struct('meta/v1.ObjectMeta', { name: field(1, string), labels: field(2, map(string)) });
  const ConfigMap = struct('core/v1.ConfigMap', { metadata: field(1, Meta), data: field(2, map(string)) });
  const Port = struct('core/v1.ServicePort', { port: field(1, int32) });
  const Service = struct('core/v1.Service', {
    spec: field(1, struct('core/v1.ServiceSpec', { ports: field(1, list(Port)) })),
  });

  it.each<[StructSchema, Json, string]>([
    // The first two as recorded from the reference server.
    [ConfigMap, { data: { a: 1 } }, 'json: cannot unmarshal number into Go struct field ConfigMap.data of type string'],
    [
      ConfigMap,
      { data: ['a'] },
      'json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string',
    ],
    [
      ConfigMap,
      { metadata: { labels: { a: true } } },
      'json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string',
    ],
    [
      Service,
      { spec: { ports: [{ port: 1 }, { port: '80' }] } },
      'json: cannot unmarshal string into Go struct field ServicePort.spec.ports.port of type int32',
    ],
    [
      Service,
      { spec: { ports: {} } },
      'json: cannot unmarshal object into Go struct field ServiceSpec.spec.ports of type []v1.ServicePort',
    ],
    [Service, { spec: 'x' }, 'json: cannot unmarshal string into Go struct field Service.spec of type v1.ServiceSpec'],
    [ConfigMap, [], 'json: cannot unmarshal array into Go value of type v1.ConfigMap'],
    [ConfigMap, null, 'json: cannot unmarshal null into Go value of type v1.ConfigMap'],
  ])('name the field (%#)', (schema, value, message) => {
    expect(refusal(schema, value)).toBe(message);
  });

  it('shorten a long text', () => {
    const given = 'x'.repeat(3_000_000);
    for (const scalar of [duration, quantity, time]) {
      expect(refusal(one(scalar), { it: given }).length).toBeLessThan(600);
    }
  });

  it('precede unknown fields, and the first of the body is reported', () => {
    expect(refusal(ConfigMap, { bogus: 1, data: 1, metadata: 2 })).toContain('ConfigMap.data');
  });

  it('never show a value of a secret', () => {
    const Secret = struct('core/v1.Secret', { data: field(1, map(bytes)) });
    expect(refusal(Secret, { data: { password: 'hunter2!' } })).toBe('illegal base64 data at input byte 7');
  });
});

describe('either', () => {
  const Props: StructSchema = struct('x/v1.Props', { type: field(1, string) });
  const orBool = either<Schema>('x/v1.PropsOrBool', bool, Props);
  const orStrings = either<Schema>('x/v1.PropsOrStrings', Props, list(string));

  it('chooses the option by JSON type', () => {
    expect(through(orBool, false, { nullable: true })).toBe(false);
    expect(through(orBool, { type: 'x', b: 1 }, { nullable: true })).toEqual({ type: 'x' });
    expect(through(orStrings, ['a'], { nullable: true })).toEqual(['a']);
  });

  it('reports unknown fields below it', () => {
    expect(decode(one(map(orBool)), { it: { k: { b: 1 } } }).unknown).toEqual([['it', 'k', 'b']]);
  });

  it('rejects a value that matches no option', () => {
    expect(refusal(one(orBool), { it: 'x' })).toBe(
      'json: cannot unmarshal string into Go struct field One.it of type v1.PropsOrBool',
    );
  });
});

describe('recursion', () => {
  const self: LazySchema = lazy(() => Node);
  const Node: StructSchema = struct('x/v1.Node', {
    name: field(1, string),
    next: field(2, self, { nullable: true }),
    children: field(3, map(self)),
  });
  const nested = (depth: number) => {
    let value: JsonObject = { name: 'leaf' };
    for (let i = 0; i < depth; i++) value = { next: value };
    return value;
  };

  it('decodes a recursive type', () => {
    const { value, unknown } = decode(Node, { children: { b: { next: { bogus: 1 } }, a: { name: 'x' } }, name: 'r' });
    expect(JSON.stringify(value)).toBe('{"name":"r","children":{"a":{"name":"x"},"b":{"next":{}}}}');
    expect(unknown).toEqual([['children', 'b', 'next', 'bogus']]);
  });

  it('is limited in depth', () => {
    expect(decode(Node, nested(500)).value).toEqual(nested(500));
    expect(refusal(Node, nested(501))).toBe('exceeded max depth');
    expect(refusal(Node, nested(3000))).toBe('exceeded max depth');
    const wide = { children: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`c${i}`, {}])) };
    expect(decode(Node, wide).value).toEqual(wide);
  });
});

describe('keys of inherited properties', () => {
  it('are plain data in maps', () => {
    const given = JSON.parse('{"it":{"__proto__":"a","constructor":"b","toString":"c"}}') as Json;
    const { value } = decode(one(map(string)), given);
    expect(JSON.stringify(value)).toBe('{"it":{"__proto__":"a","constructor":"b","toString":"c"}}');
    expect(Object.getPrototypeOf(value['it'])).toBe(Object.prototype);
  });

  it('are unknown fields unless they are declared', () => {
    const given = JSON.parse('{"__proto__":{"it":"x"},"constructor":1}') as Json;
    const { value, unknown } = decode(one(string), given);
    expect(Object.keys(value)).toEqual([]);
    expect(value['it']).toBeUndefined();
    expect(unknown).toEqual([['__proto__'], ['constructor']]);
  });

  it('are fields when declared, as own properties only', () => {
    const fields: { [name: string]: Field } = JSON.parse('{"__proto__":1,"constructor":1,"toString":1}');
    for (const name of Object.keys(fields)) {
      Object.defineProperty(fields, name, { value: field(1, string), enumerable: true });
    }
    const schema = struct('x/v1.Odd', fields);
    const given = JSON.parse('{"constructor":"b","__proto__":"a"}') as Json;
    expect(JSON.stringify(decode(schema, given).value)).toBe('{"__proto__":"a","constructor":"b"}');
    expect(JSON.stringify(decode(schema, {}).value)).toBe('{}');
  });
});

describe('compile', () => {
  it('returns the same compiled type for the same struct and names', () => {
    const schema = one(string);
    expect(compile(schema, names)).toBe(compile(schema, names));
    expect(compile(schema, names)).not.toBe(compile(schema, namesFor('k8s.io')));
  });
});
