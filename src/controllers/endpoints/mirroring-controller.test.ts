import { afterEach, describe, expect, it } from 'vitest';
import type { Endpoints } from '../../types/core-v1.ts';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { mirroredAddresses } from './mirror-plan.ts';
import { endpointSliceMirroringController } from './mirroring-controller.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

type Subsets = NonNullable<Endpoints['subsets']>;

const at = (name: string) => ({ metadata: { namespace: 'default', name } });
const slices = () =>
  cluster.client
    .kind(kinds.endpointSlices)
    .list({ namespace: 'default', labelSelector: 'kubernetes.io/service-name=far' })
    .then(({ items }) => items);
/** The slices of `far`: address type, ports, and the addresses with whether they are ready. */
const mirrored = async () =>
  (await slices())
    .map(({ addressType, ports, endpoints }) => [
      addressType,
      (ports ?? []).map(({ name, port }) => `${name}:${port}`).join(),
      (endpoints ?? []).map(({ addresses, conditions }) => `${addresses?.join()} ${conditions?.ready}`),
    ])
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

const two: Subsets = [
  {
    addresses: [{ ip: '192.0.2.1', hostname: 'db-0' }],
    notReadyAddresses: [{ ip: '192.0.2.2' }],
    ports: [{ port: 5432 }],
  },
];

async function start(subsets: Subsets = two, metadata = {}) {
  cluster = await testCluster([endpointSliceMirroringController]);
  await cluster.client.kind(kinds.services).create({ ...at('far'), spec: { ports: [{ port: 5432 }] } });
  await cluster.client.kind(kinds.endpoints).create({
    metadata: { namespace: 'default', name: 'far', ...metadata },
    subsets,
  });
  await cluster.settle();
  return cluster.client;
}

async function change(patch: { [key: string]: unknown }) {
  await cluster.client.kind(kinds.endpoints).patch(at('far').metadata, 'merge', patch as never);
  await cluster.settle();
}

describe('endpointslice-mirroring-controller', () => {
  it('mirrors endpoints with their labels and annotations', async () => {
    const annotations = {
      note: 'a',
      'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
    };
    const client = await start(two, { labels: { tier: 'db' }, annotations });
    const [slice] = await slices();
    const { uid } = (await client.kind(kinds.endpoints).get({ namespace: 'default', name: 'far' })).metadata;
    expect(slice).toMatchObject({
      metadata: {
        generateName: 'far-',
        annotations: { note: 'a' },
        labels: {
          tier: 'db',
          'kubernetes.io/service-name': 'far',
          'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
        },
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Endpoints', name: 'far', uid, controller: true, blockOwnerDeletion: true },
        ],
      },
      addressType: 'IPv4',
      ports: [{ name: '', port: 5432, protocol: 'TCP' }],
    });
    expect(Object.keys(slice?.metadata.annotations ?? {})).toEqual(['note']);
    expect(slice?.endpoints).toEqual([
      { addresses: ['192.0.2.1'], conditions: { ready: true }, hostname: 'db-0' },
      { addresses: ['192.0.2.2'], conditions: { ready: false } },
    ]);
    expect(cluster.logged).toEqual([]);
  });

  it.each<[string, Subsets, unknown[]]>([
    [
      'address type',
      [{ addresses: [{ ip: '192.0.2.1' }, { ip: 'FD00::0:1' }], ports: [{ port: 1 }] }],
      [
        ['IPv4', ':1', ['192.0.2.1 true']],
        ['IPv6', ':1', ['fd00::1 true']],
      ],
    ],
    [
      'set of ports',
      [
        { addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 1, name: 'a' }] },
        { addresses: [{ ip: '192.0.2.2' }], ports: [{ port: 2, name: 'a' }] },
      ],
      [
        ['IPv4', 'a:1', ['192.0.2.1 true']],
        ['IPv4', 'a:2', ['192.0.2.2 true']],
      ],
    ],
    ['subset without ports', [{ addresses: [{ ip: '192.0.2.1' }] }], [['IPv4', '', ['192.0.2.1 true']]]],
    ['nothing', [], []],
  ])('makes a slice for each %s', async (_, subsets, expected) => {
    await start(subsets);
    expect(await mirrored()).toEqual(expected);
  });

  it('follows changes in the slices that there are, and writes nothing without any', async () => {
    await start();
    const [before] = await slices();
    await change({ subsets: [{ addresses: [{ ip: '192.0.2.3' }], ports: [{ port: 5433, name: 'sql' }] }] });
    const [slice, ...others] = await slices();
    expect([slice?.metadata.name, others]).toEqual([before?.metadata.name, []]);
    expect(await mirrored()).toEqual([['IPv4', 'sql:5433', ['192.0.2.3 true']]]);
    await change({ metadata: { labels: { tier: 'db' } } });
    const [labelled] = await slices();
    expect(labelled?.metadata.labels).toMatchObject({ tier: 'db' });
    const ignored = { 'kubectl.kubernetes.io/last-applied-configuration': '{"a":1}' };
    await change({ metadata: { annotations: ignored } });
    expect((await slices())[0]?.metadata.resourceVersion).toBe(labelled?.metadata.resourceVersion);
  });

  it('restores slices that others change or delete', async () => {
    const client = await start();
    const [slice] = await slices();
    if (slice === undefined) throw new Error('no slice');
    const before = await mirrored();
    await client.kind(kinds.endpointSlices).patch(slice.metadata, 'merge', { endpoints: [] });
    await cluster.settle();
    expect(await mirrored()).toEqual(before);
    await client.kind(kinds.endpointSlices).delete(slice.metadata);
    await cluster.settle();
    expect(await mirrored()).toEqual(before);
  });

  const leader = { 'control-plane.alpha.kubernetes.io/leader': '{}' };
  it.each<[string, () => Promise<unknown>]>([
    ['are deleted', () => cluster.client.kind(kinds.endpoints).delete(at('far').metadata)],
    [
      'are not to be mirrored',
      () => change({ metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } } }),
    ],
    ['are the record of a leader election', () => change({ metadata: { annotations: leader } })],
    ['have no addresses', () => change({ subsets: null })],
    ['have no service', () => cluster.client.kind(kinds.services).delete(at('far').metadata)],
    [
      'have a service with a selector',
      () =>
        cluster.client.kind(kinds.services).patch(at('far').metadata, 'merge', { spec: { selector: { app: 'a' } } }),
    ],
  ])('deletes the slices of endpoints that %s', async (_, act) => {
    await start();
    expect(await slices()).toHaveLength(1);
    await act();
    await cluster.settle();
    expect(await slices()).toEqual([]);
    expect(cluster.logged).toEqual([]);
  });

  it('mirrors when the service comes later, or loses its selector', async () => {
    cluster = await testCluster([endpointSliceMirroringController]);
    await cluster.client.kind(kinds.endpoints).create({ ...at('far'), subsets: two });
    await cluster.settle();
    expect(await slices()).toEqual([]);
    await cluster.client.kind(kinds.services).create({
      ...at('far'),
      spec: { selector: { app: 'a' }, ports: [{ port: 1 }] },
    });
    await cluster.settle();
    expect(await slices()).toEqual([]);
    await cluster.client.kind(kinds.services).patch(at('far').metadata, 'merge', { spec: { selector: null } });
    await cluster.settle();
    expect(await slices()).toHaveLength(1);
  });

  it('mirrors up to a limit of addresses of a subset, and records that', async () => {
    const addresses = Array.from({ length: mirroredAddresses + 2 }, (_, i) => ({ ip: `10.0.${i >> 8}.${i & 255}` }));
    const client = await start([{ addresses, ports: [{ port: 1 }] }]);
    expect((await slices()).map(({ endpoints }) => endpoints?.length)).toEqual([1000]);
    const events = (await client.kind(kinds.events).list({ namespace: 'default' })).items;
    expect(events.map(({ source, reason, message }) => [source?.component, reason, message])).toEqual([
      [
        'endpoint-slice-mirroring-controller',
        'TooManyAddressesToMirror',
        'A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 2 addresses were skipped',
      ],
    ]);
  });
});
