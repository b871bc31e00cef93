import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ApiObject, type JsonObject, statusError } from '../meta/index.ts';
import { createChain, runValidating } from './chain.ts';
import { fieldsOf } from './fields.ts';
import { resourceQuota } from './resource-quota.ts';
import { fakeWorld, old, outcome, podOf, requestFor } from './testing/world.ts';
import type { AdmissionRequest, PluginInitializer } from './types.ts';

/** A store of quotas that compares and swaps, each time after `pause`. */
function quotaStore(quotas: JsonObject[], pause: () => Promise<unknown> = () => Promise.resolve()) {
  const stored = new Map<string, ApiObject>();
  let revision = 0;
  let writes = 0;
  const put = (quota: JsonObject) => {
    const metadata = { ...(quota['metadata'] as JsonObject), namespace: 'n', resourceVersion: String(++revision) };
    const made = { kind: 'ResourceQuota', apiVersion: 'v1', ...quota, metadata } as ApiObject;
    stored.set(made.metadata.name ?? '', made);
    return made;
  };
  for (const quota of quotas) put(quota);
  const list = (resource: string) => (resource === 'resourcequotas' ? [...stored.values()] : []);
  const world: PluginInitializer = {
    ...fakeWorld(),
    objects: {
      get: () => undefined,
      list: (resource, _, latest) => (latest ? Promise.resolve(list(resource)) : list(resource)),
    },
    chargeQuota: async (quota, used) => {
      await pause();
      const now = stored.get(quota.metadata.name ?? '');
      if (now?.metadata.resourceVersion !== quota.metadata.resourceVersion) return undefined;
      writes++;
      return put({ ...now, status: { ...(now?.['status'] as JsonObject), used } });
    },
  };
  const used = (name = 'q') => fieldsOf(fieldsOf(stored.get(name)?.['status'])['used']);
  return { world, put, used, stored, writes: () => writes };
}

const quota = (hard: JsonObject, used: JsonObject, spec: JsonObject = {}, name = 'q') => ({
  metadata: { name, uid: `uid-${name}` },
  spec: { hard, ...spec },
  status: { hard, used },
});

const ask = (quotas: JsonObject[], resource: string, object: JsonObject, part: Partial<AdmissionRequest> = {}) => {
  const store = quotaStore(quotas);
  return outcome(resourceQuota(store.world), requestFor(resource, object, part)).then((found) => ({
    refused: typeof found === 'string' ? found : undefined,
    used: store.used(),
  }));
};

describe('resource quota', () => {
  it('counts before anything is stored, and refuses what would exceed', async () => {
    const found = await ask([quota({ pods: '10' }, { pods: '9' })], 'pods', podOf());
    expect(found).toEqual({ refused: undefined, used: { pods: '10' } });
    const full = await ask([quota({ pods: '10' }, { pods: '10' })], 'pods', podOf());
    expect(full).toEqual({
      refused: 'exceeded quota: q, requested: pods=1, used: pods=10, limited: pods=10',
      used: { pods: '10' },
    });
  });

  it('tells all that is exceeded, and nothing else', async () => {
    const hard = { pods: '10', 'requests.cpu': '1', 'limits.memory': '1Gi' };
    const resources = { requests: { cpu: '750m' }, limits: { memory: '2Gi' } };
    const found = await ask(
      [quota(hard, { pods: '1', 'requests.cpu': '500m', 'limits.memory': '0' })],
      'pods',
      podOf({ resources }),
    );
    expect(found.refused).toBe(
      'exceeded quota: q, requested: limits.memory=2Gi,requests.cpu=750m, used: limits.memory=0,requests.cpu=500m, limited: limits.memory=1Gi,requests.cpu=1',
    );
  });

  it('wants containers to state what is limited', async () => {
    const hard = { 'limits.cpu': '1', memory: '1Gi' };
    const used = { 'limits.cpu': '0', memory: '0' };
    const pod = podOf({}, { initContainers: [{ name: 'i', resources: { limits: { cpu: '1' } } }] });
    expect((await ask([quota(hard, used)], 'pods', pod)).refused).toBe(
      'failed quota: q: must specify limits.cpu for: c; memory for: c,i',
    );
  });

  it('wants nothing of containers whose pod states it as a whole', async () => {
    const pod = podOf({}, { resources: { requests: { cpu: '1' } } });
    expect((await ask([quota({ memory: '1Gi' }, { memory: '0' })], 'pods', pod)).refused).toBeUndefined();
  });

  it('refuses while it is not known what is used', async () => {
    expect((await ask([quota({ pods: '1', configmaps: '1' }, {})], 'pods', podOf())).refused).toBe(
      'status unknown for quota: q, resources: pods',
    );
    // All are told that the object takes up, not only those that nobody has counted.
    const hard = { pods: '1', 'count/pods': '1' };
    expect((await ask([quota(hard, { pods: '0' })], 'pods', podOf())).refused).toBe(
      'status unknown for quota: q, resources: count/pods,pods',
    );
    // What no one has put into force limits nothing.
    const idle = { metadata: { name: 'q' }, spec: { hard: { pods: '0' } }, status: { used: {} } };
    expect((await ask([idle], 'pods', podOf())).refused).toBeUndefined();
  });

  const claim = (storage: string) => ({ spec: { storageClassName: 'fast', resources: { requests: { storage } } } });
  const ofClass = (name: string) => `fast.storageclass.storage.k8s.io/${name}`;
  it.each([
    ['configmaps', {}, { configmaps: '1', 'count/configmaps': '1' }],
    ['deployments.apps', {}, { 'count/deployments.apps': '1' }],
    ['widgets.example.com', {}, { 'count/widgets.example.com': '1' }],
    ['services', { spec: { ports: [{}, {}] } }, { services: '1', 'count/services': '1', 'services.nodeports': '0' }],
    [
      'services',
      { spec: { type: 'NodePort', ports: [{}, {}] } },
      { 'services.nodeports': '2', 'services.loadbalancers': '0' },
    ],
    [
      'services',
      { spec: { type: 'LoadBalancer', ports: [{}] } },
      { 'services.nodeports': '1', 'services.loadbalancers': '1' },
    ],
    [
      'services',
      { spec: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [{}, { nodePort: 3 }] } },
      { 'services.nodeports': '1' },
    ],
    [
      'persistentvolumeclaims',
      claim('5Gi'),
      {
        persistentvolumeclaims: '1',
        'requests.storage': '5Gi',
        [ofClass('requests.storage')]: '5Gi',
        [ofClass('persistentvolumeclaims')]: '1',
        'slow.storageclass.storage.k8s.io/requests.storage': '0',
      },
    ],
    [
      'pods',
      podOf(
        { resources: { requests: { cpu: '1', memory: '1Gi', 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi' } } },
        { overhead: { cpu: '500m' } },
      ),
      {
        pods: '1',
        'count/pods': '1',
        cpu: '1500m',
        'requests.cpu': '1500m',
        'requests.memory': '1Gi',
        'requests.example.com/gpu': '2',
        'hugepages-2Mi': '4Mi',
      },
    ],
    // Names under the product's own domain are no devices.
    [
      'pods',
      podOf({ resources: { requests: { 'kubernetes.io/gpu': '2' } } }),
      { pods: '1', 'requests.kubernetes.io/gpu': '0' },
    ],
    // What a pod states as a whole counts instead of what its containers do.
    [
      'pods',
      podOf({ resources: { requests: { cpu: '1', memory: '1' } } }, { resources: { requests: { cpu: '3' } } }),
      { 'requests.cpu': '3', 'requests.memory': '1' },
    ],
    // Storage is counted in whole bytes.
    ['persistentvolumeclaims', claim('1500m'), { 'requests.storage': '2' }],
    ['bindings.example.com', {}, { 'count/bindings.example.com': '1' }],
    ['roles.authorization.example.com', {}, { 'count/roles.authorization.example.com': '1' }],
    ['bindings', {}, { 'count/bindings': '0' }],
    ['tokenreviews.authentication.k8s.io', {}, { 'count/tokenreviews.authentication.k8s.io': '0' }],
    ['events.events.k8s.io', {}, { 'count/events.events.k8s.io': '0' }],
  ])('counts %s %j', async (resource, object, expected) => {
    const names = Object.keys(expected);
    const hard = Object.fromEntries(names.map((name) => [name, '100Gi']));
    const none = Object.fromEntries(names.map((name) => [name, '0']));
    expect(await ask([quota(hard, none)], resource, object)).toEqual({ refused: undefined, used: expected });
  });

  it('counts of an update what it adds', async () => {
    const hard = { 'requests.storage': '10Gi', persistentvolumeclaims: '1' };
    const before = [quota(hard, { 'requests.storage': '5Gi', persistentvolumeclaims: '1' })];
    const grow = (storage: string) =>
      ask(before, 'persistentvolumeclaims', claim(storage), { oldObject: old(claim('5Gi')) });
    expect(await grow('8Gi')).toEqual({
      refused: undefined,
      used: { persistentvolumeclaims: '1', 'requests.storage': '8Gi' },
    });
    expect((await grow('11Gi')).refused).toBe(
      'exceeded quota: q, requested: requests.storage=6Gi, used: requests.storage=5Gi, limited: requests.storage=10Gi',
    );
    expect((await grow('1Gi')).used).toEqual(before[0]?.status.used);
  });

  it('counts as a whole what an update brings under a quota', async () => {
    const scopes = {
      scopeSelector: { matchExpressions: [{ scopeName: 'VolumeAttributesClass', operator: 'Exists' }] },
    };
    const of = (name?: string) => ({
      spec: { resources: { requests: { storage: '5Gi' } }, ...(name && { volumeAttributesClassName: name }) },
    });
    const hard = { 'requests.storage': '10Gi', persistentvolumeclaims: '1' };
    const none = { 'requests.storage': '0', persistentvolumeclaims: '0' };
    const write = (after: JsonObject, before: JsonObject) =>
      ask([quota(hard, none, scopes)], 'persistentvolumeclaims', after, { oldObject: old(before) });
    expect((await write(of('gold'), of())).used).toEqual({ 'requests.storage': '5Gi', persistentvolumeclaims: '1' });
    expect((await write(of('gold'), of('silver'))).used).toEqual(none);
    expect(await write(of(), of())).toEqual({ refused: undefined, used: none });
  });

  it('counts a pod that is to be ended now among those', async () => {
    const [hard, none] = [
      { pods: '5', memory: '1Gi' },
      { pods: '0', memory: '0' },
    ];
    const pod = (memory: JsonObject, more: JsonObject = {}) => podOf({ resources: { requests: memory } }, more);
    const write = (after: JsonObject, before: JsonObject) =>
      ask([quota(hard, none, { scopes: ['Terminating'] })], 'pods', after, { oldObject: old(before) });
    const ending = { activeDeadlineSeconds: 5 };
    expect(await write(pod({ memory: '1' }, ending), pod({ memory: '1' }))).toEqual({
      refused: undefined,
      used: { pods: '1', memory: '1' },
    });
    expect((await write(pod({}, ending), pod({}))).refused).toBe('failed quota: q: must specify memory for: c');
    // A pod that was there before the quota may go on as it is.
    expect(await write(pod({}, ending), pod({}, ending))).toEqual({ refused: undefined, used: none });
  });

  it('counts of a resize what it adds to what the pod holds already', async () => {
    const pod = (cpu: string, status: JsonObject = {}) => ({
      ...podOf({ resources: { requests: { cpu } } }),
      status: { containerStatuses: [{ name: 'c', resources: { requests: { cpu: '2' } } }], ...status },
    });
    const resize = async (before: JsonObject, after: JsonObject) => {
      const part = { subresource: 'resize', oldObject: old(before) };
      const found = await ask([quota({ 'requests.cpu': '10' }, { 'requests.cpu': '2' })], 'pods', after, part);
      return found.used['requests.cpu'];
    };
    expect(await resize(pod('2'), pod('3'))).toBe('3');
    expect(await resize(pod('2'), pod('1'))).toBe('2');
    // It still holds two although it asks for one.
    expect(await resize(pod('1'), pod('2'))).toBe('2');
    const refused = { conditions: [{ type: 'PodResizePending', reason: 'Infeasible' }] };
    expect(await resize(pod('5', refused), pod('6'))).toBe('6');
  });

  it.each([
    [{ scopes: ['BestEffort'] }, podOf(), true],
    [{ scopes: ['BestEffort'] }, podOf({}, { resources: { requests: { cpu: '1' } } }), false],
    [{ scopes: ['BestEffort'] }, podOf({ resources: { limits: { cpu: '1' } } }), false],
    [{ scopes: ['NotBestEffort'] }, podOf({ resources: { limits: { cpu: '1' } } }), true],
    [{ scopes: ['Terminating'] }, podOf({}, { activeDeadlineSeconds: 5 }), true],
    [{ scopes: ['Terminating'] }, podOf(), false],
    [{ scopes: ['NotTerminating', 'BestEffort'] }, podOf(), true],
    [{ scopes: ['PriorityClass'] }, podOf({}, { priorityClassName: 'a' }), true],
    [{ scopes: ['CrossNamespacePodAffinity'] }, podOf(), false],
    [
      { scopes: ['CrossNamespacePodAffinity'] },
      podOf(
        {},
        {
          affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ namespaces: ['m'] }] } },
        },
      ),
      true,
    ],
    [
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['a'] }] } },
      podOf({}, { priorityClassName: 'b' }),
      false,
    ],
    [
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'NotIn', values: ['a'] }] } },
      podOf({}, { priorityClassName: 'b' }),
      true,
    ],
  ])('counts in the scope %j: %j', async (spec, pod, counted) => {
    const { used } = await ask([quota({ pods: '5' }, { pods: '0' }, spec)], 'pods', pod);
    expect(used).toEqual({ pods: counted ? '1' : '0' });
  });

  it('counts nothing of other resources in a scope, of events, of reviews and of what lies in no namespace', async () => {
    const hard = { configmaps: '0', 'count/events': '0', 'count/namespaces': '0' };
    const of = (resource: string, spec: JsonObject = {}, namespace = 'n') =>
      ask([quota(hard, hard, spec)], resource, {}, { namespace });
    expect((await of('configmaps')).refused).toContain('exceeded quota');
    expect((await of('configmaps', { scopes: ['NotTerminating'] })).refused).toBeUndefined();
    expect((await of('events')).refused).toBeUndefined();
    expect((await of('namespaces', {}, '')).refused).toBeUndefined();
  });

  it('only looks when nothing is to be stored', async () => {
    const found = await ask([quota({ pods: '1' }, { pods: '0' })], 'pods', podOf(), { dryRun: true });
    expect(found).toEqual({ refused: undefined, used: { pods: '0' } });
  });
});

describe('many at a time', () => {
  const settled = (attempts: Promise<unknown>[]) =>
    Promise.allSettled(attempts).then((all) => all.map(({ status }) => status));

  it('64 creators never get more than 10 pods past a quota of 10', async () => {
    const store = quotaStore([quota({ pods: '10' }, { pods: '0' })], () => new Promise((go) => void setImmediate(go)));
    const chain = createChain([resourceQuota(store.world)]);
    const creators = Array.from({ length: 64 }, () => runValidating(chain, requestFor('pods', podOf())));
    const outcomes = await settled(creators);
    expect(outcomes.filter((status) => status === 'fulfilled')).toHaveLength(10);
    expect(store.used()).toEqual({ pods: '10' });
    // Those that came while the first was written went together.
    expect(store.writes()).toBe(2);
  });

  it('not on two servers either, whatever comes first', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 6 }), async (scheduler, limit) => {
        const hard = String(limit);
        const store = quotaStore(
          [quota({ pods: hard }, { pods: '0' }), quota({ 'count/pods': '4' }, { 'count/pods': '0' }, {}, 'r')],
          () => scheduler.schedule(Promise.resolve()),
        );
        const servers = [createChain([resourceQuota(store.world)]), createChain([resourceQuota(store.world)])] as const;
        const creators = Array.from({ length: 16 }, (_, i) =>
          runValidating(servers[i % 2 === 0 ? 0 : 1], requestFor('pods', podOf())),
        );
        const [outcomes] = await Promise.all([settled(creators), scheduler.waitIdle()]);
        const admitted = outcomes.filter((status) => status === 'fulfilled').length;
        expect(admitted).toBeLessThanOrEqual(Math.min(limit, 4));
        expect(Number(store.used()['pods'])).toBeGreaterThanOrEqual(admitted);
        expect(Number(store.used()['pods'])).toBeLessThanOrEqual(limit);
        expect(Number(store.used('r')['count/pods'])).toBeGreaterThanOrEqual(admitted);
        expect(admitted).toBeGreaterThan(0);
      }),
      { numRuns: 50 },
    );
  });
});

describe('a write that is not stored after all', () => {
  const create = async (store: ReturnType<typeof quotaStore>) => {
    const undo: (() => Promise<void>)[] = [];
    const request = requestFor('pods', podOf(), { onAbandon: (step) => undo.push(step) });
    const chain = createChain([resourceQuota(store.world)]);
    await runValidating(chain, request);
    return () => Promise.all(undo.map((step) => step()));
  };

  it('gives back what it took', async () => {
    const store = quotaStore([quota({ pods: '3' }, { pods: '1' })]);
    const abandon = await create(store);
    expect(store.used()).toEqual({ pods: '2' });
    await abandon();
    expect(store.used()).toEqual({ pods: '1' });
  });

  it('gives nothing back once someone else has counted', async () => {
    const store = quotaStore([quota({ pods: '3' }, { pods: '1' })]);
    const abandon = await create(store);
    store.put(quota({ pods: '3' }, { pods: '1' }));
    await abandon();
    expect(store.used()).toEqual({ pods: '1' });
  });

  it('is over when the quota is gone, or cannot be written', async () => {
    const store = quotaStore([quota({ pods: '3' }, { pods: '1' })]);
    const abandon = await create(store);
    store.stored.clear();
    await abandon();
    let down = false;
    const broken = quotaStore([quota({ pods: '3' }, { pods: '1' })], async () => {
      if (down) throw statusError.unavailable('down');
    });
    const again = await create(broken);
    down = true;
    await again();
    expect(broken.used()).toEqual({ pods: '2' });
  });
});
