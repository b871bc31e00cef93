/** Validation of persistent volume claims beyond their spec. */

import {
  type FieldError,
  fieldError,
  getKey,
  immutable,
  jsonCopy,
  type Names,
  qualifiedName,
} from '../../meta/index.ts';
import { classAnnotation, compareQuantityTexts, isNative } from '../../rules/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import {
  type PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  type PersistentVolumeClaimStatus,
} from '../../types/core-v1.ts';
import { validateAmount, validateNonNegativeWhole } from '../pod-template/resources.ts';
import { validateClaimSpec } from '../pod-template/volume-claim-template.ts';
import { byRule, oneOf, same } from '../shared/field-rules.ts';
import { internalDiff } from '../shared/internal-go-form.ts';

type Claim = ObjectOf<typeof PersistentVolumeClaim>;
type Spec = PersistentVolumeClaimSpec;

/**
 * Makes `dataSource` and `dataSourceRef` agree; sources that old clients do not support are set in `dataSourceRef`
 * only.
 */
export function syncDataSources(spec: Spec | undefined, names: Names, old?: Spec): void {
  if (spec === undefined) return;
  const { dataSource: source } = spec;
  const hasSource = [old?.dataSource, old?.dataSourceRef, spec.dataSourceRef].some((one) => one !== undefined);
  if (source !== undefined && !hasSource && !isDataSourceKind(source, names)) delete spec.dataSource;
  if (spec.dataSource !== undefined && spec.dataSourceRef === undefined) {
    spec.dataSourceRef = { ...spec.dataSource };
  } else if (spec.dataSource === undefined && spec.dataSourceRef !== undefined) {
    const { namespace = '', ...rest } = spec.dataSourceRef;
    if (namespace === '') spec.dataSource = rest;
  }
}

function isDataSourceKind({ apiGroup, kind }: NonNullable<Spec['dataSource']>, { domain }: Names): boolean {
  const group = apiGroup ?? '';
  return group === ''
    ? kind === 'PersistentVolumeClaim'
    : kind === 'VolumeSnapshot' && group === `snapshot.storage.${domain}`;
}

/**
 * Validates an update of the spec. A changed spec has to be valid as a new one. The spec is immutable, except that
 * `volumeName` may be set once and the requests of a bound claim may be raised.
 */
export function validateClaimUpdate(claim: Claim, old: Claim, names: Names): FieldError[] {
  const { spec = {}, status = {} } = claim;
  const before = old.spec ?? {};
  const bound = status.phase === 'Bound';
  const [after, first] = [jsonCopy(spec), jsonCopy(before)];
  if (!first.volumeName && after.volumeName) first.volumeName = after.volumeName;
  const errors = [
    ...(same(spec, before) ? [] : validateClaimSpec(spec, 'spec', names)),
    ...validateStorageClassChange(claim, old, after, names),
  ];
  const size = before.resources?.requests?.['storage'];
  if (bound && size !== undefined && after.resources?.requests !== undefined) {
    after.resources.requests['storage'] = size;
  }
  if (bound && after.volumeAttributesClassName !== undefined) {
    if (before.volumeAttributesClassName === undefined) delete after.volumeAttributesClassName;
    else after.volumeAttributesClassName = before.volumeAttributesClassName;
  }
  if (!same(after, first)) {
    const diff = internalDiff(first, after, PersistentVolumeClaimSpec);
    const why =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    errors.push(fieldError.forbidden('spec', `${why}\n${diff}`));
  }
  const sizes = [spec, before].map((one) => one.resources?.requests?.['storage'] ?? '0') as [string, string];
  if (compareQuantityTexts(...sizes) < 0 && compareQuantityTexts(sizes[0], status.capacity?.['storage'] ?? '0') <= 0) {
    errors.push(fieldError.forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity'));
  }
  if (!same(spec.volumeMode, before.volumeMode)) errors.push(immutable('volumeMode', spec.volumeMode));
  return [...errors, ...validateAttributesClass(spec.volumeAttributesClassName, before.volumeAttributesClassName)];
}

/**
 * Validates a change of the storage class: it may move from the annotation into the field, or be set where there was
 * none; `after` then gets the old one.
 */
function validateStorageClassChange(claim: Claim, old: Claim, after: Spec, names: Names): FieldError[] {
  const key = classAnnotation(names);
  const [now, then] = [claim, old].map(({ metadata }) => getKey(metadata.annotations ?? {}, key));
  const { storageClassName: className } = claim.spec ?? {};
  const unset = old.spec?.storageClassName === undefined && className !== undefined;
  if (unset && (then === undefined || then === className)) delete after.storageClassName;
  const moved = unset && then === className && (now === undefined || now === then);
  return moved || (now ?? '') === (then ?? '') ? [] : [immutable(`metadata.annotations.${key}`, now ?? '')];
}

function validateAttributesClass(name: string | undefined, old: string | undefined): FieldError[] {
  if (old === undefined || (name !== undefined && name !== '')) return [];
  const to = name === undefined ? 'nil' : 'an empty string';
  return [fieldError.forbidden('spec.volumeAttributesClassName', `update from non-nil value to ${to} is forbidden`)];
}

const resizing = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
].sort();

/** Validates the status of a claim. */
export function validateClaimStatus(status: PersistentVolumeClaimStatus, names: Names): FieldError[] {
  const errors: FieldError[] = [];
  for (const [resource, amount] of Object.entries(status.capacity ?? {})) {
    errors.push(...validateNonNegativeWhole(amount, `status.capacity[${resource}]`));
  }
  const at = 'status.allocatedResourceStatuses';
  for (const [resource, text] of Object.entries(status.allocatedResourceStatuses ?? {})) {
    errors.push(...validateClaimed(resource, at, names));
    if (!resizing.includes(text)) errors.push(fieldError.notSupported(at, resource, resizing));
  }
  const path = 'status.allocatedResources';
  for (const [resource, amount] of Object.entries(status.allocatedResources ?? {})) {
    const ownErrors = validateClaimed(resource, path, names);
    const whole = ownErrors.length > 0 ? ownErrors : validateNonNegativeWhole(amount, `${path}[${resource}]`);
    errors.push(...(whole.length > 0 ? whole : validateAmount('storage', amount, `${path}[${resource}]`, names)));
  }
  return errors;
}

/** Validates a resource name of a claim: `storage`, or one with a domain. */
function validateClaimed(resource: string, path: string, names: Names): FieldError[] {
  const errors = byRule(path, resource, qualifiedName);
  return errors.length > 0 || !isNative(resource, names) ? errors : oneOf(path, resource, ['storage']);
}
