import { expect, test } from 'vitest';
import { namesFor } from '../meta/index.ts';
import type { ResourceDefinition } from '../registry/index.ts';
import { horizontalPodAutoscalers } from './autoscaling/horizontal-pod-autoscalers.ts';
import { cronJobs } from './batch/cron-jobs.ts';
import { podTemplates } from './core/pod-templates.ts';
import { endpointSlices } from './discovery/endpoint-slices.ts';
import { priorityLevelConfigurations } from './flowcontrol/priority-level-configurations.ts';
import { ingresses } from './networking/ingresses.ts';
import { csiStorageCapacities } from './storage/csi-storage-capacities.ts';
import { storageClasses } from './storage/storage-classes.ts';
import { created, type Fragment } from './testing/kind.ts';

const context = { now: Date.parse('2024-01-02T03:04:05Z'), names: namesFor('k8s.io') };
/** The cells that the reference server shows of an object, by the names of their columns. */
const cells = ({ columns, ...definition }: ResourceDefinition, fragment: Fragment, more: object = {}) => {
  const object = { ...created({ columns, ...definition }, fragment), ...more };
  return Object.fromEntries(columns.map(({ name, cell }) => [name, cell(object, context)]));
};

const target = (type: string, source: Fragment): Fragment => ({
  type,
  [type.charAt(0).toLowerCase() + type.slice(1)]: source,
});
const metric = { name: 'm' };
const rows: readonly (readonly [
  title: string,
  kind: ResourceDefinition,
  fragment: Fragment,
  expected: object,
  status?: object,
])[] = [
  [
    'a port without a number shows its name',
    endpointSlices,
    { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }], ports: [{ port: 80 }, { name: 'dns' }] },
    { Ports: '80,dns', Endpoints: '10.0.0.1' },
  ],
  [
    'addresses are unique and ordered',
    ingresses,
    { spec: {} },
    { Address: '10.0.0.1,b.c', Class: '<none>', Hosts: '*' },
    { loadBalancer: { ingress: [{ hostname: 'b.c' }, { ip: '10.0.0.1' }, { ip: '10.0.0.1' }] } },
  ],
  [
    'integer columns are numbers',
    priorityLevelConfigurations,
    { spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: {} } } } },
    { NominalConcurrencyShares: 30, Queues: 64, HandSize: 8, QueueLengthLimit: 50 },
  ],
  [
    'the exempt level has no shares',
    priorityLevelConfigurations,
    { spec: { type: 'Exempt', exempt: {} } },
    { NominalConcurrencyShares: '<none>', Queues: '<none>' },
  ],
  [
    'the deprecated annotation of the default class',
    storageClasses,
    { metadata: { annotations: { 'storageclass.beta.kubernetes.io/is-default-class': 'true' } }, provisioner: 'p' },
    { Name: 'x (default)', AllowVolumeExpansion: false },
  ],
  [
    'targets of several metric types',
    horizontalPodAutoscalers,
    {
      spec: {
        maxReplicas: 1,
        metrics: [
          target('Pods', { metric, target: { type: 'AverageValue', averageValue: '5' } }),
          target('External', { metric, target: { type: 'AverageValue', averageValue: '7' } }),
          target('Object', { metric, target: { type: 'Value', value: '9' } }),
        ],
      },
    },
    { Targets: '2/5, <unknown>/7 (avg) + 1 more...', MinPods: '1', MaxPods: 1, Replicas: 0 },
    { currentMetrics: [{ type: 'Pods', pods: { current: { averageValue: '2' } } }] },
  ],
  [
    'CPU utilization',
    horizontalPodAutoscalers,
    { spec: { maxReplicas: 1 } },
    { Targets: 'cpu: 12%/80%' },
    { currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 12 } } }] },
  ],
  [
    'a cron job whose jobs have no selector of their own',
    cronJobs,
    { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: { spec: { containers: [] } } } } } },
    { Name: 'x', Selector: '<none>' },
  ],
];

const cases = rows.map(([title, kind, fragment, expected, status]) => ({ title, kind, fragment, expected, status }));
test.each(cases)('$title', ({ kind, fragment, expected, status }) => {
  expect(cells(kind, fragment, status === undefined ? {} : { status })).toMatchObject(expected);
});

test('CSI storage capacities have the columns of a kind without own ones', () => {
  expect(cells(csiStorageCapacities, { storageClassName: 's', capacity: '1Gi' })).toEqual({});
});

test('pod templates have no age column', () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const found = cells(podTemplates, { template });
  expect(found).toEqual({ Name: 'x', Containers: 'c', Images: 'i', 'Pod Labels': 'a=b' });
});
