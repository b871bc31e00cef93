import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonObject, statusError } from '../../meta/index.ts';
import { createChain, runValidating } from '../chain.ts';
import { fakeInitializer, old, outcome, pluralOf, podOf, requestFor } from '../testing/initializer.ts';
import type { AdmissionRequest, ObjectLookup, PluginInitializer, ResourceKey } from '../types.ts';
import type { Quota } from './quota-charges.ts';
import { resourceQuota } from './resource-quota.ts';

/** A quota store with optimistic concurrency, whose writes wait for `pause`. */
function quotaStore(quotas: JsonObject[], pause: () => Promise<unknown> = () => Promise.resolve()) {
  const stored = new Map<string, Quota>();
  let revision = 0;
  let writes = 0;
  const put = (quota: JsonObject) => {
    const metadata = { ...(quota['metadata'] as JsonObject), namespace: 'n', resourceVersion: String(++revision) };
    const made = { kind: 'ResourceQuota', apiVersion: 'v1', ...quota, metadata } as Quota;
    stored.set(made.metadata.name ?? '', made);
    return made;
  };
  for (const quota of quotas) put(quota);
  const list = (key: ResourceKey) => (pluralOf(key) === 'resourcequotas' ? [...stored.values()] : []);
  const initializer: PluginInitializer = {
    ...fakeInitializer(),
    objects: {
      ...fakeInitializer().objects,
      list: (resource, _, latest) => (latest ? Promise.resolve(list(resource)) : list(resource)),
      cached: (resource) => ({ objects: list(resource), revision }),
    } as ObjectLookup,
    updateQuotaStatus: async (quota, used) => {
      await pause();
      const now = stored.get(quota.metadata.name ?? '');
      if (now === undefined || now.metadata.resourceVersion !== quota.metadata.resourceVersion) return undefined;
      writes++;
      return put({ ...now, status: { ...now.status, used } });
    },
  };
  const used = (name = 'q') => stored.get(name)?.status?.used ?? {};
  return { initializer, put, used, stored, writes: () => writes };
}

const quota = (hard: JsonObject, used: JsonObject, spec: JsonObject = {}, name = 'q') => ({
  metadata: { name, uid: `uid-${name}` },
  spec: { hard, ...spec },
  status: { hard, used },
});

const ask = (quotas: JsonObject[], resource: string, object: JsonObject, part: Partial<AdmissionRequest> = {}) => {
  const store = quotaStore(quotas);
  return outcome(resourceQuota(store.initializer), requestFor(resource, object, part)).then((found) => ({
    refused: typeof found === 'string' ? found : undefined,
    used: store.used(),
  }));
};

describe('resource quota', () => {
  it('guards a write that no quota concerns against a quota that is missing in the cache', async () => {
    const guards: unknown[] = [];
    const part = { guardList: (key: ResourceKey, revision: number) => void guards.push([pluralOf(key), revision]) };
    const { initializer, stored, put } = quotaStore([quota({ pods: '10' }, { pods: '9' })]);
    stored.clear();
    await outcome(resourceQuota(initializer), requestFor('pods', podOf(), part));
    expect(guards).toEqual([['resourcequotas', 1]]);
    put(quota({ pods: '10' }, { pods: '9' }));
    await outcome(resourceQuota(initializer), requestFor('pods', podOf(), part));
    expect(guards).toHaveLength(1);
  });

  it('charges the usage, and rejects what would exceed the quota', async () => {
    const found = await ask([quota({ pods: '10' }, { pods: '9' })], 'pods', podOf());
    expect(found).toEqual({ refused: undefined, used: { pods: '10' } });
    const full = await ask([quota({ pods: '10' }, { pods: '10' })], 'pods', podOf());
    expect(full).toEqual({
      refused: 'exceeded quota: q, requested: pods=1, used: pods=10, limited: pods=10',
      used: { pods: '10' },
    });
  });

  it('names exactly the exceeded resources', async () => {
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

  it('requires containers to set the resources that are limited', async () => {
    const hard = { 'limits.cpu': '1', memory: '1Gi' };
    const used = { 'limits.cpu': '0', memory: '0' };
    const pod = podOf({}, { initContainers: [{ name: 'i', resources: { limits: { cpu: '1' } } }] });
    expect((await ask([quota(hard, used)], 'pods', pod)).refused).toBe(
      'failed quota: q: must specify limits.cpu for: c; memory for: c,i',
    );
  });

  it('says what containers lack for one quota before what they exceed of another', async () => {
    const full = quota({ pods: '0' }, { pods: '0' });
    const later = quota({ memory: '1Gi' }, { memory: '0' }, {}, 'r');
    expect((await ask([full, later], 'pods', podOf())).refused).toBe('failed quota: r: must specify memory for: c');
  });

  it('requires nothing of containers when pod-level resources are set', async () => {
    const pod = podOf({}, { resources: { requests: { cpu: '1' } } });
    expect((await ask([quota({ memory: '1Gi' }, { memory: '0' })], 'pods', pod)).refused).toBeUndefined();
  });

  it('rejects while the quota status is unknown', async () => {
    expect((await ask([quota({ pods: '1', configmaps: '1' }, {})], 'pods', podOf())).refused).toBe(
      'status unknown for quota: q, resources: pods',
    );
    // The message names all resources that the object uses, not only those without a status.
    const hard = { pods: '1', 'count/pods': '1' };
    expect((await ask([quota(hard, { pods: '0' })], 'pods', podOf())).refused).toBe(
      'status unknown for quota: q, resources: count/pods,pods',
    );
    // Without status.hard nothing is limited.
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
    // Names under the product's own domain are not extended resources.
    [
      'pods',
      podOf({ resources: { requests: { 'kubernetes.io/gpu': '2' } } }),
      { pods: '1', 'requests.kubernetes.io/gpu': '0' },
    ],
    // Pod-level resources count instead of those of the containers.
    [
      'pods',
      podOf({ resources: { requests: { cpu: '1', memory: '1' } } }, { resources: { requests: { cpu: '3' } } }),
      { 'requests.cpu': '3', 'requests.memory': '1' },
    ],
    // Storage is rounded up to whole bytes.
    ['persistentvolumeclaims', claim('1500m'), { 'requests.storage': '2' }],
    ['bindings.example.com', {}, { 'count/bindings.example.com': '1' }],
    ['roles.authorization.example.com', {}, { 'count/roles.authorization.example.com': '1' }],
    ['bindings', {}, { 'count/bindings': '0' }],
    ['tokenreviews.authentication.k8s.io', {}, { 'count/tokenreviews.authentication.k8s.io': '0' }],
    ['events.events.k8s.io', {}, { 'count/events.events.k8s.io': '0' }],
  ])('computes the usage of %s %j', async (resource, object, expected) => {
    const names = Object.keys(expected);
    const hard = Object.fromEntries(names.map((name) => [name, '100Gi']));
    const none = Object.fromEntries(names.map((name) => [name, '0']));
    expect(await ask([quota(hard, none)], resource, object)).toEqual({ refused: undefined, used: expected });
  });

  it('charges the increase of an update', async () => {
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

  it('charges the whole usage when an update makes a quota match', async () => {
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

  it('charges the Terminating scope when a pod gets an active deadline', async () => {
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
    // A pod that is older than the quota may be updated.
    expect(await write(pod({}, ending), pod({}, ending))).toEqual({ refused: undefined, used: none });
  });

  it('charges of a resize what exceeds the resources already allocated', async () => {
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
    // Two are still allocated although one is requested.
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
  ])('matches the scope %j: %j', async (spec, pod, counted) => {
    const { used } = await ask([quota({ pods: '5' }, { pods: '0' }, spec)], 'pods', pod);
    expect(used).toEqual({ pods: counted ? '1' : '0' });
  });

  it('ignores resources without scopes in a scoped quota, events, reviews and cluster-scoped objects', async () => {
    const hard = { configmaps: '0', 'count/events': '0', 'count/namespaces': '0' };
    const of = (resource: string, spec: JsonObject = {}, namespace = 'n') =>
      ask([quota(hard, hard, spec)], resource, {}, { namespace });
    expect((await of('configmaps')).refused).toContain('exceeded quota');
    expect((await of('configmaps', { scopes: ['NotTerminating'] })).refused).toBeUndefined();
    expect((await of('events')).refused).toBeUndefined();
    expect((await of('namespaces', {}, '')).refused).toBeUndefined();
  });

  it('checks but does not charge a dry run', async () => {
    const found = await ask([quota({ pods: '1' }, { pods: '0' })], 'pods', podOf(), { dryRun: true });
    expect(found).toEqual({ refused: undefined, used: { pods: '0' } });
  });
});

describe('concurrent requests', () => {
  const settled = (attempts: (Promise<void> | undefined)[]) =>
    Promise.allSettled(attempts.map((attempt) => Promise.resolve(attempt))).then((all) =>
      all.map(({ status }) => status),
    );

  it('64 creates never exceed a quota of 10 pods', async () => {
    const store = quotaStore([quota({ pods: '10' }, { pods: '0' })], () => new Promise((go) => void setImmediate(go)));
    const chain = createChain([resourceQuota(store.initializer)]);
    const creators = Array.from({ length: 64 }, () => runValidating(chain, requestFor('pods', podOf())));
    const outcomes = await settled(creators);
    expect(outcomes.filter((status) => status === 'fulfilled')).toHaveLength(10);
    expect(store.used()).toEqual({ pods: '10' });
    // All charges that arrived during the first write share the second.
    expect(store.writes()).toBe(2);
  });

  it('let other work run while many charges are compared with many quotas', async () => {
    const quotas = Array.from({ length: 500 }, (_, i) => quota({ pods: '100' }, { pods: '0' }, {}, `q${i}`));
    const store = quotaStore(quotas);
    const chain = createChain([resourceQuota(store.initializer)]);
    let turns = 0;
    const other = setInterval(() => turns++, 0);
    await settled(Array.from({ length: 60 }, () => runValidating(chain, requestFor('pods', podOf()))));
    clearInterval(other);
    expect(store.used('q499')).toEqual({ pods: '60' });
    expect(turns).toBeGreaterThan(0);
  });

  it('do not exceed a quota on two servers, in any order of writes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 6 }), async (scheduler, limit) => {
        const hard = String(limit);
        const store = quotaStore(
          [quota({ pods: hard }, { pods: '0' }), quota({ 'count/pods': '4' }, { 'count/pods': '0' }, {}, 'r')],
          () => scheduler.schedule(Promise.resolve()),
        );
        const servers = [
          createChain([resourceQuota(store.initializer)]),
          createChain([resourceQuota(store.initializer)]),
        ] as const;
        const creators = Array.from({ length: 16 }, (_, i) =>
          runValidating(servers[i % 2 === 0 ? 0 : 1], requestFor('pods', podOf())),
        );
        const outcomes = await scheduler.waitFor(settled(creators));
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

describe('the charge of an object that is not stored', () => {
  const create = async (store: ReturnType<typeof quotaStore>) => {
    const undo: (() => Promise<void>)[] = [];
    const request = requestFor('pods', podOf(), { onAbandon: (step) => undo.push(step) });
    const chain = createChain([resourceQuota(store.initializer)]);
    await runValidating(chain, request);
    return () => Promise.all(undo.map((step) => step()));
  };

  it('is released', async () => {
    const store = quotaStore([quota({ pods: '3' }, { pods: '1' })]);
    const abandon = await create(store);
    expect(store.used()).toEqual({ pods: '2' });
    await abandon();
    expect(store.used()).toEqual({ pods: '1' });
  });

  it('is released also while the cache is behind', async () => {
    const store = quotaStore([quota({ pods: '3' }, { pods: '1' })]);
    const [before, { objects }] = [[...store.stored.values()], store.initializer];
    const list = (...of: Parameters<ObjectLookup['list']>) => (of[2] ? objects.list(...of) : before);
    const behind = { ...store.initializer, objects: { ...objects, list } as ObjectLookup };
    const abandon = await create({ ...store, initializer: behind });
    await abandon();
    expect([store.used(), store.writes()]).toEqual([{ pods: '1' }, 2]);
  });

  it('is not released after another writer has updated the usage', async () => {
    const store = quotaStore([quota({ pods: '3' }, { pods: '1' })]);
    const abandon = await create(store);
    store.put(quota({ pods: '3' }, { pods: '1' }));
    await abandon();
    expect(store.used()).toEqual({ pods: '1' });
  });

  it('is dropped when the quota was deleted or cannot be written', async () => {
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

  it('is taken back from the first quota when the second has been used up meanwhile', async () => {
    const full = quota({ 'count/pods': '1' }, { 'count/pods': '1' }, {}, 'r');
    let attempts = 0;
    const store = quotaStore(
      [quota({ pods: '3' }, { pods: '1' }), quota({ 'count/pods': '1' }, { 'count/pods': '0' }, {}, 'r')],
      async () => {
        attempts++;
        if (attempts === 2) store.put(full);
      },
    );
    await expect(create(store)).rejects.toThrow('exceeded quota: r');
    expect([store.used(), store.used('r')]).toEqual([{ pods: '1' }, { 'count/pods': '1' }]);
  });
});
