import { describe, expect, it } from 'vitest';
import { atOnce, type Json, type JsonObject, namesFor, StatusError } from '../meta/index.ts';
import { compile, type StructSchema } from '../schema/index.ts';
import {
  apiextensionsV1,
  appsV1,
  authenticationV1,
  autoscalingV2,
  coreV1,
  metaV1,
  networkingV1,
  policyV1,
} from '../types/index.ts';
import { frameProtobufWatch, ProtobufList, readProtobuf, readProtobufInSteps, writeProtobuf } from './index.ts';

const names = namesFor('orch.io');

// An independent encoder: a key is `number << 3 | wire`, integers are varints (base 128, little-endian), and
// length-delimited values have their length before them.
type Bytes = readonly number[];
function num(value: number | bigint): number[] {
  const digits: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 128n; rest /= 128n) digits.push(Number(rest % 128n) + 128);
  return [...digits, Number(rest)];
}
const int = (tag: number, value: number | bigint): number[] => [...num(tag * 8), ...num(value)];
const msg = (tag: number, ...parts: readonly Bytes[]): number[] => {
  const body = parts.flat();
  return [...num(tag * 8 + 2), ...num(body.length), ...body];
};
const str = (tag: number, text: string): number[] => msg(tag, [...Buffer.from(text)]);

/** The envelope: magic, typeMeta, object, and the empty contentEncoding and contentType that the reference server writes. */
const envelope = (apiVersion: string, kind: string, ...parts: readonly Bytes[]): number[] => [
  ...[0x6b, 0x38, 0x73, 0x00],
  ...msg(1, str(1, apiVersion), str(2, kind)),
  ...msg(2, ...parts),
  ...[0x1a, 0x00, 0x22, 0x00],
];

/** ObjectMeta with a name: fields that are not pointers are encoded even when they are empty. */
const meta = (name: string, namespace: string, created = msg(8), ...more: readonly Bytes[]): number[][] => [
  str(1, name),
  str(2, ''), // generateName
  str(3, namespace),
  str(4, ''), // selfLink
  str(5, ''), // uid
  str(6, ''), // resourceVersion
  int(7, 0), // generation
  created, // creationTimestamp, there even when it says nothing
  ...(more as number[][]),
];
const noMeta = meta('', '');

const hex = (bytes: Bytes | Uint8Array) =>
  Buffer.from(bytes)
    .toString('hex')
    .replace(/(.{80})/g, '$1\n');
const normal = (schema: StructSchema, value: Json) => compile(schema, names).decode(value).value;

/** Asserts that a value is encoded as these bytes, and that these decode to the same normalised value. */
function expectGolden(schema: StructSchema, value: JsonObject, bytes: Bytes): void {
  const type = { apiVersion: value['apiVersion'] as string, kind: value['kind'] as string };
  const whole = normal(schema, value);
  expect(hex(writeProtobuf(schema, type, whole, names))).toBe(hex(bytes));
  const read = readProtobuf(Uint8Array.from(bytes), { apiVersion: '', kind: '' }, () => schema, names);
  expect(read.findings).toEqual([]);
  expect(normal(schema, read.value)).toEqual(whole);
}

describe('golden bytes', () => {
  it('of a ConfigMap: maps are sorted by key, bytes are raw, times are seconds', () => {
    expectGolden(
      coreV1.ConfigMap,
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'x', namespace: 'd', creationTimestamp: '2024-01-01T00:00:00Z', labels: { b: '', a: 'é' } },
        data: { k2: 'w', k1: 'v' },
        binaryData: { z: 'AAH/' },
        immutable: false,
      },
      envelope(
        'v1',
        'ConfigMap',
        // 1704067200 = 2024-01-01T00:00:00Z; nanoseconds are always 0 in a time of whole seconds.
        msg(1, ...meta('x', 'd', msg(8, int(1, 1_704_067_200), int(2, 0)), entry(11, 'a', 'é'), entry(11, 'b', ''))),
        entry(2, 'k1', 'v'),
        entry(2, 'k2', 'w'),
        msg(3, str(1, 'z'), msg(2, [0x00, 0x01, 0xff])),
        int(4, 0), // nullable, hence written only because it is there
      ),
    );
  });
  const entry = (tag: number, key: string, value: string) => msg(tag, str(1, key), str(2, value));

  it('of an empty ConfigMap', () => {
    const bytes = writeProtobuf(coreV1.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap' }, {}, names);
    expect(hex(bytes)).toBe(
      hex([
        ...[0x6b, 0x38, 0x73, 0x00], // k8s and a zero
        ...[0x0a, 15, 0x0a, 2, 0x76, 0x31, 0x12, 9, 0x43, 0x6f, 0x6e, 0x66, 0x69, 0x67, 0x4d, 0x61, 0x70], // v1 ConfigMap
        ...[0x12, 18, 0x0a, 16], // the object, and in it the metadata: six empty texts, a zero and an empty time
        ...[0x0a, 0, 0x12, 0, 0x1a, 0, 0x22, 0, 0x2a, 0, 0x32, 0, 0x38, 0, 0x42, 0],
        ...[0x1a, 0, 0x22, 0],
      ]),
    );
  });

  it('of a Pod: embedded messages that JSON inlines, quantities, IntOrString', () => {
    const probe = { httpGet: { path: '/', port: 'web' }, periodSeconds: -1 };
    const pod = {
      volumes: [{ name: 'v', configMap: { name: 'c' } }],
      containers: [{ name: 'a', resources: { limits: { cpu: '1' } }, livenessProbe: probe }],
    };
    // Volume { name = 1; VolumeSource = 2 { configMap = 19 { LocalObjectReference = 1 { name = 1 } } } }
    const volume = msg(1, str(1, 'v'), msg(2, msg(19, msg(1, str(1, 'c')))));
    // Probe { ProbeHandler = 1 { httpGet = 2 }; 2…6 are numbers }; a negative number has ten bytes.
    const port = msg(2, int(1, 1), int(2, 0), str(3, 'web'));
    const handler = msg(1, msg(2, str(1, '/'), port, str(3, ''), str(4, '')));
    const liveness = msg(10, handler, int(2, 0), int(3, 0), int(4, -1), int(5, 0), int(6, 0));
    expect(int(4, -1).length).toBe(11);
    const resources = msg(8, msg(1, str(1, 'cpu'), msg(2, str(1, '1'))));
    const container = msg(
      2,
      str(1, 'a'),
      ...[str(2, ''), str(5, ''), resources, liveness, str(13, ''), str(14, ''), int(16, 0), int(17, 0), int(18, 0)],
      str(20, ''),
    );
    const bytes = Buffer.from(write(coreV1.PodSpec, pod));
    expect(bytes.includes(Buffer.from(volume))).toBe(true);
    expect(hex(bytes.subarray(volume.length, volume.length + container.length))).toBe(hex(container));
    expect(read(coreV1.PodSpec, bytes)).toMatchObject({
      volumes: pod.volumes,
      containers: [{ name: 'a', resources: { limits: { cpu: '1' } }, livenessProbe: probe }],
    });
  });

  it('of a Deployment: structs that are not pointers are encoded even when empty', () => {
    const container = msg(
      2,
      ...[str(1, 'x'), str(2, 'y'), str(5, ''), msg(8), str(13, ''), str(14, '')],
      ...[int(16, 0), int(17, 0), int(18, 0), str(20, '')],
    );
    const podSpec = msg(
      2,
      container,
      ...[str(3, ''), str(6, ''), str(8, ''), str(9, ''), str(10, ''), int(11, 0), int(12, 0), int(13, 0)],
      ...[str(16, ''), str(17, ''), str(19, ''), str(24, '')],
    );
    expectGolden(
      appsV1.Deployment,
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'd' },
        spec: {
          replicas: 0,
          selector: { matchLabels: { a: 'b' } },
          template: { spec: { containers: [{ name: 'x', image: 'y' }] } },
        },
      },
      envelope(
        'apps/v1',
        'Deployment',
        msg(1, ...meta('d', '')),
        msg(
          2,
          int(1, 0), // replicas: nullable and given
          msg(2, msg(1, str(1, 'a'), str(2, 'b'))),
          msg(3, msg(1, ...noMeta), podSpec),
          msg(4, str(1, '')), // strategy
          ...[int(5, 0), int(7, 0)], // minReadySeconds, paused
        ),
        msg(3, int(1, 0), int(2, 0), int(3, 0), int(4, 0), int(5, 0), int(7, 0)),
      ),
    );
  });

  it('of an Event: an absent time is an empty message, a MicroTime has nanoseconds', () => {
    const reference = (tag: number, name: string) =>
      msg(tag, str(1, 'Pod'), str(2, ''), str(3, name), str(4, ''), str(5, ''), str(6, ''), str(7, ''));
    expectGolden(
      coreV1.Event,
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'e', namespace: 'd' },
        involvedObject: { kind: 'Pod', name: 'p' },
        lastTimestamp: '1969-12-31T23:59:59Z',
        eventTime: '2024-01-01T00:00:00.000012Z',
        count: 3,
      },
      envelope(
        'v1',
        'Event',
        msg(1, ...meta('e', 'd')),
        reference(2, 'p'),
        ...[str(3, ''), str(4, ''), msg(5, str(1, ''), str(2, ''))],
        msg(6), // firstTimestamp
        msg(7, int(1, -1), int(2, 0)),
        ...[int(8, 3), str(9, '')],
        msg(10, int(1, 1_704_067_200), int(2, 12_000)),
        ...[str(12, ''), str(14, ''), str(15, '')],
      ),
    );
  });

  it('of a HorizontalPodAutoscaler: a nullable struct is encoded only when present', () => {
    expectGolden(
      autoscalingV2.HorizontalPodAutoscaler,
      {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'h' },
        spec: {
          scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
          minReplicas: 1,
          maxReplicas: 300,
          metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Value', value: '1500m' } } }],
        },
      },
      envelope(
        'autoscaling/v2',
        'HorizontalPodAutoscaler',
        msg(1, ...meta('h', '')),
        msg(
          2,
          msg(1, str(1, 'Deployment'), str(2, 'd'), str(3, 'apps/v1')),
          int(2, 1),
          [0x18, 0xac, 0x02], // 3: 300 = 0b10 0101100
          msg(4, str(1, 'Resource'), msg(4, str(1, 'cpu'), msg(2, str(1, 'Value'), msg(2, str(1, '1500m'))))),
        ),
        msg(3, int(3, 0), int(4, 0)),
      ),
    );
  });

  it('of JSONSchemaProps with either types, and of maps of lists', () => {
    const props = {
      items: [{ title: 'a' }],
      additionalProperties: false,
      additionalItems: {},
      dependencies: { k: ['d'] },
    };
    const bytes = hex(write(apiextensionsV1.JSONSchemaProps, normal(apiextensionsV1.JSONSchemaProps, props)));
    const title = hex(write(apiextensionsV1.JSONSchemaProps, { title: 'a' })).replaceAll('\n', '');
    const inner = [...Buffer.from(title, 'hex')];
    const empty = [...write(apiextensionsV1.JSONSchemaProps, {})];
    // JSONSchemaPropsOrArray { schema = 1; jSONSchemas = 2 }, …OrBool { allows = 1; schema = 2 }, …OrStringArray { schema = 1; property = 2 }
    for (const part of [
      msg(24, msg(2, inner)),
      msg(30, int(1, 0)),
      msg(33, int(1, 1), msg(2, empty)),
      msg(32, str(1, 'k'), msg(2, str(2, 'd'))),
    ]) {
      expect(bytes.replaceAll('\n', '')).toContain(hex(part).replaceAll('\n', ''));
    }
    const extra = { username: 'u', extra: { k: ['a', 'b'] } };
    // A list in a map is a message: ExtraValue { items = 1 }.
    expect(hex(write(authenticationV1.UserInfo, extra))).toBe(
      hex([...str(1, 'u'), ...str(2, ''), ...msg(4, str(1, 'k'), msg(2, str(1, 'a'), str(1, 'b')))]),
    );
    expect(read(authenticationV1.UserInfo, write(authenticationV1.UserInfo, extra))).toEqual(extra);
  });

  it('of a named list type: a message with the field items', () => {
    // APIResource { name = 1; namespaced = 2; kind = 3; verbs = 4; …; singularName = 6 }, Verbs { repeated items = 1 }
    const resource = { name: 'p', singularName: '', namespaced: true, kind: 'P', verbs: ['get', 'list'] };
    const golden = (...verbs: readonly Bytes[]) =>
      hex([
        ...str(1, 'p'),
        ...int(2, 1),
        ...str(3, 'P'),
        ...verbs.flat(),
        ...[6, 8, 9, 10].flatMap((tag) => str(tag, '')),
      ]);
    const bytes = write(metaV1.APIResource, resource);
    expect(hex(bytes)).toBe(golden(msg(4, str(1, 'get'), str(1, 'list'))));
    expect(read(metaV1.APIResource, bytes)['verbs']).toEqual(['get', 'list']);
    expect(hex(write(metaV1.APIResource, { ...resource, verbs: [] }))).toBe(golden(msg(4)));
    expect(hex(write(metaV1.APIResource, { ...resource, verbs: null }))).toBe(golden());
  });
});

describe('a request of kubectl', () => {
  // Recorded from `kubectl create` 1.33, an independent encoder.
  it.each<[string, StructSchema, JsonObject, string]>([
    [
      'configmap x --from-literal=a=b --from-literal=c=é',
      coreV1.ConfigMap,
      { kind: 'ConfigMap', data: { a: 'b', c: 'é' } },
      'azhzAAoPCgJ2MRIJQ29uZmlnTWFwEiQKEQoBeBIAGgAiACoAMgA4AEIAEgYKAWESAWISBwoBYxICw6kaACIA',
    ],
    [
      'deployment d --image=x --replicas=3 --port=80',
      appsV1.Deployment,
      { apiVersion: 'apps/v1', spec: { replicas: 3, selector: { matchLabels: { app: 'd' } } } },
      'azhzAAoVCgdhcHBzL3YxEgpEZXBsb3ltZW50EqcBChsKAWQSABoAIgAqADIAOABCAFoICgNhcHASAWQSeggDEgoKCAoDYXBwEgFkGmIKGgoAEgAaACIAKgAyADgAQgBaCAoDYXBwEgFkEkQSJgoBeBIBeCoAMgoKABAAGFAiACoAQgBqAHIAgAEAiAEAkAEAogEAGgAyAEIASgBSAFgAYABoAIIBAIoBAJoBAMIBACICCgAoADgAGgwIABAAGAAgACgAOAAaACIA',
    ],
    [
      'service nodeport sv --tcp=80:http',
      coreV1.Service,
      { spec: { ports: [{ name: '80-http', protocol: 'TCP', port: 80, targetPort: 'http' }], type: 'NodePort' } },
      'azhzAAoNCgJ2MRIHU2VydmljZRJoCh0KAnN2EgAaACIAKgAyADgAQgBaCQoDYXBwEgJzdhJDCh4KBzgwLWh0dHASA1RDUBhQIgoIARAAGgRodHRwKAASCQoDYXBwEgJzdhoAIghOb2RlUG9ydDoAQgBSAFoAYABoABoCCgAaACIA',
    ],
    [
      'ingress i --rule=a.b/*=svc:80 --class=k',
      networkingV1.Ingress,
      { spec: { ingressClassName: 'k', rules: [{ host: 'a.b', http: { paths: [{ path: '/' }] } }] } },
      'azhzAAofChRuZXR3b3JraW5nLms4cy5pby92MRIHSW5ncmVzcxJDChEKAWkSABoAIgAqADIAOABCABIqGiUKA2EuYhIeChwKGgoBLxINIgsKA3N2YxIECgAQUBoGUHJlZml4IgFrGgIKABoAIgA=',
    ],
    [
      'pdb p --selector=a=b --min-available=50%',
      policyV1.PodDisruptionBudget,
      { spec: { minAvailable: '50%', selector: { matchLabels: { a: 'b' } } } },
      'azhzAAogCglwb2xpY3kvdjESE1BvZERpc3J1cHRpb25CdWRnZXQSNgoRCgFwEgAaACIAKgAyADgAQgASFQoJCAEQABoDNTAlEggKBgoBYRIBYhoKCAAYACAAKAAwABoAIgA=',
    ],
  ])('%s decodes, and encodes to the same bytes', (_, schema, value, base64) => {
    const bytes = Buffer.from(base64, 'base64');
    const body = readProtobuf(bytes, { apiVersion: '', kind: '' }, () => schema, names).value as JsonObject;
    expect(body).toMatchObject(value);
    const given = { apiVersion: body['apiVersion'] as string, kind: body['kind'] as string };
    expect(hex(writeProtobuf(schema, given, body, names))).toBe(hex(bytes));
  });
});

const type = { apiVersion: 'v1', kind: 'Thing' };
/** The bytes of a message without its envelope. */
function write(schema: StructSchema, value: Json): Uint8Array {
  const bytes = writeProtobuf(schema, { apiVersion: '', kind: '' }, value, names);
  const size = [...bytes.subarray(11, 20)];
  let at = 0;
  while ((size[at] as number) >= 0x80) at++;
  return bytes.subarray(11 + at + 1, -4);
}
const read = (schema: StructSchema, raw: Bytes | Uint8Array): JsonObject => {
  const bytes = Uint8Array.from(envelope('v1', 'Thing', [...raw]));
  const { kind: _, apiVersion: __, ...rest } = readProtobuf(bytes, type, () => schema, names).value as JsonObject;
  return rest;
};
/** The message for an invalid body. */
function fault(bytes: Bytes, schema: StructSchema = coreV1.ConfigMap): string {
  try {
    readProtobuf(Uint8Array.from(bytes), { apiVersion: 'v1', kind: 'ConfigMap' }, () => schema, names);
  } catch (error) {
    if (error instanceof StatusError && error.code === 400) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('readProtobuf', () => {
  it('takes kind and apiVersion from the envelope, or else the expected ones', () => {
    const given: unknown[] = [];
    const schemaFor = (found: unknown) => {
      given.push(found);
      return undefined;
    };
    const expected = { apiVersion: 'v1', kind: 'ConfigMap' };
    const named = readProtobuf(Uint8Array.from(envelope('apps/v1', 'Scale')), expected, schemaFor, names);
    readProtobuf(Uint8Array.from([0x6b, 0x38, 0x73, 0, ...msg(2)]), expected, schemaFor, names);
    expect(given).toEqual([{ apiVersion: 'apps/v1', kind: 'Scale' }, expected]);
    // The caller rejects a kind without a schema.
    expect(named).toEqual({ value: { apiVersion: 'apps/v1', kind: 'Scale' }, findings: [] });
  });

  it('skips unknown fields, including nested groups', () => {
    const group = [0xfb, 0x07, ...int(1, 5), 0xfb, 0x07, 0xfc, 0x07, ...str(7, 'x'), 0xfc, 0x07]; // 127: start, …, end
    const fixed = [9 * 8 + 5, 1, 2, 3, 4, 10 * 8 + 1, 1, 2, 3, 4, 5, 6, 7, 8];
    const raw = [...group, ...fixed, ...msg(2, str(1, 'k'), int(3, 1), str(2, 'v')), ...int(99, 2n ** 64n - 1n)];
    expect(read(coreV1.ConfigMap, raw)).toEqual({ data: { k: 'v' } });
  });

  it('merges repeated occurrences of a message; the last value of a scalar wins', () => {
    const raw = [
      ...msg(1, str(1, 'a'), str(3, 'n')),
      ...msg(1, str(1, 'b')),
      ...msg(2, str(1, 'k'), str(2, 'v')),
      ...msg(2),
    ];
    expect(read(coreV1.ConfigMap, raw)).toEqual({ metadata: { name: 'b', namespace: 'n' }, data: { k: 'v', '': '' } });
    // An empty string after another one.
    expect(read(metaV1.ObjectMeta, [...str(1, 'a'), ...str(1, '')])).toEqual({ name: '' });
  });

  it('accepts packed and unpacked repeated integers', () => {
    const raw = [...int(3, 1), ...msg(3, num(2), num(-3)), ...int(3, 300)];
    expect(read(coreV1.LinuxContainerUser, raw)).toEqual({ supplementalGroups: [1, 2, -3, 300] });
  });

  it('keeps int64 exact and truncates int32', () => {
    const of = (value: number | bigint) => read(metaV1.ObjectMeta, int(7, value))['generation'];
    expect([of(2n ** 53n - 1n), of(2n ** 53n), of(2n ** 63n - 1n), of(-1), of(-(2n ** 63n))]).toEqual([
      Number.MAX_SAFE_INTEGER,
      2n ** 53n,
      2n ** 63n - 1n,
      -1,
      -(2n ** 63n),
    ]);
    expect(read(metaV1.Status, int(6, 2n ** 32n + 5n))).toEqual({ code: 5 });
    expect(read(metaV1.ObjectMeta, [0x38, 0x81, 0x80, 0x00])).toEqual({ generation: 1 }); // longer than it must be
  });

  it('keeps __proto__ as a plain key', () => {
    const raw = msg(2, str(1, '__proto__'), str(2, 'v'));
    const data = read(coreV1.ConfigMap, raw)['data'] as JsonObject;
    expect(Object.entries(data)).toEqual([['__proto__', 'v']]);
    expect(Object.getPrototypeOf(data)).toBe(Object.prototype);
    expect(hex(write(coreV1.ConfigMap, { data })).replaceAll('\n', '')).toContain(hex(raw));
  });

  it('replaces invalid UTF-8 with U+FFFD', () => {
    expect(read(coreV1.ConfigMap, msg(2, str(1, 'k'), msg(2, [0x61, 0xff])))).toEqual({ data: { k: 'a\ufffd' } });
  });

  it.each<[string, Bytes, string]>([
    ['no bytes', [], 'empty data'],
    [
      'no prefix',
      [...Buffer.from('{"a":1}')],
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    ],
    ['the prefix alone', [0x6b, 0x38, 0x73, 0], 'empty body'],
    ['an object longer than the rest', [0x6b, 0x38, 0x73, 0, 0x12, 0x7f, 0], 'unexpected EOF'],
  ])('rejects an envelope: %s', (_, bytes, why) => {
    expect(fault(bytes)).toMatch(/^the object provided is unrecognized \(must be of type ConfigMap\): /);
    expect(fault(bytes)).toContain(`: ${why} (`);
  });

  it.each<[string, Bytes, string]>([
    ['a truncated string', [0x0a, 5, 0x0a, 4, 0x61], 'unexpected EOF'],
    ['a truncated integer', [0x20, 0x80], 'unexpected EOF'],
    ['a length beyond the end of the message', [0x0a, 2, 0x0a, 1, 0x61], 'unexpected EOF'],
    ['a length of 2^63', [0x0a, ...num(2n ** 63n)], 'unexpected EOF'],
    ['a varint of eleven bytes', [0x20, ...Array.from({ length: 10 }, () => 0x80), 0], 'proto: integer overflow'],
    ['a varint of 65 bits', [0x20, ...Array.from({ length: 9 }, () => 0xff), 2], 'proto: integer overflow'],
    ['a wrong wire type', int(1, 1), 'proto: wrong wireType = 0 for field metadata'],
    ['a wrong wire type in a map', msg(2, int(1, 1)), 'proto: wrong wireType = 0 for field data'],
    ['field 0', [0x02, 0], 'proto: illegal tag 0 (wire type 2)'],
    ['an unknown wire type', [0x7e, 0], 'proto: illegal wireType 6'],
    ['an end of group without a start', [0x7c], 'proto: unexpected end of group'],
    ['a group without end', [0x7b, ...int(1, 1)], 'unexpected EOF'],
    ['a time of the year 10000', msg(1, msg(8, int(1, 253_402_300_800))), 'time: year out of range'],
    ['a time of 2^63 - 1 seconds', msg(1, msg(8, int(1, 2n ** 63n - 1n))), 'time: year out of range'],
    ['invalid JSON', msg(1, msg(17, msg(7, str(1, '{')))), 'unexpected end of JSON input'],
  ])('rejects %s', (_, raw, why) => {
    expect(fault(envelope('v1', 'ConfigMap', raw))).toBe(
      `ConfigMap in version "v1" cannot be handled as a ConfigMap: ${why}`,
    );
  });

  it('rejects nesting beyond the limit of JSON bodies', () => {
    const { JSONSchemaProps } = apiextensionsV1;
    const nested = (depth: number) => {
      let value: number[] = [];
      for (let i = 0; i < depth; i++) value = msg(28, value); // not
      return fault(envelope('v1', 'ConfigMap', value), JSONSchemaProps);
    };
    expect(nested(511)).toBe('accepted');
    expect(nested(512)).toContain('exceeded max depth');
    const text = '['.repeat(510) + ']'.repeat(510);
    expect(fault(envelope('v1', 'ConfigMap', msg(8, str(1, text))), JSONSchemaProps)).toBe('accepted');
    expect(fault(envelope('v1', 'ConfigMap', msg(28, msg(28, msg(8, str(1, text))))), JSONSchemaProps)).toContain(
      'exceeded max depth',
    );
  });
});

describe('writeProtobuf', () => {
  it('encodes any size, and a small object after a large one', () => {
    const value = { data: { a: 'x'.repeat(70_000), b: 'é'.repeat(1_000_000), c: 'y' } };
    const bytes = write(coreV1.ConfigMap, value);
    expect(read(coreV1.ConfigMap, bytes)).toMatchObject(value);
    expect(read(coreV1.ConfigMap, write(coreV1.ConfigMap, { data: { a: 'z' } }))).toMatchObject({ data: { a: 'z' } });
  });

  it('sorts the keys of maps by their UTF-8 bytes', () => {
    const keys = ['b', '10', '9', '😀', '\ue000', 'é', ''];
    const data = Object.fromEntries(keys.map((key) => [key, '']));
    const back = read(coreV1.ConfigMap, write(coreV1.ConfigMap, { metadata: {}, data }))['data'] as JsonObject;
    // JavaScript objects order integer keys first, on both sides.
    expect(Object.keys(back)).toEqual(['9', '10', '', 'b', 'é', '\ue000', '😀']);
  });

  it('throws for a value that its schema does not accept', () => {
    expect(() => write(coreV1.ConfigMap, { data: 'x' })).toThrow('a value is not of type map and has no protobuf form');
    expect(() => write(coreV1.ConfigMap, { metadata: { creationTimestamp: 'now' } })).toThrow('is not of type time');
  });
});

describe('lists and watches', () => {
  const objects = Array.from({ length: 500 }, (_, i) => ({
    metadata: { name: `c${i}` },
    data: { k: 'v'.repeat(i * 3) },
  }));
  const listType = { apiVersion: 'v1', kind: 'ConfigMapList' };

  it('a list is encoded item by item', () => {
    const list = new ProtobufList(coreV1.ConfigMap, metaV1.ListMeta, names);
    const written = objects.map((object) => list.item(object));
    const size = written.join('').length;
    const head = list.head(listType, { resourceVersion: '7', remainingItemCount: 3 }, size);
    const items = objects.map((object) => msg(2, [...write(coreV1.ConfigMap, object)]));
    const metadata = msg(1, str(1, ''), str(2, '7'), str(3, ''), int(4, 3));
    const expected = Buffer.from(envelope('v1', 'ConfigMapList', metadata, ...items));
    expect(Buffer.from(head + written.join('') + list.tail, 'latin1').equals(expected)).toBe(true);
  });

  it('an empty list has its envelope and metadata', () => {
    const list = new ProtobufList(coreV1.ConfigMap, metaV1.ListMeta, names);
    expect(hex(Buffer.from(list.head(listType, { resourceVersion: '7' }, 0) + list.tail, 'latin1'))).toBe(
      hex(envelope('v1', 'ConfigMapList', msg(1, str(1, ''), str(2, '7'), str(3, '')))),
    );
  });

  it('an event has a length prefix and no envelope, its object has one', () => {
    const object = writeProtobuf(coreV1.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap' }, objects[9] as Json, names);
    const event = [...str(1, 'ADDED'), ...msg(2, msg(1, [...object]))];
    expect(hex(frameProtobufWatch('ADDED', object))).toBe(hex([0, 0, 0, event.length, ...event]));
    const large = frameProtobufWatch('ADDED', new Uint8Array(70_000));
    // 7 for the type, and twice four for a key and a length of three bytes: 70,015.
    expect([...large.subarray(0, 4)]).toEqual([0, 0x01, 0x11, 0x7f]);
  });
});

describe('a message with too much', () => {
  const most = 400_000;
  const times = (count: number, ...bytes: readonly number[]): number[] =>
    Array.from({ length: count * bytes.length }, (_, i) => bytes[i % bytes.length] as number);
  // Concatenated without arguments of functions, of which there is a limit.
  const long = (tag: number, body: readonly number[]): number[] => [tag * 8 + 2, ...num(body.length)].concat(body);
  const whole = (kind: string, object: readonly number[]): number[] =>
    [0x6b, 0x38, 0x73, 0x00, ...msg(1, str(1, 'v1'), str(2, kind))].concat(long(2, object));
  const readers = {
    'at once': (bytes: Uint8Array, schema: StructSchema) => readProtobuf(bytes, none, () => schema, names),
    'in steps': (bytes: Uint8Array, schema: StructSchema) =>
      atOnce(readProtobufInSteps(bytes, none, () => schema, names)),
  };
  const none = { apiVersion: '', kind: '' };
  const entries = (count: number, key: (i: number) => string): number[] =>
    Array.from({ length: count }, (_, i) => msg(2, str(1, key(i)))).flat();

  it.each<readonly [string, StructSchema, number[]]>([
    ['unknown fields', coreV1.ConfigMap, times(most + 1, 0x78, 1)],
    ['fields of unknown groups', coreV1.ConfigMap, [0x7b].concat(times(most, 0x78, 1), 0x7c)],
    ['texts of one field', coreV1.ConfigMap, long(1, times(most + 1, 0x0a, 0))],
    ['fields of a time', coreV1.ConfigMap, long(1, long(8, times(most + 1, 0x08, 1)))],
    ['fields of an entry', coreV1.ConfigMap, long(2, times(most + 1, 0x12, 0))],
    ['messages in a list', coreV1.ConfigMap, long(1, times(65_537, 0x6a, 0))],
    ['numbers in a list', coreV1.Pod, long(2, long(14, times(65_537, 0x20, 1)))],
    ['packed numbers', coreV1.Pod, long(2, long(14, long(4, times(65_537, 1))))],
    ['entries of a map', coreV1.ConfigMap, entries(16_385, (i) => `k${i}`)],
    ['entries of one key', coreV1.ConfigMap, entries(16_385, () => 'k')],
  ])('is refused for its %s', (_, schema, object) => {
    const bytes = Uint8Array.from(whole(schema.name, object));
    for (const read of Object.values(readers)) {
      expect(() => read(bytes, schema)).toThrow(expect.objectContaining({ code: 413 }));
    }
  });

  it.each([
    ['objects', times(most + 1, 0x12, 0)],
    ['unknown fields', times(most + 1, 0x78, 1)],
    ['types', long(1, times(most + 1, 0x0a, 0))],
  ])('is refused for the %s of its envelope', (_, envelope) => {
    const bytes = Uint8Array.from([0x6b, 0x38, 0x73, 0x00].concat(envelope));
    for (const read of Object.values(readers)) {
      expect(() => read(bytes, coreV1.ConfigMap)).toThrow(expect.objectContaining({ code: 413 }));
    }
  });

  it('does not include as many entries as a map may have', () => {
    const bytes = Uint8Array.from(
      whole(
        'ConfigMap',
        entries(16_384, (i) => `k${i}`),
      ),
    );
    for (const read of Object.values(readers)) {
      expect(Object.keys(read(bytes, coreV1.ConfigMap).value['data'] as JsonObject)).toHaveLength(16_384);
    }
  });
});
