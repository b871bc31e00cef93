import { describe, expect, test } from 'vitest';
import { formatGroupResource, type JsonObject } from '../meta/index.ts';
import type { ResourceDefinition } from '../registry/index.ts';
import { daemonSets } from './apps/daemon-sets.ts';
import { cronJobs } from './batch/cron-jobs.ts';
import { nodes } from './core/nodes.ts';
import { pods } from './core/pods.ts';
import { services } from './core/services.ts';
import { builtinResources } from './index.ts';
import { ingresses } from './networking/ingresses.ts';
import { runtimeClasses } from './node/runtime-classes.ts';
import { csiDrivers } from './storage/csi-drivers.ts';
import { csiStorageCapacities } from './storage/csi-storage-capacities.ts';
import { storageClasses } from './storage/storage-classes.ts';
import { created, replaced, testContext, warningsOf } from './testing/kind.ts';

// How the reference server 1.33 (`pkg/registry/*/*/strategy.go`) treats each kind.

const plain = { create: false, unconditional: true, counts: false, statusKeepsMetadata: false };
/** The differences from `plain`. */
const strategies: { readonly [resource: string]: Partial<typeof plain> } = {
  bindings: {},
  componentstatuses: {},
  configmaps: {},
  endpoints: { create: true },
  events: { create: true },
  limitranges: { create: true },
  namespaces: {},
  nodes: {},
  persistentvolumeclaims: {},
  persistentvolumes: {},
  pods: { counts: true },
  podtemplates: { counts: true },
  replicationcontrollers: { counts: true },
  resourcequotas: {},
  secrets: {},
  serviceaccounts: {},
  services: { create: true },
  'mutatingwebhookconfigurations.admissionregistration.{domain}': { unconditional: false, counts: true },
  'validatingadmissionpolicies.admissionregistration.{domain}': {
    unconditional: false,
    counts: true,
    statusKeepsMetadata: true,
  },
  'validatingadmissionpolicybindings.admissionregistration.{domain}': { unconditional: false, counts: true },
  'validatingwebhookconfigurations.admissionregistration.{domain}': { unconditional: false, counts: true },
  'customresourcedefinitions.apiextensions.{domain}': { unconditional: false, counts: true },
  'apiservices.apiregistration.{domain}': { unconditional: false, statusKeepsMetadata: true },
  'controllerrevisions.apps': {},
  'daemonsets.apps': { counts: true },
  'deployments.apps': { counts: true },
  'replicasets.apps': { counts: true },
  'statefulsets.apps': { counts: true },
  'horizontalpodautoscalers.autoscaling': {},
  'cronjobs.batch': { counts: true },
  'jobs.batch': { counts: true },
  'certificatesigningrequests.certificates.{domain}': {},
  'leases.coordination.{domain}': { create: true, unconditional: false },
  'endpointslices.discovery.{domain}': { counts: true },
  'events.events.{domain}': { create: true },
  'flowschemas.flowcontrol.apiserver.{domain}': { counts: true, statusKeepsMetadata: true },
  'prioritylevelconfigurations.flowcontrol.apiserver.{domain}': { counts: true, statusKeepsMetadata: true },
  'ingressclasses.networking.{domain}': { counts: true },
  'ingresses.networking.{domain}': { counts: true },
  'ipaddresses.networking.{domain}': {},
  'networkpolicies.networking.{domain}': { counts: true },
  'servicecidrs.networking.{domain}': { statusKeepsMetadata: true },
  'runtimeclasses.node.{domain}': { create: true, unconditional: false },
  'poddisruptionbudgets.policy': { unconditional: false, counts: true },
  'clusterrolebindings.rbac.authorization.{domain}': { create: true },
  'clusterroles.rbac.authorization.{domain}': { create: true },
  'rolebindings.rbac.authorization.{domain}': { create: true },
  'roles.rbac.authorization.{domain}': { create: true },
  'priorityclasses.scheduling.{domain}': {},
  'csidrivers.storage.{domain}': { unconditional: false },
  'csinodes.storage.{domain}': { unconditional: false },
  'csistoragecapacities.storage.{domain}': { unconditional: false },
  'storageclasses.storage.{domain}': {},
  'volumeattachments.storage.{domain}': { unconditional: false, statusKeepsMetadata: true },
};

const idOf = ({ group, plural }: ResourceDefinition) => formatGroupResource({ group, resource: plural });
const stored = builtinResources.filter((definition) => Object.hasOwn(strategies, idOf(definition)));

test('the table names existing kinds only', () => {
  expect(stored.map(idOf).sort()).toEqual(Object.keys(strategies).sort());
});

test.each(stored.map((definition) => [idOf(definition), definition] as const))('%s', (id, definition) => {
  const { strategy, subresources } = definition;
  const status = subresources.find((one) => one.type === 'status');
  const { resetFields = [] } = status ?? {};
  expect({
    create: strategy.createOnUpdate === true,
    unconditional: strategy.unconditionalUpdate !== false,
    counts: strategy.generation === true,
    statusKeepsMetadata: resetFields.some((path) => path.length === 1 && path[0] === 'metadata'),
  }).toEqual({ ...plain, ...strategies[id] });
});

// The number of metadata checks on create and update, in addition to the common ones (calls of `ValidateObjectMeta` and
// `ValidateObjectMetaUpdate` in the reference server's strategies).
const checks: { readonly [checks: string]: readonly string[] } = {
  '1,0': [
    'mutatingwebhookconfigurations',
    'validatingwebhookconfigurations',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'limitranges',
    'endpointslices',
    'flowschemas',
    'prioritylevelconfigurations',
    'csinodes',
    'volumeattachments',
  ],
  '0,1': [
    'deployments',
    'daemonsets',
    'replicasets',
    'statefulsets',
    'replicationcontrollers',
    'services',
    'networkpolicies',
    'horizontalpodautoscalers',
    'cronjobs',
    'leases',
    'podtemplates',
    'resourcequotas',
    'servicecidrs',
    'priorityclasses',
    'csidrivers',
    'customresourcedefinitions',
    'events.events',
  ],
  '0,0': ['poddisruptionbudgets', 'events'],
  '2,0': ['persistentvolumes'],
};
/** The number of metadata checks of subresources where it is not that of a plain update. */
const checksBelow: { readonly [subresource: string]: string } = {
  'cronjobs/status': '0,0',
  'poddisruptionbudgets/status': '0,0',
  'validatingadmissionpolicies/status': '0,0',
  'flowschemas/status': '0,0',
  'prioritylevelconfigurations/status': '0,0',
  'certificatesigningrequests/status': '1,1',
  'certificatesigningrequests/approval': '1,1',
  'pods/ephemeralcontainers': '1,1',
  'pods/resize': '1,1',
};

test('the number of metadata checks of each kind', () => {
  const nameOf = ({ group, plural }: ResourceDefinition) => (group === 'events.{domain}' ? 'events.events' : plural);
  const kindsByChecks = new Map<string, string[]>();
  for (const definition of stored) {
    const key = definition.strategy.metadataChecks?.join();
    if (key !== undefined) kindsByChecks.set(key, [...(kindsByChecks.get(key) ?? []), nameOf(definition)].sort());
  }
  expect(Object.fromEntries(kindsByChecks)).toEqual(
    Object.fromEntries(Object.entries(checks).map(([key, names]) => [key, [...names].sort()])),
  );
  const below = stored.flatMap(({ plural, subresources }) =>
    subresources.flatMap((one) =>
      'metadataChecks' in one ? [[`${plural}/${one.name}`, one.metadataChecks.join()]] : [],
    ),
  );
  expect(Object.fromEntries(below)).toEqual(checksBelow);
});

describe('nodes', () => {
  const configSource = { configMap: { namespace: 'ns', name: 'c', kubeletConfigKey: 'k' } };
  const given = { spec: { configSource, unschedulable: true }, status: { config: { error: 'e' } } };
  const had = (): ReturnType<typeof created> => ({
    ...created(nodes, { spec: { unschedulable: true } }),
    spec: { configSource },
    status: { config: { error: 'e' } },
  });

  test('configSource is dropped on create', () => {
    const made = created(nodes, given);
    expect(made['spec']).toEqual({ unschedulable: true });
    expect(made['status']).not.toHaveProperty('config');
    expect(replaced(nodes, made, given)['spec']).toEqual({ unschedulable: true });
    expect(replaced(nodes, made, given, 'status')['status']).not.toHaveProperty('config');
  });

  test('configSource is kept when the old object has one', () => {
    expect(replaced(nodes, had(), given)['spec']).toMatchObject({ configSource });
    expect(replaced(nodes, had(), given, 'status')['status']).toMatchObject({ config: { error: 'e' } });
  });
});

describe('daemon sets', () => {
  const key = 'deprecated.daemonset.template.generation';
  const template = (image: string) => ({ spec: { containers: [{ name: 'c', image }] } });
  const set = (image: string, count?: string): JsonObject => ({
    metadata: { annotations: count === undefined ? {} : { [key]: count } },
    spec: { template: template(image) },
  });
  const counted = ({ metadata }: ReturnType<typeof created>) => metadata.annotations?.[key];

  test.each([
    [undefined, '1'],
    ['0', '1'],
    ['-3', '1'],
    ['7', '7'],
    ['x', '1'],
  ])('a new one that says %s has template %s', (given, expected) => {
    expect(counted(created(daemonSets, set('a', given)))).toBe(expected);
  });

  test('the template generation increments with the template only', () => {
    const old = created(daemonSets, set('a', '7'));
    expect(counted(replaced(daemonSets, old, set('a', '1')))).toBe('7');
    expect(counted(replaced(daemonSets, old, set('b', '1')))).toBe('8');
  });

  test('warnings cover the template, not the name', () => {
    const bad = {
      spec: { nodeSelector: { 'beta.kubernetes.io/os': 'linux' }, containers: [{ name: 'c', image: 'i' }] },
    };
    const sent = { metadata: { name: 'a.b' }, spec: { template: bad } };
    const expected = [
      'spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    ];
    expect(warningsOf(daemonSets, sent)).toEqual(expected);
    const old = created(daemonSets, sent);
    const again = replaced(daemonSets, old, { ...sent, spec: { ...sent.spec, minReadySeconds: 5 } });
    again.metadata.generation = 2;
    expect(daemonSets.strategy.warnings?.(again, old, testContext)).toEqual([]);
  });
});

test('a CSI driver increments its generation on every spec change', () => {
  const old = created(csiDrivers, { spec: { podInfoOnMount: false } });
  expect(old.metadata.generation).toBeUndefined();
  expect(replaced(csiDrivers, old, { spec: { podInfoOnMount: true } }).metadata.generation).toBe(1);
  expect(replaced(csiDrivers, old, { spec: { podInfoOnMount: false } }).metadata.generation).toBeUndefined();
});

describe('warnings', () => {
  const zone = 'failure-domain.beta.kubernetes.io/zone';
  const why = 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead';
  const rows: [string, ResourceDefinition, JsonObject, string[]][] = [
    [
      'storage classes',
      storageClasses,
      { allowedTopologies: [{ matchLabelExpressions: [{ key: 'a' }, { key: zone }] }] },
      [`allowedTopologies[0].matchLabelExpressions[1].key: ${why}`],
    ],
    [
      'storage capacities',
      csiStorageCapacities,
      { nodeTopology: { matchLabels: { [zone]: 'z' }, matchExpressions: [{ key: zone, operator: 'Exists' }] } },
      [`nodeTopology.matchExpressions[0].key: ${zone} is ${why}`, `nodeTopology.matchLabels.${zone}: ${why}`],
    ],
    [
      'runtime classes',
      runtimeClasses,
      { handler: 'h', scheduling: { nodeSelector: { a: 'b', [zone]: 'z' } } },
      [`scheduling.nodeSelector: ${why}`],
    ],
  ];
  test.each(rows)('%s', (_, definition, fragment, expected) => {
    expect(warningsOf(definition, fragment)).toEqual(expected);
  });

  test('an updated cron job with a time zone in its schedule', () => {
    const sent = { spec: { schedule: 'TZ=UTC * * * * *' } };
    const old = created(cronJobs, sent);
    expect(cronJobs.strategy.warnings?.(old, old, testContext)).toEqual([
      'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead',
    ]);
    expect(warningsOf(cronJobs, sent)).toEqual([]);
  });

  const points = { loadBalancer: { ingress: [{ hostname: 'a.b' }, { ip: 'FD00::1' }] } };
  const form = 'IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")';
  test.each([
    ['services', services, points, [`status.loadBalancer.ingress[1]: ${form}`]],
    ['ingresses', ingresses, points, [`status.loadBalancer.ingress[1]: ${form}`]],
    ['pods', pods, { podIPs: [{ ip: 'FD00::1' }] }, [`status.podIPs[0].ip: ${form}`]],
  ] as const)('the status of %s', (_, { strategy }, status, expected) => {
    expect(strategy.statusWarnings?.({ metadata: {}, status } as never, testContext)).toEqual(expected);
  });
});
