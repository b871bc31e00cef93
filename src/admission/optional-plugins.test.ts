import { describe, expect, it } from 'vitest';
import { type JsonObject, statusError } from '../meta/index.ts';
import { alwaysDeny } from './always.ts';
import { alwaysPullImages } from './always-pull-images.ts';
import { limitAntiAffinity } from './anti-affinity.ts';
import { createChain, runMutating, runValidating } from './chain.ts';
import { denyExternalIps } from './external-ips.ts';
import { namespaceAutoProvision, namespaceExists } from './namespace-presence.ts';
import { podNodeSelector } from './pod-node-selector.ts';
import { podTolerations } from './pod-tolerations.ts';
import { resourceTolerations } from './resource-tolerations.ts';
import { fakeWorld, held, old, outcome, podOf, requestFor } from './testing/world.ts';

// Plugins that are off unless someone asks for them. The words are those of the reference server.

const inNamespace = (annotations: JsonObject) => fakeWorld([held('namespaces', 'n', { metadata: { annotations } })]);

describe('denying always', () => {
  it('lets nothing pass', async () => {
    expect(await outcome(alwaysDeny(), requestFor('pods', {}))).toBe('admission control is denying all modifications');
  });
});

describe('pulling images always', () => {
  const images = {
    volumes: [
      { name: 'v', image: { reference: 'r' } },
      { name: 'e', emptyDir: {} },
    ],
  };
  it('asks for every image anew', async () => {
    const pod = podOf({ imagePullPolicy: 'Never' }, { initContainers: [{ name: 'i' }], ...images });
    expect(await outcome(alwaysPullImages(), requestFor('pods', pod))).toMatchObject({
      spec: {
        containers: [{ imagePullPolicy: 'Always' }],
        initContainers: [{ imagePullPolicy: 'Always' }],
        volumes: [{ image: { pullPolicy: 'Always' } }, { emptyDir: {} }],
      },
    });
  });

  it('leaves a pod alone that gets no image that it did not have', async () => {
    const write = (image: string) => {
      const pod = podOf({ image, imagePullPolicy: 'Never' });
      return outcome(alwaysPullImages(), requestFor('pods', pod, { oldObject: old(podOf({ image: 'a' })) }));
    };
    expect(await write('a')).toMatchObject({ spec: { containers: [{ imagePullPolicy: 'Never' }] } });
    expect(await write('b')).toMatchObject({ spec: { containers: [{ imagePullPolicy: 'Always' }] } });
  });
});

describe('namespaces that are not there', () => {
  const world = (created: string[], failure?: Error) => ({
    ...fakeWorld(),
    namespace: (name: string) => (name === 'there' ? { terminating: false } : undefined),
    createNamespace: (name: string) => {
      created.push(name);
      return failure === undefined ? Promise.resolve() : Promise.reject(failure);
    },
  });
  const provide = async (part: { namespace: string; dryRun?: boolean }, failure?: Error) => {
    const created: string[] = [];
    const found = await outcome(namespaceAutoProvision(world(created, failure)), requestFor('pods', {}, part));
    return { created, refused: typeof found === 'string' ? found : undefined };
  };

  it('are made for what is created in them', async () => {
    expect(await provide({ namespace: 'new' })).toEqual({ created: ['new'], refused: undefined });
    expect((await provide({ namespace: 'there' })).created).toEqual([]);
    expect((await provide({ namespace: '' })).created).toEqual([]);
    expect((await provide({ namespace: 'new', dryRun: true })).created).toEqual([]);
  });

  it('may be made by someone else meanwhile', async () => {
    const taken = statusError.alreadyExists({ group: '', resource: 'namespaces' }, 'new');
    expect((await provide({ namespace: 'new' }, taken)).refused).toBeUndefined();
    expect((await provide({ namespace: 'new' }, statusError.badRequest('no'))).refused).toBe('no');
  });

  it('hold nothing that could be written', async () => {
    const chain = createChain([namespaceExists(world([]))]);
    const gone = { code: 404, message: 'namespaces "new" not found' };
    await expect(runValidating(chain, requestFor('pods', {}, { namespace: 'new' }))).rejects.toMatchObject(gone);
    const removal = { namespace: 'new', operation: 'DELETE' } as const;
    await expect(runValidating(chain, requestFor('pods', {}, removal))).rejects.toMatchObject(gone);
    await expect(runValidating(chain, requestFor('pods', {}, { namespace: 'there' }))).resolves.toBeUndefined();
  });
});

describe('keeping other pods away', () => {
  const create = (topologyKey: string, when = 'requiredDuringSchedulingIgnoredDuringExecution') =>
    outcome(
      limitAntiAffinity(fakeWorld()),
      requestFor('pods', podOf({}, { affinity: { podAntiAffinity: { [when]: [{ topologyKey }] } } })),
    );
  it('goes no further than the node', async () => {
    expect(await create('kubernetes.io/hostname')).toBeTypeOf('object');
    expect(await create('zone', 'preferredDuringSchedulingIgnoredDuringExecution')).toBeTypeOf('object');
    expect(await create('zone')).toBe(
      'affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed',
    );
  });
});

describe('addresses of outside', () => {
  const service = (...externalIPs: string[]) => ({ spec: { externalIPs } });
  const denied = 'Use of external IPs is denied by admission control';
  it('may be given up, not taken', async () => {
    expect(await outcome(denyExternalIps(), requestFor('services', service('1.1.1.1')))).toBe(denied);
    expect(await outcome(denyExternalIps(), requestFor('services', { spec: {} }))).toBeTypeOf('object');
    const oldObject = old(service('1.1.1.1', '2.2.2.2'));
    const update = (...addresses: string[]) =>
      outcome(denyExternalIps(), requestFor('services', service(...addresses), { oldObject }));
    expect(await update('2.2.2.2')).toBeTypeOf('object');
    expect(await update('2.2.2.2', '3.3.3.3')).toBe(denied);
  });
});

describe('tolerations for devices', () => {
  const asking = (...names: string[]) => ({
    resources: { requests: Object.fromEntries(names.map((name) => [name, '1'])) },
  });
  it('come with what a pod asks for', async () => {
    const pod = podOf(asking('cpu', 'b.example/gpu', 'kubernetes.io/x'), {
      initContainers: [{ name: 'i', ...asking('a.example/gpu') }],
      tolerations: [{ key: 'b.example/gpu', operator: 'Exists', effect: 'NoSchedule' }],
    });
    expect(await outcome(resourceTolerations(fakeWorld()), requestFor('pods', pod))).toMatchObject({
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

describe('nodes of a namespace', () => {
  const create = (selector: string, nodeSelector?: JsonObject) =>
    outcome(
      podNodeSelector(inNamespace({ 'scheduler.alpha.kubernetes.io/node-selector': selector })),
      requestFor('pods', podOf({}, nodeSelector && { nodeSelector })),
    );
  it('are those of its pods', async () => {
    expect(await create('disk=fast, zone = a', { zone: 'a', own: '1' })).toMatchObject({
      spec: { nodeSelector: { disk: 'fast', zone: 'a', own: '1' } },
    });
    expect(await create('')).not.toHaveProperty('spec.nodeSelector');
    expect(await create('zone=a', { zone: 'b' })).toBe(
      'pod node label selector conflicts with its namespace node label selector',
    );
  });

  it('must be told as labels with values', async () => {
    expect(await create('zone')).toBe('?? invalid selector: [zone]');
    expect(await create('a=b=c')).toBe('?? invalid selector: [a b c]');
  });
});

describe('tolerations of a namespace', () => {
  const key = (name: string) => `scheduler.alpha.kubernetes.io/${name}`;
  const create = (annotations: JsonObject, pod: JsonObject = podOf()) =>
    outcome(podTolerations(inNamespace(annotations)), requestFor('pods', pod));
  const gpu = { key: 'gpu', operator: 'Exists', effect: 'NoSchedule' };
  const defaults = { [key('defaultTolerations')]: JSON.stringify([{ ...gpu, evil: { __proto__: 1 } }]) };

  it('are added to those of its pods', async () => {
    expect(await create(defaults)).toMatchObject({ spec: { tolerations: [gpu] } });
    const own = { key: 'gpu', operator: 'Exists' };
    const made = (await create(defaults, podOf({}, { tolerations: [own] }))) as { spec: JsonObject };
    expect(made.spec['tolerations']).toEqual([own]);
    expect(await create({})).not.toHaveProperty('spec.tolerations');
  });

  it('let pods with resources stay on nodes short of memory', async () => {
    expect(await create({}, podOf({ resources: { requests: { cpu: '1' } } }))).toMatchObject({
      spec: {
        tolerations: [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' }],
      },
    });
  });

  it('are no more than what is allowed', async () => {
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

  it.each(['{', '{}', '[1]', 'null'])('that cannot be read are told: %s', async (text) => {
    expect(await create({ [key('defaultTolerations')]: text })).toContain(
      '?? the tolerations of the namespace cannot be read: ',
    );
  });
});
