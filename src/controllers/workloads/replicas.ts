import { keyOf } from '../../client/index.ts';
import { annotationOf, isStatus, jsonEqual, type LabelSelector, type Names } from '../../meta/index.ts';
import type { PodTemplateSpec } from '../../types/core-v1.ts';
import { setCondition, withoutCondition } from '../shared/conditions.ts';
import type { Kind, Named } from '../shared/kind.ts';
import * as kinds from '../shared/kinds.ts';
import { byController, claim, controllerOf, findController, orphansIn } from '../shared/owners.ts';
import {
  createPod,
  deletePod,
  isTerminatingNamespace,
  messageOf,
  type PodOwner,
  podFromTemplate,
  slowStart,
} from '../shared/pod-control.ts';
import {
  compareForDeletion,
  isActive,
  isAvailable,
  isReady,
  isTerminating,
  type Pod,
  untilAvailable,
} from '../shared/pods.ts';
import { findSelecting } from '../shared/selection.ts';
import type { ControllerContext } from '../types.ts';

/** The fields that replica sets and replication controllers share. */
export interface ReplicaOwner extends Named {
  spec?: { replicas?: number; minReadySeconds?: number; template?: PodTemplateSpec };
  status?: ReplicaStatus;
}

interface ReplicaStatus {
  replicas?: number;
  fullyLabeledReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  terminatingReplicas?: number;
  observedGeneration?: number;
  conditions?: { type?: string; status?: string; lastTransitionTime?: string; reason?: string; message?: string }[];
}

export interface ReplicaKind<T extends ReplicaOwner> {
  readonly kind: Kind<T>;
  /** The name of the queue. */
  readonly queue: string;
  readonly selectorOf: (owner: T) => LabelSelector;
  /** Whether its status counts pods that are being deleted. */
  readonly countsTerminating: boolean;
}

/** Pods that one reconcile creates or deletes at most. */
const burst = 500;

/** Keeps as many pods as each owner asks for. */
export function keepReplicas<T extends ReplicaOwner>(context: ControllerContext, of: ReplicaKind<T>): void {
  const { informers } = context;
  const owners = informers.of(of.kind);
  const pods = informers.of(kinds.pods);
  const byOwner = byController(pods);
  const siblings = byController(owners);
  const queue = context.queue(of.queue, async (key) => {
    const owner = owners.getByKey(key);
    if (owner === undefined) return undefined;
    const { uid = '', namespace = '' } = owner.metadata;
    const selector = of.selectorOf(owner);
    const candidates = [...byOwner.get(uid), ...byOwner.get(orphansIn(namespace))];
    const { client, names, turns } = context;
    const claimant = { client, names, turns, kind: of.kind, owner, selector };
    const active = await claim(claimant, kinds.pods, candidates.filter(isActive));
    const related = () => relatedPods(owner, siblings.get(controllerOf(owner)?.uid ?? uid), byOwner.get.bind(byOwner));
    const failure =
      owner.metadata.deletionTimestamp === undefined
        ? await manageReplicas(context, of, owner, active, related)
        : undefined;
    const counted = [...active];
    const terminating = candidates.filter(
      (pod) => controllerOf(pod)?.uid === uid && isTerminating(pod) && selector.matches(pod.metadata.labels),
    );
    const updated = await updateStatus(
      context,
      of,
      owner,
      statusOf(context, of, owner, counted, terminating.length, failure),
    );
    if (failure !== undefined) throw failure.error;
    const { minReadySeconds = 0 } = owner.spec ?? {};
    const { readyReplicas = 0, availableReplicas = 0 } = updated.status ?? {};
    if (minReadySeconds === 0 || readyReplicas === availableReplicas) return undefined;
    return { requeueAfterMs: untilAvailable(active, minReadySeconds, context.clock.now()) ?? minReadySeconds * 1000 };
  });
  owners.onChange((owner, old) => queue.add(keyOf(owner ?? (old as T))));
  const { selectorOf } = of;
  const select = findSelecting(context, { owners, selectorOf, onMatch: (owner) => queue.add(keyOf(owner)) });
  pods.onChange((pod, old) => {
    for (const state of [old, pod]) {
      const owner = state && findController(owners, state);
      if (owner !== undefined) queue.add(keyOf(owner));
    }
    if (pod !== undefined && controllerOf(pod) === undefined) select(pod);
  });
}

/** The active pods of the owner and of those with the same controller. */
function relatedPods(owner: Named, siblings: readonly Named[], podsOf: (uid: string) => Pod[]): Pod[] {
  const owners = siblings.length === 0 ? [owner] : siblings;
  return owners.flatMap(({ metadata: { uid = '' } }) => podsOf(uid)).filter(isActive);
}

interface Failure {
  readonly error: unknown;
  readonly reason: 'FailedCreate' | 'FailedDelete';
}

/** Creates or deletes pods until there are as many as the owner asks for, and adds them to the active ones, or takes them away. */
async function manageReplicas<T extends ReplicaOwner>(
  context: ControllerContext,
  { kind }: ReplicaKind<T>,
  object: T,
  active: readonly Pod[],
  related: () => readonly Pod[],
): Promise<Failure | undefined> {
  const owner: PodOwner = { kind, object };
  const { replicas = 1, template = {} } = object.spec ?? {};
  const surplus = active.length - replicas;
  try {
    if (surplus < 0) {
      await slowStart(Math.min(-surplus, burst), () =>
        createPod(context, owner, podFromTemplate(context, owner, template)),
      );
    } else if (surplus > 0) {
      const surplusPods = podsToDelete(active, related(), Math.min(surplus, burst), context);
      const results = await Promise.allSettled(surplusPods.map((pod) => deletePod(context, owner, pod)));
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    }
    return undefined;
  } catch (error) {
    if (surplus < 0 && isTerminatingNamespace(error)) return undefined;
    return { error, reason: surplus < 0 ? 'FailedCreate' : 'FailedDelete' };
  }
}

function podsToDelete(
  active: readonly Pod[],
  related: readonly Pod[],
  count: number,
  { clock, names }: Pick<ControllerContext, 'clock' | 'names'>,
): readonly Pod[] {
  if (count === active.length) return active;
  const onNode = new Map<string, number>();
  for (const { spec } of related) onNode.set(spec?.nodeName ?? '', (onNode.get(spec?.nodeName ?? '') ?? 0) + 1);
  const order = {
    costOf: (pod: Pod) => deletionCost(pod, names),
    neighboursOf: ({ spec }: Pod) => onNode.get(spec?.nodeName ?? '') ?? 0,
    now: clock.now(),
  };
  return [...active].sort((a, b) => compareForDeletion(a, b, order)).slice(0, count);
}

/** The cost of a pod's deletion, an int32; 0 by default. */
function deletionCost(pod: Pod, names: Names): number {
  const text = annotationOf(pod, `controller.${names.labels}/pod-deletion-cost`) ?? '0';
  const cost = /^-?(?:0|[1-9][0-9]{0,9})$/.test(text) ? Number(text) : 0;
  return cost === Math.trunc(cost) && Math.abs(cost) <= 2 ** 31 - 1 ? cost : 0;
}

/** The status for the pods that were active when the reconcile began. */
function statusOf<T extends ReplicaOwner>(
  { clock, settings }: ControllerContext,
  { countsTerminating }: ReplicaKind<T>,
  owner: T,
  active: readonly Pod[],
  terminating: number,
  failure: Failure | undefined,
): ReplicaStatus {
  const now = clock.now();
  const { minReadySeconds = 0, template } = owner.spec ?? {};
  const labels = Object.entries(template?.metadata?.labels ?? {});
  const isLabelled = ({ metadata }: Pod) => labels.every(([key, value]) => metadata.labels?.[key] === value);
  const { conditions: before, terminatingReplicas: _, ...rest } = owner.status ?? {};
  const conditions =
    failure === undefined
      ? withoutCondition(before, 'ReplicaFailure')
      : before?.some(({ type }) => type === 'ReplicaFailure')
        ? before
        : setCondition(before, 'ReplicaFailure', 'True', failure.reason, messageOf(failure.error), now);
  return {
    ...rest,
    replicas: active.length,
    fullyLabeledReplicas: active.filter(isLabelled).length,
    readyReplicas: active.filter(isReady).length,
    availableReplicas: active.filter((pod) => isAvailable(pod, minReadySeconds, now)).length,
    ...(countsTerminating && settings.features.DeploymentReplicaSetTerminatingReplicas
      ? { terminatingReplicas: terminating }
      : {}),
    ...(conditions.length === 0 ? {} : { conditions }),
  };
}

/** Writes the status if it has changed, again once after a conflict. */
async function updateStatus<T extends ReplicaOwner>(
  { client }: ControllerContext,
  { kind }: ReplicaKind<T>,
  owner: T,
  status: ReplicaStatus,
): Promise<T> {
  const { generation = 0 } = owner.metadata;
  const next = { ...status, observedGeneration: generation };
  const zeros = { fullyLabeledReplicas: 0, readyReplicas: 0, availableReplicas: 0 };
  if (jsonEqual({ ...zeros, ...owner.status } as never, next as never)) return owner;
  try {
    return await client
      .kind(kind)
      .subresource('status')
      .update({ ...owner, status: next } as NoInfer<T>);
  } catch (error) {
    if (!isStatus(error, 409)) throw error;
    const { namespace = '', name = '' } = owner.metadata;
    const live = await client.kind(kind).get({ namespace, name });
    return client
      .kind(kind)
      .subresource('status')
      .update({ ...live, status: next } as NoInfer<T>);
  }
}
