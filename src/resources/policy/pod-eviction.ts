import {
  formatTime,
  inTurns,
  type JsonObject,
  jsonCopy,
  type Labels,
  StatusError,
  type Steps,
  selectorFromObject,
  serverTurns,
  statusError,
} from '../../meta/index.ts';
import type { CreateCall, CreateHandler } from '../../registry/index.ts';
import type { Infer, ObjectOf } from '../../schema/index.ts';
import { Pod, type PodCondition } from '../../types/core-v1.ts';
import { PodDisruptionBudget } from '../../types/policy-v1.ts';
import type { PodObject } from '../core/pod-object.ts';
import { neverProbed, withCondition } from '../shared/conditions.ts';

type Budget = ObjectOf<typeof PodDisruptionBudget>;

/** Attempts while the pod is modified concurrently. */
const maxAttempts = 20;
/** Limit of `disruptedPods` of a budget. */
const maxDisrupted = 2_000;

/**
 * The create handler of `pods/eviction`: deletes the pod if all its disruption budgets allow that, and updates
 * those that it uses.
 */
export const evictPod: CreateHandler = async (posted, call) => {
  const options = (posted['deleteOptions'] ?? {}) as JsonObject;
  for (let attempt = 1; ; attempt++) {
    try {
      await evict(options, call);
      return;
    } catch (error) {
      if (!(error instanceof PodModified) || attempt === maxAttempts) throw error;
    }
  }
};

/** The pod was modified since it was read. */
class PodModified extends StatusError {}

async function evict(options: JsonObject, call: CreateCall): Promise<void> {
  const { namespace, name, objects } = call;
  const pod = await objects.read(Pod, namespace, name);
  if (bypassesBudget(pod)) {
    const ended = ['Succeeded', 'Failed'].includes(pod.status?.phase ?? '') || isDeleted(pod);
    await (ended ? remove(options, call) : deleteAsRead(pod, options, call));
    return;
  }
  const guarding = await budgetsOf(pod, call);
  const sparing = guarding.find((budget) => isSpare(pod, budget));
  const spent = guarding.filter((budget) => !isSpare(pod, budget));
  // None is spent where one refuses, except by a concurrent eviction: the disruption controller then takes that back.
  if (spent.length > 1) for (const budget of spent) useDisruption(jsonCopy(budget), name, call.now);
  for (const { metadata } of spent) {
    const spend = (current: Budget) => {
      // The delete options may ask for a dry run too: that works on a copy.
      useDisruption(isDryRun(options) ? jsonCopy(current) : current, name, call.now);
    };
    await objects.guaranteedUpdate(PodDisruptionBudget, namespace, metadata.name ?? '', spend, 'status');
  }
  if (sparing === undefined) return remove(options, call);
  try {
    await deleteAsRead(pod, options, call);
  } catch (error) {
    if (error instanceof PodModified) throw notProcessed(sparing);
    throw error;
  }
}

const isDryRun = ({ dryRun }: JsonObject): boolean => Array.isArray(dryRun) && dryRun.length > 0;

const isDeleted = ({ metadata }: PodObject): boolean => metadata.deletionTimestamp !== undefined;

/** Whether a pod needs no budget: it has terminated, has not started, or is being deleted. */
const bypassesBudget = (pod: PodObject): boolean =>
  isDeleted(pod) || ['Succeeded', 'Failed', 'Pending'].includes(pod.status?.phase ?? '');

/** Deletes the pod in the state that was read, unless the request has preconditions of its own. */
async function deleteAsRead(pod: PodObject, options: JsonObject, call: CreateCall): Promise<void> {
  const requested = preconditionsOf(options);
  if (requested.resourceVersion !== undefined) return remove(options, call);
  const { resourceVersion = '' } = pod.metadata;
  try {
    await remove({ ...options, preconditions: { ...requested, resourceVersion } }, call);
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 409) throw error;
    throw new PodModified(error.code, error.reason, error.message, error.details);
  }
}

/** Sets the `DisruptionTarget` condition and deletes the pod with the given options. */
async function remove(options: JsonObject, { namespace, name, objects, now }: CreateCall): Promise<void> {
  if (isDryRun(options)) return objects.delete(Pod, namespace, name, options);
  const requested = preconditionsOf(options);
  const conditionVersion = await objects.guaranteedUpdate(Pod, namespace, name, (pod) => {
    checkPreconditions(pod, requested);
    const { status = {} } = pod;
    pod.status = { ...status, conditions: withCondition(status.conditions, disruption, now) };
  });
  // A resourceVersion precondition refers to the version before the condition was set.
  const preconditions = { ...requested, ...(requested.resourceVersion ? { resourceVersion: conditionVersion } : {}) };
  await objects.delete(Pod, namespace, name, { ...options, preconditions });
}

const disruption: Infer<typeof PodCondition> = {
  ...neverProbed,
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
};

type Preconditions = { uid?: string; resourceVersion?: string };

const preconditionsOf = ({ preconditions }: JsonObject): Preconditions => (preconditions ?? {}) as Preconditions;

/** @throws StatusError 409 when the pod is another one, or has changed */
function checkPreconditions({ metadata }: PodObject, preconditions: Preconditions): void {
  const { name = '', uid = '', resourceVersion = '' } = metadata;
  const other = (field: string, expected: string, actual: string, why: string) =>
    statusError.conflict(
      { group: '', resource: 'Pod' },
      name,
      `the ${field} in the precondition (${expected}) does not match the ${field} in record (${actual}). The object might have been ${why}`,
    );
  if (preconditions.uid && preconditions.uid !== uid)
    throw other('UID', preconditions.uid, uid, 'deleted and then recreated');
  if (preconditions.resourceVersion && preconditions.resourceVersion !== resourceVersion) {
    throw other('ResourceVersion', preconditions.resourceVersion, resourceVersion, 'modified');
  }
}

async function budgetsOf(pod: PodObject, { namespace, objects }: CreateCall): Promise<Budget[]> {
  const all = await objects.list(PodDisruptionBudget, namespace, true);
  return inTurns(selectingBudgets(all, pod.metadata.labels ?? {}), serverTurns());
}

function* selectingBudgets(all: readonly Budget[], labels: Labels): Steps<Budget[]> {
  const selecting: Budget[] = [];
  for (const budget of all) {
    if (selectorFromObject(budget.spec?.selector).matches(labels)) selecting.push(budget);
    yield;
  }
  return selecting;
}

/** Whether a pod that is not ready may be evicted without using the budget. */
function isSpare({ status: podStatus }: PodObject, { spec = {}, status = {} }: Budget): boolean {
  const ready = podStatus?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  if (ready) return false;
  const { currentHealthy = 0, desiredHealthy = 0 } = status;
  return spec.unhealthyPodEvictionPolicy === 'AlwaysAllow' || (desiredHealthy > 0 && currentHealthy >= desiredHealthy);
}

/** Uses one disruption of the budget for this pod. @throws StatusError 403, 429 */
function useDisruption(budget: Budget, pod: string, now: number): void {
  const { name = '', generation = 0 } = budget.metadata;
  const { status = {} } = budget;
  const { disruptionsAllowed = 0, disruptedPods = {} } = status;
  if ((status.observedGeneration ?? 0) < generation) throw notProcessed(budget);
  const refused = (why: string) =>
    statusError.forbidden({ group: 'policy', resource: 'poddisruptionbudget' }, name, why);
  if (disruptionsAllowed < 0) throw refused('pdb disruptions allowed is negative');
  if (Object.keys(disruptedPods).length > maxDisrupted) {
    throw refused('DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (disruptionsAllowed === 0) throw tooMany(denialMessage(budget), 0);
  budget.status = {
    ...status,
    disruptionsAllowed: disruptionsAllowed - 1,
    disruptedPods: { ...disruptedPods, [pod]: formatTime(now) },
    ...(disruptionsAllowed === 1 ? { conditions: exhausted(budget, now) } : {}),
  };
}

const notProcessed = ({ metadata }: Budget): StatusError =>
  tooMany(`The disruption budget ${metadata.name} is still being processed by the server.`, 10);

function tooMany(message: string, retryAfterSeconds: number): StatusError {
  return new StatusError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message }],
    ...(retryAfterSeconds === 0 ? {} : { retryAfterSeconds }),
  });
}

const allowed = 'DisruptionAllowed';

function denialMessage({ metadata, status = {} }: Budget): string {
  const { currentHealthy = 0, desiredHealthy = 0, conditions = [] } = status;
  const denied = conditions.find(({ type, status, message }) => type === allowed && status === 'False' && message);
  const budget = `The disruption budget ${metadata.name}`;
  if (denied?.reason === 'SyncFailed') {
    return `${budget} does not allow evicting pods currently because it failed sync: ${denied.message}`;
  }
  if (currentHealthy <= desiredHealthy) {
    return `${budget} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  const detail = denied === undefined ? '' : ` (${denied.reason}): ${denied.message}`;
  return `${budget} does not allow evicting pods currently${detail}`;
}

type Conditions = NonNullable<NonNullable<Budget['status']>['conditions']>;

/** The conditions of a budget without disruptions left. */
function exhausted({ status = {} }: Budget, now: number): Conditions {
  const { conditions, observedGeneration } = status;
  const condition = {
    type: allowed,
    status: 'False',
    reason: 'InsufficientPods',
    message: '',
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
  };
  return withCondition(conditions, condition, now);
}
