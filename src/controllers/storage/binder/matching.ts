/** Which volume a claim can be bound to. */
import { compareQuantities, type Names, parseQuantity } from '../../../meta/index.ts';
import { storageClassOf } from '../../../rules/index.ts';
import type { PersistentVolume as VolumeSchema } from '../../../types/core-v1.ts';
import type { Named } from '../../shared/kind.ts';
import { selectorIn } from '../../shared/selection.ts';
import type { Claim } from '../pod-claims.ts';

export type PersistentVolume = VolumeSchema & Named;

const modesOf = ({ spec }: Claim | PersistentVolume): readonly string[] => spec?.accessModes ?? [];
const volumeModeOf = ({ spec }: Claim | PersistentVolume): string => spec?.volumeMode ?? 'Filesystem';
const attributesClassOf = ({ spec }: Claim | PersistentVolume): string => spec?.volumeAttributesClassName ?? '';
const capacityOf = ({ spec }: PersistentVolume) => parseQuantity(spec?.capacity?.['storage'] ?? '0');

const isLargeEnough = (volume: PersistentVolume, claim: Claim): boolean =>
  compareQuantities(capacityOf(volume), parseQuantity(claim.spec?.resources?.requests?.['storage'] ?? '0')) >= 0;

export const sameVolumeMode = (volume: PersistentVolume, claim: Claim): boolean =>
  volumeModeOf(volume) === volumeModeOf(claim);

const hasAccessModes = (volume: PersistentVolume, claim: Claim): boolean =>
  modesOf(claim).every((mode) => modesOf(volume).includes(mode));

/** Whether the volume refers to the claim: by its name, and by its uid where the reference has one. */
export function isBoundTo(volume: PersistentVolume, { metadata }: Claim): boolean {
  const { claimRef } = volume.spec ?? {};
  if (!claimRef || claimRef.name !== metadata.name || claimRef.namespace !== metadata.namespace) return false;
  return (claimRef.uid ?? '') === '' || claimRef.uid === metadata.uid;
}

/** Why the volume that a claim names cannot be bound to it; undefined when it can. */
export function mismatchOf(volume: PersistentVolume, claim: Claim, names: Names): string | undefined {
  if (volume.metadata.deletionTimestamp !== undefined) {
    return `the volume is marked for deletion "${volume.metadata.name}"`;
  }
  if (!isLargeEnough(volume, claim)) return 'requested PV is too small';
  if (storageClassOf(volume, names) !== storageClassOf(claim, names)) return 'storageClassName does not match';
  if (attributesClassOf(volume) !== attributesClassOf(claim)) return 'volumeAttributesClassName does not match';
  if (!sameVolumeMode(volume, claim)) return 'incompatible volumeMode';
  if (!hasAccessModes(volume, claim)) return 'incompatible accessMode';
  return undefined;
}

interface Volumes {
  /** Those that refer to a claim of this name. */
  readonly reserved: readonly PersistentVolume[];
  /** Those of the claim's storage class that are available. */
  readonly available: readonly PersistentVolume[];
}

/**
 * The volume to bind the claim to: with the fewest access modes, then one that is reserved for the claim, then the
 * smallest, then the first by name. Undefined when none will do.
 */
export function bestVolume(claim: Claim, { reserved, available }: Volumes): PersistentVolume | undefined {
  const { selector } = claim.spec ?? {};
  const selected = selector ? selectorIn(selector) : undefined;
  const suits = (volume: PersistentVolume) =>
    isLargeEnough(volume, claim) &&
    sameVolumeMode(volume, claim) &&
    hasAccessModes(volume, claim) &&
    attributesClassOf(volume) === attributesClassOf(claim) &&
    volume.metadata.deletionTimestamp === undefined;
  const candidates = [
    ...reserved.filter((volume) => isBoundTo(volume, claim) && suits(volume)),
    ...available.filter(
      (volume) => !volume.spec?.claimRef && suits(volume) && (selected?.matches(volume.metadata.labels) ?? true),
    ),
  ];
  return candidates.sort(compareCandidates)[0];
}

function compareCandidates(a: PersistentVolume, b: PersistentVolume): number {
  const [modesA, modesB] = [new Set(modesOf(a)), new Set(modesOf(b))];
  const isReserved = ({ spec }: PersistentVolume) => Boolean(spec?.claimRef);
  return (
    modesA.size - modesB.size ||
    Number(isReserved(b)) - Number(isReserved(a)) ||
    compareQuantities(capacityOf(a), capacityOf(b)) ||
    ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)
  );
}
