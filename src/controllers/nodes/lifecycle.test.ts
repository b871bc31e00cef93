import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatMicroTime, formatTime, type Json } from '../../meta/index.ts';
import * as kinds from '../shared/kinds.ts';
import type { NodeObject } from '../shared/node-selection.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { nodeLifecycleController } from './lifecycle.ts';
import { changeTaints } from './node.ts';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await testCluster([nodeLifecycleController], {
    server: { disableAdmissionPlugins: ['TaintNodesByCondition'] },
  });
  await cluster.client.kind(kinds.serviceAccounts).create({ metadata: { namespace: 'default', name: 'default' } });
});
afterEach(async () => {
  expect(cluster.logged).toEqual([]);
  await cluster.close();
});

const at = (name: string) => ({ metadata: { name } });
const addNode = (name: string, metadata: NodeObject['metadata'] = {}, spec: NodeObject['spec'] = {}) =>
  cluster.client.kind(kinds.nodes).create({ metadata: { ...metadata, name }, spec: spec ?? {} });
/** Reports the conditions of a node, as of now. */
const report = (name: string, conditions: { [type: string]: string }) => {
  const lastHeartbeatTime = formatTime(cluster.clock.now());
  const list = Object.entries(conditions).map(([type, status]) => ({
    type,
    status,
    reason: 'Said',
    message: 'so',
    lastHeartbeatTime,
    lastTransitionTime: lastHeartbeatTime,
  }));
  return cluster.client
    .kind(kinds.nodes)
    .subresource('status')
    .patch(at(name).metadata, 'strategic', { status: { conditions: list } });
};
const addReady = async (name: string, metadata: NodeObject['metadata'] = {}) => {
  await addNode(name, metadata);
  await report(name, { Ready: 'True' });
};
const node = async (name: string) => {
  await cluster.settle();
  return cluster.client.kind(kinds.nodes).get({ name });
};
const taints = async (name: string) =>
  ((await node(name)).spec?.taints ?? []).map(({ key, effect }) => `${key?.split('/')[1]}:${effect}`).sort();
const conditions = async (name: string) =>
  Object.fromEntries(((await node(name)).status?.conditions ?? []).map(({ type, status }) => [type, status]));
const recorded = async () => {
  await cluster.settle();
  const events = (await cluster.client.kind(kinds.events).list({ namespace: 'default' })).items;
  return events.map(({ involvedObject, type, reason, message }) => [involvedObject?.name, type, reason, message]);
};
async function addPod(name: string, nodeName: string, ready = 'True') {
  const spec = {
    automountServiceAccountToken: false,
    ...(nodeName === '' ? {} : { nodeName }),
    containers: [{ name: 'c', image: 'example.com/app:1' }],
  };
  const pod = await cluster.client.kind(kinds.pods).create({ metadata: { namespace: 'default', name }, spec });
  const list = [{ type: 'Ready', status: ready, lastTransitionTime: '2025-01-01T00:00:00Z' }];
  await cluster.client
    .kind(kinds.pods)
    .subresource('status')
    .patch(pod.metadata, 'strategic', { status: { conditions: list } });
}
const readiness = async (name: string) => {
  await cluster.settle();
  return (await cluster.client.kind(kinds.pods).get({ namespace: 'default', name })).status?.conditions?.[0];
};
/** Nodes report every ten seconds, for `seconds` seconds. */
const live = async (seconds: number, names: readonly string[], ready = 'True') => {
  for (let passed = 0; passed < seconds; passed += 10) {
    for (const name of names) await report(name, { Ready: ready });
    await cluster.advance(10_000);
  }
};

describe('node-lifecycle-controller: taints of conditions', () => {
  it.each<{ title: string; conditions: { [type: string]: string }; unschedulable?: boolean; expected: string[] }>([
    { title: 'ready', conditions: { Ready: 'True', MemoryPressure: 'False' }, expected: [] },
    { title: 'not ready', conditions: { Ready: 'False' }, expected: ['not-ready:NoSchedule'] },
    { title: 'unreachable', conditions: { Ready: 'Unknown' }, expected: ['unreachable:NoSchedule'] },
    {
      title: 'short of everything',
      conditions: { Ready: 'True', MemoryPressure: 'True', DiskPressure: 'True', PIDPressure: 'True' },
      expected: ['disk-pressure:NoSchedule', 'memory-pressure:NoSchedule', 'pid-pressure:NoSchedule'],
    },
    {
      title: 'without a network, unschedulable and with conditions of others',
      conditions: { Ready: 'True', NetworkUnavailable: 'True', constructor: 'True', Other: 'True' },
      unschedulable: true,
      expected: ['network-unavailable:NoSchedule', 'unschedulable:NoSchedule'],
    },
  ])('gives a node that is $title its taints, and takes them away', async ({ conditions, unschedulable, expected }) => {
    await addReady('friend');
    await addNode('one');
    const foreign = { key: 'example.com/mine', effect: 'NoSchedule' };
    await cluster.client.kind(kinds.nodes).patch(at('one').metadata, 'merge', {
      spec: { taints: [foreign], unschedulable: unschedulable ?? false },
    });
    await report('one', conditions);
    const own = (list: string[]) =>
      list.filter((taint) => taint.endsWith(':NoSchedule') && taint !== 'mine:NoSchedule');
    expect(own(await taints('one'))).toEqual(expected);
    expect(await taints('one')).toContain('mine:NoSchedule');
    await cluster.client.kind(kinds.nodes).patch(at('one').metadata, 'merge', { spec: { unschedulable: false } });
    await report('one', {
      ...Object.fromEntries(Object.keys(conditions).map((type) => [type, 'False'])),
      Ready: 'True',
    });
    expect(await taints('one')).toEqual(['mine:NoSchedule']);
  });

  it('copies the labels of operating system and architecture to their former names', async () => {
    await addNode('one', { labels: { 'kubernetes.io/os': 'linux', 'beta.kubernetes.io/os': 'windows' } });
    await addNode('two', { labels: { 'kubernetes.io/arch': 'amd64', 'beta.kubernetes.io/os': 'linux' } });
    expect((await node('one')).metadata.labels).toEqual({
      'kubernetes.io/os': 'linux',
      'beta.kubernetes.io/os': 'linux',
    });
    expect((await node('two')).metadata.labels).toEqual({
      ...{ 'kubernetes.io/arch': 'amd64', 'beta.kubernetes.io/arch': 'amd64' },
      'beta.kubernetes.io/os': 'linux',
    });
  });
});

it('changes the taints of a node that others change at the same time', async () => {
  await addNode('one');
  const seen = await node('one');
  const foreign = { key: 'example.com/mine', effect: 'NoSchedule' };
  await cluster.client.kind(kinds.nodes).patch(at('one').metadata, 'merge', { spec: { taints: [foreign] } });
  const own = { key: 'example.com/own', effect: 'NoExecute' };
  await changeTaints({ client: cluster.client, now: cluster.clock.now() }, seen, () => ({ add: [own] }));
  expect(await taints('one')).toEqual(['mine:NoSchedule', 'own:NoExecute']);
  await cluster.client.kind(kinds.nodes).delete(at('one').metadata);
  await addNode('one');
  const change = changeTaints({ client: cluster.client, now: 0 }, seen, () => ({ add: [own] }));
  await expect(change).rejects.toMatchObject({ code: 409 });
  expect(await taints('one')).toEqual([]);
});

it('recomputes taints from the node that others have changed', async () => {
  await addNode('one');
  const seen = await node('one');
  await cluster.client.kind(kinds.nodes).patch(at('one').metadata, 'merge', { spec: { unschedulable: true } });
  const own = { key: 'example.com/own', effect: 'NoSchedule' };
  const unlessUnschedulable = ({ spec }: typeof seen) => (spec?.unschedulable ? {} : { add: [own] });
  await changeTaints({ client: cluster.client, now: 0 }, seen, unlessUnschedulable);
  expect(await taints('one')).not.toContain('own:NoSchedule');
});

describe('node-lifecycle-controller: health', () => {
  it('gives a new node a minute to post its status', async () => {
    await addReady('friend');
    await addNode('new');
    await live(60, ['friend']);
    expect(await conditions('new')).toEqual({});
    await live(10, ['friend']);
    const status = 'Unknown';
    expect(await conditions('new')).toEqual({
      Ready: status,
      MemoryPressure: status,
      DiskPressure: status,
      PIDPressure: status,
    });
    expect((await node('new')).status?.conditions?.[0]).toEqual({
      type: 'Ready',
      status,
      reason: 'NodeStatusNeverUpdated',
      message: 'Kubelet never posted node status.',
      lastHeartbeatTime: '2026-01-01T00:00:00Z',
      lastTransitionTime: '2026-01-01T00:01:05Z',
    });
    expect(await taints('new')).toEqual(['unreachable:NoExecute', 'unreachable:NoSchedule']);
  });

  it('marks a silent node as unreachable after fifty seconds, and its pods not ready', async () => {
    await addReady('friend');
    await addReady('one');
    await report('one', { Ready: 'True', MemoryPressure: 'False', Other: 'True' });
    await addPod('app', 'one');
    await addPod('waiting', 'one', 'False');
    await live(50, ['friend']);
    expect(await conditions('one')).toMatchObject({ Ready: 'True' });
    await live(10, ['friend']);
    expect((await node('one')).status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'Unknown',
      reason: 'NodeStatusUnknown',
      message: 'Kubelet stopped posting node status.',
      lastHeartbeatTime: '2026-01-01T00:00:00Z',
      lastTransitionTime: '2026-01-01T00:01:00Z',
    });
    expect(await conditions('one')).toMatchObject({
      MemoryPressure: 'Unknown',
      DiskPressure: 'Unknown',
      Other: 'True',
    });
    expect(await readiness('app')).toMatchObject({ status: 'False', lastTransitionTime: '2026-01-01T00:01:00Z' });
    expect(await readiness('waiting')).toMatchObject({ lastTransitionTime: '2025-01-01T00:00:00Z' });
    expect(await taints('one')).toEqual(['unreachable:NoExecute', 'unreachable:NoSchedule']);
    const events = await recorded();
    expect(events).toContainEqual(['one', 'Normal', 'NodeNotReady', 'Node one status is now: NodeNotReady']);
    expect(events.filter(([name]) => name === 'app' || name === 'waiting')).toEqual([
      ['app', 'Warning', 'NodeNotReady', 'Node is not ready'],
    ]);
    await report('one', { Ready: 'True' });
    await live(10, ['friend']);
    expect(await taints('one')).toEqual([]);
  });

  it('treats a renewed lease as a sign of life', async () => {
    await addReady('friend');
    await addReady('one');
    const place = { namespace: 'kube-node-lease', name: 'one' };
    const renew = (): { renewTime: string } => ({ renewTime: formatMicroTime(cluster.clock.now()) });
    await cluster.client
      .kind(kinds.namespaces)
      .create({ metadata: { name: 'kube-node-lease' } })
      .catch(() => {});
    await cluster.client.kind(kinds.leases).create({ metadata: place, spec: renew() });
    for (let round = 0; round < 4; round++) {
      await live(40, ['friend']);
      await cluster.client.kind(kinds.leases).patch(place, 'merge', { spec: renew() as Json });
    }
    expect(await conditions('one')).toMatchObject({ Ready: 'True' });
    await live(60, ['friend']);
    expect(await conditions('one')).toMatchObject({ Ready: 'Unknown' });
  });

  it('marks a pod as not ready that comes to a node which is not', async () => {
    await addNode('one');
    await report('one', { Ready: 'False' });
    await addPod('app', '');
    expect(await readiness('app')).toMatchObject({ status: 'True' });
    const place = { apiVersion: 'v1', resource: 'pods', namespace: 'default', name: 'app', subresource: 'binding' };
    const target = { kind: 'Node', name: 'one' };
    await cluster.client.create(place, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'app' },
      target,
    } as never);
    expect(await readiness('app')).toMatchObject({ status: 'False' });
  });

  it('says when a node has come and gone', async () => {
    await addNode('one');
    await cluster.advance(5_000);
    await cluster.client.kind(kinds.nodes).delete(at('one').metadata);
    await cluster.advance(5_000);
    expect(await recorded()).toEqual([
      ['one', 'Normal', 'RegisteredNode', 'Node one event: Registered Node one in Controller'],
      ['one', 'Normal', 'RemovingNode', 'Node one event: Removing Node one from Controller'],
    ]);
  });
});

describe('node-lifecycle-controller: evictions', () => {
  const isEvicting = async (name: string) => (await taints(name)).some((taint) => taint.endsWith(':NoExecute'));

  it('taints nodes that are not ready one every ten seconds', async () => {
    for (const name of ['a', 'b', 'c']) await addReady(name);
    await cluster.advance(5_000);
    for (const name of ['a', 'b']) await report(name, { Ready: 'False' });
    await cluster.advance(5_000);
    expect([await isEvicting('a'), await isEvicting('b')].filter(Boolean)).toHaveLength(1);
    await cluster.advance(10_000);
    expect([await taints('a'), await taints('b')]).toEqual([
      ['not-ready:NoExecute', 'not-ready:NoSchedule'],
      ['not-ready:NoExecute', 'not-ready:NoSchedule'],
    ]);
  });

  it('counts zones by themselves', async () => {
    const zone = (name: string) => ({ labels: { 'topology.kubernetes.io/zone': name } });
    for (const name of ['a', 'b']) await addReady(`${name}1`, zone(name));
    for (const name of ['a', 'b']) await addReady(`${name}2`, zone(name));
    await cluster.advance(5_000);
    for (const name of ['a1', 'b1']) await report(name, { Ready: 'False' });
    await cluster.advance(5_000);
    expect([await isEvicting('a1'), await isEvicting('b1')]).toEqual([true, true]);
  });

  it('changes the taint at once when the condition changes', async () => {
    await addReady('friend');
    await addReady('one');
    await cluster.advance(5_000);
    await report('one', { Ready: 'False' });
    await cluster.advance(5_000);
    expect(await taints('one')).toEqual(['not-ready:NoExecute', 'not-ready:NoSchedule']);
    await report('one', { Ready: 'Unknown' });
    await cluster.advance(5_000);
    expect(await taints('one')).toEqual(['unreachable:NoExecute', 'unreachable:NoSchedule']);
  });

  it('taints none while no node is ready, and takes the taints away', async () => {
    for (const name of ['a', 'b']) await addReady(name);
    await cluster.advance(5_000);
    await report('a', { Ready: 'False' });
    await cluster.advance(5_000);
    expect(await isEvicting('a')).toBe(true);
    await report('b', { Ready: 'False' });
    await cluster.advance(5_000);
    expect([await isEvicting('a'), await isEvicting('b')]).toEqual([false, false]);
    await live(60, ['a', 'b'], 'False');
    expect([await isEvicting('a'), await isEvicting('b')]).toEqual([false, false]);
    await report('b', { Ready: 'True' });
    await live(20, ['b']);
    expect([await isEvicting('a'), await isEvicting('b')]).toEqual([true, false]);
  });
});
