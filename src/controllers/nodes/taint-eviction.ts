import { keyOf, splitKey } from '../../client/index.ts';
import { formatTime, isStatus, type Json, jsonEqual } from '../../meta/index.ts';
import type { Named } from '../shared/kind.ts';
import * as kinds from '../shared/kinds.ts';
import { type NodeObject, type NodeTaint, tolerates } from '../shared/node-selection.ts';
import { byNode, type Pod, podCondition } from '../shared/pods.ts';
import type { Controller } from '../types.ts';
import { taintsOf } from './node.ts';

interface Eviction {
  readonly uid: string;
  /** When to delete the pod (ms). */
  readonly due: number;
  state: 'scheduled' | 'begun' | 'done';
}

const evictingTaints = (node: NodeObject | undefined): readonly NodeTaint[] =>
  (node === undefined ? [] : taintsOf(node)).filter(({ effect }) => effect === 'NoExecute');

/** How long the pod may stay with these taints (ms): 0 with one that it does not tolerate, undefined for ever. */
function toleratedMs({ spec }: Pod, taints: readonly NodeTaint[]): number | undefined {
  let least: number | undefined;
  for (const taint of taints) {
    const toleration = spec?.tolerations?.find((one) => tolerates([one], taint));
    if (toleration === undefined) return 0;
    const { tolerationSeconds: seconds } = toleration;
    if (typeof seconds === 'number') least = Math.min(least ?? Infinity, Math.max(0, seconds * 1000));
  }
  return least;
}

/** Deletes the pods of nodes with taints `NoExecute` that they do not tolerate, or when the time of their toleration is over. */
export const taintEvictionController: Controller = {
  name: 'taint-eviction-controller',
  needs: [kinds.nodes, kinds.pods],
  account: 'node-controller',
  eventSource: 'taint-eviction-controller',
  start({ client, clock, events, informers, queue }) {
    const pods = informers.of(kinds.pods);
    const nodes = informers.of(kinds.nodes);
    const podsOf = byNode(pods);
    /** By the keys of the pods. */
    const evictions = new Map<string, Eviction>();

    const record = (key: string, what: string) => {
      const metadata = splitKey(key);
      events.record({ apiVersion: 'v1', kind: 'Pod', metadata }, 'Normal', 'TaintManagerEviction', `${what} ${key}`);
    };
    const cancel = (key: string) => {
      if (evictions.get(key)?.state === 'scheduled') record(key, 'Cancelling deletion of Pod');
      evictions.delete(key);
    };
    const evict = async (key: string, eviction: Eviction) => {
      if (eviction.state === 'scheduled') record(key, 'Marking for deletion Pod');
      eviction.state = 'begun';
      const { namespace, name } = splitKey(key);
      const pod = await client.kind(kinds.pods).find({ namespace, name });
      try {
        if (pod?.metadata.uid === eviction.uid) {
          await markDisrupted(pod);
          await client.kind(kinds.pods).delete(pod.metadata);
        }
      } catch (error) {
        if (!isStatus(error, 404)) throw error;
      }
      eviction.state = 'done';
    };
    const markDisrupted = async (pod: Pod) => {
      const { status, reason, message } = podCondition(pod, disrupted.type) ?? {};
      if (status === disrupted.status && reason === disrupted.reason && message === disrupted.message) return;
      const { uid = '' } = pod.metadata;
      const conditions = [{ ...disrupted, lastTransitionTime: formatTime(clock.now()) }];
      await client
        .kind(kinds.pods)
        .subresource('status')
        .patch(pod.metadata, 'strategic', { metadata: { uid }, status: { conditions } });
    };
    /** Decides from the taints of its node when to delete the pod. */
    const schedule = (key: string, pod: Pod) => {
      const node = nodes.get('', pod.spec?.nodeName ?? '');
      if (node === undefined) return;
      const now = clock.now();
      const ms = toleratedMs(pod, evictingTaints(node));
      if (ms === undefined || (ms === 0 && (evictions.get(key)?.due ?? 0) > now)) cancel(key);
      if (ms === undefined || evictions.has(key)) return;
      evictions.set(key, { uid: pod.metadata.uid ?? '', due: now + ms, state: 'scheduled' });
    };
    const work = queue('noexec_taint_pod', async (key) => {
      const pod = pods.getByKey(key);
      if (evictions.get(key)?.uid !== pod?.metadata.uid) cancel(key);
      if (pod !== undefined) schedule(key, pod);
      const eviction = evictions.get(key);
      if (eviction === undefined || eviction.state === 'done') return undefined;
      const remainingMs = eviction.due - clock.now();
      if (remainingMs > 0) return { requeueAfterMs: remainingMs };
      await evict(key, eviction);
      return undefined;
    });

    pods.onChange((pod, old) => {
      const changed = pod ?? old;
      if (changed === undefined || (pod !== undefined && old !== undefined && !isConcerned(pod, old))) return;
      const key = keyOf(changed);
      const isTainted = evictingTaints(nodes.get('', changed.spec?.nodeName ?? '')).length > 0;
      if (evictions.has(key) || (pod !== undefined && isTainted)) work.add(key);
    });
    nodes.onChange((node, old) => {
      const taints = (one: NodeObject | undefined) => evictingTaints(one) as Json;
      if (node === undefined || jsonEqual(taints(node), taints(old))) return;
      for (const pod of podsOf.get(node.metadata.name ?? '')) work.add(keyOf(pod));
    });
  },
};

const disrupted = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
};

/** Whether a change of the pod may change how long it stays. */
const isConcerned = (pod: Pod & Named, old: Pod & Named): boolean =>
  pod.spec?.nodeName !== old.spec?.nodeName ||
  !jsonEqual((pod.spec?.tolerations ?? []) as Json, (old.spec?.tolerations ?? []) as Json);
