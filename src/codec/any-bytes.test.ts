import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Json, namesFor, StatusError } from '../meta/index.ts';
import { compile } from '../schema/index.ts';
import { apiextensionsV1, coreV1, discoveryV1, networkingV1 } from '../types/index.ts';
import { type ParsedBody, parseJson, parseYaml, parseYamlAsJson, readProtobuf, strictFindings } from './index.ts';

// For any bytes, a decoder returns a value of bounded size or throws StatusError 400.
const names = namesFor('orch.io');

/** The number of values and characters, to which the memory of a value is proportional. */
function weightOf(value: Json): number {
  if (typeof value === 'string') return value.length + 1;
  if (typeof value !== 'object' || value === null) return 1;
  let weight = 1;
  for (const [key, item] of Object.entries(value)) weight += key.length + weightOf(item);
  return weight;
}

/** The longest text of all findings: a hundred of 500 escaped characters. */
const MESSAGE = 100 * 6 * 520;

/** Decodes bytes and checks the bounds of the result. `growth` is the largest weight for each byte. */
function outcome(decode: (bytes: Uint8Array) => ParsedBody | undefined, bytes: Uint8Array, growth: number): string {
  let body: ParsedBody | undefined;
  try {
    body = decode(bytes);
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 400) throw error;
    expect(error.message.length).toBeLessThan(2_000);
    return 'refused';
  }
  if (body === undefined) return 'refused';
  expect(weightOf(body.value)).toBeLessThan(growth * (bytes.length + 100));
  expect(body.findings.reduce((sum, finding) => sum + finding.length, 0)).toBeLessThan(MESSAGE);
  return 'read';
}

/** Texts of these parts, some of them repeated. */
const textOf = (parts: readonly string[]) =>
  fc
    .array(fc.tuple(fc.constantFrom(...parts), fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, fc.nat(700))), {
      maxLength: 40,
    })
    .map((chosen) => Buffer.from(chosen.map(([part, times]) => part.repeat(times)).join('')));

const anyBytes = fc.uint8Array({ maxLength: 200 });

/** The bytes with some of them replaced, removed or repeated. */
const changed = (source: fc.Arbitrary<Uint8Array>) =>
  fc
    .tuple(source, fc.array(fc.tuple(fc.nat(), fc.nat(255), fc.nat(3)), { minLength: 1, maxLength: 4 }))
    .map(([bytes, changes]) => {
      let out = Buffer.from(bytes);
      for (const [place, byte, how] of changes) {
        const at = place % (out.length + 1);
        const middle = how === 0 ? [] : how === 1 ? [byte] : [...out.subarray(at, at + byte)];
        out = Buffer.concat([out.subarray(0, at), Buffer.from(middle), out.subarray(how === 3 ? at : at + 1)]);
      }
      return out;
    });

const json = textOf([
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  '"a":',
  '"b":1,',
  '9',
  '-',
  '.',
  'e',
  '\\u',
  'd800',
  ' ',
  '\\',
  'null',
  'é',
  '"a":{',
  '[{},',
]);
const yaml = textOf([
  'a',
  'b: ',
  'c:\n',
  '- ',
  '\n',
  ' ',
  '  ',
  ': ',
  '? ',
  '[',
  ']',
  '{',
  '}',
  ',',
  '"',
  "'",
  '|',
  '>+\n',
  '#',
  '&a ',
  '*a',
  '!t ',
  '---\n',
  '...\n',
  '%TAG ! x:\n',
  '\t',
  '\r',
  '<<: ',
  '0x',
  '1',
  '.',
  '\\q',
  'é',
  '\u0000',
  '"k": v\n',
  '- {a: [b]}\n',
  '? |\n  x\n: y\n',
]);
const yamlDocument = fc
  .constantFrom(
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {a: "b", c: d}\ndata:\n  k: |\n    one\n    two\n  l: >-\n    three\n',
    'a: &a\n  - b: [1, 2.5, ~]\n    c: "x\\n\\u0041"\n  - {<<: {d: 1}, e: *b}\nf: *a\n? g\n: !!str 1\n',
  )
  .map((text) => Buffer.from(text));

describe('parsing any bytes as JSON', () => {
  const read = (bytes: Uint8Array) => outcome(parseJson, bytes, 2);

  it.each([
    ['random bytes', anyBytes],
    ['random tokens', json],
    ['changed JSON', changed(fc.json().map((text) => Buffer.from(text)))],
  ])('returns a bounded value or 400: %s', (_, source) => {
    fc.assert(
      fc.property(source, (bytes) => {
        expect(outcome(parseYamlAsJson, bytes, 2)).toMatch(bytes[0] === 0x7b ? /./ : 'refused');
        if (read(bytes) === 'refused') return;
        expect(strictFindings(bytes, [['a'], ['a', 0], ['b', 'a']]).length).toBeLessThanOrEqual(100);
      }),
      { numRuns: 500 },
    );
  });
});

describe('parsing any bytes as YAML', () => {
  it.each([
    ['random bytes', anyBytes],
    ['random tokens', yaml],
    ['a changed document', changed(yamlDocument)],
  ])('returns a bounded value or 400: %s', (_, source) => {
    // Aliases repeat the node that they refer to; how much they add has a limit of its own.
    fc.assert(
      fc.property(source, (bytes) => void outcome(parseYaml, bytes, bytes.includes(0x2a) ? 10_000 : 2)),
      { numRuns: 500 },
    );
  });
});

describe('decoding any bytes as protobuf', () => {
  const type = { apiVersion: 'v1', kind: 'Thing' };
  const schemas = [
    coreV1.Pod,
    coreV1.ConfigMap,
    apiextensionsV1.CustomResourceDefinition,
    discoveryV1.EndpointSlice,
    networkingV1.Ingress,
  ];

  /** Nested messages with plausible field numbers and values of each wire type. */
  const fields: fc.Arbitrary<Uint8Array> = fc.letrec<{ message: Uint8Array }>((tie) => ({
    message: fc
      .array(
        fc.tuple(
          fc.integer({ min: 1, max: 40 }),
          fc.oneof(
            { maxDepth: 6 },
            fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
            fc.string({ maxLength: 4 }).map((text) => Buffer.from(text)),
            tie('message'),
          ),
          fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, fc.nat(300)),
        ),
        { maxLength: 5 },
      )
      .map((parts) =>
        Buffer.concat(
          parts.flatMap(([tag, value, times]) => {
            const part =
              typeof value === 'bigint'
                ? Buffer.concat([varint(tag * 8), varint(value)])
                : Buffer.concat([varint(tag * 8 + 2), varint(value.length), value]);
            return Array<Buffer>(part.length > 1_000 ? 1 : times).fill(part);
          }),
        ),
      ),
  })).message;
  const inEnvelope = (object: Uint8Array) =>
    Buffer.concat([Buffer.from([0x6b, 0x38, 0x73, 0x00, 0x12]), varint(object.length), object]);

  it.each(schemas.map((schema) => [schema.name, schema] as const))(
    'returns a bounded value or 400: %s',
    (_, schema) => {
      const decode = (bytes: Uint8Array): ParsedBody => {
        const { value, findings } = readProtobuf(bytes, type, () => schema, names);
        compile(schema, names).decode(value);
        return { value, findings };
      };
      const source = fc.oneof(
        fields.map(inEnvelope),
        changed(fields.map(inEnvelope)),
        anyBytes.map(inEnvelope),
        changed(anyBytes),
      );
      fc.assert(
        // A time of two bytes decodes to a text of twenty characters.
        fc.property(source, (bytes) => void outcome(decode, bytes, 30)),
        { numRuns: 200 },
      );
    },
  );
});

function varint(value: number | bigint): Buffer {
  const digits: number[] = [];
  let rest = BigInt(value);
  for (; rest >= 128n; rest >>= 7n) digits.push(Number(rest & 127n) | 128);
  return Buffer.from([...digits, Number(rest)]);
}
