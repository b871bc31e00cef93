import { isStatus } from '../../../meta/index.ts';
import { scaledValue } from '../../shared/int-or-percent.ts';
import * as kinds from '../../shared/kinds.ts';
import { messageOf, slowStart } from '../../shared/pod-control.ts';
import { isAvailable, isReady, type Pod } from '../../shared/pods.ts';
import type { ControllerContext } from '../../types.ts';
import { claimsHaveOwners, createClaims, hasStaleClaim, setClaimOwners } from './claims.ts';
import {
  firstOrdinal,
  hasIdentity,
  hasStorage,
  isInRange,
  newPod,
  ordinalOf,
  replicasOf,
  revisionOf,
  type StatefulSet,
  withIdentity,
} from './identity.ts';

/** The state of one reconcile of a stateful set. */
export interface Pass {
  readonly context: ControllerContext;
  readonly set: StatefulSet;
  /** The set with the template of its current revision, and with that of its update revision. */
  readonly current: { readonly set: StatefulSet; readonly revision: string };
  readonly update: { readonly set: StatefulSet; readonly revision: string };
  readonly now: number;
}

/** The pods of a set: those that it wants, by ordinal, created or not, and those that it no longer wants. */
export interface Pods {
  readonly replicas: Pod[];
  /** The highest ordinal first. */
  readonly condemned: readonly Pod[];
}

const isCreated = ({ status }: Pod): boolean => (status?.phase ?? '') !== '';
const isDeleted = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

const minReady = ({ set }: Pass): number => set.spec?.minReadySeconds ?? 0;
const isUp = (pass: Pass, pod: Pod): boolean =>
  pod.status?.phase === 'Running' && isReady(pod) && isAvailable(pod, minReady(pass), pass.now);
const isUnavailable = (pass: Pass, pod: Pod): boolean => !isAvailable(pod, minReady(pass), pass.now) || isDeleted(pod);

/** The maximum number of pods that a pass makes: a set may want billions of them. */
const maxNewPods = 500;

/**
 * Sorts the pods into wanted and condemned ones, with new ones for the ordinals that have none. What is behind as many new
 * ones as a pass makes is left to the next passes.
 */
export function sortPods(pass: Pass, pods: readonly Pod[]): Pods {
  const { context, set, current, update } = pass;
  const first = firstOrdinal(set);
  const byOrdinal = new Map(pods.filter((pod) => isInRange(set, pod)).map((pod) => [ordinalOf(pod), pod]));
  const { type = 'RollingUpdate', rollingUpdate } = set.spec?.updateStrategy ?? {};
  // Below the partition pods keep the current revision.
  const partition = rollingUpdate === undefined ? (set.status?.currentReplicas ?? 0) : (rollingUpdate.partition ?? 0);
  const newReplica = (i: number): Pod => {
    const isKept = (type === 'RollingUpdate' || rollingUpdate !== undefined) && i < partition;
    const from = isKept ? current : update;
    return newPod(context.names, from.set, from.revision, first + i);
  };
  const replicas: Pod[] = [];
  for (let i = 0, made = 0; i < replicasOf(set) && made < maxNewPods; i++) {
    const pod = byOrdinal.get(first + i);
    if (pod === undefined) made++;
    replicas.push(pod ?? newReplica(i));
  }
  const condemned = pods
    .filter((pod) => !isInRange(set, pod) && ordinalOf(pod) !== undefined)
    .sort((a, b) => (ordinalOf(b) ?? 0) - (ordinalOf(a) ?? 0));
  return { replicas, condemned };
}

/** The counts of the status. */
export function countsOf(pass: Pass, pods: readonly Pod[]) {
  const created = pods.filter(isCreated);
  const ready = created.filter((pod) => pod.status?.phase === 'Running' && isReady(pod));
  const ofRevision = (name: string) => created.filter((pod) => !isDeleted(pod) && revisionOf(pod) === name).length;
  return {
    replicas: created.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isAvailable(pod, minReady(pass), pass.now)).length,
    currentReplicas: ofRevision(pass.current.revision),
    updatedReplicas: ofRevision(pass.update.revision),
  };
}

/**
 * One step towards the declared pods: creates, repairs and deletes, in the order of ordinals unless the policy is
 * `Parallel`, and replaces pods of another revision once all exist. Replaces entries of `replicas` with the created pods.
 */
export async function stepForward(pass: Pass, pods: Pods): Promise<void> {
  const { replicas, condemned } = pods;
  const ordered = pass.set.spec?.podManagementPolicy !== 'Parallel';
  const unavailable = [...replicas, ...[...condemned].reverse()].find((pod) => isUnavailable(pass, pod));
  if (await runAll(replicas, ordered, (i) => keep(pass, replicas, i, ordered))) return;
  for (const pod of condemned) {
    if (!claimsHaveOwners(pass.context, pass.update.set, pod)) await setClaimOwners(pass.context, pass.update.set, pod);
  }
  if (await runAll(condemned, ordered, (i) => condemn(pass, condemned[i] as Pod, ordered, unavailable))) return;
  if (pass.set.spec?.updateStrategy?.type !== 'OnDelete') await replaceOutdated(pass, replicas);
}

/** Calls `step` for each pod, one after the other until one says that the rest has to wait, or for all. */
async function runAll(pods: readonly Pod[], ordered: boolean, step: (i: number) => Promise<boolean>): Promise<boolean> {
  if (!ordered) {
    await slowStart(pods.length, step);
    return false;
  }
  for (let i = 0; i < pods.length; i++) if (await step(i)) return true;
  return false;
}

/** Brings a wanted pod about; whether those after it have to wait. */
async function keep(pass: Pass, replicas: Pod[], i: number, ordered: boolean): Promise<boolean> {
  const { context, set, update } = pass;
  let pod = replicas[i] as Pod;
  if (pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded') {
    if (!isDeleted(pod)) await deletePod(pass, pod);
    return true;
  }
  if (!isCreated(pod)) {
    if (hasStaleClaim(context, set, pod)) return true;
    pod = await createPod(pass, pod);
    replicas[i] = pod;
    if (ordered) return true;
  } else if (pod.status?.phase === 'Pending') {
    await createClaims(context, set, pod);
    await setClaimOwners(context, set, pod);
  }
  if (ordered && (isDeleted(pod) || !isUp(pass, pod))) return true;
  if (hasIdentity(context.names, set, pod) && hasStorage(set, pod) && claimsHaveOwners(context, update.set, pod)) {
    return false;
  }
  replicas[i] = await repairPod(pass, pod);
  return false;
}

/** Deletes a condemned pod; whether those after it have to wait. */
async function condemn(pass: Pass, pod: Pod, ordered: boolean, unavailable: Pod | undefined): Promise<boolean> {
  if (isDeleted(pod)) return ordered;
  if (ordered && !isUp(pass, pod) && pod !== unavailable) return true;
  await deletePod(pass, pod);
  return true;
}

/** Deletes the last pods that are of another revision than the update, as many as may be unavailable. */
async function replaceOutdated(pass: Pass, replicas: readonly Pod[]): Promise<void> {
  const { context, set, update } = pass;
  const { partition = 0, maxUnavailable } = set.spec?.updateStrategy?.rollingUpdate ?? {};
  const isOutdated = (pod: Pod) => revisionOf(pod) !== update.revision && !isDeleted(pod);
  if (context.settings.features.MaxUnavailableStatefulSet) {
    const allowed = Math.max(1, scaledValue(maxUnavailable ?? 1, replicasOf(set), 'down'));
    const room = allowed - replicas.filter((pod) => isUnavailable(pass, pod)).length;
    const outdated = replicas.slice(partition).reverse().filter(isOutdated);
    for (const pod of outdated.slice(0, Math.max(0, room))) await deletePod(pass, pod);
    return;
  }
  for (const pod of replicas.slice(partition).reverse()) {
    if (isOutdated(pod)) return deletePod(pass, pod);
    if (isUnavailable(pass, pod)) return;
  }
}

async function createPod({ context, set }: Pass, pod: Pod): Promise<Pod> {
  const record = (error?: unknown) => recordEvent(context, set, 'Create', pod, error);
  try {
    await createClaims(context, set, pod);
    const created = await context.client.kind(kinds.pods).create(pod);
    await setClaimOwners(context, set, created);
    record();
    return created;
  } catch (error) {
    // Another pod has this name, or had it a moment ago.
    if (!isStatus(error, 409)) record(error);
    throw error;
  }
}

async function repairPod({ context, set, update }: Pass, pod: Pod): Promise<Pod> {
  try {
    if (!hasStorage(set, pod)) await createClaims(context, update.set, pod);
    await setClaimOwners(context, update.set, pod);
    const repaired = await context.client.kind(kinds.pods).update(withIdentity(context.names, update.set, pod));
    recordEvent(context, set, 'Update', pod);
    return repaired;
  } catch (error) {
    recordEvent(context, set, 'Update', pod, error);
    throw error;
  }
}

async function deletePod({ context, set }: Pass, pod: Pod): Promise<void> {
  try {
    await context.client.kind(kinds.pods).delete(pod.metadata);
  } catch (error) {
    if (!isStatus(error, 404) && !isStatus(error, 409)) {
      recordEvent(context, set, 'Delete', pod, error);
      throw error;
    }
  }
  recordEvent(context, set, 'Delete', pod);
}

function recordEvent(
  { events }: ControllerContext,
  set: StatefulSet,
  verb: 'Create' | 'Update' | 'Delete',
  pod: Pod,
  error?: unknown,
): void {
  const about = `${verb} Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
  if (error === undefined) events.record(set, 'Normal', `Successful${verb}`, `${about} successful`);
  else events.record(set, 'Warning', `Failed${verb}`, `${about} failed error: ${messageOf(error)}`);
}
