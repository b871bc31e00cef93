import { afterEach, describe, expect, it } from 'vitest';
import * as kinds from '../../shared/kinds.ts';
import type { Pod } from '../../shared/pods.ts';
import { type TestCluster, testCluster } from '../../testing/cluster.ts';
import { daemonSetController } from './controller.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const labels = { app: 'agent' };
const agent = { metadata: { namespace: 'default', name: 'agent' } };
const template = (version: number, spec = {}) => ({
  metadata: { labels },
  spec: {
    automountServiceAccountToken: false,
    nodeSelector: { pool: 'a' },
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'c', image: `example.com/app:${version}` }],
    ...spec,
  },
});
const set = (spec = {}) => ({ ...agent, spec: { selector: { matchLabels: labels }, template: template(1), ...spec } });

const addNode = (name: string, spec = {}, pool = 'a') =>
  cluster.client.kind(kinds.nodes).create({ metadata: { name, labels: { pool } }, spec });
/** Takes the taint of new nodes away. */
const untaint = (name: string, taints: object[] = []) =>
  cluster.client.kind(kinds.nodes).patch({ name }, 'merge', { spec: { taints } } as never);

async function start(nodes: readonly string[], spec = {}) {
  cluster = await testCluster([daemonSetController]);
  await cluster.client.kind(kinds.serviceAccounts).create({ metadata: { namespace: 'default', name: 'default' } });
  for (const name of nodes) {
    await addNode(name);
    await untaint(name);
  }
  await cluster.client.kind(kinds.daemonSets).create(set(spec));
  await cluster.settle();
}
const podsOf = async (): Promise<Pod[]> => {
  const pods = (await cluster.client.kind(kinds.pods).list({ namespace: 'default' })).items;
  return pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
};
const targetOf = ({ spec }: Pod) =>
  spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms?.[0]?.matchFields?.[0]
    ?.values?.[0] ?? '';
const versionOf = ({ spec }: Pod) => spec?.containers?.[0]?.image?.at(-1);
/** The images of the pods of each node. */
const placed = async () => {
  const pods = await podsOf();
  const of = (node: string, version: string) =>
    pods.some((pod) => targetOf(pod) === node && versionOf(pod) === version) ? version : '';
  return Object.fromEntries(pods.map(targetOf).map((node) => [node, `${of(node, '1')}${of(node, '2')}`]));
};
const bind = async (pod: Pod) => {
  const { name = '' } = pod.metadata;
  const target = { kind: 'Node', name: targetOf(pod) };
  const place = { apiVersion: 'v1', resource: 'pods', namespace: 'default', name, subresource: 'binding' };
  await cluster.client.create(place, { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target });
};
const makeReady = async (pods: readonly Pod[]) => {
  const lastTransitionTime = new Date(cluster.clock.now()).toISOString().replace('.000', '');
  for (const pod of pods) {
    if (pod.spec?.nodeName === undefined) await bind(pod);
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }] };
    await cluster.client.kind(kinds.pods).subresource('status').patch(pod.metadata, 'merge', { status });
  }
  await cluster.settle();
};
const status = async () =>
  (await cluster.client.kind(kinds.daemonSets).get({ namespace: 'default', name: 'agent' })).status;
const change = async (spec: object) => {
  await cluster.client.kind(kinds.daemonSets).patch(agent.metadata, 'merge', { spec: { ...spec } } as never);
  await cluster.settle();
};

describe('a daemon set', () => {
  it('has a pod for each node that it selects, with its tolerations and the affinity to the node', async () => {
    await start(['one', 'two']);
    await addNode('other', {}, 'b');
    await cluster.settle();
    const pods = await podsOf();
    expect(await placed()).toEqual({ one: '1', two: '1' });
    const [revision] = (await cluster.client.kind(kinds.controllerRevisions).list({ namespace: 'default' })).items;
    const hash = revision?.metadata.labels?.['controller-revision-hash'];
    expect(hash).toMatch(/^[a-z0-9]+$/);
    expect(pods[0]?.metadata).toMatchObject({
      generateName: 'agent-',
      labels: { app: 'agent', 'pod-template-generation': '1', 'controller-revision-hash': hash },
      ownerReferences: [{ kind: 'DaemonSet', name: 'agent', controller: true }],
    });
    const tolerations = pods[0]?.spec?.tolerations?.map(({ key, effect }) => `${key}:${effect}`);
    expect(tolerations).toEqual([
      'node.kubernetes.io/not-ready:NoExecute',
      'node.kubernetes.io/unreachable:NoExecute',
      'node.kubernetes.io/disk-pressure:NoSchedule',
      'node.kubernetes.io/memory-pressure:NoSchedule',
      'node.kubernetes.io/pid-pressure:NoSchedule',
      'node.kubernetes.io/unschedulable:NoSchedule',
    ]);
    expect(await status()).toEqual({
      desiredNumberScheduled: 2,
      currentNumberScheduled: 2,
      updatedNumberScheduled: 2,
      numberUnavailable: 2,
      numberMisscheduled: 0,
      numberReady: 0,
      observedGeneration: 1,
    });
    expect(cluster.logged).toEqual([]);
  });

  it('follows nodes that come, go, and change their labels', async () => {
    await start(['one']);
    await addNode('two');
    await untaint('two');
    await cluster.settle();
    expect(await placed()).toEqual({ one: '1', two: '1' });
    await makeReady(await podsOf());
    const other = { metadata: { labels: { pool: 'b' } } };
    await cluster.client.kind(kinds.nodes).patch({ name: 'one' }, 'merge', other);
    await cluster.settle();
    expect(await placed()).toEqual({ two: '1' });
    expect(await status()).toMatchObject({ desiredNumberScheduled: 1, numberAvailable: 1, numberMisscheduled: 0 });
  });

  it.each([
    { effect: 'NoSchedule', created: false, stays: true },
    { effect: 'NoExecute', created: false, stays: false },
    { effect: 'PreferNoSchedule', created: true, stays: true },
  ])('has respect for taints of effect $effect', async ({ effect, created, stays }) => {
    await start(['one']);
    await makeReady(await podsOf());
    const taint = { key: 'example.com/only', effect };
    await untaint('one', [taint]);
    await addNode('two', { taints: [taint] });
    await untaint('two', [taint]);
    await cluster.settle();
    expect(await placed()).toEqual({ ...(stays ? { one: '1' } : {}), ...(created ? { two: '1' } : {}) });
    await change({ template: template(1, { tolerations: [{ key: 'example.com/only', operator: 'Exists' }] }) });
    expect(Object.keys(await placed())).toContain('two');
  });

  it('deletes failed pods, each time after a longer while', async () => {
    await start(['one']);
    const fail = async () => {
      const [pod] = await podsOf();
      await cluster.client
        .kind(kinds.pods)
        .subresource('status')
        .patch((pod as Pod).metadata, 'merge', { status: { phase: 'Failed' } });
      await cluster.settle();
      return pod?.metadata.name;
    };
    const remaining = async () => (await podsOf()).map(({ metadata }) => metadata.name);
    const first = await fail();
    expect(await remaining()).not.toContain(first);
    const second = await fail();
    expect(await remaining()).toEqual([second]);
    await cluster.advance(1_000);
    expect(await remaining()).not.toContain(second);
    const events = (await cluster.client.kind(kinds.events).list({ namespace: 'default' })).items;
    expect(events.map(({ reason }) => reason)).toContain('FailedDaemonPod');
  });

  it('keeps the older of two pods on a node', async () => {
    await start(['one']);
    const [pod] = await podsOf();
    await cluster.advance(1_000);
    const { uid, resourceVersion, creationTimestamp, ...metadata } = pod?.metadata ?? {};
    expect([uid, resourceVersion, creationTimestamp]).not.toContain(undefined);
    await cluster.client.kind(kinds.pods).create({ metadata: { ...metadata, name: 'twin' }, spec: pod?.spec ?? {} });
    await cluster.settle();
    expect((await podsOf()).map(({ metadata: { name } }) => name)).toEqual([pod?.metadata.name]);
  });
});

describe('an update of the template', () => {
  it('replaces as many pods at a time as may be unavailable', async () => {
    await start(['one', 'two', 'three'], { updateStrategy: { rollingUpdate: { maxUnavailable: 1 } } });
    await makeReady(await podsOf());
    await change({ template: template(2) });
    const versions = async () =>
      Object.values(await placed())
        .toSorted()
        .join('');
    expect(await versions()).toBe('112');
    await makeReady((await podsOf()).filter((pod) => versionOf(pod) === '2'));
    expect(await versions()).toBe('122');
    await makeReady((await podsOf()).filter((pod) => versionOf(pod) === '2'));
    await makeReady((await podsOf()).filter((pod) => versionOf(pod) === '2'));
    expect(await versions()).toBe('222');
    expect(await status()).toMatchObject({ updatedNumberScheduled: 3, numberAvailable: 3, observedGeneration: 2 });
    expect((await cluster.client.kind(kinds.controllerRevisions).list({ namespace: 'default' })).items).toHaveLength(2);
  });

  it('replaces pods that are not available at once', async () => {
    await start(['one', 'two']);
    await change({ template: template(2) });
    expect(await placed()).toEqual({ one: '2', two: '2' });
  });

  it('creates new pods first where they may surge', async () => {
    await start(['one', 'two'], { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
    await makeReady(await podsOf());
    await change({ template: template(2) });
    expect(Object.values(await placed()).toSorted()).toEqual(['1', '12']);
    await makeReady((await podsOf()).filter((pod) => versionOf(pod) === '2'));
    expect(Object.values(await placed()).toSorted()).toEqual(['12', '2']);
  });

  it('waits for deletions by the strategy OnDelete', async () => {
    await start(['one'], { updateStrategy: { type: 'OnDelete', rollingUpdate: null } });
    await change({ template: template(2) });
    expect(await placed()).toEqual({ one: '1' });
    const [pod] = await podsOf();
    await cluster.client.kind(kinds.pods).delete((pod as Pod).metadata);
    await cluster.settle();
    expect(await placed()).toEqual({ one: '2' });
  });

  it('keeps the revisions of the history limit', async () => {
    await start([], { revisionHistoryLimit: 1 });
    for (const version of [2, 3, 1]) await change({ template: template(version) });
    const revisions = (await cluster.client.kind(kinds.controllerRevisions).list({ namespace: 'default' })).items;
    expect(new Set(revisions.map(({ revision }) => revision))).toEqual(new Set([3, 4]));
  });
});
