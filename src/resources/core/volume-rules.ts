/** What holds for persistent volumes. */
import {
  dns1123Label,
  dns1123Subdomain,
  type FieldError,
  fieldError,
  formatTime,
  immutable,
  type Names,
  parseQuantity,
} from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import {
  type CSIPersistentVolumeSource,
  PersistentVolumeSource,
  type PersistentVolumeSpec,
  type PersistentVolumeStatus,
  VolumeNodeAffinity,
} from '../types/core-v1.ts';
import { asJson, same } from '../validate/common.ts';
import { validateNodeSelector } from './pod-spec/affinity.ts';
import { byRule, noBacksteps, oneOf, type SpecContext } from './pod-spec/findings.ts';
import { lineDiff } from './pod-spec/line-diff.ts';
import { internalForm, internalText } from './pod-spec/shown.ts';
import { sourceRules } from './pod-spec/volume-sources.ts';

type Spec = PersistentVolumeSpec;
type SourceName = keyof PersistentVolumeSource;
type Rule = (source: never, path: string, context: SpecContext) => FieldError[];

const sourceNames = Object.keys(PersistentVolumeSource.fields) as SourceName[];
const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const MAX_PORTAL = 64;
const MAX_DRIVER = 63;

const required = (value: string | undefined, path: string): FieldError[] => (value ? [] : [fieldError.required(path)]);

/** A secret of the cluster, by name and namespace. */
const secret = (ref: { name?: string; namespace?: string } | undefined, path: string): FieldError[] =>
  ref === undefined ? [] : [...required(ref.name, `${path}.name`), ...required(ref.namespace, `${path}.namespace`)];

/** Rules of the sources that are not the same inside a pod. */
const own: { readonly [N in SourceName]?: (source: NonNullable<Spec[N]>, path: string) => FieldError[] } = {
  cinder: ({ secretRef }, path) => secret(secretRef, `${path}.secretRef`),
  glusterfs: ({ endpointsNamespace: namespace }, path) => {
    const at = `${path}.endpointsNamespace`;
    if (namespace === undefined) return [];
    const why = 'if the endpointnamespace is set, it must be a valid namespace name';
    return dns1123Label(namespace).length === 0 ? [] : [fieldError.invalid(at, namespace, why)];
  },
  azureFile: ({ secretNamespace: namespace }, path) =>
    namespace === '' ? [fieldError.required(`${path}.secretNamespace`)] : [],
  local: ({ path = '' }, at) => noBacksteps(`${at}.path`, path),
  csi: validateCsi,
};

/** The name that a driver of volumes registers under. */
export function validateDriverName(name: string, path: string): FieldError[] {
  const found = Buffer.byteLength(name) > MAX_DRIVER ? [fieldError.tooLong(path, MAX_DRIVER)] : [];
  for (const why of dns1123Subdomain(name.toLowerCase())) found.push(fieldError.invalid(path, name, why));
  return found;
}

function validateCsi(source: Infer<typeof CSIPersistentVolumeSource>, path: string): FieldError[] {
  const { driver = '' } = source;
  return [
    ...(driver === '' ? [] : validateDriverName(driver, `${path}.driver`)),
    ...secret(source.controllerPublishSecretRef, `${path}.controllerPublishSecretRef`),
    ...secret(source.nodeStageSecretRef, `${path}.nodeStageSecretRef`),
    ...secret(source.nodePublishSecretRef, `${path}.nodePublishSecretRef`),
    ...secret(source.controllerExpandSecretRef, `${path}.controllerExpandSecretRef`),
    ...secret(source.nodeExpandSecretRef, `${path}.nodeExpandSecretRef`),
  ];
}

function validateSources(spec: Spec, path: string, names: Names): FieldError[] {
  const [first, ...more] = sourceNames.filter((name) => spec[name] !== undefined);
  if (first === undefined) return [fieldError.required(path, 'must specify a volume type')];
  const rule = (own[first] ?? sourceRules[first as keyof typeof sourceRules]) as Rule | undefined;
  return [
    ...(rule?.(spec[first] as never, `${path}.${first}`, { names }) ?? []),
    ...more.map((name) => fieldError.forbidden(`${path}.${name}`, 'may not specify more than 1 volume type')),
  ];
}

function validateModes(modes: readonly string[], path: string): FieldError[] {
  if (modes.length === 0) return [fieldError.required(path)];
  const found = modes.flatMap((mode) => oneOf(path, mode, accessModes));
  if (modes.includes('ReadWriteOncePod') && modes.some((mode) => mode !== 'ReadWriteOncePod')) {
    found.push(fieldError.forbidden(path, 'may not use ReadWriteOncePod with other access modes'));
  }
  return found;
}

function validateCapacity(capacity: Spec['capacity'], path: string): FieldError[] {
  const entries = Object.entries(capacity ?? {});
  const found: FieldError[] = [];
  if (entries.length === 0) found.push(fieldError.required(path));
  if (entries.length !== 1 || capacity?.['storage'] === undefined) {
    found.push(fieldError.notSupported(path, capacity ?? null, ['storage']));
  }
  for (const [resource, amount] of entries) {
    const { nano } = parseQuantity(amount);
    const at = `${path}[${resource}]`;
    if (nano < 0n)
      found.push(fieldError.invalid(at, Number(nano / 1_000_000_000n), 'must be a valid resource quantity'));
    if (nano <= 0n) found.push(fieldError.invalid(at, amount, 'must be greater than zero'));
  }
  return found;
}

function validateAffinity(affinity: Infer<typeof VolumeNodeAffinity> | undefined, path: string): FieldError[] {
  if (affinity === undefined) return [];
  if (affinity.required !== undefined) return validateNodeSelector(affinity.required, `${path}.required`);
  return [fieldError.required(`${path}.required`, 'must specify required node constraints')];
}

/** What is wrong with a volume of its own; `name` is the name of the object. */
export function validateVolume(spec: Spec, name: string, names: Names): FieldError[] {
  const path = 'spec';
  const found = [
    ...validateModes(spec.accessModes ?? [], `${path}.accessModes`),
    ...validateCapacity(spec.capacity, `${path}.capacity`),
    ...validateAffinity(spec.nodeAffinity, `${path}.nodeAffinity`),
    ...validateSources(spec, path, names),
  ];
  const { hostPath, iscsi, local, storageClassName: storage = '' } = spec;
  if (iscsi?.initiatorName !== undefined && `${name}:${iscsi.targetPortal}`.length > MAX_PORTAL) {
    const why =
      'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified';
    found.push(fieldError.invalid('metadata.name', name, why));
  }
  if (local !== undefined && spec.nodeAffinity === undefined) {
    found.push(fieldError.required('metadata.annotations', 'Local volume requires node affinity'));
  }
  if (/^\/[/.]*$/.test(hostPath?.path ?? '') && spec.persistentVolumeReclaimPolicy === 'Recycle') {
    const why = "may not be 'recycle' for a hostPath mount of '/'";
    found.push(fieldError.forbidden(`${path}.persistentVolumeReclaimPolicy`, why));
  }
  return storage === '' ? found : [...found, ...byRule(`${path}.storageClassName`, storage, dns1123Subdomain)];
}

/** What is wrong with a volume that stands inside another object. */
export function validateInlineVolume(spec: Spec, path: string, names: Names): FieldError[] {
  const found = validateModes(spec.accessModes ?? [], `${path}.accessModes`);
  const policy = spec.persistentVolumeReclaimPolicy ?? '';
  const place = 'in the context of inline volumes';
  for (const field of ['claimRef', 'capacity', 'nodeAffinity', 'storageClassName'] as const) {
    if (spec[field] !== undefined)
      found.push(fieldError.forbidden(`${path}.${field}`, `may not be specified ${place}`));
  }
  if (spec.csi === undefined) found.push(fieldError.required(`${path}.csi`, `has to be specified ${place}`));
  if (policy !== '' && policy !== 'Retain') {
    found.push(fieldError.forbidden(`${path}.persistentVolumeReclaimPolicy`, `may only be Retain ${place}`));
  }
  if (spec.volumeMode !== undefined && spec.volumeMode !== 'Filesystem') {
    const why = `may not specify volumeMode other than Filesystem ${place}`;
    found.push(fieldError.forbidden(`${path}.volumeMode`, why));
  }
  return [...found, ...validateSources(spec, path, names)];
}

const sourceOf = (spec: Spec): PersistentVolumeSource =>
  Object.fromEntries(sourceNames.flatMap((name) => (spec[name] === undefined ? [] : [[name, spec[name]]])));

/** A volume stays what it is, and where. */
export function validateVolumeUpdate(spec: Spec, old: Spec): FieldError[] {
  const found: FieldError[] = [];
  const [now, before] = [sourceOf(spec), sourceOf(old)];
  // A secret for growing may be told once.
  if (now.csi !== undefined && before.csi !== undefined && before.csi.controllerExpandSecretRef === undefined) {
    const { controllerExpandSecretRef: _, ...rest } = now.csi;
    now.csi = rest;
  }
  if (!same(now, before)) {
    const diff = lineDiff(internalText(now, PersistentVolumeSource), internalText(before, PersistentVolumeSource));
    const why = `spec.persistentvolumesource is immutable after creation\n${diff}`;
    found.push(fieldError.forbidden('spec.persistentvolumesource', why));
  }
  if (!same(spec.volumeMode, old.volumeMode)) found.push(immutable('volumeMode', asJson(spec.volumeMode)));
  if (old.nodeAffinity !== undefined && !same(spec.nodeAffinity, old.nodeAffinity)) {
    const shown = spec.nodeAffinity === undefined ? null : internalForm(spec.nodeAffinity, VolumeNodeAffinity);
    found.push(immutable('nodeAffinity', shown));
  }
  return found;
}

/** A change of phase bears its time. */
export function stampPhase(status: PersistentVolumeStatus | undefined, old: PersistentVolumeStatus, now: number): void {
  if (status === undefined || status.phase === old.phase) return;
  const { lastPhaseTransitionTime: time } = status;
  if (time === undefined || time === old.lastPhaseTransitionTime) status.lastPhaseTransitionTime = formatTime(now);
}
