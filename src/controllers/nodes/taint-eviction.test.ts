import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as kinds from '../shared/kinds.ts';
import type { NodeTaint } from '../shared/node-selection.ts';
import type { Pod } from '../shared/pods.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { taintEvictionController } from './taint-eviction.ts';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await testCluster([taintEvictionController], {
    server: { disableAdmissionPlugins: ['DefaultTolerationSeconds'] },
  });
  await cluster.client.kind(kinds.serviceAccounts).create({ metadata: { namespace: 'default', name: 'default' } });
});
afterEach(async () => {
  expect(cluster.logged).toEqual([]);
  await cluster.close();
});

type Tolerations = NonNullable<NonNullable<Pod['spec']>['tolerations']>;
const out: NodeTaint = { key: 'out', effect: 'NoExecute' };
const off: NodeTaint = { key: 'off', value: 'now', effect: 'NoExecute' };
const tolerate = (key: string, tolerationSeconds?: number): Tolerations[number] => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
});
const addNode = async (...taints: NodeTaint[]) => {
  await cluster.client.kind(kinds.nodes).create({ metadata: { name: 'node' } });
  await setTaints(...taints);
};
const setTaints = (...taints: NodeTaint[]) =>
  cluster.client.kind(kinds.nodes).patch({ name: 'node' }, 'merge', { spec: { taints: taints as never } });
const addPod = (name: string, tolerations: Tolerations = [], nodeName = 'node') =>
  cluster.client.kind(kinds.pods).create({
    metadata: { namespace: 'default', name, finalizers: ['example.com/hold'] },
    spec: {
      automountServiceAccountToken: false,
      tolerations,
      containers: [{ name: 'c', image: 'example.com/app:1' }],
      ...(nodeName === '' ? {} : { nodeName }),
    },
  });
const deleting = async () => {
  await cluster.settle();
  const pods = (await cluster.client.kind(kinds.pods).list({ namespace: 'default' })).items;
  return pods.filter(({ metadata }) => metadata.deletionTimestamp !== undefined).map(({ metadata }) => metadata.name);
};
const recorded = async () => {
  await cluster.settle();
  const events = (await cluster.client.kind(kinds.events).list({ namespace: 'default' })).items;
  return events.map(({ involvedObject, type, reason, message, source }) => [
    ...[involvedObject?.kind, involvedObject?.name, source?.component],
    ...[type, reason, message],
  ]);
};

describe('taint-eviction-controller', () => {
  it.each<{ title: string; taints: NodeTaint[]; tolerations: Tolerations; seconds: number | undefined }>([
    { title: 'without taints', taints: [], tolerations: [], seconds: undefined },
    { title: 'with another taint', taints: [{ ...out, effect: 'NoSchedule' }], tolerations: [], seconds: undefined },
    { title: 'that it does not tolerate', taints: [out], tolerations: [tolerate('off')], seconds: 0 },
    { title: 'that it tolerates', taints: [out], tolerations: [tolerate('out')], seconds: undefined },
    { title: 'that it tolerates for a while', taints: [out], tolerations: [tolerate('out', 60)], seconds: 60 },
    { title: 'that it tolerates for no time', taints: [out], tolerations: [tolerate('out', -1)], seconds: 0 },
    {
      title: 'of whose taints it tolerates one',
      taints: [out, off],
      tolerations: [tolerate('out', 60)],
      seconds: 0,
    },
    {
      title: 'whose taints it tolerates for different times',
      taints: [out, off],
      tolerations: [tolerate('out', 60), tolerate('off', 20)],
      seconds: 20,
    },
    {
      title: 'whose taint two tolerations match, of which the first counts',
      taints: [out],
      tolerations: [tolerate('out', 60), { operator: 'Exists', tolerationSeconds: 20, effect: 'NoExecute' }],
      seconds: 60,
    },
  ])('deletes a pod on a node $title after $seconds s', async ({ taints, tolerations, seconds }) => {
    await addNode();
    await addPod('before', tolerations);
    await cluster.settle();
    await setTaints(...taints);
    await cluster.settle();
    await addPod('after', tolerations);
    const both = ['after', 'before'];
    if (seconds !== 0) expect(await deleting()).toEqual([]);
    if (seconds) await cluster.advance(seconds * 1000 - 1);
    if (seconds) expect(await deleting()).toEqual([]);
    await cluster.advance(seconds === undefined ? 100_000 : 1);
    expect(await deleting()).toEqual(seconds === undefined ? [] : both);
  });

  it('says why a pod is deleted, on the pod and in an event', async () => {
    await addNode(out);
    await addPod('sitting');
    await cluster.settle();
    const { status } = await cluster.client.kind(kinds.pods).get({ namespace: 'default', name: 'sitting' });
    expect(status?.conditions).toMatchObject([
      {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByTaintManager',
        message: 'Taint manager: deleting due to NoExecute taint',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ]);
    const message = 'Marking for deletion Pod default/sitting';
    expect(await recorded()).toEqual([
      ['Pod', 'sitting', 'taint-eviction-controller', 'Normal', 'TaintManagerEviction', message],
    ]);
  });

  it('cancels the deletion when the taint is gone, or the pod', async () => {
    await addNode(out);
    await addPod('patient', [tolerate('out', 60)]);
    await cluster.settle();
    await cluster.advance(30_000);
    await setTaints();
    await cluster.settle();
    await setTaints(out);
    await cluster.settle();
    await cluster.advance(59_000);
    expect(await deleting()).toEqual([]);
    const cancelled = 'Cancelling deletion of Pod default/patient';
    expect((await recorded()).map((event) => event.at(-1))).toEqual([cancelled]);
    await cluster.advance(1_000);
    expect(await deleting()).toEqual(['patient']);

    await addPod('short', [tolerate('out', 60)]);
    await cluster.settle();
    const place = { metadata: { namespace: 'default', name: 'short' } };
    await cluster.client.kind(kinds.pods).patch(place.metadata, 'merge', { metadata: { finalizers: null } });
    await cluster.client.kind(kinds.pods).delete(place.metadata, { gracePeriodSeconds: 0 });
    expect((await recorded()).map((event) => event.at(-1))).toContain('Cancelling deletion of Pod default/short');
  });

  it('gives a pod of the same name its own time', async () => {
    await addNode(out);
    const place = { metadata: { namespace: 'default', name: 'set-0' } };
    await addPod('set-0', [tolerate('out', 60)]);
    await cluster.settle();
    await cluster.advance(50_000);
    await cluster.client.kind(kinds.pods).patch(place.metadata, 'merge', { metadata: { finalizers: null } });
    await cluster.client.kind(kinds.pods).delete(place.metadata, { gracePeriodSeconds: 0 });
    await addPod('set-0', [tolerate('out', 60)]);
    await cluster.settle();
    await cluster.advance(50_000);
    expect(await deleting()).toEqual([]);
    await cluster.advance(10_000);
    expect(await deleting()).toEqual(['set-0']);
  });

  it('deletes a pod when it is bound to the node, and every pod once', async () => {
    await addNode(out);
    const pod = await addPod('late', [], '');
    expect(await deleting()).toEqual([]);
    const target = { kind: 'Node', name: 'node' };
    const place = { apiVersion: 'v1', resource: 'pods', namespace: 'default', name: 'late', subresource: 'binding' };
    await cluster.client.create(place, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'late' },
      target,
    } as never);
    expect(await deleting()).toEqual(['late']);
    await cluster.client.kind(kinds.pods).patch(pod.metadata, 'strategic', {
      spec: { tolerations: [tolerate('other')] as never },
    });
    await setTaints(out, off);
    await cluster.settle();
    const [event, ...others] = (await cluster.client.kind(kinds.events).list({ namespace: 'default' })).items;
    expect([event?.count, others]).toEqual([1, []]);
  });
});
