import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import { fakeInitializer, old, outcome, podOf, requestFor, type StoredObject, stored } from '../testing/initializer.ts';
import { defaultTolerations } from './default-tolerations.ts';
import { podTopologyLabels } from './pod-topology-labels.ts';
import { priority } from './priority.ts';
import { runtimeClass } from './runtime-class.ts';
import { taintNodes } from './taint-nodes.ts';

describe('DefaultTolerationSeconds', () => {
  const plugin = defaultTolerations(fakeInitializer());
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

  it('adds tolerations for unready and unreachable nodes, 300 seconds by default', async () => {
    expect(await tolerationsOf()).toEqual([added('not-ready'), added('unreachable')]);
  });

  it('uses the configured seconds', async () => {
    const told = { ...fakeInitializer(), tolerationSeconds: { notReady: 1, unreachable: 2 } };
    expect(await outcome(defaultTolerations(told), requestFor('pods', podOf()))).toMatchObject({
      spec: { tolerations: [{ tolerationSeconds: 1 }, { tolerationSeconds: 2 }] },
    });
  });

  it('adds no toleration that the pod already has', async () => {
    const own = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 };
    expect(await tolerationsOf([own])).toEqual([own, added('unreachable')]);
    const all = { operator: 'Exists' };
    expect(await tolerationsOf([all])).toEqual([all]);
    const other = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' };
    expect(await tolerationsOf([other])).toEqual([other, added('not-ready'), added('unreachable')]);
  });
});

describe('TaintNodesByCondition', () => {
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  it('adds the not-ready taint to new nodes', async () => {
    const plugin = taintNodes(fakeInitializer());
    expect(await outcome(plugin, requestFor('nodes', {}))).toMatchObject({ spec: { taints: [taint] } });
    const tainted = { spec: { taints: [taint] } };
    expect(await outcome(plugin, requestFor('nodes', tainted))).toMatchObject(tainted);
    const update = requestFor('nodes', { spec: {} }, { oldObject: old({}) });
    expect(await outcome(plugin, update)).toMatchObject({ spec: {} });
  });
});

describe('PodTopologyLabels', () => {
  const zone = { 'topology.kubernetes.io/zone': 'a' };
  const nodes = [stored('nodes', 'm', { metadata: { labels: { ...zone, other: 'x' } } }), stored('nodes', 'bare')];
  const labelsOf = async (object: JsonObject, subresource = '') => {
    const made = await outcome(podTopologyLabels(fakeInitializer(nodes)), requestFor('pods', object, { subresource }));
    return (made as { metadata: JsonObject }).metadata['labels'];
  };

  it('copies zone and region of the node to pods and bindings', async () => {
    const own = { metadata: { labels: { own: '1', 'topology.kubernetes.io/zone': 'b' } } };
    expect(await labelsOf({ ...own, ...podOf({}, { nodeName: 'm' }) })).toEqual({ own: '1', ...zone });
    expect(await labelsOf({ target: { kind: 'Node', name: 'm' } }, 'binding')).toEqual(zone);
  });

  it('adds nothing without a node or without labels', async () => {
    expect(await labelsOf(podOf())).toBeUndefined();
    for (const name of ['bare', 'none']) expect(await labelsOf(podOf({}, { nodeName: name }))).toBeUndefined();
    expect(await labelsOf({ target: { name: 'm' } }, 'binding')).toBeUndefined();
  });
});

describe('Priority', () => {
  const classes: StoredObject[] = [
    stored('priorityclasses.scheduling.k8s.io', 'high', { value: 1000, preemptionPolicy: 'Never' }),
    stored('priorityclasses.scheduling.k8s.io', 'normal', { value: 7, globalDefault: true }),
  ];
  const create = (spec: JsonObject, given = classes) =>
    outcome(priority(fakeInitializer(given)), requestFor('pods', podOf({}, spec)));

  it('sets the priority of the class, else of the default class, else 0', async () => {
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
  ])('rejects %j', async (spec, message) => {
    expect(await create(spec)).toBe(message);
  });

  it('keeps the computed fields on an update without them', async () => {
    const before = old(podOf({}, { priority: 3, preemptionPolicy: 'Never' }));
    const request = requestFor('pods', podOf(), { oldObject: before });
    expect(await outcome(priority(fakeInitializer(classes)), request)).toMatchObject({
      spec: { priority: 3, preemptionPolicy: 'Never' },
    });
  });

  it('allows one default class', async () => {
    const write = (name: string, update: boolean) => {
      const object = { metadata: { name }, globalDefault: true, value: 1 };
      const part = { name, ...(update ? { oldObject: old({ metadata: { name }, value: 1 }) } : {}) };
      return outcome(priority(fakeInitializer(classes)), requestFor('priorityclasses.scheduling.k8s.io', object, part));
    };
    const taken = 'PriorityClass normal is already marked as default. Only one default can exist';
    expect(await write('other', false)).toBe(taken);
    expect(await write('high', true)).toBe(taken);
    expect(await write('normal', true)).toBeTypeOf('object');
  });

  describe('a deletion of a class', () => {
    const remove = (name: string, part: { dryRun?: boolean } = {}) => {
      const request = { ...part, name, operation: 'DELETE', oldObject: old({ metadata: { name } }) } as const;
      return outcome(priority(fakeInitializer(classes)), requestFor('priorityclasses.scheduling.k8s.io', {}, request));
    };
    const refused = 'this is a system priority class and cannot be deleted';
    it.each(['system-cluster-critical', 'system-node-critical'])('is refused for %s', async (name) => {
      expect(await remove(name)).toBe(refused);
      expect(await remove(name, { dryRun: true })).toBe(refused);
    });
    // As in the reference server, a deletion of a collection, which names no object, takes the system classes too.
    it.each(['high', 'system-other', ''])('is allowed for %j', async (name) => {
      expect(await remove(name)).toBeTypeOf('object');
    });
  });
});

describe('RuntimeClass', () => {
  const toleration = { key: 'vm', operator: 'Exists' };
  const classes = [
    stored('runtimeclasses.node.k8s.io', 'vm', {
      overhead: { podFixed: { memory: '1Gi' } },
      scheduling: { nodeSelector: { vm: 'yes' }, tolerations: [toleration] },
    }),
    stored('runtimeclasses.node.k8s.io', 'plain'),
  ];
  const create = (spec: JsonObject) =>
    outcome(runtimeClass(fakeInitializer(classes)), requestFor('pods', podOf({}, spec)));

  it('sets overhead, node selector and tolerations', async () => {
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
  ])('rejects %j', async (spec, message) => {
    expect(await create(spec)).toBe(message);
  });
});
