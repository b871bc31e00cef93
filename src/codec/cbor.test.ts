import { describe, expect, it } from 'vitest';
import {
  atOnce,
  bufferOf,
  inTurns,
  type Json,
  type JsonObject,
  MAX_DEPTH,
  MAX_FIELDS,
  MAX_ITEMS,
  MAX_MEMBERS,
  namesFor,
  type StatusError,
} from '../meta/index.ts';
import { EveryStep } from '../meta/testing/every-step.ts';
import type { StructSchema } from '../schema/index.ts';
import { appsV1, coreV1, eventsV1 } from '../types/index.ts';
import { readCborObjectInSteps, readCborPatchInSteps, writeCbor, writeCborInSteps } from './index.ts';

const names = namesFor('k8s.io');
const any = { apiVersion: 'example.com/v1', kind: 'Box' };

const head = (major: number, size: number) => (size < 24 ? [major * 32 + size] : [major * 32 + 24, size]);
const text = (value: string) => Buffer.from([...head(3, value.length), ...Buffer.from(value)]).toString('hex');
/** A map with the item at a path of keys. */
const at = (path: string, item: string) => path.split('.').reduceRight((value, key) => `a1${text(key)}${value}`, item);

const readObject = (hex: string, schema?: StructSchema, type = any) =>
  atOnce(readCborObjectInSteps(Buffer.from(hex, 'hex'), type, schema, names)).value as JsonObject;
/** The value of an item anywhere in a custom object. */
const read = (hex: string) => readObject(at('v', hex))['v'];
const fault = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    expect((error as StatusError).code).toBe(400);
    return (error as StatusError).message;
  }
  return 'accepted';
};
const ofBox = (message: string) => `Box in version "v1" cannot be handled as a Box: cbor: ${message}`;

/** The examples of RFC 8949, appendix A: all but those with keys that are integers. */
const examples: readonly (readonly [hex: string, value: Json])[] = [
  ['00', 0],
  ['01', 1],
  ['0a', 10],
  ['17', 23],
  ['1818', 24],
  ['1819', 25],
  ['1864', 100],
  ['1903e8', 1000],
  ['1a000f4240', 1_000_000],
  ['1b000000e8d4a51000', 1_000_000_000_000],
  ['20', -1],
  ['29', -10],
  ['3863', -100],
  ['3903e7', -1000],
  ['f90000', 0],
  ['f98000', 0],
  ['f93c00', 1],
  ['fb3ff199999999999a', 1.1],
  ['f93e00', 1.5],
  ['f97bff', 65_504],
  ['fa47c35000', 100_000],
  ['fa7f7fffff', 3.4028234663852886e38],
  ['fb7e37e43c8800759c', 1e300],
  ['f90001', 2 ** -24],
  ['f90400', 0.00006103515625],
  ['f9c400', -4],
  ['fbc010666666666666', -4.1],
  ['f4', false],
  ['f5', true],
  ['f6', null],
  ['c074323031332d30332d32315432303a30343a30305a', '2013-03-21T20:04:00Z'],
  ['c11a514b67b0', '2013-03-21T20:04:00Z'],
  ['c1fb41d452d9ec200000', '2013-03-21T20:04:00.5Z'],
  ['d74401020304', '01020304'],
  ['d818456449455446', 'dIETF'],
  ['d82076687474703a2f2f7777772e6578616d706c652e636f6d', 'http://www.example.com'],
  ['40', ''],
  ['4401020304', '\u0001\u0002\u0003\u0004'],
  ['60', ''],
  ['6161', 'a'],
  ['6449455446', 'IETF'],
  ['62225c', '"\\'],
  ['62c3bc', 'ü'],
  ['63e6b0b4', '水'],
  ['64f0908591', '𐅑'],
  ['80', []],
  ['83010203', [1, 2, 3]],
  ['8301820203820405', [1, [2, 3], [4, 5]]],
  ['98190102030405060708090a0b0c0d0e0f101112131415161718181819', Array.from({ length: 25 }, (_, i) => i + 1)],
  ['a0', {}],
  ['a26161016162820203', { a: 1, b: [2, 3] }],
  ['826161a161626163', ['a', { b: 'c' }]],
  ['a56161614161626142616361436164614461656145', { a: 'A', b: 'B', c: 'C', d: 'D', e: 'E' }],
  ['5f42010243030405ff', '\u0001\u0002\u0003\u0004\u0005'],
  ['7f657374726561646d696e67ff', 'streaming'],
  ['9fff', []],
  ['9f018202039f0405ffff', [1, [2, 3], [4, 5]]],
  ['9f01820203820405ff', [1, [2, 3], [4, 5]]],
  ['83018202039f0405ff', [1, [2, 3], [4, 5]]],
  ['83019f0203ff820405', [1, [2, 3], [4, 5]]],
  ['9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff', Array.from({ length: 25 }, (_, i) => i + 1)],
  ['bf61610161629f0203ffff', { a: 1, b: [2, 3] }],
  ['826161bf61626163ff', ['a', { b: 'c' }]],
  ['bf6346756ef563416d7421ff', { Fun: true, Amt: -2 }],
];

/** The examples that are no values of JSON, or no integers of 64 bits. */
const refusedExamples: readonly (readonly [hex: string, why: string])[] = [
  [
    '1bffffffffffffffff',
    'cannot unmarshal positive integer into field "v.w" of type int64 (18446744073709551615 overflows int64)',
  ],
  [
    '3bffffffffffffffff',
    'cannot unmarshal negative integer into field "v.w" of type int64 (-18446744073709551616 overflows int64)',
  ],
  ['c249010000000000000000', 'bignum is not accepted in field "v.w"'],
  ['c349010000000000000000', 'bignum is not accepted in field "v.w"'],
  ['f97c00', 'floating-point Infinity is not accepted in field "v.w"'],
  ['f97e00', 'floating-point NaN is not accepted in field "v.w"'],
  ['f9fc00', 'floating-point -Infinity is not accepted in field "v.w"'],
  ['fa7f800000', 'floating-point Infinity is not accepted in field "v.w"'],
  ['fa7fc00000', 'floating-point NaN is not accepted in field "v.w"'],
  ['fb7ff0000000000000', 'floating-point Infinity is not accepted in field "v.w"'],
  ['fb7ff8000000000000', 'floating-point NaN is not accepted in field "v.w"'],
  ['f7', 'simple value 23 is not accepted in field "v.w"'],
  ['f0', 'simple value 16 is not accepted in field "v.w"'],
  ['f8ff', 'simple value 255 is not accepted in field "v.w"'],
  ['a201020304', 'cannot unmarshal positive integer into a key in field "v.w"'],
];

describe('reading the examples of RFC 8949', () => {
  it.each(examples)('%s is a value of JSON', (hex, value) => {
    expect(read(hex)).toEqual(value);
  });

  it.each(refusedExamples)('%s is refused', (hex, why) => {
    expect(fault(() => readObject(at('v.w', hex)))).toBe(ofBox(why));
  });
});

describe('reading a value that may be anything', () => {
  // As the reference server answers for a custom object.
  it.each<readonly [what: string, hex: string, value: Json]>([
    ['a time with an offset', 'c07819323032302d30312d30315430313a30303a30302b30313a3030', '2020-01-01T01:00:00+01:00'],
    ['seconds before 1970', 'c120', '1969-12-31T23:59:59Z'],
    ['half a second before 1970', 'c1f9b800', '1969-12-31T23:59:59.5Z'],
    ['seconds that no double represents exactly', 'c1fb41d782f840066666', '2020-01-01T00:00:00.099999904Z'],
    ['the last second of the year 9999', 'c11b0000003afff4417f', '9999-12-31T23:59:59Z'],
    ['base64url', 'd544fffefd01', '__79AQ'],
    ['base64', 'd644fffefd01', '//79AQ=='],
    ['base16', 'd744fffefdab', 'fffefdab'],
    ['base64 of text, which is not encoded', 'd663616263', 'abc'],
    ['base64 of what a list contains', 'd68242010241ff', ['AQI=', '/w==']],
    ['base64 of the keys and values of a map', 'd6a14161420102', { 'YQ==': 'AQI=' }],
    ['base64 inside of base64url', 'd5d6426162', 'YWI='],
    ['base64 inside of an unknown tag', 'd864d6426162', 'YWI='],
    ['an unknown tag inside of base64', 'd6d864426162', 'YWI='],
    ['base64 of chunks', 'd65f41614162ff', 'YWI='],
    ['an unknown tag', 'dbffffffffffffffff01', 1],
    ['a decimal fraction, which is a list', 'c4820102', [1, 2]],
    ['the self-described tag inside', 'd9d9f701', 1],
    ['the greatest integer', '1b7fffffffffffffff', 2n ** 63n - 1n],
    ['the least integer', '3b7fffffffffffffff', -(2n ** 63n)],
    ['an integer beyond 2^53', '1b0020000000000001', 2n ** 53n + 1n],
    ['an integer that is not in its shortest form', '1b0000000000000002', 2],
    ['a float that is a large integer', 'fb4415af1d78b58c40', 100_000_000_000_000_000_000n],
    ['bytes that are not UTF-8', '42c328', '\ufffd('],
    ['a character across chunks of bytes', '5f41c341a4ff', 'ä'],
    ['no chunks', '5fff', ''],
    ['a key with a tag', 'a1d9d9f7616b01', { k: 1 }],
  ])('%s', (_, hex, value) => {
    expect(read(hex)).toEqual(value);
  });

  it.each([
    [
      'c069796573746572646179',
      'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006" in field "v.w"',
    ],
    ['c04161', 'tag number 0 must be followed by text string, got byte string in field "v.w"'],
    ['c0c06161', 'tag number 0 is followed by another tag in field "v.w"'],
    ['c16131', 'tag number 1 must be followed by integer or floating-point number, got text string in field "v.w"'],
    ['c11b0000003afff44180', 'the year of a time is outside of 0 to 9999 in field "v.w"'],
    ['c1fb7e37e43c8800759c', 'the year of a time is outside of 0 to 9999 in field "v.w"'],
    ['62c328', 'invalid UTF-8 string in field "v.w"'],
    ['63eda080', 'invalid UTF-8 string in field "v.w"'],
    ['7f61c361a4ff', 'invalid UTF-8 string in field "v.w"'],
    ['a26161016161f6', 'duplicate field "v.w.a"'],
    ['a26161014161f6', 'duplicate field "v.w.a"'],
    ['a1f501', 'cannot unmarshal bool into a key in field "v.w"'],
    ['a26161f6f701', 'simple value 23 is not accepted in field "v.w"'],
    ['a26161f6c2416101', 'tag number 2 is not accepted before a key in field "v.w"'],
  ])('%s is refused, and the error names the field', (hex, why) => {
    expect(fault(() => readObject(at('v.w', hex)))).toBe(ofBox(why));
  });

  it('keeps keys such as __proto__ as data', () => {
    const value = read('a2695f5f70726f746f5f5fa16161016b636f6e7374727563746f7202') as JsonObject;
    expect(Object.entries(value)).toEqual([
      ['__proto__', { a: 1 }],
      ['constructor', 2],
    ]);
    expect(({} as { a?: unknown }).a).toBeUndefined();
    expect(fault(() => read('a2695f5f70726f746f5f5f01695f5f70726f746f5f5f02'))).toContain(
      'duplicate field "v.__proto__"',
    );
  });
});

describe('malformed CBOR', () => {
  const unknown = (why: string, shown: string) =>
    `the object provided is unrecognized (must be of type Box): unable to determine group/version/kind: ${why} (${shown})`;

  // As the reference server answers.
  it.each([
    ['', 'EOF', '<empty>'],
    ['d9d9f7', 'unexpected EOF', 'd9d9f7'],
    ['a1', 'unexpected EOF', 'a1'],
    ['a16161', 'unexpected EOF', 'a16161'],
    ['a1616118', 'unexpected EOF', 'a1616118'],
    ['a161611b00', 'unexpected EOF', 'a161611b00'],
    ['a161614261', 'unexpected EOF', 'a161614261'],
    ['a161615f4161', 'unexpected EOF', 'a161615f4161'],
    ['a161619f', 'unexpected EOF', 'a161619f'],
    ['a161619b7fffffffffffffff', 'unexpected EOF', 'a161619b7fffffffffffffff'],
    ['a161615b7fffffffffffffff', 'unexpected EOF', 'a161615b7fffffffffffffff'],
    ['bb7fffffffffffffff', 'unexpected EOF', 'bb7fffffffffffffff'],
    ['a000', 'cbor: 1 bytes of extraneous data starting at index 1', 'a000'],
    ['a0a0a0', 'cbor: 2 bytes of extraneous data starting at index 1', 'a0a0a0'],
    ['ff', 'cbor: unexpected "break" code', 'ff'],
    ['a16161ff', 'cbor: unexpected "break" code', 'a16161ff'],
    ['bf6161ff', 'cbor: unexpected "break" code', 'bf6161ff'],
    ['1c', 'cbor: invalid additional information 28 for type positive integer', '1c'],
    ['1f', 'cbor: invalid additional information 31 for type positive integer', '1f'],
    ['3f', 'cbor: invalid additional information 31 for type negative integer', '3f'],
    ['df00', 'cbor: invalid additional information 31 for type tag', 'df00'],
    ['fc', 'cbor: invalid additional information 28 for type primitives', 'fc'],
    ['f810', 'cbor: invalid simple value 16 for type primitives', 'f810'],
    ['f814', 'cbor: invalid simple value 20 for type primitives', 'f814'],
    ['a161615f6161ff', 'cbor: wrong element type text string for indefinite-length byte string', 'a161615f6161ff'],
    ['a161615fc14161ff', 'cbor: wrong element type tag for indefinite-length byte string', 'a161615fc14161ff'],
    ['a161615f5f4161ffff', 'cbor: indefinite-length byte string chunk is not definite-length', 'a161615f5f4161ffff'],
  ])('%s is refused: %s', (hex, why, shown) => {
    expect(fault(() => readObject(hex))).toBe(unknown(why, shown));
  });

  it.each([
    ['80', 'cbor: cannot unmarshal array into an object'],
    ['4178', 'cbor: cannot unmarshal byte string into an object'],
    ['07', 'cbor: cannot unmarshal positive integer into an object'],
    ['a1646b696e6403', 'cbor: cannot unmarshal positive integer into field "kind" of type string'],
    ['a2646b696e646161646b696e646161', 'cbor: duplicate field "kind"'],
  ])('an object of unknown kind is refused: %s', (hex, why) => {
    expect(fault(() => readObject(hex))).toBe(unknown(why, hex));
  });

  it('accepts null and an empty map as an object', () => {
    expect([readObject('f6'), readObject('a0'), readObject('bfff')]).toEqual([null, {}, {}]);
  });

  it('accepts the self-described tag, repeated or absent', () => {
    expect([readObject('d9d9f7a0'), readObject('d9d9f7d9d9f7a0')]).toEqual([{}, {}]);
  });

  it('says of an apply configuration only what is wrong', () => {
    const read = (hex: string) => atOnce(readCborPatchInSteps(Buffer.from(hex, 'hex'), names));
    expect(fault(() => read('80'))).toBe('cbor: cannot unmarshal array into an object');
    expect(fault(() => read('a0ff'))).toBe('cbor: 1 bytes of extraneous data starting at index 1');
    expect(read('a1646b696e6403').value).toEqual({ kind: 3 });
  });
});

describe('reading an object of a built-in type', () => {
  const replicas = (item: string) => readObject(at('spec.replicas', item), appsV1.Deployment);
  const data = (item: string) => readObject(at('data.k', item), coreV1.ConfigMap);
  const binary = (item: string) => readObject(at('data.k', item), coreV1.Secret);
  const surge = (item: string) => readObject(at('spec.strategy.rollingUpdate.maxSurge', item), appsV1.Deployment);
  const quantity = (item: string) => readObject(at('spec.hard.cpu', item), coreV1.ResourceQuota);
  const time = (item: string) => readObject(at('eventTime', item), eventsV1.Event);

  // As the reference server answers.
  it.each<readonly [what: string, read: (item: string) => JsonObject, item: string, value: JsonObject]>([
    ['an integer', replicas, '02', { spec: { replicas: 2 } }],
    ['an integer with a tag', replicas, 'c102', { spec: { replicas: 2 } }],
    ['null', replicas, 'f6', { spec: { replicas: null } }],
    ['a byte string', data, '4161', { data: { k: 'a' } }],
    ['a text string', data, '6161', { data: { k: 'a' } }],
    ['a time as a text', data, 'c074323031332d30332d32315432303a30343a30305a', { data: { k: '2013-03-21T20:04:00Z' } }],
    ['bytes as base64url', data, 'd5420102', { data: { k: 'AQI' } }],
    ['bytes as base64', data, 'd6420102', { data: { k: 'AQI=' } }],
    ['bytes as base16', data, 'd7420102', { data: { k: '0102' } }],
    ['base64 for binary data', binary, '4441514944', { data: { k: 'AQID' } }],
    ['base64 with an unknown tag for binary data', binary, 'd8644441514944', { data: { k: 'AQID' } }],
    ['binary data', binary, 'd643fbff03', { data: { k: '+/8D' } }],
    ['binary data as base64url, which becomes base64', binary, 'd543fbff03', { data: { k: '+/8D' } }],
    ['binary data as base16, which becomes base64', binary, 'd743fbff03', { data: { k: '+/8D' } }],
    ['an integer for an integer or a text', surge, '02', { spec: { strategy: { rollingUpdate: { maxSurge: 2 } } } }],
    [
      'a text for an integer or a text',
      surge,
      '43323025',
      { spec: { strategy: { rollingUpdate: { maxSurge: '20%' } } } },
    ],
    ['a quantity', quantity, '443530306d', { spec: { hard: { cpu: '500m' } } }],
    ['a time', time, '54323031332d30332d32315432303a30343a30305a', { eventTime: '2013-03-21T20:04:00Z' }],
  ])('accepts %s', (_, read, item, value) => {
    expect(read(item)).toEqual(value);
  });

  it.each<readonly [what: string, read: (item: string) => JsonObject, item: string, why: string]>([
    ['2.0 for an integer', replicas, 'f94000', 'float into field "spec.replicas" of type int32'],
    ['-0.0 for an integer', replicas, 'f98000', 'float into field "spec.replicas" of type int32'],
    ['a text for an integer', replicas, '4132', 'byte string into field "spec.replicas" of type int32'],
    [
      'a large integer',
      replicas,
      '1a80000000',
      'positive integer into field "spec.replicas" of type int32 (2147483648 overflows int32)',
    ],
    [
      'an integer of 64 bits',
      replicas,
      '1bffffffffffffffff',
      'positive integer into field "spec.replicas" of type int32 (18446744073709551615 overflows int32)',
    ],
    [
      'a small integer',
      replicas,
      '3a80000000',
      'negative integer into field "spec.replicas" of type int32 (-2147483649 overflows int32)',
    ],
    ['an integer for a text', data, '01', 'positive integer into field "data.k" of type string'],
    ['seconds for a text', data, 'c101', 'positive integer into field "data.k" of type string'],
    ['a list for a text', data, '80', 'array into field "data.k" of type string'],
    ['a text string for binary data', binary, '6441514944', 'text string into field "data.k" of type bytes'],
    [
      'a float for an integer or a text',
      surge,
      'f94100',
      'float into field "spec.strategy.rollingUpdate.maxSurge" of type intOrString',
    ],
    ['a number for a quantity', quantity, '02', 'positive integer into field "spec.hard.cpu" of type quantity'],
    ['seconds for a time', time, 'c11a514b67b0', 'positive integer into field "eventTime" of type microTime'],
  ])('refuses %s', (_, read, item, why) => {
    expect(fault(() => read(item))).toBe(ofBox(`cannot unmarshal ${why}`));
  });

  it('refuses a bignum as such', () => {
    expect(fault(() => replicas('c24102'))).toBe(ofBox('bignum is not accepted in field "spec.replicas"'));
  });

  it('reads undeclared fields, and those that have any value, as they are', () => {
    expect(readObject(at('more', 'c100'), coreV1.ConfigMap)).toEqual({ more: '1970-01-01T00:00:00Z' });
    const revision = readObject(at('data', 'a26161f93c006162d64101'), appsV1.ControllerRevision);
    expect(revision).toEqual({ data: { a: 1, b: 'AQ==' } });
  });
});

describe('writing', () => {
  const write = (value: Json, schema?: StructSchema) => bufferOf(writeCbor(value, schema, names)).toString('hex');

  it.each<readonly [value: Json, hex: string]>([
    [0, '00'],
    [-0, '00'],
    [23, '17'],
    [24, '1818'],
    [255, '18ff'],
    [256, '190100'],
    [65_536, '1a00010000'],
    [2 ** 32, '1b0000000100000000'],
    [Number.MAX_SAFE_INTEGER, '1b001fffffffffffff'],
    [-1, '20'],
    [-24, '37'],
    [-25, '3818'],
    [-(2 ** 53) + 1, '3b001ffffffffffffe'],
    [2n ** 53n + 1n, '1b0020000000000001'],
    [2n ** 63n - 1n, '1b7fffffffffffffff'],
    [-(2n ** 63n), '3b7fffffffffffffff'],
    // The reference server has no other integers: what is larger was a float there.
    [2n ** 63n, 'fa5f000000'],
    [1.5, 'f93e00'],
    [-4.5, 'f9c480'],
    [65_504.5, 'fa477fe080'],
    [0.1, 'fb3fb999999999999a'],
    [0.10000000149011612, 'fa3dcccccd'],
    [2 ** -14, 'f90400'],
    [2 ** -24, 'f90001'],
    [3 * 2 ** -24, 'f90003'],
    [2 ** -25, 'fa33000000'],
    [1.5 * 2 ** -24, 'fa33c00000'],
    [1e300, 'fb7e37e43c8800759c'],
    [5e-324, 'fb0000000000000001'],
    [2n ** 64n, 'fa5f800000'],
    [true, 'f5'],
    [false, 'f4'],
    [null, 'f6'],
    ['', '40'],
    ['a', '4161'],
    ['ü', '42c3bc'],
    ['x'.repeat(33), `5821${'78'.repeat(33)}`],
    ['ü'.repeat(33), `5842${'c3bc'.repeat(33)}`],
    [[1, 'a', []], '8301416180'],
    [{ b: 1, a: { c: null } }, 'a24162014161a14163f6'],
  ])('writes its shortest form: %s', (value, hex) => {
    expect(write(value)).toBe(hex);
  });

  it('writes base64 as bytes where the type has binary data, and nowhere else', () => {
    const secret = { data: { k: 'AAECAw==' }, type: 'AAECAw==' };
    expect(write(secret, coreV1.Secret)).toBe(
      `a24464617461a1416bd644000102034474797065${'48'}${Buffer.from('AAECAw==').toString('hex')}`,
    );
    expect(write(secret)).not.toContain('d644');
  });

  it('is read back as the same value', () => {
    const value = { spec: Object.fromEntries(examples.map(([hex, item], i) => [`${i} ${hex}`, item])) };
    const written = bufferOf(writeCbor(value, undefined, names));
    expect(atOnce(readCborObjectInSteps(written, any, undefined, names)).value).toEqual(value);
  });
});

describe('large values', () => {
  const inSteps = async (hex: Buffer) => {
    const turns = new EveryStep();
    const { value } = await inTurns(readCborObjectInSteps(hex, any, undefined, names), turns);
    return { value, count: turns.count };
  };

  it('are read and written in steps of a thousand items', async () => {
    const value = {
      list: Array.from({ length: 60_000 }, (_, i) => i),
      map: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, {}])),
    };
    const turns = new EveryStep();
    const bytes = bufferOf(await inTurns(writeCborInSteps(value, undefined, names), turns));
    expect(turns.count).toBeGreaterThanOrEqual(70);
    expect(bytes.equals(bufferOf(writeCbor(value, undefined, names)))).toBe(true);
    const read = await inSteps(bytes);
    expect(read.value).toEqual(value);
    expect(read.count).toBeGreaterThanOrEqual(70);
  });

  it('may have as many items and fields as a JSON body', async () => {
    const list = (items: number) => Buffer.concat([Buffer.from('9a', 'hex'), uint32(items), Buffer.alloc(items, 0x80)]);
    const lists = (items: readonly number[]) =>
      Buffer.concat([Buffer.from([0xa1, 0x41, 0x76, 0x80 + items.length]), ...items.map(list)]);
    // The map has one field, and the list in it eight items.
    const most = [...Array<number>(7).fill(50_000), MAX_MEMBERS - 9 - 350_000];
    expect((await inSteps(lists(most))).value).toMatchObject({ v: { length: 8 } });
    await expect(inSteps(lists(most.with(0, 50_001)))).rejects.toMatchObject({ code: 413 });
    expect((await inSteps(lists([MAX_ITEMS]))).value).toMatchObject({ v: [{ length: MAX_ITEMS }] });
    await expect(inSteps(lists([MAX_ITEMS + 1]))).rejects.toMatchObject({ code: 413 });
    const fields = (count: number) =>
      Buffer.from(`bf${Array.from({ length: count }, (_, i) => `${text(`k${i}`)}f6`).join('')}ff`, 'hex');
    expect(Object.keys((await inSteps(fields(MAX_FIELDS))).value as JsonObject)).toHaveLength(MAX_FIELDS);
    await expect(inSteps(fields(MAX_FIELDS + 1))).rejects.toMatchObject({ code: 413 });
  });

  it('may nest as deep as JSON, in lists, maps and tags', () => {
    const nested = (part: string, levels: number) => `${part.repeat(levels)}f6`;
    const deep = 'cbor: exceeded max nested level 512';
    for (const part of ['81', 'a14161', '9f', 'bf4161']) {
      const end = part === '9f' || part === 'bf4161' ? 'ff'.repeat(MAX_DEPTH - 1) : '';
      expect(() => readObject(`a14176${nested(part, MAX_DEPTH - 1)}${end}`)).not.toThrow();
      expect(fault(() => readObject(`a14176${nested(part, MAX_DEPTH)}`))).toContain(deep);
    }
    expect(() => readObject(`a14176${nested('d864', MAX_DEPTH)}`)).not.toThrow();
    expect(fault(() => readObject(`a14176${nested('d864', MAX_DEPTH + 1)}`))).toContain(deep);
  });

  it('may have 10,000 chunks in a string', async () => {
    const chunks = (count: number) => `a141765f${'4161'.repeat(count)}ff`;
    expect(readObject(chunks(10_000))['v']).toHaveLength(10_000);
    // Chunks count as items: no step reads more than one such string.
    const many = await inSteps(Buffer.from(`a1417684${`5f${'4161'.repeat(10_000)}ff`.repeat(4)}`, 'hex'));
    expect(many.count).toBeGreaterThanOrEqual(4);
    expect(fault(() => readObject(chunks(10_001)))).toContain('cbor: byte string has more than 10000 chunks');
  });
});

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
