import { keyOf } from '../../client/index.ts';
import { formatTime } from '../../meta/index.ts';
import { kinds } from '../kinds.ts';
import type { Controller, ControllerContext } from '../types.ts';
import { ignoringAbsence } from './absence.ts';
import { choose } from './fit.ts';
import { NodeLoads } from './node-loads.ts';
import { isTerminal, type NodeObject, type PodObject } from './objects.ts';
import { antiAffinityTerms, type Neighbours } from './pod-affinity.ts';

/** The scheduler whose pods are taken, and the source of the events. */
const scheduler = 'default-scheduler';
/** When pods that no node could take are tried again after a change of nodes or of pods on them (ms). */
const retryMs = 1_000;

/**
 * Binds the pods of the default scheduler to nodes that can take them: by node selector and affinity, taints, resources,
 * host ports, pod affinity and anti-affinity. Volumes, topology spread and preemption are not considered.
 */
export const fakeScheduler: Controller = {
  name: 'fake-scheduler',
  account: 'fake-scheduler',
  eventSource: scheduler,
  user: { name: 'system:kube-scheduler', groups: [], agent: 'kube-scheduler' },
  start(context) {
    const { client, clock, events, informers, names, queue } = context;
    const nodes = informers.of(kinds.nodes);
    const pods = informers.of(kinds.pods);
    const loads = new NodeLoads();
    const waiting = new Set<string>();
    const neighbours = neighboursOf(context);
    const work = queue(
      'fake_scheduler',
      async (key) => {
        if (key === retryKey) {
          for (const pod of waiting) work.add(pod);
          return;
        }
        const pod = pods.getByKey(key);
        if (pod === undefined || !isSchedulable(pod)) {
          waiting.delete(key);
          return;
        }
        const candidates = nodes.list().map((node) => ({ node, load: loads.of(node.metadata.name ?? '') }));
        const verdict = choose(pod, candidates, neighbours, names);
        if ('node' in verdict) {
          waiting.delete(key);
          await ignoringAbsence(bind(context, pod, verdict.node));
          return;
        }
        waiting.add(key);
        const old = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
        if (old?.reason === 'Unschedulable' && old.message === verdict.message) return;
        events.record(pod, 'Warning', 'FailedScheduling', verdict.message);
        const condition = {
          ...{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: verdict.message },
          lastProbeTime: null,
          lastTransitionTime: old?.status === 'False' ? (old.lastTransitionTime ?? null) : formatTime(clock.now()),
        };
        const patch = { status: { conditions: [condition] } };
        await ignoringAbsence(client.patch(kinds.pods, pod, 'strategic', patch, 'status'));
      },
      // One at a time, so that each pod counts when the next one is placed.
      { workers: 1 },
    );
    const retry = () => {
      if (waiting.size > 0) work.addAfter(retryKey, retryMs);
    };
    nodes.onChange((node, old) => {
      if (node !== undefined && concernsScheduling(node, old)) retry();
    });
    pods.onChange((pod, old) => {
      if (loads.change(pod, old)) retry();
      const changed = pod ?? old;
      if (changed !== undefined && (pod === undefined || isSchedulable(pod))) work.add(keyOf(changed));
    });
  },
};

/** No pod has this key. */
const retryKey = '';

const isSchedulable = (pod: PodObject): boolean =>
  !pod.spec?.nodeName &&
  (pod.spec?.schedulerName ?? scheduler) === scheduler &&
  (pod.spec?.schedulingGates ?? []).length === 0 &&
  pod.metadata.deletionTimestamp === undefined &&
  !isTerminal(pod);

/** Whether a change of a node may be to the advantage of a pod that no node could take. */
const concernsScheduling = (node: NodeObject, old: NodeObject | undefined): boolean => {
  const state = (one: NodeObject | undefined) =>
    JSON.stringify([one?.spec?.unschedulable, one?.spec?.taints, one?.metadata.labels, one?.status?.allocatable]);
  return state(node) !== state(old);
};

async function bind({ client, api, events }: ControllerContext, pod: PodObject, node: string): Promise<void> {
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  await api.create(
    { apiVersion: 'v1', resource: 'pods', namespace, name, subresource: 'binding' },
    {
      ...{ apiVersion: 'v1', kind: 'Binding', metadata: { namespace, name, uid } },
      target: { kind: 'Node', name: node },
    },
  );
  events.record(pod, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${node}`);
  // The answer to a binding is not the pod: the informer gets it before the next pod is placed.
  await client.find(kinds.pods, namespace, name);
}

/** The pods on nodes, for the affinity of others. */
function neighboursOf({ informers }: ControllerContext): Neighbours {
  const nodes = informers.of(kinds.nodes);
  const pods = informers.of(kinds.pods);
  const namespaces = informers.of(kinds.namespaces);
  const takesPart = (pod: PodObject) => Boolean(pod.spec?.nodeName) && !isTerminal(pod);
  const guarded = pods.indexBy('antiAffinity', (pod) =>
    antiAffinityTerms(pod).length > 0 && takesPart(pod) ? [''] : [],
  );
  return {
    podsIn: (wanted) => wanted.flatMap((namespace) => pods.list(namespace).filter(takesPart)),
    guarded: () => guarded.get(''),
    namespaces: () => namespaces.list(),
    node: (name) => nodes.get('', name),
  };
}
