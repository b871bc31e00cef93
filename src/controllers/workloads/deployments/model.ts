/** Computations of the controller of deployments from deployments and replica sets. */
import { type JsonObject, jsonEqual, type Names, parseTime } from '../../../meta/index.ts';
import type { Deployment as DeploymentSchema, ReplicaSet as ReplicaSetSchema } from '../../../types/apps-v1.ts';
import type { PodTemplateSpec } from '../../../types/core-v1.ts';
import { scaledValue } from '../../shared/int-or-percent.ts';
import type { Named } from '../../shared/kind.ts';
import { createdAt } from '../../shared/pods.ts';
import type { ControllerContext } from '../../types.ts';

export type Deployment = DeploymentSchema & Named;
export type ReplicaSet = ReplicaSetSchema & Named;
export type DeploymentStatus = NonNullable<Deployment['status']>;

/** One reconcile of a deployment. */
export interface Sync {
  readonly context: ControllerContext;
  /** A copy, which the reconcile changes. */
  readonly deployment: Deployment;
}

/** The replica set of the deployment's template, if there is one, and all others. */
export interface ReplicaSets {
  readonly current: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
}

export const allOf = ({ current, old }: ReplicaSets): ReplicaSet[] =>
  current === undefined ? [...old] : [...old, current];

/** The label of replica sets and pods with the hash of their template. */
export const hashLabel = 'pod-template-hash';

export const annotationsFor = ({ labels }: Names) => ({
  revision: `deployment.${labels}/revision`,
  history: `deployment.${labels}/revision-history`,
  desired: `deployment.${labels}/desired-replicas`,
  max: `deployment.${labels}/max-replicas`,
  rollback: 'deprecated.deployment.rollback.to',
  lastApplied: `kubectl.${labels}/last-applied-configuration`,
});

export const replicasOf = ({ spec }: Deployment | ReplicaSet): number => spec?.replicas ?? 1;
export const isRolling = ({ spec }: Deployment): boolean => spec?.strategy?.type !== 'Recreate';

export function maxSurge(deployment: Deployment): number {
  const { maxSurge: surge } = deployment.spec?.strategy?.rollingUpdate ?? {};
  return isRolling(deployment) ? scaledValue(surge, replicasOf(deployment), 'up') : 0;
}

export function maxUnavailable(deployment: Deployment): number {
  const replicas = replicasOf(deployment);
  if (!isRolling(deployment) || replicas === 0) return 0;
  const { maxUnavailable: unavailable } = deployment.spec?.strategy?.rollingUpdate ?? {};
  const limit = scaledValue(unavailable, replicas, 'down');
  // A rollout must be able to go on.
  return Math.min(limit === 0 && maxSurge(deployment) === 0 ? 1 : limit, replicas);
}

const unlimited = 2 ** 31 - 1;

/** The seconds in which a rollout must progress; undefined: any time. */
export const progressDeadline = ({ spec }: Deployment): number | undefined =>
  spec?.progressDeadlineSeconds === unlimited ? undefined : spec?.progressDeadlineSeconds;

export const historyLimit = ({ spec }: Deployment): number | undefined =>
  spec?.revisionHistoryLimit === unlimited ? undefined : spec?.revisionHistoryLimit;

export const sumOf = (sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number | undefined): number =>
  sets.reduce((sum, set) => sum + (count(set) ?? 0), 0);

export const activeOf = (sets: readonly ReplicaSet[]): ReplicaSet[] => sets.filter((set) => replicasOf(set) > 0);

/** Older ones first, of the same age by name. */
export function byAge(a: Named, b: Named): number {
  return (createdAt(a) ?? 0) - (createdAt(b) ?? 0) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);
}

/** The revision of a replica set; 0 without one, undefined when it is not a number. */
export function revisionOf({ metadata }: ReplicaSet, annotation: string): number | undefined {
  const text = metadata.annotations?.[annotation];
  if (text === undefined) return 0;
  return /^[+-]?[0-9]{1,18}$/.test(text) ? Number(text) : undefined;
}

/** Whether two templates are equal but for the label with their hash. */
export const sameTemplate = (a: PodTemplateSpec | undefined, b: PodTemplateSpec | undefined): boolean =>
  jsonEqual(withoutHash(a), withoutHash(b));

export function withoutHash(template: PodTemplateSpec | undefined): JsonObject {
  const { metadata = {}, ...rest } = template ?? {};
  const { [hashLabel]: _, ...labels } = metadata.labels ?? {};
  return { ...rest, metadata: { ...metadata, labels } } as JsonObject;
}

/** The replica sets of a deployment: the current one is the oldest with the deployment's template. */
export function classify({ spec }: Deployment, sets: readonly ReplicaSet[]): ReplicaSets {
  const sorted = [...sets].sort(byAge);
  const current = sorted.find((set) => sameTemplate(set.spec?.template, spec?.template));
  return { current, old: sorted.filter((set) => set !== current) };
}

/** How many replicas the current replica set may have now. */
export function nextReplicas(deployment: Deployment, all: readonly ReplicaSet[], current: ReplicaSet): number {
  const desired = replicasOf(deployment);
  if (!isRolling(deployment)) return desired;
  const now = replicasOf(current);
  const room = desired + maxSurge(deployment) - sumOf(all, replicasOf);
  return room <= 0 ? now : now + Math.min(room, desired - now);
}

/** All pods are of the current template, and available. */
export function isComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const desired = replicasOf(deployment);
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration = 0 } = status;
  const generation = deployment.metadata.generation ?? 0;
  return (
    [updatedReplicas, replicas, availableReplicas].every((count) => count === desired) &&
    observedGeneration >= generation
  );
}

/** More pods are updated, ready or available than before, or fewer are old. */
export function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas;
  const grew = (count: (status: DeploymentStatus) => number | undefined) => (count(after) ?? 0) > (count(before) ?? 0);
  return (
    old(after) < old(before) ||
    grew((status) => status.updatedReplicas) ||
    grew((status) => status.readyReplicas) ||
    grew((status) => status.availableReplicas)
  );
}

type DeploymentCondition = NonNullable<DeploymentStatus['conditions']>[number];

export const conditionOf = ({ conditions }: DeploymentStatus, type: string): DeploymentCondition | undefined =>
  conditions?.find((condition) => condition.type === type);

/** Whether a rollout has not progressed for longer than its deadline. */
export function hasTimedOut(deployment: Deployment, status: DeploymentStatus, now: number): boolean {
  const deadline = progressDeadline(deployment);
  const condition = conditionOf(status, 'Progressing');
  if (deadline === undefined || condition === undefined || condition.reason === 'NewReplicaSetAvailable') return false;
  if (condition.reason === 'ProgressDeadlineExceeded') return true;
  return typeof condition.lastUpdateTime === 'string' && parseTime(condition.lastUpdateTime) + deadline * 1000 < now;
}
