import { describe, expect, test } from 'vitest';
import { type ApiObject, type JsonObject, namesFor } from '../../meta/index.ts';
import { compile } from '../../schema/index.ts';
import { created, fieldErrors, type KindRow, onCreate, onUpdate, sorted } from '../testing/kind.ts';
import { duplicate, forbidden, invalid, missing, required, says, unsupported } from '../testing/messages.ts';
import { deviceClasses } from './device-classes.ts';
import { deviceTaintRules } from './device-taint-rules.ts';
import { resourceClaimTemplates } from './resource-claim-templates.ts';
import { resourceClaims } from './resource-claims.ts';
import { resourceSlices } from './resource-slices.ts';

const names = namesFor('k8s.io');
const request = (more: JsonObject = {}): JsonObject => ({ name: 'r', deviceClassName: 'gpu', ...more });
const claim = (devices: JsonObject) => ({ spec: { devices } });
const asking = (...requests: JsonObject[]) => claim({ requests });
const slice = (more: JsonObject = {}): { spec: JsonObject } => ({
  spec: {
    driver: 'gpu.example.com',
    pool: { name: 'n1', generation: 1, resourceSliceCount: 1 },
    nodeName: 'n1',
    devices: [],
    ...more,
  },
});
const device = (basic: JsonObject, name = 'd') => ({ name, basic });
const opaque = { driver: 'gpu.example.com', parameters: { a: 1 } };
const first = 'spec.devices.requests[0]';
const oneWay = 'exactly one of `exactly` or `firstAvailable` is required';
const oneReference =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
const onePlace = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';
const undeclared =
  "compilation failed: ERROR: <input>:1:1: undeclared reference to 'own' (in container '')\n | own\n | ^";
const parts = 'device.driver.split(",")';
const costly = `${parts}.all(a, ${parts}.all(b, ${parts}.all(c, a == c)))`;
const isEach = (count: number) => (make: (i: number) => JsonObject) => Array.from({ length: count }, (_, i) => make(i));

describe('device resources', () => {
  const rows: readonly KindRow[] = [
    ['a request', resourceClaims, asking(request())],
    ['all devices', resourceClaims, asking(request({ allocationMode: 'All' }))],
    ['alternatives', resourceClaims, asking({ name: 'r', firstAvailable: [request({ name: 'a' })] })],
    ['no way to ask', resourceClaims, asking({ name: 'r' }), [first, 'Required', required(oneWay)]],
    [
      'both exactly and firstAvailable',
      resourceClaims,
      asking(request({ firstAvailable: [request()] })),
      [first, 'Invalid', invalid(null, `${oneWay}, but multiple fields are set`)],
    ],
    [
      'an invalid request',
      resourceClaims,
      asking({ name: 'R', allocationMode: 'Odd', selectors: [{}, { cel: { expression: 'x'.repeat(10241) } }] }),
      [`${first}.exactly.allocationMode`, 'NotSupported', unsupported('Odd', 'All', 'ExactCount')],
      [`${first}.exactly.deviceClassName`, 'Required', missing],
      [`${first}.exactly.selectors[0].cel`, 'Required', missing],
      [`${first}.exactly.selectors[1].cel.expression`, 'TooLong', 'Too long: may not be more than 10240 bytes'],
      [`${first}.name`, 'Invalid', invalid('R', says.label)],
    ],
    [
      'invalid counts',
      resourceClaims,
      asking(request({ count: -1 }), request({ name: 's', allocationMode: 'All', count: 1 })),
      [`${first}.exactly.count`, 'Invalid', invalid(-1, 'must be greater than zero')],
      [
        'spec.devices.requests[1].exactly.count',
        'Invalid',
        invalid(1, "must not be specified when allocationMode is 'All'"),
      ],
    ],
    [
      'too many requests with one name',
      resourceClaims,
      asking(...isEach(33)((i) => request({ name: `r${Math.max(i, 1)}` }))),
      ['spec.devices.requests', 'TooMany', 'Too many: 33: must have at most 32 items'],
      ['spec.devices.requests[1].name', 'Duplicate', duplicate('r1')],
    ],
    [
      'constraints and configurations of unknown requests',
      resourceClaims,
      claim({
        requests: [request(), { name: 's', firstAvailable: [request({ name: 'a' })] }],
        constraints: [{ requests: ['r', 's/a', 's/b'], matchAttribute: 'model' }, {}],
        config: [{ requests: ['t'], opaque }, { opaque: { driver: 'd', parameters: { a: 'x'.repeat(10240) } } }, {}],
      }),
      ['spec.devices.config[0].requests[0]', 'Invalid', invalid('t', oneReference)],
      ['spec.devices.config[1].opaque.parameters', 'TooLong', 'Too long: may not be more than 10240 bytes'],
      ['spec.devices.config[2].opaque', 'Required', missing],
      ['spec.devices.constraints[0].matchAttribute', 'Invalid', invalid('model', 'must include a domain')],
      ['spec.devices.constraints[0].requests[2]', 'Invalid', invalid('s/b', oneReference)],
      ['spec.devices.constraints[1].matchAttribute', 'Required', missing],
    ],
    [
      'invalid tolerations',
      resourceClaims,
      asking(
        request({
          tolerations: [{ key: 'k' }, { operator: 'Exists', value: 'v' }, { operator: 'Odd', effect: 'Odd' }],
        }),
      ),
      [`${first}.exactly.tolerations[1].value`, 'Invalid', invalid('v', 'must be empty for operator `Exists`')],
      [`${first}.exactly.tolerations[2].effect`, 'NotSupported', unsupported('Odd', 'NoExecute', 'NoSchedule')],
      [`${first}.exactly.tolerations[2].operator`, 'NotSupported', unsupported('Odd', 'Equal', 'Exists')],
    ],
    [
      'an invalid template',
      resourceClaimTemplates,
      { spec: { spec: { devices: { requests: [{ name: 'r' }] } } } },
      ['spec.spec.devices.requests[0]', 'Required', required(oneWay)],
    ],
    [
      'a template of claims with a name',
      resourceClaimTemplates,
      { spec: { metadata: { name: 'n', finalizers: ['a.b/c'], labels: { a: 'b' } }, spec: {} } },
      // The claims get their names from the pod.
      ['spec.metadata.finalizers', 'Forbidden', forbidden('cannot be set')],
      ['spec.metadata.name', 'Forbidden', forbidden('cannot be set')],
    ],
    [
      'an invalid device class',
      deviceClasses,
      { spec: { selectors: [{ cel: { expression: '1' } }], config: [{ opaque: {} }] } },
      ['spec.config[0].opaque.driver', 'Required', missing],
      ['spec.config[0].opaque.parameters', 'Required', missing],
      [
        'spec.selectors[0].cel.expression',
        'Invalid',
        invalid('1', 'must evaluate to bool or the unknown type, not int'),
      ],
    ],
    [
      'selectors of devices',
      deviceClasses,
      {
        spec: {
          selectors: [
            'device.driver == "a.b"',
            'device.attributes["a.b"].kind == "x"',
            'device.attributes["a.b"].is',
            'device.capacity["a.b"].memory.compareTo(quantity("1Gi")) >= 0',
            'cel.bind(own, device.attributes["a.b"], own.model.isGreaterThan(semver("1.0.0")))',
          ].map((expression) => ({ cel: { expression } })),
        },
      },
    ],
    [
      'a selector that may cost too much',
      deviceClasses,
      { spec: { selectors: [{ cel: { expression: costly } }] } },
      ['spec.selectors[0].cel.expression', 'Forbidden', forbidden('too complex, exceeds cost limit')],
    ],
    [
      'selectors of requests that do not compile',
      resourceClaims,
      asking(request({ selectors: [{ cel: { expression: 'own' } }] }), {
        name: 's',
        firstAvailable: [request({ name: 'a', selectors: [{ cel: { expression: 'own' } }] })],
      }),
      [`${first}.exactly.selectors[0].cel.expression`, 'Invalid', invalid('own', undeclared)],
      ['spec.devices.requests[1].firstAvailable[0].selectors[0].cel.expression', 'Invalid', invalid('own', undeclared)],
    ],
    [
      'a selector of a template of claims that does not compile',
      resourceClaimTemplates,
      { spec: { spec: asking(request({ selectors: [{ cel: { expression: 'own' } }] })).spec } },
      ['spec.spec.devices.requests[0].exactly.selectors[0].cel.expression', 'Invalid', invalid('own', undeclared)],
    ],
    ['a slice', resourceSlices, slice()],
    ['a slice of nowhere', resourceSlices, slice({ nodeName: '' }), ['spec', 'Required', required(onePlace)]],
    [
      'a slice with two node selections',
      resourceSlices,
      { spec: { nodeName: 'n', allNodes: true } },
      ['spec', 'Invalid', invalid(null, `${onePlace}, but multiple fields are set`)],
      ['spec.driver', 'Required', missing],
      ['spec.pool.name', 'Required', missing],
      ['spec.pool.resourceSliceCount', 'Invalid', invalid(0, 'must be greater than zero')],
    ],
    [
      'invalid attributes',
      resourceSlices,
      slice({
        devices: [
          device({
            attributes: {
              'a.b/model': { string: 'x' },
              none: {},
              two: { int: 0, bool: false },
              'a/b/c': { bool: true },
              '1x': { version: '1' },
              'a.b/': { string: 'x'.repeat(65) },
            },
            capacity: { __proto: { value: '1' }, ['x'.repeat(33)]: { value: '1' } },
          }),
        ],
      }),
      [
        'spec.devices[0].attributes[1x]',
        'TypeInvalid',
        expect.stringContaining('a valid C identifier must start with alphabetic character') as never,
      ],
      [
        'spec.devices[0].attributes[1x].version',
        'Invalid',
        invalid('1', 'must be a string compatible with semver.org spec 2.0.0'),
      ],
      ['spec.devices[0].attributes[a.b/]', 'Required', required('the name must not be empty')],
      ['spec.devices[0].attributes[a.b/].string', 'TooLong', 'Too long: may not be more than 64 bytes'],
      ['spec.devices[0].attributes[a/b/c]', 'Invalid', invalid('a/b/c', 'must have at most one slash')],
      ['spec.devices[0].attributes[none]', 'Required', required('exactly one value must be specified')],
      [
        'spec.devices[0].attributes[two]',
        'Invalid',
        invalid({ int: 0, bool: false }, 'exactly one value must be specified'),
      ],
      [`spec.devices[0].capacity[${'x'.repeat(33)}]`, 'TooLong', 'Too long: may not be more than 32 bytes'],
    ],
    [
      'too many devices with one name',
      resourceSlices,
      slice({ devices: isEach(129)((i) => device({}, `d${Math.max(i, 1)}`)) }),
      ['spec.devices', 'TooMany', 'Too many: 129: must have at most 128 items'],
      ['spec.devices[1].name', 'Duplicate', duplicate('d1')],
    ],
    [
      'invalid counters',
      resourceSlices,
      slice({
        sharedCounters: [{ name: 's', counters: { memory: { value: '1Gi' } } }, {}],
        devices: [
          device({
            consumesCounters: [
              { counterSet: 's', counters: { memory: { value: '1' }, cores: { value: '1' } } },
              { counterSet: 't', counters: { x: { value: '1' } } },
              {},
            ],
          }),
        ],
      }),
      [
        'spec.devices[0].consumesCounters[0].counters',
        'Invalid',
        invalid('cores', 'must reference a counter defined in the ResourceSlice sharedCounters'),
      ],
      [
        'spec.devices[0].consumesCounters[1].counterSet',
        'Invalid',
        invalid('t', 'must reference a counterSet defined in the ResourceSlice sharedCounters'),
      ],
      ['spec.devices[0].consumesCounters[2].counterSet', 'Required', missing],
      ['spec.devices[0].consumesCounters[2].counters', 'Required', missing],
      ['spec.sharedCounters[1].counters', 'Required', missing],
      ['spec.sharedCounters[1].name', 'Required', missing],
    ],
    [
      'node selections of devices without perDeviceNodeSelection',
      resourceSlices,
      slice({ devices: [device({ allNodes: true })] }),
      [
        'spec.devices[0]',
        'Invalid',
        invalid(
          null,
          '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set in the ResourceSlice spec',
        ),
      ],
    ],
    [
      'a taint rule',
      deviceTaintRules,
      { spec: { deviceSelector: { driver: '', pool: 'a//b' }, taint: { key: 'k', effect: 'Odd' } } },
      ['spec.deviceSelector.driver', 'Required', missing],
      ['spec.deviceSelector.pool', 'Invalid', invalid('', says.subdomain)],
      ['spec.taint.effect', 'NotSupported', unsupported('Odd', 'NoExecute', 'NoSchedule')],
    ],
  ];
  test.each(rows)('%s', (_, kind, fragment, ...expected) => {
    expect(onCreate(kind, fragment)).toEqual(sorted(expected));
  });

  test('requests default to one device', () => {
    const { spec } = created(resourceClaims, asking(request(), { name: 's', firstAvailable: [request()] }));
    expect(spec).toMatchObject({
      devices: {
        requests: [
          { allocationMode: 'ExactCount', count: 1 },
          { deviceClassName: '', firstAvailable: [{ allocationMode: 'ExactCount', count: 1 }] },
        ],
      },
    });
    const { requests } = (spec as { devices: { requests: JsonObject[] } }).devices;
    expect(requests[1]).not.toHaveProperty('count');
  });

  test('timeAdded of a taint defaults to now', () => {
    const { spec } = created(
      resourceSlices,
      slice({ devices: [device({ taints: [{ key: 'k', effect: 'NoExecute' }] })] }),
    );
    expect(spec).toMatchObject({ devices: [{ basic: { taints: [{ timeAdded: '2024-01-02T03:04:05Z' }] } }] });
  });
});

describe('updates', () => {
  test('the spec of a claim is immutable', () => {
    const found = onUpdate(resourceClaims, asking(request()), asking(request({ count: 2 })));
    expect(found).toEqual([['spec', 'Invalid', expect.stringContaining('field is immutable')]]);
  });
  test('driver, pool name and node of a slice are immutable', () => {
    const found = onUpdate(
      resourceSlices,
      slice(),
      slice({ driver: 'x', nodeName: 'n2', pool: { name: 'p', generation: 2, resourceSliceCount: 1 } }),
    );
    expect(found.map(([path]) => path)).toEqual(['spec.driver', 'spec.nodeName', 'spec.pool.name']);
  });

  const result = { request: 'r', driver: 'd', pool: 'p', device: 'x', adminAccess: null };
  const user = { resource: 'pods', name: 'p', uid: 'u' };
  const statusErrors = (status: JsonObject, before?: JsonObject, metadata: JsonObject = {}) => {
    const old = created(resourceClaims, asking(request()));
    old.metadata = { ...old.metadata, resourceVersion: '1', ...metadata };
    if (before !== undefined) old['status'] = before;
    return fieldErrors(resourceClaims, { ...old, status }, old);
  };
  const allocation = { devices: { results: [result] } };
  test('reservedFor requires an allocation', () => {
    expect(statusErrors({ allocation, reservedFor: [user] })).toEqual([]);
    expect(statusErrors({ reservedFor: [user, user] })).toEqual([
      ['status.reservedFor', 'Forbidden', forbidden('may not be specified when `allocated` is not set')],
      ['status.reservedFor[1].uid', 'Duplicate', duplicate('u')],
    ]);
    const deleted = { deletionTimestamp: '2024-01-01T00:00:00Z' };
    expect(statusErrors({ allocation, reservedFor: [user] }, { allocation }, deleted)).toEqual([
      [
        'status.reservedFor',
        'Forbidden',
        forbidden('new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set'),
      ],
    ]);
  });
  test('an allocation names requests of the claim and is immutable', () => {
    expect(statusErrors({ allocation: { devices: { results: [{ ...result, request: 's' }] } } })).toEqual([
      ['status.allocation.devices.results[0].request', 'Invalid', invalid('s', oneReference)],
    ]);
    expect(statusErrors({ allocation: { devices: { results: [] } } }, { allocation })).toEqual([
      ['status.allocation', 'Invalid', expect.stringContaining('field is immutable')],
    ]);
    expect(statusErrors({}, { allocation })).toEqual([]);
  });
  test('device statuses refer to allocated devices', () => {
    const one = { driver: 'd', pool: 'p', device: 'x', conditions: [] };
    const networkData = { ips: ['10.0.0.1/24', '10.0.0.1', '2001:DB8::1/64'] };
    expect(
      statusErrors({
        allocation,
        devices: [
          { ...one, networkData },
          { ...one, device: 'y' },
        ],
      }),
    ).toEqual([
      [
        'status.devices[0].networkData.ips[1]',
        'Invalid',
        expect.stringContaining('must be a valid address in CIDR form'),
      ],
      [
        'status.devices[0].networkData.ips[2]',
        'Invalid',
        invalid('2001:DB8::1/64', 'must be in canonical form ("2001:db8::1/64")'),
      ],
      ['status.devices[1]', 'Invalid', invalid('d/p/y', 'must be an allocated device in the claim')],
    ]);
  });
});

describe('conversion', () => {
  const decoded = (kind: typeof resourceClaims, version: string, spec: JsonObject) => {
    const { schema } = kind.versions.find((one) => one.version === version) as (typeof kind.versions)[number];
    return compile(schema, names).decode({ kind: kind.kind, metadata: { name: 'x' }, spec }).value as ApiObject;
  };
  const convert = (kind: typeof resourceClaims, from: string, to: string, spec: JsonObject) => {
    const [source, target] = [from, to].map((version) => kind.versions.find((one) => one.version === version));
    const sent = decoded(kind, from, spec);
    const before = JSON.stringify(sent);
    const stored = decoded(kind, 'v1beta1', (source?.toStorage?.(sent, names) ?? sent)['spec'] as JsonObject);
    const shown = target?.fromStorage?.(stored, names) ?? stored;
    expect(JSON.stringify(sent)).toBe(before);
    // Objects of other versions are in normal form: decoding them again changes nothing.
    expect(JSON.stringify(shown['spec'])).toBe(JSON.stringify(decoded(kind, to, shown['spec'] as JsonObject)['spec']));
    return shown['spec'];
  };
  const wanted = { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 2, adminAccess: false };
  const older = {
    devices: {
      requests: [
        { name: 'a', ...wanted },
        { name: 'b', deviceClassName: '', firstAvailable: [request()] },
      ],
    },
  };
  const newer = {
    devices: {
      requests: [
        { name: 'a', exactly: wanted },
        { name: 'b', firstAvailable: [request()] },
      ],
    },
  };

  test('of claims and templates nests exact requests', () => {
    expect(convert(resourceClaims, 'v1beta1', 'v1beta2', older)).toEqual(newer);
    expect(convert(resourceClaims, 'v1beta2', 'v1beta1', newer)).toEqual(older);
    expect(convert(resourceClaims, 'v1beta2', 'v1alpha3', newer)).toEqual(older);
    expect(convert(resourceClaimTemplates, 'v1beta1', 'v1beta2', { spec: older })).toMatchObject({ spec: newer });
    expect(convert(resourceClaimTemplates, 'v1beta2', 'v1beta1', { spec: newer })).toMatchObject({ spec: older });
    expect(convert(resourceClaims, 'v1beta2', 'v1beta2', { devices: { requests: [{ name: 'x' }] } })).toEqual({
      devices: { requests: [{ name: 'x' }] },
    });
  });

  test('of slices flattens devices and converts capacities', () => {
    const attributes = { model: { string: 'x' }, constructor: { bool: true } };
    const capacity = { memory: { value: '1Gi' } };
    const spec = slice().spec;
    const shaped = (...devices: JsonObject[]) => ({ ...spec, devices });
    const nested = shaped({ name: 'd', basic: { attributes, capacity, nodeName: 'n' } });
    const flat = shaped({ name: 'd', attributes, capacity, nodeName: 'n' });
    const oldest = shaped({ name: 'd', basic: { attributes, capacity: { memory: '1Gi' }, nodeName: 'n' } });
    const all = { v1alpha3: oldest, v1beta1: nested, v1beta2: flat };
    for (const [from, sent] of Object.entries(all)) {
      for (const [to, shown] of Object.entries(all)) expect(convert(resourceSlices, from, to, sent)).toEqual(shown);
    }
  });
});

test('lists of which a device resource may have few have at most 2,000 items', () => {
  const many = Array.from({ length: 2_001 }, () => ({}));
  const too = 'Request entity too large: the object has too many items in one list';
  for (const name of ['requests', 'constraints', 'config']) {
    expect(() => created(resourceClaims, claim({ [name]: many }))).toThrow(too);
  }
  expect(() => created(resourceClaims, asking({ name: 'r', firstAvailable: many }))).toThrow(too);
  expect(() => created(resourceSlices, slice({ devices: many }))).toThrow(too);
});
