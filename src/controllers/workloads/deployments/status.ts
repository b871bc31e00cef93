import { formatTime, jsonEqual, parseTime } from '../../../meta/index.ts';
import { withoutCondition } from '../../shared/conditions.ts';
import * as kinds from '../../shared/kinds.ts';
import {
  allOf,
  conditionOf,
  type DeploymentStatus,
  hasProgressed,
  hasTimedOut,
  isComplete,
  maxUnavailable,
  progressDeadline,
  type ReplicaSets,
  replicasOf,
  type Sync,
  sumOf,
} from './model.ts';

/** Sets a condition: unchanged with the same status and reason; its transition time stays while its status does. */
export function setDeploymentCondition(
  status: DeploymentStatus,
  type: string,
  value: 'True' | 'False' | 'Unknown',
  reason: string,
  message: string,
  now: number,
): void {
  const before = conditionOf(status, type);
  if (before?.status === value && before.reason === reason) return;
  const time = formatTime(now);
  const since = before?.status === value ? before.lastTransitionTime : time;
  const condition = {
    type,
    status: value,
    lastUpdateTime: time,
    ...(since === undefined ? {} : { lastTransitionTime: since }),
    reason,
    message,
  };
  status.conditions = [...withoutCondition(status.conditions, type), condition];
}

/** Writes the status of the deployment, with its annotations. */
export async function writeStatus({ context, deployment }: Sync): Promise<void> {
  const { metadata } = await context.client.kind(kinds.deployments).subresource('status').update(deployment);
  if (metadata.resourceVersion !== undefined) deployment.metadata.resourceVersion = metadata.resourceVersion;
}

/** The status for what the replica sets report. */
function calculateStatus({ context, deployment }: Sync, sets: ReplicaSets): DeploymentStatus {
  const all = allOf(sets);
  const { collisionCount, conditions = [] } = deployment.status ?? {};
  const available = sumOf(all, ({ status }) => status?.availableReplicas);
  const status: DeploymentStatus = {
    observedGeneration: deployment.metadata.generation ?? 0,
    replicas: sumOf(all, (set) => set.status?.replicas),
    updatedReplicas: sets.current?.status?.replicas ?? 0,
    readyReplicas: sumOf(all, (set) => set.status?.readyReplicas),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, sumOf(all, replicasOf) - available),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    conditions: [...conditions],
  };
  if (context.settings.features.DeploymentReplicaSetTerminatingReplicas) {
    status.terminatingReplicas = sumOf(all, (set) => set.status?.terminatingReplicas);
  }
  const now = context.clock.now();
  if (available >= replicasOf(deployment) - maxUnavailable(deployment)) {
    const message = 'Deployment has minimum availability.';
    setDeploymentCondition(status, 'Available', 'True', 'MinimumReplicasAvailable', message, now);
  } else {
    const message = 'Deployment does not have minimum availability.';
    setDeploymentCondition(status, 'Available', 'False', 'MinimumReplicasUnavailable', message, now);
  }
  return status;
}

/** Writes the status if it has changed. The result says whether it has. */
async function writeIfChanged(sync: Sync, status: DeploymentStatus): Promise<boolean> {
  if (jsonEqual(withZeros(sync.deployment.status ?? {}) as never, withZeros(status) as never)) return false;
  sync.deployment.status = status;
  await writeStatus(sync);
  return true;
}

/** Counts of zero are not stored. */
const withZeros = (status: DeploymentStatus): DeploymentStatus => ({
  replicas: 0,
  updatedReplicas: 0,
  readyReplicas: 0,
  availableReplicas: 0,
  unavailableReplicas: 0,
  conditions: [],
  ...status,
});

export async function syncStatus(sync: Sync, sets: ReplicaSets): Promise<void> {
  await writeIfChanged(sync, calculateStatus(sync, sets));
}

/** The delay until the progress of the rollout is checked again (ms); undefined when only a change matters. */
export async function syncRolloutStatus(sync: Sync, sets: ReplicaSets): Promise<number | undefined> {
  const { deployment } = sync;
  const now = sync.context.clock.now();
  const before = deployment.status ?? {};
  const status = calculateStatus(sync, sets);
  if (progressDeadline(deployment) === undefined) {
    status.conditions = withoutCondition(status.conditions, 'Progressing');
  } else {
    setProgress(sync, sets, before, status, now);
  }
  const failure = failureOf(sets);
  if (failure === undefined) status.conditions = withoutCondition(status.conditions, 'ReplicaFailure');
  else {
    const { reason = '', message = '' } = failure;
    setDeploymentCondition(
      status,
      'ReplicaFailure',
      failure.status === 'True' ? 'True' : 'False',
      reason,
      message,
      now,
    );
  }
  return (await writeIfChanged(sync, status)) ? undefined : untilDeadline(sync, status, now);
}

function setProgress(
  { deployment }: Sync,
  { current }: ReplicaSets,
  before: DeploymentStatus,
  status: DeploymentStatus,
  now: number,
) {
  const condition = conditionOf(before, 'Progressing');
  if (status.replicas === status.updatedReplicas && condition?.reason === 'NewReplicaSetAvailable') return;
  const name =
    current === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${current.metadata.name}"`;
  const set = (value: 'True' | 'False', reason: string, message: string) =>
    setDeploymentCondition(status, 'Progressing', value, reason, `${name} ${message}`, now);
  if (isComplete(deployment, status)) set('True', 'NewReplicaSetAvailable', 'has successfully progressed.');
  else if (hasProgressed(before, status)) {
    // Its update time says when the rollout last progressed.
    status.conditions = withoutCondition(status.conditions, 'Progressing');
    set('True', 'ReplicaSetUpdated', 'is progressing.');
    const progressing = conditionOf(status, 'Progressing');
    if (condition?.status === 'True' && progressing !== undefined && condition.lastTransitionTime !== undefined) {
      progressing.lastTransitionTime = condition.lastTransitionTime;
    }
  } else if (hasTimedOut(deployment, status, now)) {
    set('False', 'ProgressDeadlineExceeded', 'has timed out progressing.');
  }
}

/** The failure to create or delete pods that a replica set reports, the current one first. */
function failureOf(sets: ReplicaSets) {
  const failures = [sets.current, ...sets.old].flatMap((set) =>
    (set?.status?.conditions ?? []).filter(({ type }) => type === 'ReplicaFailure'),
  );
  return failures[0];
}

function untilDeadline({ deployment }: Sync, status: DeploymentStatus, now: number): number | undefined {
  const condition = conditionOf(deployment.status ?? {}, 'Progressing');
  const deadline = progressDeadline(deployment);
  if (deadline === undefined || typeof condition?.lastUpdateTime !== 'string') return undefined;
  if (isComplete(deployment, status) || condition.reason === 'ProgressDeadlineExceeded') return undefined;
  return Math.max(0, parseTime(condition.lastUpdateTime) + deadline * 1000 - now) + 1_000;
}

/** Says in the status that a rollout is paused, or has been resumed: its deadline begins again. */
export async function syncPaused(sync: Sync): Promise<void> {
  const { context, deployment } = sync;
  if (progressDeadline(deployment) === undefined) return;
  deployment.status ??= {};
  const reason = conditionOf(deployment.status, 'Progressing')?.reason;
  const paused = deployment.spec?.paused === true;
  if (reason === 'ProgressDeadlineExceeded' || paused === (reason === 'DeploymentPaused')) return;
  const [next, message] = paused
    ? ['DeploymentPaused', 'Deployment is paused']
    : ['DeploymentResumed', 'Deployment is resumed'];
  setDeploymentCondition(deployment.status, 'Progressing', 'Unknown', next, message, context.clock.now());
  await writeStatus(sync);
}
