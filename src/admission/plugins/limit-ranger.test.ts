import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import { EveryStep } from '../../meta/testing/every-step.ts';
import { fakeInitializer, old, outcome, podOf, requestFor, stored } from '../testing/initializer.ts';
import { limitRanger } from './limit-ranger.ts';

const withLimits = (...limits: JsonObject[]) =>
  fakeInitializer([stored('limitranges', 'l', { spec: { limits } }, 'n')]);
const create = (limits: JsonObject[], pod: JsonObject) =>
  outcome(limitRanger(withLimits(...limits)), requestFor('pods', pod));

describe('limit range defaults', () => {
  const defaults = { type: 'Container', default: { cpu: '200m', memory: '1Gi' }, defaultRequest: { cpu: '100m' } };

  it('set missing requests and limits of containers and record it in an annotation', async () => {
    const pod = podOf({ resources: { limits: { memory: '2Gi' } } }, { initContainers: [{ name: 'i' }] });
    expect(await create([defaults], pod)).toMatchObject({
      metadata: {
        annotations: {
          'kubernetes.io/limit-ranger':
            'LimitRanger plugin set: cpu request for container c; cpu limit for container c; cpu request for init container i; cpu, memory limit for init container i',
        },
      },
      spec: {
        containers: [{ resources: { limits: { cpu: '200m', memory: '2Gi' }, requests: { cpu: '100m' } } }],
        initContainers: [{ resources: { limits: { cpu: '200m', memory: '1Gi' }, requests: { cpu: '100m' } } }],
      },
    });
  });

  it('do not change a pod that sets everything', async () => {
    const pod = podOf({ resources: { limits: { cpu: '1', memory: '1' }, requests: { cpu: '1' } } });
    expect(await create([defaults], pod)).not.toHaveProperty('metadata.annotations');
  });

  describe('of many containers', () => {
    const quantities = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`x.y/r${i}`, '1']));
    const containers = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `c${i}` }));
    const pod = (count: number) => ({ spec: { containers: containers(count) } });

    it('are set in turns of the request', async () => {
      const turns = new EveryStep();
      const plugin = limitRanger(withLimits({ type: 'Container', default: { cpu: '1' } }));
      await outcome(plugin, requestFor('pods', pod(20), { turns }));
      expect(turns.count).toBeGreaterThanOrEqual(20);
    });

    it('are refused when they make the pod larger than any that can be stored', async () => {
      const limits = [{ type: 'Container', default: quantities(1_000) }];
      expect(await create(limits, pod(100))).toBeTypeOf('object');
      expect(await create(limits, pod(1_000))).toContain('Request entity too large: limit is 3145728');
    });

    it('are checked until an error lists a thousand violations', async () => {
      const limits = [{ type: 'Container', min: quantities(500) }];
      const message = (await create(limits, pod(500))) as string;
      expect(message.split('No request is specified').length).toBeLessThan(1_600);
    });
  });

  it('do not apply to updates of pods', async () => {
    const request = requestFor('pods', podOf(), { oldObject: old(podOf()) });
    expect(await outcome(limitRanger(withLimits(defaults)), request)).toMatchObject(podOf());
  });

  it('treat a resource named like a member of Object.prototype as any other', async () => {
    const limit = { type: 'Container', default: JSON.parse('{"constructor":"1","__proto__":"2"}') as JsonObject };
    const made = (await create([limit], podOf())) as { spec: { containers: { resources: { limits: JsonObject } }[] } };
    expect(JSON.stringify(made.spec.containers[0]?.resources.limits)).toBe('{"constructor":"1","__proto__":"2"}');
  });
});

describe('limit range constraints', () => {
  const resources = (requests: JsonObject, limits: JsonObject = {}) => podOf({ resources: { requests, limits } });

  // Messages as recorded from the reference server.
  it.each([
    ['max', { max: { cpu: '1' } }, resources({}, { cpu: '2' }), 'maximum cpu usage per Container is 1, but limit is 2'],
    ['no limit', { max: { cpu: '1' } }, resources({}), 'maximum cpu usage per Container is 1.  No limit is specified'],
    [
      'a request over the maximum',
      { max: { cpu: '1' } },
      resources({ cpu: '1500m' }, { cpu: '1' }),
      'maximum cpu usage per Container is 1, but request is 1500m',
    ],
    [
      'min',
      { min: { memory: '1Gi' } },
      resources({ memory: '512Mi' }),
      'minimum memory usage per Container is 1Gi, but request is 512Mi',
    ],
    [
      'no request',
      { min: { cpu: '50m' } },
      resources({}),
      'minimum cpu usage per Container is 50m.  No request is specified',
    ],
    [
      'a limit under the minimum',
      { min: { cpu: '50m' } },
      resources({ cpu: '50m' }, { cpu: '40m' }),
      'minimum cpu usage per Container is 50m, but limit is 40m',
    ],
    [
      'ratio',
      { maxLimitRequestRatio: { cpu: '2' } },
      resources({ cpu: '100m' }, { cpu: '250m' }),
      'cpu max limit to request ratio per Container is 2, but provided ratio is 2.500000',
    ],
    [
      'a ratio without a request',
      { maxLimitRequestRatio: { cpu: '2' } },
      resources({}, { cpu: '250m' }),
      'cpu max limit to request ratio per Container is 2, but no request is specified or request is 0',
    ],
    [
      'several',
      { max: { cpu: '1' }, min: { memory: '1Gi' } },
      resources({}, { cpu: '2' }),
      '[minimum memory usage per Container is 1Gi.  No request is specified, maximum cpu usage per Container is 1, but limit is 2]',
    ],
  ])('reject: %s', async (_, limit, pod, message) => {
    expect(await create([{ type: 'Container', ...limit }], pod)).toBe(message);
  });

  it('report all violations of the first LimitRange that has any', async () => {
    const cpu = (type: string) => ({ type, max: { cpu: '1' } });
    const ranges = [
      stored('limitranges', 'a', { spec: { limits: [cpu('Pod'), cpu('Container')] } }, 'n'),
      stored('limitranges', 'b', { spec: { limits: [{ type: 'Pod', max: { memory: '1' } }] } }, 'n'),
    ];
    const pod = resources({}, { cpu: '2' });
    expect(await outcome(limitRanger(fakeInitializer(ranges)), requestFor('pods', pod))).toBe(
      '[maximum cpu usage per Pod is 1, but limit is 2, maximum cpu usage per Container is 1, but limit is 2]',
    );
  });

  it('check pod-level resources instead of those of the containers', async () => {
    const pod = podOf({ resources: { limits: { cpu: '3' } } }, { resources: { limits: { cpu: '1' } } });
    expect(await create([{ type: 'Pod', max: { cpu: '2' } }], pod)).toBeTypeOf('object');
  });

  it('check a resize of a pod, but no other update', async () => {
    const before = { oldObject: old(resources({}, { cpu: '1' })) };
    const plugin = limitRanger(withLimits({ type: 'Container', max: { cpu: '1' } }));
    const write = (subresource: string) =>
      outcome(plugin, requestFor('pods', resources({}, { cpu: '2' }), { ...before, subresource }));
    expect(await write('resize')).toBe('maximum cpu usage per Container is 1, but limit is 2');
    expect(await write('')).toBeTypeOf('object');
    // The annotation is only written on create.
    const defaults = limitRanger(withLimits({ type: 'Container', default: { memory: '1Gi' } }));
    const resized = await outcome(defaults, requestFor('pods', podOf(), { ...before, subresource: 'resize' }));
    expect(resized).toMatchObject({ spec: { containers: [{ resources: { limits: { memory: '1Gi' } } }] } });
    expect(resized).not.toHaveProperty('metadata.annotations');
  });

  it('allow values equal to a constraint', async () => {
    const limit = { type: 'Container', max: { cpu: '1' }, min: { cpu: '1000m' }, maxLimitRequestRatio: { cpu: '1' } };
    expect(await create([limit], resources({ cpu: '1' }, { cpu: '1' }))).toBeTypeOf('object');
  });

  it('of type Pod aggregate containers, init containers and sidecars', async () => {
    const one = (name: string, cpu: string, more: JsonObject = {}) => ({
      name,
      ...more,
      resources: { requests: { cpu } },
    });
    const spec = {
      containers: [one('a', '1'), one('b', '1')],
      initContainers: [one('s', '1', { restartPolicy: 'Always' }), one('i', '3')],
    };
    // max(1 + 1 + 1, 3 + 1)
    const min = (cpu: string) => create([{ type: 'Pod', min: { cpu } }], { spec });
    expect(await min('4')).toBeTypeOf('object');
    expect(await min('4001m')).toBe('minimum cpu usage per Pod is 4001m, but request is 4');
  });

  it('check the requests of claims on create and update', async () => {
    const plugin = limitRanger(
      withLimits({ type: 'PersistentVolumeClaim', max: { storage: '10Gi' }, min: { storage: '1Gi' } }),
    );
    const claim = (storage: string) => ({ spec: { resources: { requests: { storage } } } });
    const at = (storage: string, before?: string) =>
      outcome(
        plugin,
        requestFor(
          'persistentvolumeclaims',
          claim(storage),
          before === undefined ? {} : { oldObject: old(claim(before)) },
        ),
      );
    expect(await at('10Gi')).toBeTypeOf('object');
    expect(await at('11Gi')).toBe('maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 11Gi');
    expect(await at('1Mi')).toBe('minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi');
    expect(await at('11Gi', '5Gi')).toBe(
      'maximum storage usage per PersistentVolumeClaim is 10Gi, but request is 11Gi',
    );
  });
});
