import { isStatus, type JsonObject } from '../../../meta/index.ts';
import type { PodTemplateSpec } from '../../../types/core-v1.ts';
import * as kinds from '../../shared/kinds.ts';
import { controllerOf, controllerReference } from '../../shared/owners.ts';
import { isTerminatingNamespace, messageOf } from '../../shared/pod-control.ts';
import { templateHash } from '../template-hash.ts';
import {
  annotationsFor,
  classify,
  conditionOf,
  hashLabel,
  maxSurge,
  nextReplicas,
  progressDeadline,
  type ReplicaSet,
  type ReplicaSets,
  replicasOf,
  revisionOf,
  type Sync,
  sameTemplate,
} from './model.ts';
import { setDeploymentCondition, writeStatus } from './status.ts';

/** The longest list of former revisions (characters). */
const maxHistory = 2_000;
/** The longest name of an object. */
const maxName = 253;

/**
 * The replica sets with their revisions brought up to date: the current one has the highest, and the deployment has the
 * revision of the current one. With `create` a current one is created if there is none.
 */
export async function syncRevision(sync: Sync, sets: readonly ReplicaSet[], create: boolean): Promise<ReplicaSets> {
  const { context, deployment } = sync;
  const { current, old } = classify(deployment, sets);
  const { revision: annotation } = annotationsFor(context.names);
  const revision = String(1 + old.reduce((highest, set) => Math.max(highest, revisionOf(set, annotation) ?? 0), 0));
  if (current !== undefined) return { current: await updateCurrent(sync, current, revision), old };
  return { current: create ? await createCurrent(sync, old, revision) : undefined, old };
}

async function updateCurrent(sync: Sync, current: ReplicaSet, revision: string): Promise<ReplicaSet> {
  const { context, deployment } = sync;
  const annotations = annotationsOf(sync, current, revision);
  const { minReadySeconds = 0 } = deployment.spec ?? {};
  if (annotations !== undefined || (current.spec?.minReadySeconds ?? 0) !== minReadySeconds) {
    return context.client.kind(kinds.replicaSets).update({
      ...current,
      metadata: { ...current.metadata, ...(annotations === undefined ? {} : { annotations }) },
      spec: { ...current.spec, minReadySeconds },
    });
  }
  const own = current.metadata.annotations?.[annotationsFor(context.names).revision] ?? revision;
  let changed = setRevision(sync, own);
  deployment.status ??= {};
  if (progressDeadline(deployment) !== undefined && conditionOf(deployment.status, 'Progressing') === undefined) {
    const message = `Found new replica set "${current.metadata.name}"`;
    setDeploymentCondition(
      deployment.status,
      'Progressing',
      'True',
      'FoundNewReplicaSet',
      message,
      context.clock.now(),
    );
    changed = true;
  }
  if (changed) await writeStatus(sync);
  return current;
}

/** Whether the deployment had another revision. */
function setRevision({ context, deployment }: Sync, revision: string): boolean {
  const { revision: annotation } = annotationsFor(context.names);
  if (deployment.metadata.annotations?.[annotation] === revision) return false;
  deployment.metadata.annotations = { ...deployment.metadata.annotations, [annotation]: revision };
  return true;
}

/** The annotations of a replica set with those of the deployment and its revision; undefined when nothing changes. */
function annotationsOf(
  { context, deployment }: Sync,
  set: Pick<ReplicaSet, 'metadata'>,
  revision: string,
): { [key: string]: string } | undefined {
  const names = annotationsFor(context.names);
  const before = set.metadata.annotations ?? {};
  const next = { ...before };
  let changed = false;
  for (const [key, value] of Object.entries(deployment.metadata.annotations ?? {})) {
    if (isOwn(key, names) || before[key] === value) continue;
    next[key] = value;
    changed = true;
  }
  const currentRevision = revisionOf(set as ReplicaSet, names.revision);
  if (currentRevision === undefined) return undefined;
  if (currentRevision < Number(revision)) {
    next[names.revision] = revision;
    changed = true;
    if (before[names.revision] !== undefined)
      next[names.history] = historyWith(before[names.history], String(currentRevision));
  }
  return changed ? next : undefined;
}

/** Annotations that are not copied between deployments and replica sets. */
export const isOwn = (key: string, names: ReturnType<typeof annotationsFor>): boolean =>
  (Object.values(names) as readonly string[]).includes(key);

/** The list of former revisions with another one; the oldest go when it becomes too long. */
function historyWith(history: string | undefined, revision: string): string {
  const revisions = history ? history.split(',') : [];
  while (revisions.length > 0 && [...revisions, revision].join(',').length > maxHistory) revisions.shift();
  return [...revisions, revision].join(',');
}

/** The annotations with which later scaling is in proportion. */
export function replicaAnnotations({ context, deployment }: Sync): { [key: string]: string } {
  const { desired, max } = annotationsFor(context.names);
  const replicas = replicasOf(deployment);
  return { [desired]: String(replicas), [max]: String(replicas + maxSurge(deployment)) };
}

async function createCurrent(sync: Sync, old: readonly ReplicaSet[], revision: string): Promise<ReplicaSet> {
  const { context, deployment } = sync;
  const desired = newReplicaSet(sync, old, revision);
  const { name = '' } = desired.metadata;
  let created: ReplicaSet;
  try {
    created = await context.client.kind(kinds.replicaSets).create(desired);
  } catch (error) {
    return failedCreation(sync, desired, error);
  }
  const replicas = replicasOf(desired);
  if (replicas > 0) {
    context.events.record(
      deployment,
      'Normal',
      'ScalingReplicaSet',
      `Scaled up replica set ${name} from 0 to ${replicas}`,
    );
  }
  let changed = setRevision(sync, revision);
  if (progressDeadline(deployment) !== undefined) {
    deployment.status ??= {};
    const message = `Created new replica set "${name}"`;
    setDeploymentCondition(
      deployment.status,
      'Progressing',
      'True',
      'NewReplicaSetCreated',
      message,
      context.clock.now(),
    );
    changed = true;
  }
  if (changed) await writeStatus(sync);
  return created;
}

function newReplicaSet(sync: Sync, old: readonly ReplicaSet[], revision: string): ReplicaSet {
  const { context, deployment } = sync;
  const { template = {}, selector, minReadySeconds } = deployment.spec ?? {};
  const { name = '', namespace } = deployment.metadata;
  const hash = templateHash(template as JsonObject, deployment.status?.collisionCount);
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  const hashed: PodTemplateSpec = { ...template, metadata: { ...template.metadata, labels } };
  const set: ReplicaSet = {
    metadata: {
      // The name of a template is always the same, so that no two are created for one.
      name: `${name.slice(0, maxName - 1 - hash.length)}-${hash}`,
      ...(namespace === undefined ? {} : { namespace }),
      labels,
      ownerReferences: [controllerReference(kinds.deployments, deployment, context.names)],
    },
    spec: {
      replicas: 0,
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [hashLabel]: hash } },
      template: hashed,
    },
  };
  const annotations = { ...annotationsOf(sync, set, revision), ...replicaAnnotations(sync) };
  const replicas = nextReplicas(deployment, [...old, set], set);
  return { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, replicas } };
}

/** The existing replica set where a creation failed because it exists. @throws the error, reported in the status */
async function failedCreation(sync: Sync, { metadata }: ReplicaSet, error: unknown): Promise<ReplicaSet> {
  const { context, deployment } = sync;
  const { name = '', namespace = '' } = metadata;
  deployment.status ??= {};
  if (isStatus(error, 409)) {
    const existing = await context.client.kind(kinds.replicaSets).get({ namespace, name });
    const isOwned = controllerOf(existing)?.uid === deployment.metadata.uid;
    if (isOwned && sameTemplate(existing.spec?.template, deployment.spec?.template)) return existing;
    // The hash of another template: the next attempt has another name.
    deployment.status.collisionCount = (deployment.status.collisionCount ?? 0) + 1;
    await writeStatus(sync);
    throw error;
  }
  if (isTerminatingNamespace(error)) throw error;
  const message = `Failed to create new replica set "${name}": ${messageOf(error)}`;
  if (progressDeadline(deployment) !== undefined) {
    setDeploymentCondition(
      deployment.status,
      'Progressing',
      'False',
      'ReplicaSetCreateError',
      message,
      context.clock.now(),
    );
    await writeStatus(sync);
  }
  context.events.record(deployment, 'Warning', 'ReplicaSetCreateError', message);
  throw error;
}
