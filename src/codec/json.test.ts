import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  atOnce,
  isJsonObject,
  type Json,
  type JsonObject,
  MAX_DEPTH,
  parseExact,
  StatusError,
  type Steps,
} from '../meta/index.ts';
import {
  type ParsedBody,
  parseJson,
  parseJsonInSteps,
  prettyJson,
  readOwnJson,
  strictFindings,
  stringifyJson,
  stringifyJsonInSteps,
  summarizeBody,
  unrecognizedBody,
} from './json.ts';

const bytes = (text: string) => Buffer.from(text);
const fault = (body: Uint8Array): string => {
  try {
    parseJson(body);
  } catch (error) {
    return (error as StatusError).message;
  }
  return 'accepted';
};

describe('parseJson', () => {
  it('reports each duplicate key once, with its path; the last value wins', () => {
    const text =
      '{"metadata":{"name":"a","name":"b","name":"c"},"spec":{"l":[{},{"p":[{"x":1,"y":2,"x":3}]}]},"spec ":1}';
    expect(parseJson(bytes(text))).toEqual({
      json: bytes(text),
      value: { metadata: { name: 'c' }, spec: { l: [{}, { p: [{ x: 3, y: 2 }] }] }, 'spec ': 1 },
      findings: ['duplicate field "metadata.name"', 'duplicate field "spec.l[1].p[0].x"'],
    });
  });

  it('rejects a body with too many entries by counting its commas, before it is parsed', () => {
    const entries = (count: number) => bytes(`[${Array(count).fill('{}').join(',')}]`);
    const why =
      'Request entity too large: the object has too many fields and items, limit is 16384 fields in one map, 65536 items in one list';
    // The text is also invalid: a parser would have reported a syntax error.
    expect(fault(Buffer.concat([entries(400_002), bytes(']')]))).toBe(`${why}, 400000 of both in all`);
    expect(fault(Buffer.concat([bytes('["'), Buffer.alloc(500_000, ','), bytes('"]')]))).toBe('accepted');
    expect(readOwnJson(`[1234567890123456${',1'.repeat(400_001)}]`)).toHaveLength(400_002);
  });

  it('ignores colons, braces and digits inside strings', () => {
    const text = String.raw`{"a":"{:\":\\","b\"":["12345678901234567890:"]}`;
    expect(parseJson(bytes(text))).toMatchObject({ value: JSON.parse(text), findings: [] });
  });

  it('keeps integers beyond 2^53 exact, and no other number', () => {
    const text =
      '[9007199254740991,9007199254740993,-9223372036854775808,1152921504606846976,0.12345678901234567,1e21,1E2,-0]';
    expect(parseJson(bytes(text)).value).toEqual([
      9007199254740991,
      9007199254740993n,
      -9223372036854775808n,
      1152921504606846976n,
      0.12345678901234566,
      1e21,
      100,
      -0,
    ]);
  });

  it('keeps __proto__ and constructor as plain keys', () => {
    const { value, findings } = parseJson(
      bytes('{"__proto__":{"a":1},"constructor":9007199254740993,"__proto__":{"b":2}}'),
    );
    if (!isJsonObject(value)) throw new Error('no object');
    expect(findings).toEqual(['duplicate field "__proto__"']);
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(stringifyJson(value)).toBe('{"__proto__":{"b":2},"constructor":9007199254740993}');
  });

  it('replaces invalid UTF-8 and unpaired surrogates with U+FFFD', () => {
    expect(parseJson(Buffer.from([0x22, 0xff, 0x22])).value).toBe('\ufffd');
    expect(parseJson(bytes(String.raw`"\ud800 \uDC00 \ud83d\ude00"`)).value).toBe('\ufffd \ufffd 😀');
  });

  // The messages of the reference server; the first three are recorded in objects.badBodies.
  it.each([
    ['{"apiVersion":"v1","kind":"ConfigMap",', 'unexpected end of JSON input'],
    ['not json', "invalid character 'o' in literal null (expecting 'u')"],
    ['', 'unexpected end of JSON input'],
    ['}', "invalid character '}' looking for beginning of value"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a"x', "invalid character 'x' after object key"],
    ['{"a":1 "b"', "invalid character '\"' after object key:value pair"],
    ["[1'", "invalid character '\\'' after array element"],
    ['{} {', "invalid character '{' after top-level value"],
    ['01', "invalid character '1' after top-level value"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
    [String.raw`"\q\u12g4`, "invalid character 'q' in string escape code"],
    [String.raw`"\u12`, 'unexpected end of JSON input'],
    ['"\\', 'unexpected end of JSON input'],
    ['"a\\n\u0001\\q"', "invalid character '\\x01' in string literal"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ['"a\u0001"', "invalid character '\\x01' in string literal"],
    ['-x', "invalid character 'x' in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1e+x', "invalid character 'x' in exponent of numeric literal"],
    ['tru', 'unexpected end of JSON input'],
    ['falsy', "invalid character 'y' in literal false (expecting 'e')"],
    ['é', "invalid character 'Ã' looking for beginning of value"],
    ['1e400', 'json: cannot unmarshal number 1e400 into Go value of type float64'],
    ['['.repeat(MAX_DEPTH + 1), 'exceeded max depth'],
    ['{"a":'.repeat(100_000), 'exceeded max depth'],
  ])('rejects %s', (text, message) => {
    expect(fault(bytes(text))).toBe(message);
  });

  it('rejects an integer of a million digits with a shortened message', () => {
    expect(fault(bytes('9'.repeat(1_000_000)))).toMatch(/^json: cannot unmarshal number 9+ \.\.\. into/);
  });

  it('accepts the maximum depth', () => {
    const text = '['.repeat(MAX_DEPTH) + ']'.repeat(MAX_DEPTH);
    expect(stringifyJson(parseJson(bytes(text)).value)).toBe(text);
  });

  it('gives the value of the exact parser and of JSON.parse for any document', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        const fast = parseJson(bytes(text)).value;
        expect(fast).toEqual(parseExact(text, { maxDepth: 100 }).value);
        // JSON.parse differs only for integers beyond 2^53 and unpaired surrogates.
        if (!/\d{16}|\\u/i.test(text)) expect(fast).toEqual(JSON.parse(text));
      }),
    );
  });

  it('rejects a text exactly when JSON.parse does', () => {
    const units = ['{', '}', '[', ']', '"', ':', ',', '1', '-', '.', 'e', ' ', '\\', 'null', '\\u', 'd800', '"a":1'];
    // The long integer selects the exact parser.
    const soup = fc
      .tuple(fc.boolean(), fc.string({ unit: fc.constantFrom(...units) }))
      .map(([exact, text]) => (exact ? `[12345678901234567,${text}]` : text))
      .filter((text) => !/e[-+]?\d{3}/.test(text));
    fc.assert(
      fc.property(soup, (text) => {
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        expect(fault(bytes(text)) === 'accepted').toBe(valid);
      }),
      { numRuns: 2000 },
    );
  });
});

/** Any JSON value, including bigint and keys such as `__proto__`. */
const anyJson: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (n === 0 ? 0 : n)),
    fc.integer(),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n }),
    fc.string({ unit: 'grapheme' }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', '10', 'a.b')), tie('value'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
})).value;

/** The value that is parsed from the text of a value: a double that is written as an integer becomes a bigint. */
const asWritten = (value: Json): Json => {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return /^-?\d+$/.test(String(value)) ? BigInt(String(value)) : value;
  }
  if (Array.isArray(value)) return value.map(asWritten);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asWritten(item)]));
};

describe('stringifyJson', () => {
  it('writes text that parseJson parses to the same value', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const { value: again, findings } = parseJson(bytes(stringifyJson(value)));
        expect(again).toEqual(asWritten(value));
        expect(findings).toEqual([]);
        expect(parseJson(bytes(prettyJson(value))).value).toEqual(again);
      }),
    );
  });

  it('writes all but a bigint as JSON.stringify does', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const plain = JSON.parse(JSON.stringify(value, (_, v: unknown) => (typeof v === 'bigint' ? 7 : v))) as Json;
        const wrapped = [plain, 2n ** 60n];
        expect(stringifyJson(wrapped)).toBe(`[${JSON.stringify(plain)},1152921504606846976]`);
        expect(prettyJson(wrapped)).toBe(
          JSON.stringify([plain, 0], undefined, 2).replace(/0\n\]$/, '1152921504606846976\n]'),
        );
      }),
    );
  });

  it('indents by two spaces in prettyJson, and keeps empty lists and objects on one line', () => {
    expect(prettyJson({ a: [], b: {}, c: [1, 2n ** 60n] })).toBe(
      '{\n  "a": [],\n  "b": {},\n  "c": [\n    1,\n    1152921504606846976\n  ]\n}',
    );
  });
});

describe('messages about a body', () => {
  it('summarise the body as the reference server does', () => {
    expect(summarizeBody(bytes('{"apiVersion":"v1","kind":"ConfigMap",'))).toBe('{"apiVersion":"v1","kind":"Con ...');
    expect(summarizeBody(bytes('not json'))).toBe('6e6f74206a736f6e');
    expect(summarizeBody(bytes(''))).toBe('<empty>');
    const error = unrecognizedBody('ConfigMap', bytes(''), 'unexpected end of JSON input');
    expect([error.code, error.message]).toEqual([
      400,
      'the object provided is unrecognized (must be of type ConfigMap): unexpected end of JSON input (<empty>)',
    ]);
  });

  it('report strict findings in the order of the body', () => {
    const body = '{"bogus":1,"metadata":{"name":"a","name":"a","odd":1},"data":{"a":"1","a":"2"},"l":[{},{"late":{}}]}';
    const unknown = [['bogus'], ['l', 1, 'late'], ['metadata', 'odd']];
    expect(strictFindings(bytes(body), unknown)).toEqual([
      'unknown field "bogus"',
      'duplicate field "metadata.name"',
      'unknown field "metadata.odd"',
      'duplicate field "data.a"',
      'unknown field "l[1].late"',
    ]);
  });

  it('report a field that is unknown and duplicate as both, each once', () => {
    expect(strictFindings(bytes('{"a":{"x":1,"x":2,"x":3},"a":{"x":1}}'), [['a', 'x']])).toEqual([
      'unknown field "a.x"',
      'duplicate field "a.x"',
      'duplicate field "a"',
    ]);
  });

  it('have at most a hundred findings, each shortened', () => {
    const twice = Array.from({ length: 1000 }, (_, i) => `"k${i}":1,"k${i}":2`);
    const text = `{"${'k'.repeat(1_000_000)}":{${twice.join(',')}}}`;
    const { findings } = parseJson(bytes(text));
    // The shortened texts of all findings are equal.
    expect(findings).toEqual([`duplicate field "${'k'.repeat(500)}..."`]);
    expect(parseJson(bytes(`{${twice.join(',')}}`)).findings).toHaveLength(100);
  });

  it('format no path of a field without a finding', () => {
    // The paths of all these keys would be 40 GB of text.
    const inner = Array.from({ length: 40_000 }, (_, i) => `"${i}":0`);
    const text = `{"${'k'.repeat(1_000_000)}":{${inner.join(',')},"7":1,"x":0}}`;
    const { value, findings, json } = parseJson(bytes(text));
    expect(Object.keys(Object.values(value as JsonObject)[0] as JsonObject)).toHaveLength(40_001);
    expect(findings).toHaveLength(1);
    expect(strictFindings(json as Uint8Array, [['k'.repeat(1_000_000), 'x'], ['none']])).toHaveLength(2);
  });
});

describe('stringifyJsonInSteps', () => {
  const large = fc.constantFrom(0, 3, 600).chain((length) => fc.tuple(fc.constant(length), fc.jsonValue()));
  const values = large.map(([length, value]): Json => {
    const list = Array.from({ length }, () => value as Json);
    return { '9': 1n, list, ['__proto__']: { a: value as Json }, inner: { list: [list, 2n ** 60n, []], empty: {} } };
  });

  it('gives the text of stringifyJson', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(atOnce(stringifyJsonInSteps(value))).toBe(stringifyJson(value));
      }),
    );
    const object = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`k${i}`, i % 3 === 0 ? undefined : i]));
    expect(atOnce(stringifyJsonInSteps(object as Json))).toBe(JSON.stringify(object));
    expect(atOnce(stringifyJsonInSteps(Object.values(object) as Json))).toBe(JSON.stringify(Object.values(object)));
  });

  it('takes steps in proportion to the size', () => {
    const steps = (count: number) => {
      const value = { data: Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v'])) };
      return [...stringifyJsonInSteps(value)].length;
    };
    expect(steps(60_000)).toBeGreaterThan(50);
    expect(steps(60_000) / steps(30_000)).toBeCloseTo(2, 0);
    expect(steps(100)).toBe(0);
  });
});

describe('a body with many members', () => {
  const large = (members: string) => Buffer.from(`{"a":{${members}},"list":[${'1,'.repeat(2_000)}2]}`);
  const numbered = (count: number) =>
    Array.from({ length: count }, (_, i) => `"k${i}":${i % 3 === 0 ? `{"x":"${i}"}` : i}`);

  it('is read in steps, as at once', () => {
    for (const body of [
      large(numbered(5_000).join(',')),
      large([...numbered(5_000), '"k1":2', '"long":12345678901234567890', '"e":1e20', '"s":"\\ud800"'].join(',')),
    ]) {
      const steps = parseJsonInSteps(body);
      let pauses = 0;
      let step = steps?.next();
      for (; step?.done === false; step = steps?.next()) pauses++;
      expect(pauses).toBeGreaterThanOrEqual(5);
      expect(step?.value).toEqual(parseJson(body));
    }
  });

  it('fails in steps as at once', () => {
    const valid = large(numbered(5_000).join(',')).toString();
    for (const body of [
      `${valid}x`,
      valid.slice(0, -1),
      valid.replace('"k10":10', '"k10":é'),
      valid.replace(':7', ':7e999'),
    ]) {
      const bytes = Buffer.from(body);
      const failure = (read: () => unknown) => {
        try {
          read();
        } catch (error) {
          return error;
        }
        return undefined;
      };
      const expected = failure(() => parseJson(bytes));
      expect(expected).toBeInstanceOf(StatusError);
      expect(failure(() => atOnce(parseJsonInSteps(bytes) as Steps<unknown>))).toEqual(expected);
    }
  });

  it('is scanned, decoded and parsed in steps of their own when it is one long text', () => {
    const steps = parseJsonInSteps(Buffer.from(`{"a":"${'é'.repeat(200_000)}"}`)) as Steps<unknown>;
    // Two while it is scanned, one after it has been decoded.
    expect([...steps]).toHaveLength(3);
  });

  it('is left to be read at once when it is small', () => {
    expect(parseJsonInSteps(Buffer.from('{"a":1}'))).toBeUndefined();
  });

  it('fails after it was scanned in steps when it has too many members, or is too deep', () => {
    const inSteps = (text: string) => atOnce(parseJsonInSteps(Buffer.from(text)) as Steps<unknown>);
    expect(() => inSteps(`[${'1,'.repeat(410_000)}1]`)).toThrow(expect.objectContaining({ code: 413 }));
    expect(() => inSteps('['.repeat(300_000))).toThrow('exceeded max depth');
  });

  it('is read in steps when it has thousands of long integers', () => {
    const text = `[${Array.from({ length: 3_500 }, () => '9'.repeat(900)).join()}]`;
    const steps = parseJsonInSteps(Buffer.from(text));
    let longest = 0;
    let count = 0;
    const toBigInt = vi.spyOn(globalThis, 'BigInt');
    for (let step = steps?.next(); step?.done === false; step = steps?.next()) {
      longest = Math.max(longest, toBigInt.mock.calls.length);
      toBigInt.mockClear();
      count++;
    }
    toBigInt.mockRestore();
    expect(count).toBeGreaterThanOrEqual(10);
    expect(longest).toBeLessThanOrEqual(1_000);
  });

  it('is scanned in steps wherever its values lie', () => {
    const values = ['"\\ud800"', '12345678901234567890', '1e2', '{"a":1,"a":2}', '"\\\\"', '[[]]'];
    // Without the bytes, whose comparison takes long.
    const read = ({ value, findings }: ParsedBody) => ({ value, findings });
    for (const value of values) {
      for (let gap = 262_114; gap < 262_142; gap += 3) {
        const bytes = Buffer.from(`{"y":[${' '.repeat(gap)}${value},${value}]${' '.repeat(100)}}`);
        expect(read(atOnce(parseJsonInSteps(bytes) as Steps<ParsedBody>))).toEqual(read(parseJson(bytes)));
      }
    }
    const long = parseJsonInSteps(Buffer.from(`["${'x'.repeat(100)}"${',[]'.repeat(300_000)}]`), 512, 1_000_000);
    expect([...(long as Steps<unknown>)].length).toBeGreaterThan(6);
  });
});
