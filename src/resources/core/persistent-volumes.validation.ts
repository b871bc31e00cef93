/** Validation of persistent volumes. */
import { posix } from 'node:path';
import {
  dns1123Subdomain,
  type FieldError,
  fieldError,
  formatTime,
  getKey,
  immutable,
  type Names,
  type ObjectMeta,
  parseQuantity,
} from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import {
  type NodeSelectorTerm,
  PersistentVolumeSource,
  type PersistentVolumeSpec,
  type PersistentVolumeStatus,
  VolumeNodeAffinity,
} from '../../types/core-v1.ts';
import { validateNodeSelector } from '../pod-template/affinity.ts';
import { renamedLabels } from '../pod-template/node-labels.ts';
import { validateNonNegativeWhole } from '../pod-template/resources.ts';
import { byRule, oneOf, same } from '../shared/field-rules.ts';
import { internalDiff, internalForm } from '../shared/internal-go-form.ts';
import { persistentSources, type SourceName, validateSources } from './persistent-volume-sources.ts';

type Spec = PersistentVolumeSpec;
const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

function validateModes(modes: readonly string[], path: string): FieldError[] {
  if (modes.length === 0) return [fieldError.required(path)];
  const errors = modes.flatMap((mode) => oneOf(path, mode, accessModes));
  if (modes.includes('ReadWriteOncePod') && modes.some((mode) => mode !== 'ReadWriteOncePod')) {
    errors.push(fieldError.forbidden(path, 'may not use ReadWriteOncePod with other access modes'));
  }
  return errors;
}

function validateCapacity(capacity: Spec['capacity'], path: string): FieldError[] {
  const entries = Object.entries(capacity ?? {});
  const errors: FieldError[] = [];
  if (entries.length === 0) errors.push(fieldError.required(path));
  if (entries.length !== 1 || capacity?.['storage'] === undefined) {
    errors.push(fieldError.notSupported(path, capacity ?? null, ['storage']));
  }
  for (const [resource, amount] of entries) {
    const at = `${path}[${resource}]`;
    errors.push(...validateNonNegativeWhole(amount, at));
    if (parseQuantity(amount).nano <= 0n) errors.push(fieldError.invalid(at, amount, 'must be greater than zero'));
  }
  return errors;
}

function validateAffinity(affinity: Infer<typeof VolumeNodeAffinity> | undefined, path: string): FieldError[] {
  if (affinity === undefined) return [];
  if (affinity.required !== undefined) return validateNodeSelector(affinity.required, `${path}.required`);
  return [fieldError.required(`${path}.required`, 'must specify required node constraints')];
}

/** Validates a persistent volume; `metadata` is that of the object. */
export function validateVolume(spec: Spec, metadata: ObjectMeta, names: Names): FieldError[] {
  const path = 'spec';
  const errors = [
    ...validateModes(spec.accessModes ?? [], `${path}.accessModes`),
    ...validateCapacity(spec.capacity, `${path}.capacity`),
    ...validateAffinity(spec.nodeAffinity, `${path}.nodeAffinity`),
    ...validateSources(spec, path, {
      names,
      volume: metadata.name ?? '',
      bound: spec.nodeAffinity !== undefined,
    }),
  ];
  const { hostPath, storageClassName: storage = '', volumeAttributesClassName: attributes } = spec;
  if (posix.normalize(hostPath?.path ?? '') === '/' && spec.persistentVolumeReclaimPolicy === 'Recycle') {
    const why = "may not be 'recycle' for a hostPath mount of '/'";
    errors.push(fieldError.forbidden(`${path}.persistentVolumeReclaimPolicy`, why));
  }
  if (storage !== '') errors.push(...byRule(`${path}.storageClassName`, storage, dns1123Subdomain));
  if (attributes !== undefined) errors.push(...validateAttributesClass(attributes, spec, path));
  return [...errors, ...validateMountOptions(spec, metadata, names)];
}

function validateAttributesClass(name: string, { csi }: Spec, path: string): FieldError[] {
  const at = `${path}.volumeAttributesClassName`;
  return [
    ...(name === '' ? [fieldError.required(at, 'an empty string is disallowed')] : byRule(at, name, dns1123Subdomain)),
    ...(csi === undefined
      ? [fieldError.required(`${path}.csi`, 'has to be specified when using volumeAttributesClassName')]
      : []),
  ];
}

/** Sources that support mount options. */
const mountable: readonly SourceName[] = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'portworxVolume',
];

/** The former place of `spec.mountOptions`. */
export const mountOptionsAnnotation = ({ labels }: Names): string => `volume.beta.${labels}/mount-options`;

/** Validates the mount options annotation, which only some sources support. */
function validateMountOptions(spec: Spec, { annotations = {} }: ObjectMeta, names: Names): FieldError[] {
  const key = mountOptionsAnnotation(names);
  if (getKey(annotations, key) === undefined || mountable.some((name) => spec[name] !== undefined)) return [];
  return [fieldError.forbidden(`metadata.annotations.${key}`, 'may not specify mount options for this volume type')];
}

/** Validates the inline volume spec of a volume attachment. */
export function validateInlineVolume(spec: Spec, path: string, names: Names): FieldError[] {
  const errors = validateModes(spec.accessModes ?? [], `${path}.accessModes`);
  const policy = spec.persistentVolumeReclaimPolicy ?? '';
  const place = 'in the context of inline volumes';
  for (const field of ['claimRef', 'capacity', 'nodeAffinity', 'storageClassName'] as const) {
    if (spec[field] !== undefined)
      errors.push(fieldError.forbiddenSubtree(`${path}.${field}`, `may not be specified ${place}`));
  }
  if (spec.csi === undefined) errors.push(fieldError.required(`${path}.csi`, `has to be specified ${place}`));
  if (policy !== '' && policy !== 'Retain') {
    errors.push(fieldError.forbiddenSubtree(`${path}.persistentVolumeReclaimPolicy`, `may only be Retain ${place}`));
  }
  if (spec.volumeMode !== undefined && spec.volumeMode !== 'Filesystem') {
    const why = `may not specify volumeMode other than Filesystem ${place}`;
    errors.push(fieldError.forbiddenSubtree(`${path}.volumeMode`, why));
  }
  return [...errors, ...validateSources(spec, path, { names, volume: '', bound: false })];
}

const sourceOf = (spec: Spec): PersistentVolumeSource =>
  Object.fromEntries(persistentSources.flatMap((name) => (spec[name] === undefined ? [] : [[name, spec[name]]])));

/** Validates an update: the source and the node affinity are immutable. */
export function validateVolumeUpdate(spec: Spec, old: Spec, names: Names): FieldError[] {
  const errors: FieldError[] = [];
  const [now, before] = [sourceOf(spec), sourceOf(old)];
  // `controllerExpandSecretRef` may be set once.
  if (now.csi !== undefined && before.csi !== undefined && before.csi.controllerExpandSecretRef === undefined) {
    const { controllerExpandSecretRef: _, ...rest } = now.csi;
    now.csi = rest;
  }
  if (!same(now, before)) {
    const diff = internalDiff(before, now, PersistentVolumeSource);
    const why = `spec.persistentvolumesource is immutable after creation\n${diff}`;
    errors.push(fieldError.forbidden('spec.persistentvolumesource', why));
  }
  if (!same(spec.volumeMode, old.volumeMode)) errors.push(immutable('volumeMode', spec.volumeMode));
  if (
    old.nodeAffinity !== undefined &&
    !same(withRenamedLabels(spec.nodeAffinity, old.nodeAffinity, names), spec.nodeAffinity)
  ) {
    const printedValue = spec.nodeAffinity === undefined ? null : internalForm(spec.nodeAffinity, VolumeNodeAffinity);
    const why = 'field is immutable, except for updating from beta label to GA';
    errors.push(fieldError.invalid('nodeAffinity', printedValue, why));
  }
  if (old.volumeAttributesClassName !== undefined && spec.volumeAttributesClassName === undefined) {
    errors.push(
      fieldError.forbidden('spec.volumeAttributesClassName', 'update from non-nil value to nil is forbidden'),
    );
  }
  return errors;
}

type NodeAffinity = Infer<typeof VolumeNodeAffinity>;

/** The old node affinity with the deprecated labels replaced where the new one has replaced them. */
function withRenamedLabels(affinity: NodeAffinity | undefined, old: NodeAffinity, names: Names): NodeAffinity {
  const terms = affinity?.required?.nodeSelectorTerms;
  return {
    ...old,
    ...(old.required === undefined
      ? {}
      : {
          required: {
            ...old.required,
            nodeSelectorTerms: (old.required.nodeSelectorTerms ?? []).map((term, i) =>
              withRenamedTermLabels(terms?.[i], term, names),
            ),
          },
        }),
  };
}

type Term = Infer<typeof NodeSelectorTerm>;

function withRenamedTermLabels(term: Term | undefined, old: Term, names: Names): Term {
  const { matchExpressions: before } = old;
  if (before === undefined) return old;
  const newNames = renamedLabels(names);
  return {
    ...old,
    matchExpressions: before.map((expression, i) => {
      const key = term?.matchExpressions?.[i]?.key;
      return key !== undefined && getKey(newNames, expression.key ?? '') === key ? { ...expression, key } : expression;
    }),
  };
}

/** Sets `lastPhaseTransitionTime` when the phase changes; a write without it keeps the stored one. */
export function setPhaseTransitionTime(
  status: PersistentVolumeStatus | undefined,
  old: PersistentVolumeStatus,
  now: number,
): void {
  if (status === undefined) return;
  const { lastPhaseTransitionTime: before } = old;
  const time = status.lastPhaseTransitionTime ?? before;
  if (status.phase !== old.phase && time === before) status.lastPhaseTransitionTime = formatTime(now);
  else if (time !== undefined) status.lastPhaseTransitionTime = time;
}
