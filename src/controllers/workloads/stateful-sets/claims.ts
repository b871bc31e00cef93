import type { KindPlace } from '../../../client/index.ts';
import { isStatus, type OwnerReference } from '../../../meta/index.ts';
import { apiVersionOf, type Named } from '../../shared/kind.ts';
import * as kinds from '../../shared/kinds.ts';
import { controllerReference } from '../../shared/owners.ts';
import { messageOf } from '../../shared/pod-control.ts';
import type { Pod } from '../../shared/pods.ts';
import type { ControllerContext } from '../../types.ts';
import { type Claim, claimsOf, isInRange, type StatefulSet } from './identity.ts';

/** The claim as the informer has it. */
const cachedClaim = ({ informers }: ControllerContext, { metadata: { namespace = '', name = '' } }: Claim) =>
  informers.of(kinds.persistentVolumeClaims).get(namespace, name);

/** Creates the claims of the pod that do not exist. @throws Error where one cannot be created, or is being deleted */
export async function createClaims(context: ControllerContext, set: StatefulSet, pod: Pod): Promise<void> {
  const problems: string[] = [];
  for (const claim of claimsOf(set, pod)) {
    const { name } = claim.metadata;
    const existing = cachedClaim(context, claim);
    if (existing?.metadata.deletionTimestamp !== undefined) problems.push(`pvc ${name} is being deleted`);
    if (existing !== undefined) continue;
    const about = `Claim ${name} Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
    try {
      await context.client.kind(kinds.persistentVolumeClaims).create(claim);
      context.events.record(set, 'Normal', 'SuccessfulCreate', `Create ${about} success`);
    } catch (error) {
      const why = messageOf(error);
      problems.push(`failed to create PVC ${name}: ${why}`);
      if (isStatus(error, 409)) continue;
      const failed = about.replace(' Pod ', ' for Pod ');
      context.events.record(set, 'Warning', 'FailedCreate', `Create ${failed} failed error: ${why}`);
    }
  }
  if (problems.length > 0) throw new Error(problems.join(', '));
}

/** Whether the owners of the pod's claims are those of the retention policy. */
export const claimsHaveOwners = (context: ControllerContext, set: StatefulSet, pod: Pod): boolean =>
  claimsOf(set, pod).every((claim) => {
    const existing = cachedClaim(context, claim);
    return existing === undefined || hasRightOwners(context, set, pod, existing);
  });

/** Gives the pod's claims the owners of the retention policy. */
export async function setClaimOwners(context: ControllerContext, set: StatefulSet, pod: Pod): Promise<void> {
  for (const claim of claimsOf(set, pod)) {
    const existing = cachedClaim(context, claim);
    if (existing === undefined) continue;
    const { name } = claim.metadata;
    if (hasForeignController(context, set, pod, existing)) {
      const message = `PersistentVolumeClaim ${name} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`;
      context.events.record(set, 'Warning', 'ConflictingController', message);
    }
    if (hasRightOwners(context, set, pod, existing)) continue;
    const ownerReferences = rightOwners(context, set, pod, existing);
    await context.client.kind(kinds.persistentVolumeClaims).update({
      ...existing,
      metadata: { ...existing.metadata, ownerReferences },
    });
  }
}

/** Whether a claim of the pod is still owned by an earlier pod of its name, with which it will be deleted. */
export const hasStaleClaim = (context: ControllerContext, set: StatefulSet, pod: Pod): boolean =>
  set.spec?.persistentVolumeClaimRetentionPolicy?.whenScaled === 'Delete' &&
  claimsOf(set, pod).some((claim) => {
    const existing = cachedClaim(context, claim);
    return existing !== undefined && isStale(context, existing, kinds.pods, pod);
  });

const refersTo = ({ names }: ControllerContext, reference: OwnerReference, kind: KindPlace, { metadata }: Named) =>
  reference.apiVersion === apiVersionOf(kind, names) &&
  reference.kind === kind.kind &&
  reference.name === metadata.name;

const ownersOf = ({ metadata }: Claim): OwnerReference[] => metadata.ownerReferences ?? [];
const isOwnedBy = (claim: Claim, { metadata }: Named): boolean =>
  metadata.uid !== undefined && ownersOf(claim).some(({ uid }) => uid === metadata.uid);

/** Whether the claim is owned by another object of this name. */
const isStale = (context: ControllerContext, claim: Claim, kind: KindPlace, object: Named): boolean => {
  const reference = ownersOf(claim).find((owner) => refersTo(context, owner, kind, object));
  return reference !== undefined && reference.uid !== object.metadata.uid;
};

/** Whether the claim has a controller that is neither the set nor the pod. */
function hasForeignController(context: ControllerContext, set: StatefulSet, pod: Pod, claim: Claim): boolean {
  const { whenDeleted = 'Retain', whenScaled = 'Retain' } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {};
  if (whenDeleted === 'Retain' && whenScaled === 'Retain') return false;
  return ownersOf(claim).some((owner) => {
    if (refersTo(context, owner, kinds.statefulSets, set)) return owner.uid !== set.metadata.uid;
    if (refersTo(context, owner, kinds.pods, pod)) return owner.uid !== pod.metadata.uid;
    return owner['controller'] === true;
  });
}

/** The owner that the retention policy gives a claim: the set, the pod when it is scaled away, or none. */
function wantedOwner(set: StatefulSet, pod: Pod): 'set' | 'pod' | undefined {
  const { whenDeleted = 'Retain', whenScaled = 'Retain' } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {};
  if (whenScaled === 'Delete' && !isInRange(set, pod)) return 'pod';
  return whenDeleted === 'Delete' ? 'set' : undefined;
}

function hasRightOwners(context: ControllerContext, set: StatefulSet, pod: Pod, claim: Claim): boolean {
  if (isStale(context, claim, kinds.statefulSets, set) || isStale(context, claim, kinds.pods, pod)) return true;
  const [bySet, byPod] = [isOwnedBy(claim, set), isOwnedBy(claim, pod)];
  if (hasForeignController(context, set, pod, claim)) return !bySet && !byPod;
  const own = [set.metadata.uid, pod.metadata.uid];
  if (ownersOf(claim).some((owner) => own.includes(owner.uid) && owner['controller'] !== true)) return false;
  const desiredOwner = wantedOwner(set, pod);
  return bySet === (desiredOwner === 'set') && byPod === (desiredOwner === 'pod');
}

function rightOwners(context: ControllerContext, set: StatefulSet, pod: Pod, claim: Claim): OwnerReference[] {
  const others = ownersOf(claim).filter(
    (owner) => !refersTo(context, owner, kinds.statefulSets, set) && !refersTo(context, owner, kinds.pods, pod),
  );
  if (hasForeignController(context, set, pod, claim)) return others;
  const desiredOwner = wantedOwner(set, pod);
  if (desiredOwner === undefined) return others;
  const [kind, owner] = desiredOwner === 'set' ? [kinds.statefulSets, set] : [kinds.pods, pod];
  return [...others, controllerReference(kind, owner as Named, context.names)];
}
