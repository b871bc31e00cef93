import {
  dns1123Label,
  dns1123Subdomain,
  type FieldError,
  fieldError,
  getKey,
  type Names,
  parseQuantity,
  validateAnnotations,
  validateLabels,
  validateSelectorObject,
} from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { PersistentVolumeClaimSpec, PersistentVolumeClaimTemplate } from '../../types/core-v1.ts';
import { byRule, oneOf } from '../shared/field-rules.ts';
import { validateAmount } from './resources.ts';

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const volumeModes = ['Block', 'Filesystem'];

const unset: ReadonlySet<unknown> = new Set([null, undefined, '', 0]);

interface TemplateMeta {
  readonly annotations?: { readonly [key: string]: string };
  readonly labels?: { readonly [key: string]: string };
}

/** Validates the metadata of a template of claims, which may have labels and annotations only. */
export const validateClaimMeta = (metadata: TemplateMeta, path: string): FieldError[] => [
  ...validateAnnotations(metadata.annotations ?? {}, `${path}.annotations`),
  ...validateLabels(metadata.labels ?? {}, `${path}.labels`),
  ...Object.entries(metadata)
    .filter(([field, value]) => field !== 'labels' && field !== 'annotations' && !unset.has(value))
    // The reference server spells this one field in its own way.
    .map(([field]) => fieldError.forbidden(`${path}.${field === 'uid' ? 'uID' : field}`, 'cannot be set')),
];

/** Validates the PVC template of an ephemeral volume. */
export function validateClaimTemplate(
  { metadata = {}, spec = {} }: Infer<typeof PersistentVolumeClaimTemplate>,
  path: string,
  names: Names,
): FieldError[] {
  return [...validateClaimMeta(metadata, `${path}.metadata`), ...validateClaimSpec(spec, `${path}.spec`, names)];
}

/** Validates a PVC spec. */
export function validateClaimSpec(spec: PersistentVolumeClaimSpec, path: string, names: Names): FieldError[] {
  const {
    accessModes: modes = [],
    storageClassName: storage = '',
    volumeMode,
    volumeAttributesClassName: attributes = '',
  } = spec;
  const errors: FieldError[] = [];
  const at = `${path}.accessModes`;
  if (modes.length === 0) errors.push(fieldError.required(at, 'at least 1 access mode is required'));
  errors.push(...validateSelectorObject(spec.selector, `${path}.selector`));
  for (const mode of modes) errors.push(...oneOf(at, mode, accessModes));
  const shared = modes.some((mode) => mode !== 'ReadWriteOncePod' && accessModes.includes(mode));
  if (shared && modes.includes('ReadWriteOncePod')) {
    errors.push(fieldError.forbidden(at, 'may not use ReadWriteOncePod with other access modes'));
  }
  errors.push(...validateSize(getKey(spec.resources?.requests ?? {}, 'storage'), `${path}.resources[storage]`, names));
  if (storage !== '') errors.push(...byRule(`${path}.storageClassName`, storage, dns1123Subdomain));
  if (volumeMode !== undefined) errors.push(...oneOf(`${path}.volumeMode`, volumeMode, volumeModes));
  if (attributes !== '') errors.push(...byRule(`${path}.volumeAttributesClassName`, attributes, dns1123Subdomain));
  return [...errors, ...validateSources(spec, path)];
}

function validateSize(size: string | undefined, path: string, names: Names): FieldError[] {
  if (size === undefined) return [fieldError.required(path)];
  if (parseQuantity(size).nano <= 0n) return [fieldError.invalid(path, size, 'must be greater than zero')];
  return validateAmount('storage', size, path, names);
}

interface Source {
  apiGroup?: string | null;
  kind?: string;
  name?: string;
}

function validateSources(spec: PersistentVolumeClaimSpec, path: string): FieldError[] {
  const { dataSource, dataSourceRef } = spec;
  const errors: FieldError[] = [];
  if (dataSource !== undefined) errors.push(...validateSource(dataSource, `${path}.dataSource`));
  if (dataSourceRef === undefined) return errors;
  const at = `${path}.dataSourceRef`;
  const { namespace = '' } = dataSourceRef;
  errors.push(...validateSource(dataSourceRef, at));
  if (namespace !== '') errors.push(...byRule(`${at}.namespace`, namespace, dns1123Label));
  return [...errors, ...validateSameSource(spec, path)];
}

/** Requires `dataSource` and `dataSourceRef` to be the same when both are set. */
function validateSameSource({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec, path: string): FieldError[] {
  if (dataSource === undefined || dataSourceRef === undefined) return [];
  const { namespace = '' } = dataSourceRef;
  const same =
    (dataSource.apiGroup ?? '') === (dataSourceRef.apiGroup ?? '') &&
    dataSource.kind === dataSourceRef.kind &&
    dataSource.name === dataSourceRef.name;
  if (namespace === '' && same) return [];
  const why =
    namespace === '' ? 'must match dataSourceRef' : 'may not be specified when dataSourceRef.namespace is specified';
  return [fieldError.invalid(path, {}, why)];
}

function validateSource({ apiGroup, kind = '', name = '' }: Source, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const group = apiGroup ?? '';
  if (name === '') errors.push(fieldError.required(`${path}.name`));
  if (kind === '') errors.push(fieldError.required(`${path}.kind`));
  if (group === '' && kind !== 'PersistentVolumeClaim') {
    const why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
    errors.push(fieldError.invalid(path, kind, why));
  }
  if (group !== '') errors.push(...byRule(`${path}.apiGroup`, group, dns1123Subdomain));
  return errors;
}
