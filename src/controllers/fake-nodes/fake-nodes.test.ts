import { afterEach, describe, expect, it } from 'vitest';
import { openMemoryStore, type Store, StoreError } from '../../server/index.ts';
import { storeWith } from '../../store/testing/store-with.ts';
import { serviceAccountController } from '../identity/service-accounts.ts';
import * as kinds from '../shared/kinds.ts';
import { type TestCluster, testCluster } from '../testing/cluster.ts';
import { fakeNodeControllers } from './fake-nodes.ts';
import type { ContainerStatuses, NodeObject, PodObject, PodSpec } from './objects.ts';

let cluster: TestCluster;
afterEach(() => cluster.close());

const start = async (count: number) => {
  cluster = await testCluster([serviceAccountController, ...fakeNodeControllers({ count, version: 'v1.2.3' })]);
};

type Annotations = { readonly [name: string]: string };
const annotated = (annotations: Annotations) =>
  Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`fake-nodes.kubernetes.io/${name}`, value]));

const create = (name: string, spec: PodSpec = {}, annotations: Annotations = {}, labels: Annotations = {}) =>
  cluster.client.kind(kinds.pods).create({
    metadata: { namespace: 'default', name, labels, annotations: annotated(annotations) },
    spec: { containers: [{ name: 'main', image: 'example.com/app:1' }], ...spec },
  });
const get = (name: string): Promise<PodObject> => cluster.client.kind(kinds.pods).get({ namespace: 'default', name });
const find = (name: string): Promise<PodObject | undefined> =>
  cluster.client.kind(kinds.pods).find({ namespace: 'default', name });
const node = (name: string): Promise<NodeObject> => cluster.client.kind(kinds.nodes).get({ name });
const change = async (name: string, edit: (node: NodeObject) => NodeObject) => {
  await cluster.client.kind(kinds.nodes).update(edit(await node(name)));
};
const conditions = ({ status }: PodObject) =>
  Object.fromEntries((status?.conditions ?? []).map(({ type = '', status: is }) => [type, is]));
const isReady = (pod: PodObject) => conditions(pod)['Ready'] === 'True';
const stateOf = (statuses: ContainerStatuses = []) =>
  statuses.map(({ state = {} }) => {
    const [kind = ''] = Object.keys(state);
    return `${kind} ${state.waiting?.reason ?? state.terminated?.exitCode ?? ''}`.trim();
  });
const eventsOf = async (name: string) => {
  const events = (
    await cluster.client.kind(kinds.events).list({ namespace: 'default', fieldSelector: `involvedObject.name=${name}` })
  ).items;
  return events
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
    .map(
      ({ source, reason = '', message = '' }) => `${source?.component} ${source?.host ?? '-'} ${reason}: ${message}`,
    );
};
const refusalOf = ({ status }: PodObject) =>
  status?.conditions?.find(({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable')?.message;

describe('fake nodes', () => {
  it('are registered ready, with labels, capacity and a lease that is renewed', async () => {
    await start(2);
    const { metadata, spec, status } = await node('fake-node-1');
    expect(metadata.labels).toMatchObject({
      'kubernetes.io/hostname': 'fake-node-1',
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
    });
    expect(spec).toEqual({ podCIDR: '10.244.1.0/24', podCIDRs: ['10.244.1.0/24'] });
    expect(status?.allocatable).toMatchObject({ cpu: '32', pods: '110' });
    expect(status?.nodeInfo?.kubeletVersion).toBe('v1.2.3');
    expect(status?.conditions?.map(({ type, status: is }) => `${type}=${is}`)).toEqual([
      'MemoryPressure=False',
      'DiskPressure=False',
      'PIDPressure=False',
      'Ready=True',
    ]);
    const lease = () => cluster.client.kind(kinds.leases).get({ namespace: 'kube-node-lease', name: 'fake-node-1' });
    expect((await lease()).spec).toMatchObject({ holderIdentity: 'fake-node-1', leaseDurationSeconds: 40 });
    expect((await lease()).metadata.ownerReferences).toMatchObject([{ kind: 'Node', uid: metadata.uid }]);
    await cluster.advance(60_000);
    expect((await lease()).spec?.renewTime).toBe('2026-01-01T00:01:00.000000Z');
    expect((await node('fake-node-1')).metadata.resourceVersion).toBe(metadata.resourceVersion);
    await cluster.advance(240_000);
    const [first] = (await node('fake-node-1')).status?.conditions ?? [];
    expect(first).toMatchObject({
      lastHeartbeatTime: '2026-01-01T00:05:00Z',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    });
    expect(cluster.logged).toEqual([]);
  });

  it('report the status of a node that has lost it, and keep the capacity that it was given', async () => {
    await start(1);
    const current = await node('fake-node-0');
    const status = { capacity: { cpu: '1', pods: '5' }, allocatable: { cpu: '1', pods: '4' } };
    await cluster.client
      .kind(kinds.nodes)
      .subresource('status')
      .update({ ...current, status });
    await cluster.settle();
    const reported = (await node('fake-node-0')).status;
    expect(reported).toMatchObject(status);
    expect(reported?.conditions?.at(-1)).toMatchObject({ type: 'Ready', status: 'True' });
    expect(reported?.addresses).toEqual(current.status?.addresses);
  });

  it('stay away when they are deleted, and serve again when they are created', async () => {
    await start(1);
    await cluster.client.kind(kinds.nodes).delete({ name: 'fake-node-0' });
    await create('early');
    await cluster.advance(60_000);
    expect((await cluster.client.kind(kinds.nodes).list()).items).toEqual([]);
    expect(refusalOf(await get('early'))).toBe('no nodes available to schedule pods');
    await cluster.client.kind(kinds.nodes).create({ metadata: { name: 'fake-node-0' } });
    await cluster.advance(1_000);
    expect(isReady(await get('early'))).toBe(true);
    expect(cluster.logged).toEqual([]);
  });

  it('go on where they were when their controllers start again', async () => {
    await start(1);
    await create('slow', {}, { 'ready-delay': '30s', 'run-time': '1m' });
    await cluster.advance(10_000);
    const { status } = await get('slow');
    await cluster.restart(async () => {
      await create('next');
      await cluster.client.kind(kinds.nodes).delete({ name: 'fake-node-0' });
    });
    // Kubelets register their nodes when they start.
    await cluster.advance(20_000);
    expect(isReady(await get('slow'))).toBe(true);
    expect((await get('slow')).status?.containerStatuses).toMatchObject([
      { containerID: status?.containerStatuses?.[0]?.containerID, restartCount: 0 },
    ]);
    expect((await get('next')).status?.podIP).toBe('10.244.0.2');
    await cluster.advance(30_000);
    expect((await get('slow')).status?.containerStatuses).toMatchObject([{ restartCount: 1 }]);
    expect(cluster.logged).toEqual([]);
  });
});

describe('a pod on a fake node', () => {
  it('is scheduled, starts and becomes ready at once', async () => {
    await start(1);
    await create('web');
    await cluster.settle();
    const pod = await get('web');
    expect(pod.spec?.nodeName).toBe('fake-node-0');
    expect(pod.status).toMatchObject({
      phase: 'Running',
      hostIP: '198.18.0.1',
      hostIPs: [{ ip: '198.18.0.1' }],
      podIP: '10.244.0.1',
      podIPs: [{ ip: '10.244.0.1' }],
      startTime: '2026-01-01T00:00:00Z',
    });
    expect(pod.status?.conditions?.map(({ type, status, reason }) => [type, status, reason])).toEqual([
      ['PodReadyToStartContainers', 'True', undefined],
      ['Initialized', 'True', undefined],
      ['Ready', 'True', undefined],
      ['ContainersReady', 'True', undefined],
      ['PodScheduled', 'True', undefined],
    ]);
    expect(pod.status?.containerStatuses).toMatchObject([
      {
        name: 'main',
        state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
        ready: true,
        started: true,
        restartCount: 0,
        image: 'example.com/app:1',
        imageID: expect.stringMatching(/^example\.com\/app@sha256:[0-9a-f]{64}$/) as string,
        containerID: expect.stringMatching(/^containerd:\/\/[0-9a-f]{64}$/) as string,
      },
    ]);
    const { metadata } = await cluster.client.get({
      apiVersion: 'v1',
      resource: 'pods',
      namespace: 'default',
      name: 'web',
    });
    expect(metadata.managedFields).toContainEqual(
      expect.objectContaining({ manager: 'kubelet', subresource: 'status' }),
    );
    expect(await eventsOf('web')).toEqual([
      'default-scheduler - Scheduled: Successfully assigned default/web to fake-node-0',
      'kubelet fake-node-0 Pulled: Container image "example.com/app:1" already present on machine and can be accessed by the pod',
      'kubelet fake-node-0 Created: Container created',
      'kubelet fake-node-0 Started: Container started',
    ]);
    expect(cluster.logged).toEqual([]);
  });

  it('starts and becomes ready after the delays of its annotations', async () => {
    await start(1);
    await create('slow', {}, { 'start-delay': '5s', 'ready-delay': '1m' });
    await cluster.settle();
    const created = await get('slow');
    expect(created.status?.phase).toBe('Pending');
    expect(stateOf(created.status?.containerStatuses)).toEqual(['waiting ContainerCreating']);
    expect(conditions(created)).toMatchObject({
      PodReadyToStartContainers: 'False',
      Initialized: 'True',
      Ready: 'False',
    });
    await cluster.advance(5_000);
    const running = await get('slow');
    expect(running.status?.phase).toBe('Running');
    expect(running.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [main]',
    });
    await cluster.advance(59_000);
    expect(isReady(await get('slow'))).toBe(false);
    await cluster.advance(1_000);
    const ready = (await get('slow')).status?.conditions?.find(({ type }) => type === 'Ready');
    expect(ready).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T00:01:05Z' });
    expect(ready?.reason).toBeUndefined();
  });

  it('becomes ready when its readiness probe begins, and its readiness gates allow', async () => {
    await start(1);
    const probe = { initialDelaySeconds: 7, httpGet: { port: 80 } };
    await create('web', {
      containers: [{ name: 'main', image: 'example.com/app:1', readinessProbe: probe }],
      readinessGates: [{ conditionType: 'example.com/open' }],
    });
    await cluster.advance(6_000);
    expect(conditions(await get('web'))['ContainersReady']).toBe('False');
    await cluster.advance(1_000);
    const pod = await get('web');
    expect(conditions(pod)).toMatchObject({ ContainersReady: 'True', Ready: 'False' });
    expect(pod.status?.conditions?.find(({ type }) => type === 'Ready')?.message).toBe(
      'corresponding condition of pod readiness gate "example.com/open" does not exist.',
    );
    const gate = { conditions: [{ type: 'example.com/open', status: 'True' }] };
    await cluster.client.kind(kinds.pods).subresource('status').patch(pod.metadata, 'strategic', { status: gate });
    await cluster.settle();
    expect(isReady(await get('web'))).toBe(true);
  });

  it('runs init containers in sequence, and sidecars together with the other containers', async () => {
    await start(1);
    const image = 'example.com/app:1';
    const initContainers = [
      { name: 'first', image },
      { name: 'proxy', image, restartPolicy: 'Always' },
      { name: 'second', image },
    ];
    await create('job', { initContainers, restartPolicy: 'Never' }, { 'init-time': '3s', 'run-time': '10s' });
    const states = async () => {
      const { status } = await get('job');
      return [status?.phase, ...stateOf(status?.initContainerStatuses), ...stateOf(status?.containerStatuses)];
    };
    await cluster.settle();
    const waiting = 'waiting PodInitializing';
    expect(await states()).toEqual(['Pending', 'running', waiting, waiting, waiting]);
    expect((await get('job')).status?.conditions?.find(({ type }) => type === 'Initialized')).toMatchObject({
      status: 'False',
      reason: 'ContainersNotInitialized',
      message: 'containers with incomplete status: [first proxy second]',
    });
    await cluster.advance(3_000);
    expect(await states()).toEqual(['Pending', 'terminated 0', 'running', 'running', waiting]);
    await cluster.advance(3_000);
    expect(await states()).toEqual(['Running', 'terminated 0', 'running', 'terminated 0', 'running']);
    await cluster.advance(10_000);
    expect(await states()).toEqual(['Succeeded', 'terminated 0', 'terminated 0', 'terminated 0', 'terminated 0']);
  });

  it.each([
    ['Never', {}, 'Succeeded', ['terminated 0'], 'PodCompleted'],
    ['OnFailure', {}, 'Succeeded', ['terminated 0'], 'PodCompleted'],
    ['Never', { 'exit-code': '3' }, 'Failed', ['terminated 3'], 'PodFailed'],
    ['Never', { failures: '1' }, 'Failed', ['terminated 1'], 'PodFailed'],
    ['OnFailure', { failures: '1' }, 'Succeeded', ['terminated 0'], 'PodCompleted'],
  ])('with restart policy %s and %j ends as %s', async (restartPolicy, annotations, phase, states, reason) => {
    await start(1);
    await create('job', { restartPolicy }, annotations);
    await cluster.advance(10_000);
    const { status } = await get('job');
    expect(status?.phase).toBe(phase);
    expect(stateOf(status?.containerStatuses)).toEqual(states);
    expect(status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'False', reason });
    expect(cluster.clock.next).toBeGreaterThan(cluster.clock.now());
  });

  it('is restarted with backoff while its runs fail, and is not ready', async () => {
    await start(1);
    await create('web', {}, { failures: '3', 'run-time': '2s' });
    const uid = (await get('web')).metadata.uid ?? '';
    const status = async () => (await get('web')).status?.containerStatuses?.[0];
    await cluster.advance(2_000);
    // The first restart comes at once.
    expect(await status()).toMatchObject({ restartCount: 1, ready: false, lastState: { terminated: { exitCode: 1 } } });
    await cluster.advance(2_000);
    expect((await status())?.state?.waiting).toEqual({
      reason: 'CrashLoopBackOff',
      message: `back-off 10s restarting failed container=main pod=web_default(${uid})`,
    });
    expect((await get('web')).status?.phase).toBe('Running');
    await cluster.advance(10_000);
    expect(await status()).toMatchObject({ restartCount: 2, state: { running: {} } });
    await cluster.advance(2_000);
    expect((await status())?.state?.waiting?.message).toContain('back-off 20s ');
    await cluster.advance(20_000);
    expect(await status()).toMatchObject({ restartCount: 3, ready: true });
    expect(await eventsOf('web')).toContain(
      `kubelet fake-node-0 BackOff: Back-off restarting failed container main in pod web_default(${uid})`,
    );
  });

  it('has the default behaviour, and an event, for an invalid annotation', async () => {
    await start(1);
    await create('web', {}, { 'ready-delay': 'soon', failures: '-1' });
    await cluster.settle();
    expect(isReady(await get('web'))).toBe(true);
    const warnings = (await eventsOf('web')).filter((text) => text.includes('InvalidAnnotation'));
    expect(warnings).toEqual([
      'kubelet fake-node-0 InvalidAnnotation: Annotation fake-nodes.kubernetes.io/failures has the value "-1", but must be a number',
      'kubelet fake-node-0 InvalidAnnotation: Annotation fake-nodes.kubernetes.io/ready-delay has the value "soon", but must be a duration such as 5s, or never',
    ]);
  });

  it('runs a container that is added to look into it', async () => {
    await start(1);
    await create('web');
    await cluster.settle();
    const pod = await get('web');
    const ephemeralContainers = [{ name: 'debug', image: 'example.com/tools:1' }];
    await cluster.client
      .kind(kinds.pods)
      .subresource('ephemeralcontainers')
      .update({ ...pod, spec: { ...pod.spec, ephemeralContainers } });
    await cluster.settle();
    expect(stateOf((await get('web')).status?.ephemeralContainerStatuses)).toEqual(['running']);
  });
});

describe('a pod that is deleted', () => {
  const remove = (name: string) => cluster.client.kind(kinds.pods).delete({ namespace: 'default', name });
  const preStop = (seconds: number) => ({
    containers: [{ name: 'main', image: 'example.com/app:1', lifecycle: { preStop: { sleep: { seconds } } } }],
  });

  it.each<[string, PodSpec, Annotations, number]>([
    ['at once', {}, {}, 0],
    ['after its delay', {}, { 'termination-delay': '4s' }, 4_000],
    ['after its preStop hook and its delay', preStop(3), { 'termination-delay': '4s' }, 7_000],
    ['with its grace period', { terminationGracePeriodSeconds: 12 }, { 'termination-delay': 'never' }, 12_000],
    [
      'with its grace period, which its hook and its delay exceed',
      { ...preStop(3), terminationGracePeriodSeconds: 5 },
      { 'termination-delay': '3s' },
      5_000,
    ],
  ])('ends %s', async (_, spec, annotations, ms) => {
    await start(1);
    await create('web', spec, annotations);
    await cluster.settle();
    await remove('web');
    await cluster.settle();
    if (ms > 0) {
      await cluster.advance(ms - 1);
      expect(stateOf((await find('web'))?.status?.containerStatuses)).toEqual(['running']);
      await cluster.advance(1);
    }
    expect(await find('web')).toBeUndefined();
    expect((await eventsOf('web')).filter((text) => text.includes('Killing'))).toEqual([
      'kubelet fake-node-0 Killing: Stopping container main',
    ]);
    expect(cluster.logged).toEqual([]);
  });

  it('has a final status while finalizers keep it', async () => {
    await start(1);
    const { client } = cluster;
    for (const [name, annotations] of [
      ['kind', {}],
      ['stubborn', { 'termination-delay': 'never' }],
      ['new', { 'start-delay': '1h' }],
    ] as const) {
      await client.kind(kinds.pods).create({
        metadata: { namespace: 'default', name, finalizers: ['example.com/a'], annotations: annotated(annotations) },
        spec: { containers: [{ name: 'main', image: 'example.com/app:1' }] },
      });
    }
    await cluster.settle();
    for (const name of ['kind', 'stubborn', 'new']) await remove(name);
    await cluster.advance(30_000);
    const ends = await Promise.all(['kind', 'stubborn', 'new'].map(get));
    expect(ends.map(({ status }) => [status?.phase, ...stateOf(status?.containerStatuses)])).toEqual([
      ['Failed', 'terminated 143'],
      ['Failed', 'terminated 137'],
      ['Failed', 'waiting ContainerCreating'],
    ]);
    await client.kind(kinds.pods).patch({ namespace: 'default', name: 'kind' }, 'merge', {
      metadata: { finalizers: null },
    });
    await cluster.settle();
    expect(await find('kind')).toBeUndefined();
    expect(cluster.logged).toEqual([]);
  });

  it('ends by an eviction, and as early as a second deletion says', async () => {
    await start(1);
    await create('web', {}, { 'termination-delay': 'never' });
    await cluster.settle();
    await cluster.client.create(
      { apiVersion: 'v1', resource: 'pods', namespace: 'default', name: 'web', subresource: 'eviction' },
      { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace: 'default', name: 'web' } },
    );
    await cluster.advance(5_000);
    expect((await get('web')).metadata.deletionGracePeriodSeconds).toBe(30);
    await cluster.client.kind(kinds.pods).delete({ namespace: 'default', name: 'web' }, { gracePeriodSeconds: 2 });
    await cluster.advance(2_000);
    expect(await find('web')).toBeUndefined();
  });

  it('is gone when the server failed between the two writes of its deletion', async () => {
    const store = openMemoryStore({ clock: { now: () => 0, monotonic: () => 0, after: () => () => {} } });
    let failures = 1;
    const commit: Store['commit'] = (compares, writes) => {
      const deletes = writes.some(({ key, value }) => value === undefined && key.includes('/pods/'));
      if (!deletes || failures-- <= 0) return store.commit(compares, writes);
      return Promise.reject(new StoreError('unavailable', 'stopped'));
    };
    cluster = await testCluster([serviceAccountController, ...fakeNodeControllers({ count: 1, version: 'v1.2.3' })], {
      store: storeWith(store, { commit }),
    });
    await create('torn');
    await cluster.settle();
    await cluster.client.kind(kinds.pods).delete((await get('torn')).metadata);
    await cluster.advance(60_000);
    expect([failures, await find('torn')]).toEqual([-1, undefined]);
  });

  it('is left alone on nodes of others', async () => {
    await start(1);
    await create('web', { nodeName: 'elsewhere' });
    await cluster.settle();
    expect((await get('web')).status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
    await remove('web');
    await cluster.advance(60_000);
    expect((await get('web')).metadata.deletionTimestamp).toBeDefined();
  });
});

describe('the fake scheduler', () => {
  const nodesOf = async () => {
    const pods = (await cluster.client.kind(kinds.pods).list({ namespace: 'default' })).items;
    return Object.fromEntries(pods.map(({ metadata, spec }) => [metadata.name, spec?.nodeName]));
  };
  const requesting = (cpu: string): PodSpec => ({
    containers: [{ name: 'main', image: 'example.com/app:1', resources: { requests: { cpu } } }],
  });
  const antiAffinity = {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'web' } } },
      ],
    },
  };
  const onNode = (name: string) => ({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }],
      },
    },
  });
  const preemption = (open: number, final: number) =>
    ` preemption: 0/${open + final} nodes are available: ${[
      ...(open > 0 ? [`${open} No preemption victims found for incoming pod`] : []),
      ...(final > 0 ? [`${final} Preemption is not helpful for scheduling`] : []),
    ]
      .sort()
      .join(', ')}.`;

  it('takes the node with the fewest pods, by name among equals', async () => {
    await start(3);
    for (const name of ['a', 'b', 'c', 'd']) await create(name);
    await cluster.settle();
    expect(await nodesOf()).toEqual({ a: 'fake-node-0', b: 'fake-node-1', c: 'fake-node-2', d: 'fake-node-0' });
  });

  it('looks at selectors, affinity, taints, cordons and resources, and says why no node fits', async () => {
    await start(3);
    await change('fake-node-0', (one) => ({ ...one, spec: { ...one.spec, unschedulable: true } }));
    await change('fake-node-1', (one) => ({
      ...one,
      spec: { ...one.spec, taints: [{ key: 'use', effect: 'NoSchedule' }] },
    }));
    await change('fake-node-2', (one) => ({ ...one, metadata: { ...one.metadata, labels: { pool: 'a' } } }));
    await cluster.settle();
    const cases: [string, PodSpec, string | undefined][] = [
      ['plain', {}, 'fake-node-2'],
      ['selected', { nodeSelector: { pool: 'a' } }, 'fake-node-2'],
      [
        'tolerant',
        { tolerations: [{ key: 'use', operator: 'Exists' }], affinity: onNode('fake-node-1') },
        'fake-node-1',
      ],
      ['cordoned', { tolerations: [{ operator: 'Exists' }], affinity: onNode('fake-node-0') }, 'fake-node-0'],
      ['wrong', { nodeSelector: { pool: 'b' } }, undefined],
      ['large', requesting('33'), undefined],
      ['fits', requesting('20'), 'fake-node-2'],
      ['late', requesting('20'), undefined],
      ['bound', { affinity: onNode('fake-node-1') }, undefined],
      ['gated', { schedulingGates: [{ name: 'example.com/wait' }] }, undefined],
      ['foreign', { schedulerName: 'other' }, undefined],
    ];
    for (const [name, spec] of cases) await create(name, spec);
    await cluster.settle();
    expect(await nodesOf()).toEqual(Object.fromEntries(cases.map(([name, , on]) => [name, on])));
    const cordoned = '1 node(s) were unschedulable';
    const tainted = '1 node(s) had untolerated taint(s)';
    const refusals = {
      wrong: `1 node(s) didn't match Pod's node affinity/selector, ${tainted}, ${cordoned}.${preemption(0, 3)}`,
      large: `1 Insufficient cpu, ${tainted}, ${cordoned}.${preemption(0, 3)}`,
      late: `1 Insufficient cpu, ${tainted}, ${cordoned}.${preemption(1, 2)}`,
      bound: `${tainted}, 2 node(s) didn't satisfy plugin(s) [NodeAffinity].${preemption(0, 3)}`,
    };
    for (const [name, message] of Object.entries(refusals)) {
      expect(refusalOf(await get(name))).toBe(`0/3 nodes are available: ${message}`);
      expect(await eventsOf(name)).toEqual([
        `default-scheduler - FailedScheduling: 0/3 nodes are available: ${message}`,
      ]);
    }
    expect(refusalOf(await get('gated'))).toBeUndefined();
    expect(cluster.logged).toEqual([]);
  });

  it('tries again when nodes change, pods end, or gates open', async () => {
    await start(1);
    await create('first', requesting('20'));
    await create('second', requesting('20'));
    await create('gated', { schedulingGates: [{ name: 'example.com/wait' }] });
    await cluster.settle();
    expect(refusalOf(await get('second'))).toBe(`0/1 nodes are available: 1 Insufficient cpu.${preemption(1, 0)}`);
    await cluster.client.kind(kinds.pods).delete({ namespace: 'default', name: 'first' });
    await cluster.advance(1_000);
    expect((await nodesOf())['second']).toBe('fake-node-0');
    expect(refusalOf(await get('second'))).toBeUndefined();

    await change('fake-node-0', (one) => ({ ...one, spec: { ...one.spec, unschedulable: true } }));
    await create('third');
    await cluster.advance(10_000);
    expect(refusalOf(await get('third'))).toBe(
      `0/1 nodes are available: 1 node(s) were unschedulable.${preemption(0, 1)}`,
    );
    await change('fake-node-0', (one) => ({ ...one, spec: { ...one.spec, unschedulable: false } }));
    await cluster.settle();
    expect((await nodesOf())['third']).toBe('fake-node-0');

    const gated = await get('gated');
    await cluster.client.kind(kinds.pods).update({ ...gated, spec: { ...gated.spec, schedulingGates: [] } });
    await cluster.settle();
    expect((await nodesOf())['gated']).toBe('fake-node-0');
  });

  it('keeps pods with required anti-affinity apart, and those with affinity together', async () => {
    await start(2);
    await create('a', { affinity: antiAffinity }, {}, { app: 'web' });
    await create('b', { affinity: antiAffinity }, {}, { app: 'web' });
    await cluster.settle();
    await create('c', { affinity: antiAffinity }, {}, { app: 'web' });
    await create('d', {}, {}, { app: 'web' });
    const { podAntiAffinity: podAffinity } = antiAffinity;
    await create('e', { affinity: { ...onNode('fake-node-1'), podAffinity } });
    await cluster.settle();
    expect(await nodesOf()).toEqual({
      a: 'fake-node-0',
      b: 'fake-node-1',
      c: undefined,
      d: undefined,
      e: 'fake-node-1',
    });
    expect(refusalOf(await get('c'))).toContain("2 node(s) didn't match pod anti-affinity rules.");
    expect(refusalOf(await get('d'))).toContain("2 node(s) didn't satisfy existing pods anti-affinity rules.");
  });

  it('places pods with the same host port on different nodes', async () => {
    await start(2);
    const spec = {
      containers: [{ name: 'main', image: 'example.com/app:1', ports: [{ containerPort: 80, hostPort: 80 }] }],
    };
    for (const name of ['a', 'b', 'c']) await create(name, spec);
    await cluster.settle();
    expect(await nodesOf()).toEqual({ a: 'fake-node-0', b: 'fake-node-1', c: undefined });
  });

  it('binds many pods at a time, and counts each on its node before its binding is stored', async () => {
    const store = openMemoryStore({ clock: { now: () => 0, monotonic: () => 0, after: () => () => {} } });
    const podCount = 40;
    let arrived = 0;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const commit: Store['commit'] = async (guards, writes) => {
      const isBinding = writes.some(({ value }) => Buffer.from(value ?? []).includes('"nodeName":"fake-node-'));
      // A binding is stored only when all of the others wait for that too.
      if (isBinding && ++arrived === podCount) release();
      if (isBinding) await released;
      return store.commit(guards, writes);
    };
    cluster = await testCluster([serviceAccountController, ...fakeNodeControllers({ count: 4, version: 'v1.2.3' })], {
      store: storeWith(store, { commit }),
    });
    for (let i = 0; i < podCount; i++) await create(`p${i}`);
    await cluster.settle();
    const counts = new Map<unknown, number>();
    for (const name of Object.values(await nodesOf())) counts.set(name, (counts.get(name) ?? 0) + 1);
    expect([...counts.values()]).toEqual([10, 10, 10, 10]);
  });

  it('places 1,000 pods, each with an address of its own, at seven writes each', async () => {
    await start(10);
    const names = Array.from({ length: 1_000 }, (_, i) => `p${i}`);
    const revision = async () => Number((await node('fake-node-0')).metadata.resourceVersion);
    const first = await revision();
    // As many at a time as the server takes of one user.
    for (let at = 0; at < names.length; at += 50) {
      await Promise.all(names.slice(at, at + 50).map((name) => create(name)));
    }
    await cluster.settle();
    const pods = (await cluster.client.kind(kinds.pods).list({ namespace: 'default' })).items;
    expect(pods.filter(isReady)).toHaveLength(1_000);
    expect(new Set(pods.map(({ status }) => status?.podIP)).size).toBe(1_000);
    const counts = new Map<string, number>();
    for (const { spec } of pods) counts.set(spec?.nodeName ?? '', (counts.get(spec?.nodeName ?? '') ?? 0) + 1);
    expect([...counts.values()]).toEqual(Array.from({ length: 10 }, () => 100));
    // Creation, binding, status, and the events Scheduled, Pulled, Created and Started.
    await change('fake-node-0', (one) => ({ ...one, metadata: { ...one.metadata, labels: {} } }));
    expect((await revision()) - first).toBeLessThanOrEqual(7 * 1_000 + 20);
    expect(cluster.logged).toEqual([]);
  }, 120_000);
});
