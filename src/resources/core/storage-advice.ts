/** The class of volumes and claims, and advice on both. */
import { getKey, type Names, type ObjectMeta } from '../../meta/index.ts';
import type { PersistentVolumeClaimSpec, PersistentVolumeSpec } from '../types/core-v1.ts';
import { warnOfTerm } from './pod-spec/node-labels.ts';
import { oldSources, warnOfFractions } from './pod-spec/warnings.ts';

/** The annotation that told the class before there was a field. */
export const classAnnotation = ({ labels }: Names): string => `volume.beta.${labels}/storage-class`;

interface Stored {
  metadata: ObjectMeta;
  spec?: { storageClassName?: string };
}

/** The class of a volume or claim: the old annotation comes before the field. */
export const storageClass = ({ metadata, spec }: Stored, names: Names): string =>
  getKey(metadata.annotations ?? {}, classAnnotation(names)) ?? spec?.storageClassName ?? '';

function warnOfAnnotation({ annotations = {} }: ObjectMeta, names: Names): string[] {
  const key = classAnnotation(names);
  return getKey(annotations, key) === undefined
    ? []
    : [`metadata.annotations[${key}]: deprecated since v1.8; use "storageClassName" attribute instead`];
}

const RECYCLE =
  'The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.';

/** Sources on whose end only pods are advised. */
const silent = ['gitRepo', 'flocker', 'quobyte'];

export const warnOfVolume = (metadata: ObjectMeta, spec: PersistentVolumeSpec, names: Names): string[] => [
  ...warnOfAnnotation(metadata, names),
  ...(spec.persistentVolumeReclaimPolicy === 'Recycle' ? [`spec.persistentVolumeReclaimPolicy: ${RECYCLE}`] : []),
  ...(spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).flatMap((term, i) =>
    warnOfTerm(term, false, `spec.nodeAffinity.required.nodeSelectorTerms[${i}]`, names),
  ),
  ...oldSources
    .filter(([source]) => !silent.includes(source) && (spec as { [field: string]: unknown })[source] !== undefined)
    .map(([source, why, shown = source]) => `spec.${shown}: ${why}`),
];

export const warnOfClaim = (metadata: ObjectMeta, spec: PersistentVolumeClaimSpec, names: Names): string[] => [
  ...warnOfAnnotation(metadata, names),
  ...warnOfFractions(spec.resources?.requests, 'spec.resources.requests', ['storage']),
  ...warnOfFractions(spec.resources?.limits, 'spec.resources.limits', ['storage']),
];
