import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, namesFor, StatusError } from '../meta/index.ts';
import {
  anyObject,
  anyValue,
  bool,
  bytes,
  compile,
  double,
  duration,
  type FieldOptions,
  field,
  int32,
  int64,
  intOrString,
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
const absent = (schema: Schema, options?: FieldOptions) => decode(one(schema, options), {}).value['it'];

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

describe('scalars', () => {
  it.each<[string, Schema, Json, Json]>([
    ['text', string, 'x', 'x'],
    ['true', bool, true, true],
    ['the least int32', int32, -(2 ** 31), -(2 ** 31)],
    ['the greatest int64', int64, 2n ** 63n - 1n, 2n ** 63n - 1n],
    ['an int64 that a double holds', int64, 5n, 5],
    ['an int64 written as a double', int64, 2 ** 60, 2n ** 60n],
    ['a double', double, 1.5, 1.5],
    ['a double from a large integer', double, 2n ** 60n, 2 ** 60],
    ['bytes with line breaks', bytes, 'dmFs\ndWU=', 'dmFsdWU='],
    ['a time with an offset', time, '2024-01-01T02:00:00+02:00', '2024-01-01T00:00:00Z'],
    ['a time with a fraction', time, '2024-01-01T00:00:00.9Z', '2024-01-01T00:00:00Z'],
    ['a micro time', microTime, '2024-01-01T02:00:00.123456+02:00', '2024-01-01T00:00:00.123456Z'],
    ['a duration', duration, '90s', '1m30s'],
    ['a quantity', quantity, '1024Mi', '1Gi'],
    ['a quantity as a number', quantity, 0.5, '500m'],
    ['a quantity between spaces', quantity, ' 1024Mi\n', '1Gi'],
    ['an integer for either', intOrString, 80, 80],
    ['text for either', intOrString, '25%', '25%'],
    ['any value', anyValue, { b: null, a: [1, null] }, { b: null, a: [1, null] }],
    ['any object', anyObject, { b: null, a: 0 }, { b: null, a: 0 }],
  ])('%s', (_, schema, given, normal) => {
    expect(through(schema, given)).toEqual(normal);
  });

  it('never encodes a negative zero', () => {
    for (const schema of [int32, int64, double]) expect(Object.is(through(schema, -0, { always: true }), 0)).toBe(true);
  });

  it('keeps the order of the keys of embedded objects', () => {
    expect(JSON.stringify(through(anyObject, { b: 1, a: { d: 1, c: 2 } }))).toBe('{"b":1,"a":{"d":1,"c":2}}');
  });

  it.each<[Schema, Json, string]>([
    [string, 1, 'json: cannot unmarshal number into Go struct field One.it of type string'],
    [string, true, 'json: cannot unmarshal bool into Go struct field One.it of type string'],
    [string, {}, 'json: cannot unmarshal object into Go struct field One.it of type string'],
    [bool, 'true', 'json: cannot unmarshal string into Go struct field One.it of type bool'],
    [int32, '1', 'json: cannot unmarshal string into Go struct field One.it of type int32'],
    [int32, 1.5, 'json: cannot unmarshal number 1.5 into Go struct field One.it of type int32'],
    [int32, 2 ** 31, 'json: cannot unmarshal number 2147483648 into Go struct field One.it of type int32'],
    [int64, 2n ** 63n, 'json: cannot unmarshal number 9223372036854775808 into Go struct field One.it of type int64'],
    [int64, 1e300, 'json: cannot unmarshal number 1e+300 into Go struct field One.it of type int64'],
    [double, '1', 'json: cannot unmarshal string into Go struct field One.it of type float64'],
    [bytes, 'not base64!', 'illegal base64 data at input byte 3'],
    [bytes, 7, 'json: cannot unmarshal number into Go struct field One.it of type []uint8'],
    [time, 7, 'json: cannot unmarshal number into Go struct field One.it of type string'],
    [time, 'x', 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
    [duration, 'soon', 'time: invalid duration "soon"'],
    [quantity, 'x', "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
    [quantity, [], "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
    [intOrString, true, 'json: cannot unmarshal bool into Go struct field One.it of type int32'],
    [intOrString, 1.5, 'json: cannot unmarshal number 1.5 into Go struct field One.it of type int32'],
    [anyObject, [], 'json: cannot unmarshal array into Go struct field One.it of type runtime.RawExtension'],
    [list(string), 'x', 'json: cannot unmarshal string into Go struct field One.it of type []string'],
    [map(list(bytes)), [], 'json: cannot unmarshal array into Go struct field One.it of type map[string][][]uint8'],
    [list(quantity), {}, 'json: cannot unmarshal object into Go struct field One.it of type []resource.Quantity'],
  ])('are rejected when of another type (%#)', (schema, value, message) => {
    expect(refusal(one(schema), { it: value })).toBe(message);
  });
});

describe('value of an absent field', () => {
  const inner = struct('test/v1.Inner', { a: field(1, string) });
  it.each<[string, Schema, Json | undefined, Json]>([
    // A type, what an optional field shows, what a field that is always written shows.
    ['string', string, undefined, ''],
    ['bool', bool, undefined, false],
    ['int32', int32, undefined, 0],
    ['double', double, undefined, 0],
    ['bytes', bytes, undefined, ''],
    ['list', list(string), undefined, null],
    ['map', map(string), undefined, null],
    ['struct', inner, {}, {}],
    // As recorded: `firstTimestamp: null`, `divisor: "0"`, `oldObject: null`.
    ['time', time, null, null],
    ['microTime', microTime, null, null],
    ['quantity', quantity, '0', '0'],
    ['intOrString', intOrString, 0, 0],
    ['duration', duration, '0s', '0s'],
    ['any', anyValue, null, null],
    ['object', anyObject, null, null],
  ])('%s', (_, schema, optional, always) => {
    expect(absent(schema)).toEqual(optional);
    expect(absent(schema, { always: true })).toEqual(always);
    expect(through(schema, null, { always: true })).toEqual(always);
    expect(absent(schema, { nullable: true })).toBeUndefined();
    expect(through(schema, null, { nullable: true })).toBeUndefined();
    expect(absent(schema, { nullable: true, always: true })).toBeNull();
  });

  it.each<[Schema, Json]>([
    [string, ''],
    [bool, false],
    [int32, 0],
    [bytes, ''],
    [list(string), []],
    [map(string), {}],
  ])('drops a zero value unless the field is nullable (%#)', (schema, zero) => {
    expect(through(schema, zero)).toBeUndefined();
    expect(through(schema, zero, { nullable: true })).toEqual(zero);
  });

  it('encodes an empty list that is always encoded as null, as the reference server does', () => {
    expect(through(list(string), [], { always: true })).toBeNull();
  });

  it('decodes null in a list or map as the zero value', () => {
    expect(through(list(string), ['a', null])).toEqual(['a', '']);
    expect(through(map(string), { a: null })).toEqual({ a: '' });
    expect(through(map(quantity), { a: null })).toEqual({ a: '0' });
    expect(through(list(one(string, { always: true })), [null])).toEqual([{ it: '' }]);
    expect(through(map(list(string)), { a: null })).toEqual({ a: [] });
  });
});

describe('defaults', () => {
  it('replace absent values and null, and zero values of fields that are not nullable', () => {
    expect(absent(string, { default: 'TCP' })).toBe('TCP');
    expect(through(string, null, { default: 'TCP' })).toBe('TCP');
    expect(through(string, '', { default: 'TCP' })).toBe('TCP');
    expect(through(string, 'UDP', { default: 'TCP' })).toBe('UDP');
  });

  it('keep a zero value of a nullable field', () => {
    expect(through(int32, 0, { default: 1, nullable: true })).toBe(0);
    expect(absent(int32, { default: 1, nullable: true })).toBe(1);
    expect(absent(string, { default: '', nullable: true })).toBe('');
  });

  it('are omitted when they are zero and the field is not nullable', () => {
    expect(absent(string, { default: '' })).toBeUndefined();
    expect(absent(int32, { default: 0 })).toBeUndefined();
  });

  it('are copied each time', () => {
    const schema = one(map(string), { default: { a: 'b' } });
    const first = decode(schema, {}).value['it'] as JsonObject;
    first['a'] = 'changed';
    expect(decode(schema, {}).value).toEqual({ it: { a: 'b' } });
  });

  it('apply in an absent struct', () => {
    const outer = struct('test/v1.Outer', { spec: field(1, one(string, { default: 'x' })) });
    expect(decode(outer, {}).value).toEqual({ spec: { it: 'x' } });
    (decode(outer, {}).value['spec'] as JsonObject)['it'] = 'changed';
    expect(decode(outer, {}).value).toEqual({ spec: { it: 'x' } });
  });

  it('use the configured names', () => {
    const schema = one(string, { default: '{labels}/tls' });
    expect(compile(schema, namesFor('orch.io')).decode({}).value).toEqual({ it: 'orch.io/tls' });
    expect(compile(schema, namesFor('k8s.io')).decode({}).value).toEqual({ it: 'kubernetes.io/tls' });
  });
});
