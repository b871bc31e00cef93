import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../meta/index.ts';
import { defaultTolerations } from './default-tolerations.ts';
import { podTopologyLabels } from './pod-topology-labels.ts';
import { priority } from './priority.ts';
import { runtimeClass } from './runtime-class.ts';
import { taintNodes } from './taint-nodes.ts';
import { fakeWorld, type Held, held, old, outcome, podOf, requestFor } from './testing/world.ts';

describe('default tolerations', () => {
  const plugin = defaultTolerations(fakeWorld());
  const tolerationsOf = async (given?: JsonObject[]) => {
    const pod = podOf({}, given === undefined ? {} : { tolerations: given });
    return ((await outcome(plugin, requestFor('pods', pod))) as { spec: JsonObject }).spec['tolerations'];
  };
  const added = (key: string) => ({
    key: `node.kubernetes.io/${key}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  });

  it('waits five minutes for nodes that fail', async () => {
    expect(await tolerationsOf()).toEqual([added('not-ready'), added('unreachable')]);
  });

  it('waits as long as it is told', async () => {
    const told = { ...fakeWorld(), tolerationSeconds: { notReady: 1, unreachable: 2 } };
    expect(await outcome(defaultTolerations(told), requestFor('pods', podOf()))).toMatchObject({
      spec: { tolerations: [{ tolerationSeconds: 1 }, { tolerationSeconds: 2 }] },
    });
  });

  it('adds nothing to what is tolerated already', async () => {
    const own = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 };
    expect(await tolerationsOf([own])).toEqual([own, added('unreachable')]);
    const all = { operator: 'Exists' };
    expect(await tolerationsOf([all])).toEqual([all]);
    const other = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' };
    expect(await tolerationsOf([other])).toEqual([other, added('not-ready'), added('unreachable')]);
  });
});

describe('taints of new nodes', () => {
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  it('holds pods off until the node is ready', async () => {
    const plugin = taintNodes(fakeWorld());
    expect(await outcome(plugin, requestFor('nodes', {}))).toMatchObject({ spec: { taints: [taint] } });
    const tainted = { spec: { taints: [taint] } };
    expect(await outcome(plugin, requestFor('nodes', tainted))).toMatchObject(tainted);
    const update = requestFor('nodes', { spec: {} }, { oldObject: old({}) });
    expect(await outcome(plugin, update)).toMatchObject({ spec: {} });
  });
});

describe('labels of where a pod runs', () => {
  const zone = { 'topology.kubernetes.io/zone': 'a' };
  const nodes = [held('nodes', 'm', { metadata: { labels: { ...zone, other: 'x' } } }), held('nodes', 'bare')];
  const labelsOf = async (object: JsonObject, subresource = '') => {
    const made = await outcome(podTopologyLabels(fakeWorld(nodes)), requestFor('pods', object, { subresource }));
    return (made as { metadata: JsonObject }).metadata['labels'];
  };

  it('come with its node', async () => {
    const own = { metadata: { labels: { own: '1', 'topology.kubernetes.io/zone': 'b' } } };
    expect(await labelsOf({ ...own, ...podOf({}, { nodeName: 'm' }) })).toEqual({ own: '1', ...zone });
    expect(await labelsOf({ target: { kind: 'Node', name: 'm' } }, 'binding')).toEqual(zone);
  });

  it('come from nowhere else', async () => {
    expect(await labelsOf(podOf())).toBeUndefined();
    for (const name of ['bare', 'none']) expect(await labelsOf(podOf({}, { nodeName: name }))).toBeUndefined();
    expect(await labelsOf({ target: { name: 'm' } }, 'binding')).toBeUndefined();
  });
});

describe('priority', () => {
  const classes: Held[] = [
    held('priorityclasses.scheduling.k8s.io', 'high', { value: 1000, preemptionPolicy: 'Never' }),
    held('priorityclasses.scheduling.k8s.io', 'normal', { value: 7, globalDefault: true }),
  ];
  const create = (spec: JsonObject, given = classes) =>
    outcome(priority(fakeWorld(given)), requestFor('pods', podOf({}, spec)));

  it('is that of the class, else of the default class, else 0', async () => {
    expect(await create({ priorityClassName: 'high' })).toMatchObject({
      spec: { priority: 1000, preemptionPolicy: 'Never' },
    });
    expect(await create({})).toMatchObject({
      spec: { priorityClassName: 'normal', priority: 7, preemptionPolicy: 'PreemptLowerPriority' },
    });
    const none = (await create({}, [])) as { spec: JsonObject };
    expect(none.spec).toMatchObject({ priority: 0, preemptionPolicy: 'PreemptLowerPriority' });
    expect(none.spec).not.toHaveProperty('priorityClassName');
  });

  it.each([
    [{ priorityClassName: 'none' }, 'no PriorityClass with name none was found'],
    [
      { priorityClassName: 'high', priority: 5 },
      'the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 1000 from the given PriorityClass name',
    ],
    [
      { priorityClassName: 'high', preemptionPolicy: 'PreemptLowerPriority' },
      'the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name',
    ],
  ])('refuses %j', async (spec, message) => {
    expect(await create(spec)).toBe(message);
  });

  it('stays when a pod is written anew without it', async () => {
    const before = old(podOf({}, { priority: 3, preemptionPolicy: 'Never' }));
    const request = requestFor('pods', podOf(), { oldObject: before });
    expect(await outcome(priority(fakeWorld(classes)), request)).toMatchObject({
      spec: { priority: 3, preemptionPolicy: 'Never' },
    });
  });

  it('has one default class', async () => {
    const write = (name: string, update: boolean) => {
      const object = { metadata: { name }, globalDefault: true, value: 1 };
      const part = { name, ...(update ? { oldObject: old({ metadata: { name }, value: 1 }) } : {}) };
      return outcome(priority(fakeWorld(classes)), requestFor('priorityclasses.scheduling.k8s.io', object, part));
    };
    const taken = 'PriorityClass normal is already marked as default. Only one default can exist';
    expect(await write('other', false)).toBe(taken);
    expect(await write('high', true)).toBe(taken);
    expect(await write('normal', true)).toBeTypeOf('object');
  });
});

describe('runtime class', () => {
  const toleration = { key: 'vm', operator: 'Exists' };
  const classes = [
    held('runtimeclasses.node.k8s.io', 'vm', {
      overhead: { podFixed: { memory: '1Gi' } },
      scheduling: { nodeSelector: { vm: 'yes' }, tolerations: [toleration] },
    }),
    held('runtimeclasses.node.k8s.io', 'plain'),
  ];
  const create = (spec: JsonObject) => outcome(runtimeClass(fakeWorld(classes)), requestFor('pods', podOf({}, spec)));

  it('brings what it costs and where it runs', async () => {
    expect(
      await create({ runtimeClassName: 'vm', nodeSelector: { disk: 'fast' }, tolerations: [{ key: 'a' }] }),
    ).toMatchObject({
      spec: {
        overhead: { memory: '1Gi' },
        nodeSelector: { disk: 'fast', vm: 'yes' },
        tolerations: [{ key: 'a' }, toleration],
      },
    });
    const same = { runtimeClassName: 'vm', overhead: { memory: '1024Mi' }, tolerations: [toleration] };
    expect(await create(same)).toMatchObject({ spec: { tolerations: [toleration] } });
    const wide = { runtimeClassName: 'vm', overhead: { memory: '1073741824' }, tolerations: [{ operator: 'Exists' }] };
    expect(await create(wide)).toMatchObject({ spec: { tolerations: [{ operator: 'Exists' }] } });
    const narrow = { ...toleration, effect: 'NoExecute', tolerationSeconds: 5 };
    expect(await create({ runtimeClassName: 'vm', tolerations: [narrow] })).toMatchObject({
      spec: { tolerations: [toleration] },
    });
  });

  it.each([
    [{ runtimeClassName: 'none' }, 'pod rejected: RuntimeClass "none" not found'],
    [
      { runtimeClassName: 'vm', overhead: { memory: '2Gi' } },
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ],
    [
      { runtimeClassName: 'vm', overhead: {} },
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ],
    [
      { runtimeClassName: 'plain', overhead: { memory: '2Gi' } },
      'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    ],
    [
      { runtimeClassName: 'vm', nodeSelector: { vm: 'no' } },
      'conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no',
    ],
  ])('refuses %j', async (spec, message) => {
    expect(await create(spec)).toBe(message);
  });
});
