import { describe, expect, it } from 'vitest';
import { type JsonObject, statusError } from '../../meta/index.ts';
import { createChain, runMutating, runValidating } from '../chain.ts';
import { fakeInitializer, old, outcome, podOf, requestFor, stored } from '../testing/initializer.ts';
import { alwaysDeny } from './always.ts';
import { alwaysPullImages } from './always-pull-images.ts';
import { limitAntiAffinity } from './anti-affinity.ts';
import { denyExternalIps } from './external-ips.ts';
import { namespaceAutoProvision, namespaceExists } from './namespace-exists.ts';
import { podNodeSelector } from './pod-node-selector.ts';
import { podTolerations } from './pod-tolerations.ts';
import { resourceTolerations } from './resource-tolerations.ts';

// Plugins that are disabled by default. Messages as in the reference server.

const inNamespace = (annotations: JsonObject) =>
  fakeInitializer([stored('namespaces', 'n', { metadata: { annotations } })]);

describe('AlwaysDeny', () => {
  it('rejects every request', async () => {
    expect(await outcome(alwaysDeny(), requestFor('pods', {}))).toBe('admission control is denying all modifications');
  });
});

describe('AlwaysPullImages', () => {
  const images = {
    volumes: [
      { name: 'v', image: { reference: 'r' } },
      { name: 'e', emptyDir: {} },
    ],
  };
  it('sets the pull policy of all containers and image volumes', async () => {
    const pod = podOf({ imagePullPolicy: 'Never' }, { initContainers: [{ name: 'i' }], ...images });
    expect(await outcome(alwaysPullImages(), requestFor('pods', pod))).toMatchObject({
      spec: {
        containers: [{ imagePullPolicy: 'Always' }],
        initContainers: [{ imagePullPolicy: 'Always' }],
        volumes: [{ image: { pullPolicy: 'Always' } }, { emptyDir: {} }],
      },
    });
  });

  it('ignores an update that adds no image', async () => {
    const write = (image: string) => {
      const pod = podOf({ image, imagePullPolicy: 'Never' });
      return outcome(alwaysPullImages(), requestFor('pods', pod, { oldObject: old(podOf({ image: 'a' })) }));
    };
    expect(await write('a')).toMatchObject({ spec: { containers: [{ imagePullPolicy: 'Never' }] } });
    expect(await write('b')).toMatchObject({ spec: { containers: [{ imagePullPolicy: 'Always' }] } });
  });
});

describe('NamespaceAutoProvision and NamespaceExists', () => {
  const initializer = (created: string[], failure?: Error) => ({
    ...fakeInitializer(),
    namespace: (name: string) => (name === 'there' ? { terminating: false, revision: 1 } : undefined),
    createNamespace: (name: string) => {
      created.push(name);
      return failure === undefined ? Promise.resolve() : Promise.reject(failure);
    },
  });
  const provide = async (part: { namespace: string; dryRun?: boolean }, failure?: Error) => {
    const created: string[] = [];
    const found = await outcome(namespaceAutoProvision(initializer(created, failure)), requestFor('pods', {}, part));
    return { created, refused: typeof found === 'string' ? found : undefined };
  };

  it('create the missing namespace of a created object, except on dry run', async () => {
    expect(await provide({ namespace: 'new' })).toEqual({ created: ['new'], refused: undefined });
    expect((await provide({ namespace: 'there' })).created).toEqual([]);
    expect((await provide({ namespace: '' })).created).toEqual([]);
    expect((await provide({ namespace: 'new', dryRun: true })).created).toEqual([]);
  });

  it('accept that another writer has created the namespace', async () => {
    const taken = statusError.alreadyExists({ group: '', resource: 'namespaces' }, 'new');
    expect((await provide({ namespace: 'new' }, taken)).refused).toBeUndefined();
    expect((await provide({ namespace: 'new' }, statusError.badRequest('no'))).refused).toBe('no');
  });

  it('reject writes and deletions in a namespace that does not exist', async () => {
    const chain = createChain([namespaceExists(initializer([]))]);
    const gone = { code: 404, message: 'namespaces "new" not found' };
    await expect(runValidating(chain, requestFor('pods', {}, { namespace: 'new' }))).rejects.toMatchObject(gone);
    const removal = { namespace: 'new', operation: 'DELETE' } as const;
    await expect(runValidating(chain, requestFor('pods', {}, removal))).rejects.toMatchObject(gone);
    expect(await runValidating(chain, requestFor('pods', {}, { namespace: 'there' }))).toBeUndefined();
  });
});

describe('LimitPodHardAntiAffinityTopology', () => {
  const create = (topologyKey: string, when = 'requiredDuringSchedulingIgnoredDuringExecution') =>
    outcome(
      limitAntiAffinity(fakeInitializer()),
      requestFor('pods', podOf({}, { affinity: { podAntiAffinity: { [when]: [{ topologyKey }] } } })),
    );
  it('allows only the hostname topology key in required anti-affinity terms', async () => {
    expect(await create('kubernetes.io/hostname')).toBeTypeOf('object');
    expect(await create('zone', 'preferredDuringSchedulingIgnoredDuringExecution')).toBeTypeOf('object');
    expect(await create('zone')).toBe(
      'affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed',
    );
  });
});

describe('DenyServiceExternalIPs', () => {
  const service = (...externalIPs: string[]) => ({ spec: { externalIPs } });
  const denied = 'Use of external IPs is denied by admission control';
  it('allows removing external IPs, but not adding them', async () => {
    expect(await outcome(denyExternalIps(), requestFor('services', service('1.1.1.1')))).toBe(denied);
    expect(await outcome(denyExternalIps(), requestFor('services', { spec: {} }))).toBeTypeOf('object');
    const oldObject = old(service('1.1.1.1', '2.2.2.2'));
    const update = (...addresses: string[]) =>
      outcome(denyExternalIps(), requestFor('services', service(...addresses), { oldObject }));
    expect(await update('2.2.2.2')).toBeTypeOf('object');
    expect(await update('2.2.2.2', '3.3.3.3')).toBe(denied);
  });
});

describe('ExtendedResourceToleration', () => {
  const asking = (...names: string[]) => ({
    resources: { requests: Object.fromEntries(names.map((name) => [name, '1'])) },
  });
  it('adds a toleration for each requested extended resource', async () => {
    const pod = podOf(asking('cpu', 'b.example/gpu', 'kubernetes.io/x'), {
      initContainers: [{ name: 'i', ...asking('a.example/gpu') }],
      tolerations: [{ key: 'b.example/gpu', operator: 'Exists', effect: 'NoSchedule' }],
    });
    expect(await outcome(resourceTolerations(fakeInitializer()), requestFor('pods', pod))).toMatchObject({
      spec: {
        tolerations: ['b.example/gpu', 'a.example/gpu'].map((key) => ({
          key,
          operator: 'Exists',
          effect: 'NoSchedule',
        })),
      },
    });
  });
});

describe('PodNodeSelector', () => {
  const create = (selector: string, nodeSelector?: JsonObject) =>
    outcome(
      podNodeSelector(inNamespace({ 'scheduler.alpha.kubernetes.io/node-selector': selector })),
      requestFor('pods', podOf({}, nodeSelector && { nodeSelector })),
    );
  it('merges the selector of the namespace into the pod, and rejects conflicts', async () => {
    expect(await create('disk=fast, zone = a', { zone: 'a', own: '1' })).toMatchObject({
      spec: { nodeSelector: { disk: 'fast', zone: 'a', own: '1' } },
    });
    expect(await create('')).not.toHaveProperty('spec.nodeSelector');
    expect(await create('zone=a', { zone: 'b' })).toBe(
      'pod node label selector conflicts with its namespace node label selector',
    );
  });

  it('answers 500 when the annotation is not a list of key=value', async () => {
    expect(await create('zone')).toBe('?? invalid selector: [zone]');
    expect(await create('a=b=c')).toBe('?? invalid selector: [a b c]');
  });
});

describe('PodTolerationRestriction', () => {
  const key = (name: string) => `scheduler.alpha.kubernetes.io/${name}`;
  const create = (annotations: JsonObject, pod: JsonObject = podOf()) =>
    outcome(podTolerations(inNamespace(annotations)), requestFor('pods', pod));
  const gpu = { key: 'gpu', operator: 'Exists', effect: 'NoSchedule' };
  const defaults = { [key('defaultTolerations')]: JSON.stringify([{ ...gpu, evil: { __proto__: 1 } }]) };

  it('adds the default tolerations of the namespace', async () => {
    expect(await create(defaults)).toMatchObject({ spec: { tolerations: [gpu] } });
    const own = { key: 'gpu', operator: 'Exists' };
    const made = (await create(defaults, podOf({}, { tolerations: [own] }))) as { spec: JsonObject };
    expect(made.spec['tolerations']).toEqual([own]);
    expect(await create({})).not.toHaveProperty('spec.tolerations');
  });

  it('adds the memory-pressure toleration to pods that are not BestEffort', async () => {
    expect(await create({}, podOf({ resources: { requests: { cpu: '1' } } }))).toMatchObject({
      spec: {
        tolerations: [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' }],
      },
    });
  });

  it('rejects tolerations that the whitelist does not cover', async () => {
    const allowed = { [key('tolerationsWhitelist')]: JSON.stringify([{ key: 'gpu', operator: 'Exists' }]) };
    expect(await create(allowed, podOf({}, { tolerations: [gpu] }))).toBeTypeOf('object');
    expect(await create(allowed)).toBeTypeOf('object');
    const chain = createChain([podTolerations(inNamespace(allowed))]);
    const wide = requestFor('pods', podOf({}, { tolerations: [{ operator: 'Exists' }] }));
    await expect(runMutating(chain, wide)).rejects.toMatchObject({
      code: 500,
      reason: '',
      message:
        'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist',
    });
  });

  it.each(['{', '{}', '[1]', 'null'])('reports an annotation that cannot be parsed: %s', async (text) => {
    expect(await create({ [key('defaultTolerations')]: text })).toContain(
      '?? the tolerations of the namespace cannot be read: ',
    );
  });
});
