import { describe, expect, test } from 'vitest';
import { type ApiObject, type JsonObject, jsonCopy } from '../../meta/index.ts';
import { created, fieldErrors, replaced } from '../testing/kind.ts';
import { cluster } from '../testing/service-pools.ts';
import { services } from './services.ts';

// Fields that a service keeps when its type changes. The rules are those of the reference server's strategy
// (`dropTypeDependentFields`) and storage (`patchAllocatedValues`, `normalizeClusterIPs`).

const selector = { app: 'web' };
const ports = [
  { name: 'a', port: 80 },
  { name: 'b', port: 81 },
];
const specs = {
  ClusterIP: { type: 'ClusterIP', selector, ports },
  NodePort: { type: 'NodePort', selector, ports, externalTrafficPolicy: 'Local' },
  LoadBalancer: {
    type: 'LoadBalancer',
    selector,
    ports,
    externalTrafficPolicy: 'Local',
    loadBalancerClass: 'example.com/lb',
    loadBalancerIP: '192.0.2.1',
  },
  ExternalName: { type: 'ExternalName', selector, ports, externalName: 'example.com' },
  headless: { type: 'ClusterIP', selector, ports, clusterIP: 'None' },
} satisfies { readonly [name: string]: JsonObject };
type Kind = keyof typeof specs;

const ingress = { ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }] };
/** Whether a service has each of the fields that depend on the type. */
const has = {
  address: ({ clusterIP, clusterIPs }: JsonObject) => clusterIP !== undefined || clusterIPs !== undefined,
  families: ({ ipFamilies }: JsonObject) => ipFamilies !== undefined,
  familyPolicy: ({ ipFamilyPolicy }: JsonObject) => ipFamilyPolicy !== undefined,
  nodePorts: (spec: JsonObject) => (spec['ports'] as JsonObject[]).some(({ nodePort }) => nodePort !== undefined),
  outside: ({ externalTrafficPolicy }: JsonObject) => externalTrafficPolicy !== undefined,
  inside: ({ internalTrafficPolicy }: JsonObject) => internalTrafficPolicy !== undefined,
  health: ({ healthCheckNodePort }: JsonObject) => healthCheckNodePort !== undefined,
  allocate: ({ allocateLoadBalancerNodePorts }: JsonObject) => allocateLoadBalancerNodePorts !== undefined,
  class: ({ loadBalancerClass }: JsonObject) => loadBalancerClass !== undefined,
} as const;
type Field = keyof typeof has;
const fields = Object.keys(has) as Field[];

const address: Field[] = ['address', 'families', 'familyPolicy'];
/** All fields of a new service of a type. */
const needs: { readonly [kind in Kind]: Field[] } = {
  ClusterIP: [...address, 'inside'],
  NodePort: [...address, 'nodePorts', 'outside', 'inside'],
  LoadBalancer: [...address, 'nodePorts', 'outside', 'inside', 'health', 'allocate', 'class'],
  ExternalName: [],
  headless: [...address, 'inside'],
};

async function made(kind: Kind) {
  const at = cluster('IPv4');
  const { object, errors } = await at.create(specs[kind]);
  expect(errors).toEqual([]);
  object.metadata.resourceVersion = '1';
  if (kind === 'LoadBalancer') object['status'] = { loadBalancer: ingress };
  return { ...at, object };
}

const statusOf = (object: ApiObject) =>
  (object['status'] as { loadBalancer?: unknown } | undefined)?.loadBalancer ?? {};
const shown = (spec: JsonObject) => fields.filter((field) => has[field](spec)).sort();

/** The whole object with another type, as a patch of the type gives. */
const retyped = (object: ApiObject, to: Kind): JsonObject => {
  const spec = jsonCopy(object['spec'] as JsonObject) as JsonObject;
  const { type } = specs[to];
  return { ...spec, type, ...(to === 'ExternalName' ? { externalName: 'example.com' } : {}) };
};

const kinds = ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'] as const;
const pairs = kinds.flatMap((from) => kinds.map((to) => [from, to] as const));

describe('an update that changes only the type', () => {
  test.each(pairs)('%s to %s', async (from, to) => {
    const { object, update } = await made(from);
    const after = await update(object, retyped(object, to));
    expect([...after.errors, ...fieldErrors(services, after.object, object)]).toEqual([]);
    const expected = new Set<Field>(needs[to]);
    if (from !== to) expected.delete('class');
    // Only the specs above with `externalTrafficPolicy: Local` need a health check node port.
    if (from !== 'NodePort' && from !== 'LoadBalancer') expected.delete('health');
    expect(shown(after.spec)).toEqual([...expected].sort());
    expect(after.spec).toMatchObject({ selector, type: to });
    expect(statusOf(after.object)).toEqual(from === 'LoadBalancer' && to === 'LoadBalancer' ? ingress : {});
  });

  test.each(pairs)('%s to %s, without the fields that the server sets', async (from, to) => {
    const { object, update } = await made(from);
    const after = await update(object, specs[to]);
    const errors = [...after.errors, ...fieldErrors(services, after.object, object)];
    expect(errors).toEqual([]);
    expect(shown(after.spec)).toEqual([...needs[to]].sort());
  });

  const kept: [Kind, Kind, string[]][] = [
    ['ClusterIP', 'NodePort', ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']],
    ['NodePort', 'LoadBalancer', ['clusterIP', 'clusterIPs', 'ports', 'externalTrafficPolicy']],
    ['LoadBalancer', 'NodePort', ['clusterIP', 'clusterIPs', 'ports', 'externalTrafficPolicy', 'loadBalancerIP']],
    ['LoadBalancer', 'ClusterIP', ['clusterIP', 'clusterIPs', 'loadBalancerIP', 'selector']],
    ['ExternalName', 'ClusterIP', ['externalName', 'selector']],
  ];
  test.each(kept)('%s to %s keeps %j', async (from, to, names) => {
    const { object, update } = await made(from);
    const before = object['spec'] as JsonObject;
    const { spec } = await update(object, retyped(object, to));
    for (const name of names) expect([name, spec[name]]).toEqual([name, before[name]]);
  });
});

describe('headless services', () => {
  test('may become ExternalName', async () => {
    const { object, update } = await made('headless');
    const after = await update(object, retyped(object, 'ExternalName'));
    expect([...after.errors, ...fieldErrors(services, after.object, object)]).toEqual([]);
    expect(shown(after.spec)).toEqual([]);
  });

  test.each(['NodePort', 'LoadBalancer'] as const)('cannot become %s', async (to) => {
    const { object, update } = await made('headless');
    const after = await update(object, retyped(object, to));
    expect(fieldErrors(services, after.object, object)).toContainEqual([
      'spec.clusterIPs[0]',
      'Invalid',
      `Invalid value: "None": may not be set to 'None' for ${to} services`,
    ]);
  });

  test('stay headless when the update leaves out the cluster IP', async () => {
    const { object, update } = await made('headless');
    const after = await update(object, specs.ClusterIP);
    expect(after.spec).toMatchObject({ clusterIP: 'None', clusterIPs: ['None'] });
  });

  test.each(['ClusterIP', 'NodePort', 'LoadBalancer'] as const)('a %s service cannot become headless', async (from) => {
    const { object, update } = await made(from);
    const sent = { ...retyped(object, 'ClusterIP'), clusterIP: 'None' };
    const { object: after } = await update(object, sent);
    expect(fieldErrors(services, after, object)).toContainEqual([
      'spec.clusterIPs[0]',
      'Invalid',
      'Invalid value: ["None"]: may not change once set',
    ]);
  });

  test('an ExternalName service can become headless', async () => {
    const { object, update } = await made('ExternalName');
    const after = await update(object, { ...retyped(object, 'headless'), clusterIP: 'None' });
    expect([...after.errors, ...fieldErrors(services, after.object, object)]).toEqual([]);
    expect(after.spec).toMatchObject({ clusterIP: 'None', clusterIPs: ['None'] });
  });
});

describe('a field that the client has changed too is not dropped', () => {
  const balanced = "may only be used when `type` is 'LoadBalancer'";
  const rows: [Kind, Kind, string, JsonObject, string][] = [
    ['LoadBalancer', 'ClusterIP', 'spec.loadBalancerClass', { loadBalancerClass: 'example.com/other' }, balanced],
    [
      'LoadBalancer',
      'ClusterIP',
      'spec.allocateLoadBalancerNodePorts',
      { allocateLoadBalancerNodePorts: false },
      balanced,
    ],
    [
      'LoadBalancer',
      'NodePort',
      'spec.healthCheckNodePort',
      { healthCheckNodePort: 32_000 },
      "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
    ],
    [
      'NodePort',
      'ClusterIP',
      'spec.externalTrafficPolicy',
      { externalTrafficPolicy: 'Cluster' },
      'may only be set for externally-accessible services',
    ],
    [
      'NodePort',
      'ClusterIP',
      'spec.ports[0].nodePort',
      { ports: [{ port: 80, nodePort: 32_000 }] },
      "may not be used when `type` is 'ClusterIP'",
    ],
    [
      'ClusterIP',
      'ExternalName',
      'spec.clusterIPs',
      { clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'] },
      'may not be set for ExternalName services',
    ],
    [
      'ClusterIP',
      'ExternalName',
      'spec.ipFamilies',
      { ipFamilies: ['IPv6'] },
      'may not be set for ExternalName services',
    ],
    [
      'ClusterIP',
      'ExternalName',
      'spec.ipFamilyPolicy',
      { ipFamilyPolicy: 'PreferDualStack' },
      'may not be set for ExternalName services',
    ],
  ];
  test.each(rows)('%s to %s: %s', async (from, to, field, change, why) => {
    const { object } = await made(from);
    const after = replaced(services, object, { spec: { ...retyped(object, to), ...change } });
    const errors = fieldErrors(services, after, object).filter(([at]) => at === field);
    expect(errors).toHaveLength(field === 'spec.loadBalancerClass' ? 2 : 1);
    for (const [, , message] of errors) expect(message).toContain(why);
  });
});

describe('fields dropped with the type', () => {
  test('node ports, even where ports are removed or added in the same update', async () => {
    const { object, update } = await made('NodePort');
    const [first] = (object['spec'] as { ports: JsonObject[] }).ports;
    const sent = { ...retyped(object, 'ClusterIP'), ports: [first as JsonObject, { name: 'c', port: 82 }] };
    const after = await update(object, sent);
    expect(fieldErrors(services, after.object, object)).toEqual([]);
    expect(shown(after.spec)).not.toContain('nodePorts');
  });

  test('the cluster IP, where the client does not send clusterIPs', async () => {
    const { object, update } = await made('ClusterIP');
    const { clusterIPs, ...sent } = retyped(object, 'ExternalName');
    const after = await update(object, sent);
    expect(clusterIPs).toEqual(['10.0.0.1']);
    expect(fieldErrors(services, after.object, object)).toEqual([]);
    expect(shown(after.spec)).toEqual([]);
  });

  test('internalTrafficPolicy, which ExternalName services do not have', () => {
    const sent = { spec: { ...specs.ExternalName, internalTrafficPolicy: 'Cluster' } };
    expect(created(services, sent)['spec']).not.toHaveProperty('internalTrafficPolicy');
  });
});
