import { keyOf } from '../../client/index.ts';
import { formatTime, isStatus, jsonEqual, parseTime } from '../../meta/index.ts';
import type { Named } from '../shared/kind.ts';
import * as kinds from '../shared/kinds.ts';
import { messageOf } from '../shared/pod-control.ts';
import { isReady, type Pod, podCondition } from '../shared/pods.ts';
import { findSelecting, selected, selectorIn } from '../shared/selection.ts';
import type { Controller, ControllerContext } from '../types.ts';
import { type Budget, expectedPods } from './expected-pods.ts';

type Status = NonNullable<Budget['status']>;

/** How long an eviction counts as a disruption while its pod is not deleted (ms). */
const deletionTimeoutMs = 120_000;
/** How long a pod may say that it is about to be disrupted before that is taken back (ms). */
const staleDisruptionMs = 120_000;

/** Counts how many pods of each budget may be disrupted. */
export const disruptionController: Controller = {
  name: 'disruption-controller',
  needs: [kinds.podDisruptionBudgets, kinds.pods],
  account: 'disruption-controller',
  eventSource: 'controllermanager',
  start(context) {
    const { informers } = context;
    const budgets = informers.of(kinds.podDisruptionBudgets);
    const pods = informers.of(kinds.pods);
    for (const kind of [kinds.replicaSets, kinds.deployments, kinds.replicationControllers, kinds.statefulSets]) {
      informers.of<Named>(kind);
    }
    const queue = context.queue('disruption', async (key) => {
      const budget = budgets.getByKey(key);
      if (budget === undefined) return undefined;
      const candidates = pods.list(budget.metadata.namespace);
      return reconcile(context, budget, await selected(candidates, selectorOf(budget), context.turns));
    });
    const stale = context.queue('stale_pod_disruption', (key) => clearDisruption(context, pods.getByKey(key)));
    budgets.onChange((budget) => {
      if (budget !== undefined) queue.add(keyOf(budget));
    });
    const enqueue = (budget: Budget) => queue.add(keyOf(budget));
    const select = findSelecting(context, { owners: budgets, selectorOf, onMatch: enqueue });
    pods.onChange((pod, old) => {
      if (pod !== undefined && staleDisruption(pod) !== undefined) stale.add(keyOf(pod));
      select(...[pod, old].filter((state) => state !== undefined));
    });
  },
};

const selectorOf = ({ spec }: Budget) => selectorIn(spec?.selector);

async function reconcile(
  context: ControllerContext,
  budget: Budget,
  pods: readonly Pod[],
): Promise<{ readonly requeueAfterMs: number } | undefined> {
  const { events, clock } = context;
  const record = (type: 'Normal' | 'Warning', reason: string, message: string) =>
    events.record(budget, type, reason, message);
  if (pods.length === 0) record('Normal', 'NoPods', 'No matching pods found');
  try {
    const { expected, desiredHealthy, unmanaged } = await expectedPods(context, budget, pods).catch(
      (error: unknown) => {
        const message = `Failed to calculate the number of expected pods: ${messageOf(error)}`;
        record('Warning', 'CalculateExpectedPodCountFailed', message);
        throw error;
      },
    );
    if (unmanaged) {
      const { text } = selectorOf(budget);
      const message = `Pods selected by this PodDisruptionBudget (selector: ${text}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`;
      record('Warning', 'UnmanagedPods', message);
    }
    const now = clock.now();
    const disrupted = disruptedPods(context, budget, pods, now);
    const healthy = pods.filter(
      (pod) => pod.metadata.deletionTimestamp === undefined && !disrupted.has(pod.metadata.name ?? '') && isReady(pod),
    );
    await writeStatus(context, budget, {
      currentHealthy: healthy.length,
      desiredHealthy,
      expectedPods: expected,
      disruptionsAllowed: expected <= 0 ? 0 : Math.max(0, healthy.length - desiredHealthy),
      ...(disrupted.size === 0 ? {} : { disruptedPods: Object.fromEntries(disrupted) }),
    });
    const until = [...disrupted.values()].map((time) => parseTime(time) + deletionTimeoutMs - now);
    const [first] = until.sort((a, b) => a - b);
    return first === undefined ? undefined : { requeueAfterMs: Math.max(1, first + 1) };
  } catch (error) {
    if (isStatus(error, 409) || isStatus(error, 404)) throw error;
    // Nothing may be disrupted while nothing is known.
    await writeStatus(context, budget, { ...budget.status, disruptionsAllowed: 0 }, messageOf(error));
    return undefined;
  }
}

/** The evicted pods that are not deleted yet, with the times of their evictions. */
function disruptedPods(
  { events }: ControllerContext,
  budget: Budget,
  pods: readonly Pod[],
  now: number,
): Map<string, string> {
  const disrupted = new Map<string, string>();
  const evicted: { readonly [name: string]: unknown } = budget.status?.disruptedPods ?? {};
  for (const pod of pods) {
    const { name = '', deletionTimestamp } = pod.metadata;
    const time = Object.hasOwn(evicted, name) ? evicted[name] : undefined;
    if (deletionTimestamp !== undefined || typeof time !== 'string') continue;
    if (parseTime(time) + deletionTimeoutMs >= now) disrupted.set(name, time);
    else {
      const { namespace } = budget.metadata;
      const message = `Pod was expected by PDB ${namespace}/${budget.metadata.name} to be deleted but it wasn't`;
      events.record(pod, 'Warning', 'NotDeleted', message);
    }
  }
  return disrupted;
}

/** Writes the status if it has changed; with a `failure` it says that the budget could not be calculated. */
async function writeStatus(
  { client, clock }: ControllerContext,
  budget: Budget,
  counts: Status,
  failure?: string,
): Promise<void> {
  const { generation = 0 } = budget.metadata;
  const observedGeneration = failure === undefined ? generation : (budget.status?.observedGeneration ?? 0);
  const allowed = failure === undefined && (counts.disruptionsAllowed ?? 0) > 0;
  const before = budget.status?.conditions?.find(({ type }) => type === 'DisruptionAllowed');
  const value = allowed ? 'True' : 'False';
  const since = before?.status === value ? before.lastTransitionTime : undefined;
  const reason = failure !== undefined ? 'SyncFailed' : allowed ? 'SufficientPods' : 'InsufficientPods';
  const condition = {
    type: 'DisruptionAllowed',
    status: value,
    ...(observedGeneration === 0 ? {} : { observedGeneration }),
    lastTransitionTime: since ?? formatTime(clock.now()),
    reason,
    message: failure ?? '',
  };
  const others = (budget.status?.conditions ?? []).filter(({ type }) => type !== 'DisruptionAllowed');
  const status = {
    ...counts,
    ...(observedGeneration === 0 ? {} : { observedGeneration }),
    conditions: [...others, condition],
  };
  if (jsonEqual((budget.status ?? {}) as never, status as never)) return;
  await client
    .kind(kinds.podDisruptionBudgets)
    .subresource('status')
    .update({ ...budget, status: status as Status });
}

/** Since when a pod that is not being deleted says that it is about to be disrupted (ms). */
function staleDisruption(pod: Pod): number | undefined {
  const { metadata, status } = pod;
  const condition = podCondition(pod, 'DisruptionTarget');
  if (metadata.deletionTimestamp !== undefined || condition?.status !== 'True') return undefined;
  if (condition.reason === 'TerminationByKubelet' || status?.phase === 'Failed' || status?.phase === 'Succeeded') {
    return undefined;
  }
  return typeof condition.lastTransitionTime === 'string' ? parseTime(condition.lastTransitionTime) : 0;
}

/** Takes back that a pod is about to be disrupted, when it was not deleted for long. */
async function clearDisruption(
  { client, clock }: ControllerContext,
  pod: Pod | undefined,
): Promise<{ readonly requeueAfterMs: number } | undefined> {
  const since = pod && staleDisruption(pod);
  if (pod === undefined || since === undefined) return undefined;
  const remainingMs = since + staleDisruptionMs - clock.now();
  if (remainingMs > 0) return { requeueAfterMs: remainingMs };
  const lastTransitionTime = formatTime(clock.now());
  const condition = { type: 'DisruptionTarget', status: 'False', lastTransitionTime };
  const conditions = (pod.status?.conditions ?? []).map((one) => (one.type === condition.type ? condition : one));
  await client
    .kind(kinds.pods)
    .subresource('status')
    .update({ ...pod, status: { ...pod.status, conditions } as NonNullable<Pod['status']> });
  return undefined;
}
