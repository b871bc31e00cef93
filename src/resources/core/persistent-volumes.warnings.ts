/** The warnings for persistent volumes and claims. */
import { getKey, type Names, type ObjectMeta, warned } from '../../meta/index.ts';
import { classAnnotation } from '../../rules/index.ts';
import type { PersistentVolumeClaimSpec, PersistentVolumeSpec } from '../../types/core-v1.ts';
import { nodeSelectorTermWarnings } from '../pod-template/node-labels.ts';
import { deprecatedSources, fractionWarnings } from '../pod-template/pod-spec.warnings.ts';
import { mountOptionsAnnotation } from './persistent-volumes.validation.ts';

function classAnnotationWarnings({ annotations = {} }: ObjectMeta, names: Names): string[] {
  const key = classAnnotation(names);
  return getKey(annotations, key) === undefined
    ? []
    : [`metadata.annotations[${key}]: deprecated since v1.8; use "storageClassName" attribute instead`];
}

const RECYCLE =
  'The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.';

/** Deprecated sources for which only pods get a warning. */
const podOnly = ['gitRepo', 'flocker', 'quobyte'];

function mountOptionsWarnings({ annotations = {} }: ObjectMeta, names: Names): string[] {
  const key = mountOptionsAnnotation(names);
  return getKey(annotations, key) === undefined
    ? []
    : [`metadata.annotations[${key}]: deprecated since v1.31; use "mountOptions" attribute instead`];
}

export const persistentVolumeWarnings = (metadata: ObjectMeta, spec: PersistentVolumeSpec, names: Names): string[] => [
  ...classAnnotationWarnings(metadata, names),
  ...mountOptionsWarnings(metadata, names),
  ...(spec.persistentVolumeReclaimPolicy === 'Recycle' ? [`spec.persistentVolumeReclaimPolicy: ${RECYCLE}`] : []),
  ...warned(spec.nodeAffinity?.required?.nodeSelectorTerms).flatMap((term, i) =>
    nodeSelectorTermWarnings(term, false, `spec.nodeAffinity.required.nodeSelectorTerms[${i}]`, names),
  ),
  ...deprecatedSources
    .filter(([source]) => !podOnly.includes(source) && (spec as { [field: string]: unknown })[source] !== undefined)
    .map(([source, why, field = source]) => `spec.${field}: ${why}`),
];

export const persistentVolumeClaimWarnings = (
  metadata: ObjectMeta,
  spec: PersistentVolumeClaimSpec,
  names: Names,
): string[] => [
  ...classAnnotationWarnings(metadata, names),
  ...fractionWarnings(spec.resources?.requests, 'spec.resources.requests', ['storage']),
  ...fractionWarnings(spec.resources?.limits, 'spec.resources.limits', ['storage']),
];
