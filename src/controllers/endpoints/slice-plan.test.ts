import { describe, expect, it } from 'vitest';
import { namesFor } from '../../meta/index.ts';
import type { Pod } from '../shared/pods.ts';
import { type PodState, podNamed, podStatus } from '../testing/served-pods.ts';
import type { Service } from './services.ts';
import { planSlices } from './slice-plan.ts';
import type { Slice } from './slices.ts';

const names = namesFor('k8s.io');
const service = (spec: Service['spec'] = {}, metadata: Partial<Service['metadata']> = {}): Service => ({
  metadata: { namespace: 'default', name: 'web', uid: 'svc', labels: { team: 'a' }, ...metadata },
  spec: { clusterIP: '10.0.0.1', ports: [{ port: 80, protocol: 'TCP', targetPort: 'http' }], ...spec },
});
const pod = (name: string, state: PodState, { metadata = {}, spec = {} } = {}): Pod => {
  const base = podNamed(name, undefined, spec);
  return { ...base, metadata: { ...base.metadata, uid: `uid-${name}`, ...metadata }, status: podStatus(state) };
};
const pods = (count: number, first = 0) =>
  Array.from({ length: count }, (_, i) =>
    pod(`p${first + i}`, { ips: [`10.1.${(first + i) >> 8}.${(first + i) & 255}`] }),
  );

interface Options {
  readonly service?: Service;
  readonly family?: string;
  readonly nodeOf?: Parameters<typeof planSlices>[0]['nodeOf'];
}
const zoned = { metadata: { labels: { 'topology.kubernetes.io/zone': 'z1' } } };
const plan = (desiredPods: readonly Pod[], existing: readonly Slice[] = [], options: Options = {}) =>
  planSlices({
    names,
    service: service(),
    family: 'IPv4',
    nodeOf: () => zoned,
    ...options,
    pods: desiredPods,
    existing,
  });

/** Slices as they are stored when they have been planned for these pods. */
const stored = (groups: readonly (readonly Pod[])[], options: Options = {}): Slice[] =>
  groups.map((group, i) => {
    const [slice] = plan(group, [], options).changes.create;
    return { ...slice, metadata: { ...slice?.metadata, name: `s${i}`, resourceVersion: '1' } };
  });
const sizes = (slices: readonly Slice[]) => slices.map(({ endpoints }) => endpoints?.length ?? 0);
const summary = ({ changes, unchanged }: ReturnType<typeof plan>) => ({
  create: sizes(changes.create),
  update: changes.update.map(({ metadata: { name }, endpoints }) => [name, endpoints?.length ?? 0]),
  remove: changes.remove.map(({ metadata }) => metadata.name),
  unchanged: unchanged.map(({ metadata }) => metadata.name),
});
const nothing = { create: [], update: [], remove: [], unchanged: [] };

describe('the plan for the slices of a service', () => {
  it('has a slice without endpoints when there are none, and keeps that', () => {
    const { changes } = plan([]);
    expect(changes).toEqual({
      create: [
        {
          metadata: {
            namespace: 'default',
            generateName: 'web-',
            labels: {
              team: 'a',
              'kubernetes.io/service-name': 'web',
              'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
            },
            ownerReferences: [
              {
                apiVersion: 'v1',
                kind: 'Service',
                name: 'web',
                uid: 'svc',
                controller: true,
                blockOwnerDeletion: true,
              },
            ],
          },
          addressType: 'IPv4',
          endpoints: [],
          ports: [],
        },
      ],
      update: [],
      remove: [],
    });
    expect(summary(plan([], stored([[]])))).toEqual({ ...nothing, unchanged: ['s0'] });
    expect(summary(plan([pod('a', {})], stored([[]])))).toEqual({ ...nothing, unchanged: ['s0'] });
  });

  it('has an endpoint for each pod with an address of the family', () => {
    const spec = { hostname: 'h', subdomain: 'web' };
    const one = pod('a', { ips: ['10.1.0.1', 'fd00::1'] }, { spec });
    const expected = {
      conditions: { ready: true, serving: true, terminating: false },
      hostname: 'h',
      nodeName: 'n1',
      zone: 'z1',
      targetRef: { kind: 'Pod', namespace: 'default', name: 'a', uid: 'uid-a' },
    };
    expect(plan([one]).changes.create[0]).toMatchObject({
      endpoints: [{ addresses: ['10.1.0.1'], ...expected }],
      ports: [{ name: '', port: 8080, protocol: 'TCP' }],
    });
    expect(plan([one], [], { family: 'IPv6' }).changes.create[0]).toMatchObject({
      addressType: 'IPv6',
      endpoints: [{ addresses: ['fd00::1'], ...expected }],
    });
  });

  const deleted = { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } };
  const all = { publishNotReadyAddresses: true };
  it.each([
    ['ready', pod('a', { ips: ['10.1.0.1'] }), {}, [true, true, false]],
    ['not ready', pod('a', { ips: ['10.1.0.1'], ready: false }), {}, [false, false, false]],
    ['ready and being deleted', pod('a', { ips: ['10.1.0.1'] }, deleted), {}, [false, true, true]],
    ['not ready and being deleted', pod('a', { ips: ['10.1.0.1'], ready: false }, deleted), {}, [false, false, true]],
    [
      'not ready, of a service that publishes it',
      pod('a', { ips: ['10.1.0.1'], ready: false }),
      all,
      [true, false, false],
    ],
    [
      'being deleted, of a service that publishes it',
      pod('a', { ips: ['10.1.0.1'] }, deleted),
      all,
      [true, true, true],
    ],
  ])('has the conditions of a pod that is %s', (_, one, spec, [ready, serving, terminating]) => {
    const { changes } = plan([one], [], { service: service(spec) });
    expect(changes.create[0]?.endpoints?.[0]?.conditions).toEqual({ ready, serving, terminating });
  });

  it('leaves out pods of unknown nodes, unless the service publishes pods that are not ready', () => {
    const nodeOf = () => undefined;
    const result = plan(pods(1), [], { nodeOf });
    expect([sizes(result.changes.create), result.withoutNode.length]).toEqual([[0], 1]);
    const published = plan(pods(1), [], { nodeOf, service: service(all) });
    expect([sizes(published.changes.create), published.withoutNode.length]).toEqual([[1], 0]);
  });

  it('has slices for each set of ports', () => {
    const other = { containers: [{ name: 'c', ports: [{ name: 'http', containerPort: 9090, protocol: 'TCP' }] }] };
    const { changes } = plan([pod('a', { ips: ['10.1.0.1'] }), pod('b', { ips: ['10.1.0.2'] }, { spec: other })]);
    expect(changes.create.map(({ ports, endpoints }) => [ports?.[0]?.port, endpoints?.length])).toEqual([
      [8080, 1],
      [9090, 1],
    ]);
  });

  it('marks slices of a headless service, which may have no ports', () => {
    const headless = service({ clusterIP: 'None', ports: [] });
    const [slice] = plan(pods(1), [], { service: headless }).changes.create;
    expect(slice?.metadata.labels).toMatchObject({ 'service.kubernetes.io/headless': '' });
    expect(slice?.ports).toEqual([]);
  });

  it.each([
    ['makes full slices', pods(250), [], { ...nothing, create: [100, 100, 50] }],
    ['changes nothing', pods(5), [pods(5)], { ...nothing, unchanged: ['s0'] }],
    ['drops an endpoint', pods(4), [pods(5)], { ...nothing, update: [['s0', 4]] }],
    ['adds to a slice with room', pods(6), [pods(5)], { ...nothing, update: [['s0', 6]] }],
    [
      'adds to the fullest slice with room for all',
      [...pods(60), ...pods(30, 100), ...pods(95, 200), ...pods(6, 300)],
      [pods(60), pods(30, 100), pods(95, 200)],
      { ...nothing, update: [['s0', 66]], unchanged: ['s1', 's2'] },
    ],
    [
      'makes a slice rather than change several',
      [...pods(60), ...pods(70, 100), ...pods(45, 300)],
      [pods(60), pods(70, 100)],
      { ...nothing, create: [45], unchanged: ['s0', 's1'] },
    ],
    [
      'makes full slices until the rest fits',
      [...pods(40), ...pods(150, 100)],
      [pods(40)],
      { ...nothing, create: [100], update: [['s0', 90]] },
    ],
    [
      'fills slices that change anyway, the fullest first',
      [...pods(49), ...pods(69, 100), ...pods(40, 300)],
      [pods(50), pods(70, 100)],
      {
        ...nothing,
        update: [
          ['s1', 100],
          ['s0', 58],
        ],
      },
    ],
    [
      'removes slices without endpoints',
      pods(5),
      [pods(5), pods(5, 100)],
      { ...nothing, remove: ['s1'], unchanged: ['s0'] },
    ],
    ['replaces the last slice by one without endpoints', [], [pods(5)], { ...nothing, create: [0], remove: ['s0'] }],
  ])('%s', (_, desiredPods, existing, expected) => {
    expect(summary(plan(desiredPods, stored(existing)))).toEqual(expected);
  });

  it('updates slices when labels of the service change, and those of other owners not at all', () => {
    const labelled = service({}, { labels: { team: 'b' } });
    const { changes } = plan(pods(1), stored([pods(1)]), { service: labelled });
    expect(changes.update[0]?.metadata).toMatchObject({ name: 's0', resourceVersion: '1', labels: { team: 'b' } });
    const recreated = service({}, { uid: 'new' });
    expect(summary(plan(pods(1), stored([pods(1)]), { service: recreated }))).toEqual({
      ...nothing,
      create: [1],
      remove: ['s0'],
    });
  });

  it('updates endpoints in place when their pod changes', () => {
    const [slice] = plan([pod('a', { ips: ['10.1.0.1'], ready: false })], stored([[pod('a', { ips: ['10.1.0.1'] })]]))
      .changes.update;
    expect(slice?.endpoints).toMatchObject([{ addresses: ['10.1.0.1'], conditions: { ready: false } }]);
  });
});
