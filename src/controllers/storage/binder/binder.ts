/** The writes that bind claims and volumes to each other. */
import type { Client, EventRecorder, Index, Informer } from '../../../client/index.ts';
import { annotationOf, type Json, jsonEqual, type Names } from '../../../meta/index.ts';
import type { StorageClass as ClassSchema } from '../../../types/storage-v1.ts';
import type { Named } from '../../shared/kind.ts';
import * as kinds from '../../shared/kinds.ts';
import type { Pod } from '../../shared/pods.ts';
import type { Claim } from '../pod-claims.ts';
import { isBoundTo, type PersistentVolume } from './matching.ts';

export type StorageClass = ClassSchema & Named;

/** The state and the dependencies of the binder. */
export interface Binder {
  readonly client: Client;
  readonly events: EventRecorder;
  readonly names: Names;
  readonly claims: Informer<Claim>;
  readonly volumes: Informer<PersistentVolume>;
  readonly classes: Informer<StorageClass>;
  /** Available volumes by storage class. */
  readonly available: Index<PersistentVolume>;
  /** Volumes by the key of the claim that they refer to. */
  readonly reserved: Index<PersistentVolume>;
  /** Pods by the keys of their claims. */
  readonly podsOf: Index<Pod>;
  /** Reconciles the claim, or the volume, again. */
  readonly addClaim: (key: string) => void;
}

/** The annotations of claims and volumes. */
export const annotationsOf = ({ labels }: Names) => ({
  /** Of claims whose binding is complete; the value is of no importance. */
  bindCompleted: `pv.${labels}/bind-completed`,
  /** Of claims and volumes that the controller has bound, not their author. */
  boundByController: `pv.${labels}/bound-by-controller`,
  provisionedBy: `pv.${labels}/provisioned-by`,
  migratedTo: `pv.${labels}/migrated-to`,
  selectedNode: `volume.${labels}/selected-node`,
  provisioners: [`volume.beta.${labels}/storage-provisioner`, `volume.${labels}/storage-provisioner`],
});

/** The object with the annotations that are given, without those that are undefined. */
export function annotated<T extends Named>(object: T, changes: { readonly [key: string]: string | undefined }): T {
  const entries = Object.entries({ ...object.metadata.annotations, ...changes });
  const annotations = Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Records the phase of a claim, with the access modes and capacity of its volume or without any. */
export async function setClaimPhase(
  { client }: Binder,
  claim: Claim,
  phase: 'Pending' | 'Bound' | 'Lost',
  volume?: PersistentVolume,
): Promise<Claim> {
  const { accessModes: _, capacity, currentVolumeAttributesClassName: current, ...rest } = claim.status ?? {};
  const status: NonNullable<Claim['status']> = { ...rest, phase };
  if (volume !== undefined) {
    if (volume.spec?.accessModes !== undefined) status.accessModes = volume.spec.accessModes;
    // That of a bound claim may differ from its volume's, while the file system is being resized.
    const used = claim.status?.phase === phase ? capacity : volume.spec?.capacity;
    if (used !== undefined) status.capacity = used;
    const becomesBound = claim.status?.phase === 'Pending' && phase === 'Bound';
    const attributes = becomesBound ? volume.spec?.volumeAttributesClassName : current;
    if (attributes) status.currentVolumeAttributesClassName = attributes;
  }
  if (jsonEqual(status as Json, (claim.status ?? {}) as Json)) return claim;
  return client
    .kind(kinds.persistentVolumeClaims)
    .subresource('status')
    .update({ ...claim, status });
}

export async function setVolumePhase(
  { client }: Binder,
  volume: PersistentVolume,
  phase: 'Available' | 'Bound' | 'Released' | 'Failed',
  message = '',
): Promise<PersistentVolume> {
  if (volume.status?.phase === phase) return volume;
  const { message: _, ...rest } = volume.status ?? {};
  const status = { ...rest, phase, ...(message === '' ? {} : { message }) };
  return client
    .kind(kinds.persistentVolumes)
    .subresource('status')
    .update({ ...volume, status });
}

/** Binds both to each other, the volume first. What is bound already stays as it is. */
export async function bind(binder: Binder, volume: PersistentVolume, claim: Claim): Promise<void> {
  const bound = await setVolumePhase(binder, await bindVolume(binder, volume, claim), 'Bound');
  await setClaimPhase(binder, await bindClaim(binder, claim, bound), 'Bound', bound);
}

async function bindVolume({ client, names }: Binder, volume: PersistentVolume, claim: Claim) {
  const { boundByController } = annotationsOf(names);
  const { claimRef } = volume.spec ?? {};
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = claim.metadata;
  const marks = !isBoundTo(volume, claim) && annotationOf(volume, boundByController) === undefined;
  const refers = claimRef?.name === name && claimRef.namespace === namespace && claimRef.uid === uid;
  if (refers && !marks) return volume;
  const reference = { kind: 'PersistentVolumeClaim', namespace, name, uid, apiVersion: 'v1', resourceVersion };
  const bound = { ...volume, spec: { ...volume.spec, claimRef: refers ? claimRef : reference } };
  return client.kind(kinds.persistentVolumes).update(marks ? annotated(bound, { [boundByController]: 'yes' }) : bound);
}

async function bindClaim({ client, names }: Binder, claim: Claim, { metadata }: PersistentVolume): Promise<Claim> {
  const { boundByController, bindCompleted } = annotationsOf(names);
  const { name: volumeName = '' } = metadata;
  const refers = claim.spec?.volumeName === volumeName;
  const missing = [...(refers ? [] : [boundByController]), bindCompleted].filter(
    (key) => annotationOf(claim, key) === undefined,
  );
  if (refers && missing.length === 0) return claim;
  const bound = { ...claim, spec: { ...claim.spec, volumeName } };
  return client
    .kind(kinds.persistentVolumeClaims)
    .update(annotated(bound, Object.fromEntries(missing.map((key) => [key, 'yes']))));
}

/** Makes the volume available: one that its author has reserved for a claim stays so. */
export async function unbind(binder: Binder, volume: PersistentVolume): Promise<void> {
  const { client, names } = binder;
  const { boundByController } = annotationsOf(names);
  const { claimRef, ...spec } = volume.spec ?? {};
  const { uid: _, ...reserved } = claimRef ?? {};
  const freed =
    annotationOf(volume, boundByController) === undefined
      ? { ...volume, spec: { ...spec, claimRef: reserved } }
      : annotated({ ...volume, spec }, { [boundByController]: undefined });
  await setVolumePhase(binder, await client.kind(kinds.persistentVolumes).update(freed), 'Available');
}
