import { describe, expect, it } from 'vitest';
import { namesFor } from '../../meta/index.ts';
import { asksForTopology, Topology, zoneShares } from './topology.ts';

const names = namesFor('k8s.io');
const node = (zone: string, cpu: string, { ready = 'True', labels = {} } = {}) => ({
  metadata: { labels: { ...labels, ...(zone === '' ? {} : { 'topology.kubernetes.io/zone': zone }) } },
  status: { allocatable: { cpu }, conditions: [{ type: 'Ready', status: ready }] },
});
const slice = (...zones: string[]) => ({
  metadata: {},
  endpoints: zones.map((zone) => ({ conditions: { ready: true }, zone })),
});
const changes = (...zones: string[]) => ({ create: [slice(...zones)], update: [], remove: [] });

describe('the shares of zones', () => {
  it.each([
    [
      'are those of the CPUs of their nodes',
      [node('a', '1'), node('b', '1500m'), node('b', '1.5')],
      { a: 0.25, b: 0.75 },
    ],
    [
      'leave out nodes that are not ready or of the control plane',
      [
        node('a', '1'),
        node('b', '1'),
        node('c', '1', { ready: 'False' }),
        node('', '1', { labels: { 'node-role.kubernetes.io/control-plane': '' } }),
      ],
      { a: 0.5, b: 0.5 },
    ],
    ['are unknown with a node without a zone', [node('a', '1'), node('b', '1'), node('', '1')], undefined],
    ['are unknown with a node without CPUs', [node('a', '1'), node('b', '0')], undefined],
    ['are unknown in one zone', [node('a', '1'), node('a', '1')], undefined],
    ['are unknown without nodes', [], undefined],
  ])('%s', (_, nodes, expected) => {
    const shares = zoneShares(nodes, names);
    expect(shares && Object.fromEntries(shares)).toEqual(expected);
  });
});

describe('hints by the share of zones', () => {
  it('are requested by an annotation; the older one has precedence', () => {
    const [older, newer] = ['service.kubernetes.io/topology-aware-hints', 'service.kubernetes.io/topology-mode'];
    const annotationSets = [{ [newer]: 'Auto' }, { [newer]: 'auto' }, { [older]: 'auto', [newer]: 'x' }];
    const not = [undefined, {}, { [newer]: 'AUTO' }, { [older]: 'Disabled', [newer]: 'Auto' }];
    expect(annotationSets.map((annotations) => asksForTopology(annotations, names))).toEqual([true, true, true]);
    expect(not.map((annotations) => asksForTopology(annotations, names))).toEqual([false, false, false, false]);
  });

  it('say once that they are enabled, and that they no longer are', () => {
    const topology = new Topology();
    topology.setShares(new Map(Object.entries({ a: 0.5, b: 0.5 })));
    const first = topology.allocate('default/web', 'IPv4', changes('a', 'b'), []);
    expect(first.event).toEqual({
      type: 'Normal',
      reason: 'TopologyAwareHintsEnabled',
      message: 'Topology Aware Hints has been enabled, addressType: IPv4',
    });
    expect(first.changes.create[0]?.endpoints?.map(({ hints }) => hints)).toEqual([
      { forZones: [{ name: 'a' }] },
      { forZones: [{ name: 'b' }] },
    ]);
    const next = topology.allocate('default/web', 'IPv4', { create: [], update: [], remove: [] }, first.changes.create);
    expect(next).toEqual({ changes: { create: [], update: [], remove: [] } });
    expect(topology.disable('default/web', 'IPv4')).toEqual({
      type: 'Warning',
      reason: 'TopologyAwareHintsDisabled',
      message: 'Topology Aware Hints has been disabled, addressType: IPv4',
    });
    expect(topology.disable('default/web', 'IPv4')).toBeUndefined();
  });

  it('are removed, with a reason, when they cannot be allocated', () => {
    const topology = new Topology();
    const hinted = {
      ...slice('a'),
      endpoints: [{ conditions: { ready: true }, hints: { forZones: [{ name: 'a' }] } }],
    };
    const { changes: sliceChanges, event } = topology.allocate(
      'default/web',
      'IPv4',
      { create: [], update: [], remove: [] },
      [hinted],
    );
    expect(sliceChanges.update).toEqual([{ ...hinted, endpoints: [{ conditions: { ready: true } }] }]);
    expect(event).toMatchObject({
      type: 'Warning',
      message:
        'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes, addressType: IPv4',
    });
  });

  it('are looked at again when the nodes no longer fit the endpoints of a zone', () => {
    const topology = new Topology();
    topology.setShares(new Map(Object.entries({ a: 0.5, b: 0.5 })));
    topology.allocate('default/web', 'IPv4', changes('a', 'a', 'b', 'b'), []);
    expect(topology.setShares(new Map(Object.entries({ a: 0.6, b: 0.4 })))).toEqual([]);
    expect(topology.setShares(new Map(Object.entries({ a: 0.9, b: 0.1 })))).toEqual(['default/web']);
    expect(topology.setShares(new Map(Object.entries({ a: 0.4, b: 0.4, c: 0.2 })))).toEqual(['default/web']);
    expect(topology.setShares(undefined)).toEqual(['default/web']);
    topology.forget('default/web');
    expect(topology.setShares(undefined)).toEqual([]);
  });
});
