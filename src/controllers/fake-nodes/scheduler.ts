import { keyOf } from '../../client/index.ts';
import { formatTime } from '../../meta/index.ts';
import * as kinds from '../shared/kinds.ts';
import type { Controller, ControllerContext } from '../types.ts';
import { ignoringAbsence } from './absence.ts';
import { choose, selectedNodes } from './fit.ts';
import { isTerminal, type NodeObject, type PodObject } from './objects.ts';
import { Placements } from './placements.ts';
import { antiAffinityTerms, type Neighbours } from './pod-affinity.ts';

/** The scheduler whose pods are taken, and the source of the events. */
const scheduler = 'default-scheduler';
/** How many pods are bound at a time: a durable store writes them together. */
const bindings = 64;
/** When pods that no node could take are tried again after a change of nodes or of pods on them (ms). */
const retryMs = 1_000;
/** Up to this number of pods that no node could take, a change of nodes tries them again at once. */
const maxRetriedAtOnce = 64;

/**
 * Binds the pods of the default scheduler to nodes that can take them: by node selector and affinity, taints, resources,
 * host ports, pod affinity and anti-affinity. Volumes, topology spread and preemption are not considered.
 */
export const fakeScheduler: Controller = {
  name: 'fake-scheduler',
  needs: [kinds.nodes, kinds.pods],
  account: 'fake-scheduler',
  eventSource: scheduler,
  user: { name: 'system:kube-scheduler', groups: [], agent: 'kube-scheduler' },
  start(context) {
    const { client, clock, events, informers, names, queue } = context;
    const nodes = informers.of(kinds.nodes);
    const pods = informers.of(kinds.pods);
    const placements = new Placements();
    const waiting = new Set<string>();
    const neighbours = neighboursOf(context, placements);
    const work = queue(
      'fake_scheduler',
      async (key) => {
        if (key === retryKey) {
          for (const pod of waiting) work.add(pod);
          return;
        }
        const pod = pods.getByKey(key);
        if (pod === undefined || !isSchedulable(pod) || placements.has(pod)) {
          waiting.delete(key);
          return;
        }
        // Before the nodes are read: one that changes meanwhile tries the pod again.
        waiting.add(key);
        const allNodes = nodes.list();
        const selected = await selectedNodes(pod, allNodes, context.turns);
        // A pod that has changed since is in the queue again.
        if (pods.getByKey(key) !== pod) return;
        const candidates = allNodes.map((node) => ({
          node,
          selected: selected.has(node),
          load: placements.loadOf(node.metadata.name ?? ''),
        }));
        const verdict = choose(pod, candidates, neighbours, names);
        if ('node' in verdict) {
          waiting.delete(key);
          // Before anything is waited for, so that the pod counts when the next one is placed.
          placements.assume(pod, verdict.node);
          await ignoringAbsence(bind(context, pod, verdict.node)).catch((error: unknown) => {
            placements.forget(pod);
            throw error;
          });
          return;
        }
        const old = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
        if (old?.reason === 'Unschedulable' && old.message === verdict.message) return;
        events.record(pod, 'Warning', 'FailedScheduling', verdict.message);
        const condition = {
          type: 'PodScheduled',
          status: 'False',
          reason: 'Unschedulable',
          message: verdict.message,
          lastProbeTime: null,
          lastTransitionTime: old?.status === 'False' ? (old.lastTransitionTime ?? null) : formatTime(clock.now()),
        };
        const patch = { status: { conditions: [condition] } };
        await ignoringAbsence(client.kind(kinds.pods).subresource('status').patch(pod.metadata, 'strategic', patch));
      },
      // A pod takes one write, so the pods of one namespace may use all workers.
      { workers: bindings, groupOf: () => '' },
    );
    const retry = (delayMs: number) => {
      if (waiting.size > 0) work.addAfter(retryKey, delayMs);
    };
    nodes.onChange((node, old) => {
      if (node !== undefined && concernsScheduling(node, old)) retry(waiting.size > maxRetriedAtOnce ? retryMs : 0);
    });
    pods.onChange((pod, old) => {
      if (placements.change(pod, old)) retry(retryMs);
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

async function bind({ client, events }: ControllerContext, pod: PodObject, node: string): Promise<void> {
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  await client.create(
    { apiVersion: 'v1', resource: 'pods', namespace, name, subresource: 'binding' },
    {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { namespace, name, uid },
      target: { kind: 'Node', name: node },
    },
  );
  events.record(pod, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${node}`);
}

/** The pods on nodes, for the affinity of others. */
function neighboursOf({ informers }: ControllerContext, placements: Placements): Neighbours {
  const nodes = informers.of(kinds.nodes);
  const pods = informers.of(kinds.pods);
  const namespaces = informers.of(kinds.namespaces);
  const takesPart = (pod: PodObject) => Boolean(pod.spec?.nodeName) && !isTerminal(pod);
  const isGuarded = (pod: PodObject) => antiAffinityTerms(pod).length > 0 && takesPart(pod);
  const guarded = pods.indexBy('antiAffinity', (pod) => (isGuarded(pod) ? [''] : []));
  return {
    podsIn: (names) => names.flatMap((namespace) => pods.list(namespace).map(placements.asPlaced).filter(takesPart)),
    guarded: () => [...guarded.get(''), ...placements.assumed().filter(isGuarded)],
    namespaces: () => namespaces.list(),
    node: (name) => nodes.get('', name),
  };
}
