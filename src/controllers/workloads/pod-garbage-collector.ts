import { formatTime, isStatus } from '../../meta/index.ts';
import * as kinds from '../shared/kinds.ts';
import { createdAt, type Pod } from '../shared/pods.ts';
import type { Controller } from '../types.ts';

/** How often pods are looked at, and how long a node must be gone before its pods are deleted (ms). */
const periodMs = 20_000;
const quarantineMs = 40_000;
/** Deletions at a time. */
const parallel = 50;

const isEnded = ({ status }: Pod): boolean => !['', 'Pending', 'Running', 'Unknown'].includes(status?.phase ?? '');

/** Evicted ones first, then older ones. */
function byEvictionAndAge(a: Pod, b: Pod): number {
  const evicted = ({ status }: Pod) => Number(status?.reason !== 'Evicted');
  return evicted(a) - evicted(b) || (createdAt(a) ?? 0) - (createdAt(b) ?? 0);
}

/** The condition of a pod that is deleted because its node is gone. */
const nodeGone = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByPodGC' };

/**
 * Deletes pods that nobody else will: of nodes that are gone or out of service, unscheduled ones that are being deleted,
 * and the oldest ended ones beyond the threshold.
 */
export const podGarbageCollector: Controller = {
  name: 'pod-garbage-collector-controller',
  needs: [kinds.pods, kinds.nodes],
  account: 'pod-garbage-collector',
  start({ client, clock, every, informers, names, settings, log }) {
    const pods = informers.of(kinds.pods);
    const nodes = informers.of(kinds.nodes);
    /** Since when nodes of pods are missing (ms). */
    const missing = new Map<string, number>();

    const remove = async (pod: Pod, isOrphan = false) => {
      try {
        if (!isEnded(pod) || pod.status?.phase === undefined) await markFailed(pod, isOrphan);
        await client.kind(kinds.pods).delete(pod.metadata, { gracePeriodSeconds: 0 });
      } catch (error) {
        if (!isStatus(error, 404) && !isStatus(error, 409)) log.error('a pod cannot be deleted', { error });
      }
    };
    const markFailed = async (pod: Pod, isOrphan: boolean) => {
      const { uid = '' } = pod.metadata;
      const now = formatTime(clock.now());
      const condition = { ...nodeGone, message: 'PodGC: node no longer exists', lastTransitionTime: now };
      const status = { phase: 'Failed', ...(isOrphan ? { conditions: [condition] } : {}) };
      await client
        .kind(kinds.pods)
        .subresource('status')
        .patch(pod.metadata, 'strategic', { metadata: { uid }, status });
    };
    const isOutOfService = ({ spec }: Pod) => {
      const node = nodes.get('', spec?.nodeName ?? '');
      const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
      const key = `node.${names.labels}/out-of-service`;
      return node !== undefined && !ready && (node.spec?.taints ?? []).some((taint) => taint.key === key);
    };
    /** The nodes of pods that have been gone for the quarantine, and are gone in the store too. */
    const goneNodes = async (all: readonly Pod[]): Promise<ReadonlySet<string>> => {
      const absent = new Set(
        all.map(({ spec }) => spec?.nodeName ?? '').filter((name) => name !== '' && nodes.get('', name) === undefined),
      );
      for (const name of missing.keys()) if (!absent.has(name)) missing.delete(name);
      const deletedNodes = new Set<string>();
      for (const name of absent) {
        const since = missing.get(name) ?? clock.now();
        missing.set(name, since);
        if (clock.now() - since < quarantineMs) continue;
        if ((await client.kind(kinds.nodes).find({ name })) === undefined) deletedNodes.add(name);
      }
      return deletedNodes;
    };
    const removeAll = async (candidates: readonly Pod[], isOrphan = false) => {
      for (let i = 0; i < candidates.length; i += parallel) {
        await Promise.all(candidates.slice(i, i + parallel).map((pod) => remove(pod, isOrphan)));
      }
    };

    every(periodMs, async () => {
      const all = pods.list();
      const deleting = all.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
      const { terminatedPodThreshold: threshold } = settings;
      if (threshold > 0) {
        const ended = all.filter(isEnded).sort(byEvictionAndAge);
        await removeAll(ended.slice(0, Math.max(0, ended.length - threshold)));
      }
      await removeAll(deleting.filter(isOutOfService));
      const deletedNodes = await goneNodes(all);
      await removeAll(
        all.filter(({ spec }) => deletedNodes.has(spec?.nodeName ?? '')),
        true,
      );
      await removeAll(deleting.filter(({ spec }) => (spec?.nodeName ?? '') === ''));
    });
  },
};
