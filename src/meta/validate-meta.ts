import { errorsOfEach, type FieldError, fieldError } from './field-error.ts';
import { parseGroupVersion } from './gvk.ts';
import { type Json, textOf } from './json.ts';
import type { ObjectMeta, OwnerReference } from './object.ts';
import { quote, shorten } from './quote.ts';
import { dns1123Label, dns1123Subdomain, labelValue, type NameRule, qualifiedName } from './validate-names.ts';

/** The maximum total size of the keys and values of all annotations, in bytes. */
const MAX_ANNOTATION_BYTES = 256 * 1024;
const MAX_MANAGER_BYTES = 128;
const MAX_SUBRESOURCE_BYTES = 256;
/** The maximum number of managedFields entries: every write reads them all. */
const MAX_MANAGERS = 10_000;

export interface MetaRules {
  readonly namespaced: boolean;
  /** Default: DNS-1123 subdomain. */
  readonly nameRule?: NameRule;
  /** The standard finalizers, which need no domain. Absent: none does. */
  readonly finalizerNames?: readonly string[];
}

/**
 * Validates the metadata of a new object, after its name was generated. `free` is the result of
 * {@link validateMutableFields} has found.
 */
export function validateObjectMeta(
  metadata: ObjectMeta,
  rules: MetaRules,
  path = 'metadata',
  free: readonly FieldError[] = validateMutableFields(metadata, path),
): FieldError[] {
  const { name = '', generateName = '', namespace = '', generation = 0, finalizers = [] } = metadata;
  const nameRule = rules.nameRule ?? dns1123Subdomain;
  const errors: FieldError[] = [];
  if (generateName !== '') {
    for (const why of nameRule(asPrefix(generateName))) {
      errors.push(fieldError.invalid(`${path}.generateName`, generateName, why));
    }
  }
  if (name === '') errors.push(fieldError.required(`${path}.name`, 'name or generateName is required'));
  else for (const why of nameRule(name)) errors.push(fieldError.invalid(`${path}.name`, name, why));
  if (!rules.namespaced) {
    if (namespace !== '') errors.push(fieldError.forbidden(`${path}.namespace`, 'not allowed on this type'));
  } else if (namespace === '') errors.push(fieldError.required(`${path}.namespace`));
  else for (const why of dns1123Label(namespace)) errors.push(fieldError.invalid(`${path}.namespace`, namespace, why));
  if (generation < 0) {
    errors.push(fieldError.invalid(`${path}.generation`, generation, 'must be greater than or equal to 0'));
  }
  return [
    ...errors,
    ...free,
    ...validateFinalizers(finalizers, `${path}.finalizers`),
    ...validateBareFinalizers(finalizers, rules.finalizerNames, path),
  ];
}

/**
 * Validates an update of metadata. An absent uid, creationTimestamp, deletionTimestamp or deletionGracePeriodSeconds
 * counts as unchanged; the caller fills it in.
 */
export function validateObjectMetaUpdate(
  metadata: ObjectMeta,
  old: ObjectMeta,
  free: readonly FieldError[] = validateMutableFields(metadata),
): FieldError[] {
  const path = 'metadata';
  const errors: FieldError[] = [];
  if (old.deletionTimestamp !== undefined) {
    const before = new Set(old.finalizers);
    const added = (metadata.finalizers ?? []).filter((finalizer) => !before.has(finalizer)).sort();
    if (added.length > 0) {
      const list = `[]string{${added.map(quote).join(', ')}}`;
      const why = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
      errors.push(fieldError.forbidden(`${path}.finalizers`, why));
    }
  }
  if ((metadata.resourceVersion ?? '') === '') {
    errors.push(fieldError.invalid(`${path}.resourceVersion`, '', 'must be specified for an update'));
  }
  const { generation = 0 } = metadata;
  if (generation < (old.generation ?? 0)) {
    errors.push(fieldError.invalid(`${path}.generation`, generation, 'must not be decremented'));
  }
  for (const field of ['name', 'namespace'] as const) {
    const value = metadata[field] ?? '';
    if (value !== (old[field] ?? '')) errors.push(immutable(`${path}.${field}`, value));
  }
  for (const field of ['uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    const value = metadata[field];
    if (value !== undefined && value !== old[field]) errors.push(immutable(`${path}.${field}`, value));
  }
  return [...errors, ...free];
}

/** The error of a change of an immutable field. */
export function immutable(field: string, value: Json | undefined): FieldError {
  return fieldError.invalid(field, value, 'field is immutable');
}

/** Masks the trailing hyphen of a generateName, because a suffix follows it. */
const asPrefix = (prefix: string): string => (/.-$/.test(prefix) ? `${prefix.slice(0, -2)}a` : prefix);

/** Validates the mutable fields: labels, annotations, ownerReferences, managedFields. */
export function validateMutableFields(metadata: ObjectMeta, path = 'metadata'): FieldError[] {
  return [
    ...validateLabels(metadata.labels ?? {}, `${path}.labels`),
    ...validateAnnotations(metadata.annotations ?? {}, `${path}.annotations`),
    ...validateOwnerReferences(metadata.ownerReferences ?? [], `${path}.ownerReferences`),
    ...validateManagedFields(metadata.managedFields ?? [], `${path}.managedFields`),
  ];
}

/** Validates the keys and values of labels; `path` is the field of every error. */
export function validateLabels(labels: { readonly [key: string]: Json }, path: string): FieldError[] {
  return errorsOfEach(Object.keys(labels), (key) => {
    const value = labels[key] as Json;
    return [
      ...qualifiedName(key).map((why) => fieldError.invalid(path, key, why)),
      ...labelValue(textOf(value)).map((why) => fieldError.invalid(path, value, why)),
    ];
  });
}

/** Validates annotations; `path` is the field of every error. */
export function validateAnnotations(annotations: { readonly [key: string]: string }, path: string): FieldError[] {
  let size = 0;
  for (const key in annotations) size += Buffer.byteLength(key) + Buffer.byteLength(annotations[key] as string);
  const errors = errorsOfEach(Object.keys(annotations), (key) =>
    qualifiedName(key.toLowerCase()).map((why) => fieldError.invalid(path, key, why)),
  );
  return size > MAX_ANNOTATION_BYTES ? [...errors, fieldError.tooLong(path, MAX_ANNOTATION_BYTES)] : errors;
}

function validateOwnerReferences(owners: readonly OwnerReference[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller: OwnerReference | undefined;
  for (const owner of owners) {
    const { group = '', version = '' } = parseGroupVersion(owner.apiVersion ?? '') ?? {};
    if (version === '')
      errors.push(fieldError.invalid(`${path}.apiVersion`, owner.apiVersion, 'version must not be empty'));
    for (const field of ['kind', 'name', 'uid'] as const) {
      if ((owner[field] ?? '') === '') errors.push(fieldError.invalid(`${path}.${field}`, '', 'must not be empty'));
    }
    if (group === '' && version === 'v1' && owner.kind === 'Event') {
      errors.push(fieldError.invalid(path, owner, '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (owner['controller'] !== true) continue;
    if (controller !== undefined) {
      const [first, second] = [controller, owner].map(({ kind, name }) => shorten(`${kind}/${name}`));
      const why = `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${second}`;
      errors.push(fieldError.invalid(path, owners as OwnerReference[], why));
    }
    controller ??= owner;
  }
  return errors;
}

function validateFinalizers(finalizers: readonly string[], path: string): FieldError[] {
  const errors = errorsOfEach(finalizers, (finalizer) =>
    qualifiedName(finalizer).map((why) => fieldError.invalid(path, finalizer, why)),
  );
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    const why = 'finalizer orphan and foregroundDeletion cannot be both set';
    errors.push(fieldError.invalid(path, [...finalizers], why));
  }
  return errors;
}

/** Rejects finalizers without a domain that are not among `names`; accepts all when `names` is undefined. */
export function validateBareFinalizers(
  finalizers: readonly string[],
  names: readonly string[] | undefined,
  path = 'metadata',
): FieldError[] {
  if (names === undefined) return [];
  const why = 'name is neither a standard finalizer name nor is it fully qualified';
  return errorsOfEach(finalizers, (finalizer, i) =>
    finalizer.includes('/') || names.includes(finalizer)
      ? []
      : [fieldError.invalid(`${path}.finalizers[${i}]`, finalizer, why)],
  );
}

function validateManagedFields(entries: readonly Json[], path: string): FieldError[] {
  if (entries.length > MAX_MANAGERS) return [fieldError.tooMany(path, entries.length, MAX_MANAGERS)];
  return errorsOfEach(entries, (entry, i) => validateManagedEntry(entry, `${path}[${i}]`));
}

function validateManagedEntry(entry: Json, at: string): FieldError[] {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return [];
  const { operation = '', fieldsType = '', manager = '', subresource = '' } = entry;
  const errors: FieldError[] = [];
  if (operation !== 'Apply' && operation !== 'Update') {
    errors.push(fieldError.invalid(`${at}.operation`, operation, 'must be `Apply` or `Update`'));
  }
  if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
    errors.push(fieldError.invalid(`${at}.fieldsType`, fieldsType, 'must be `FieldsV1`'));
  }
  for (const error of validateManager(textOf(manager), `${at}.manager`)) errors.push(error);
  if (Buffer.byteLength(textOf(subresource)) > MAX_SUBRESOURCE_BYTES) {
    errors.push(fieldError.tooLong(`${at}.subresource`, MAX_SUBRESOURCE_BYTES));
  }
  return errors;
}

/** Validates the name of a field manager. */
function validateManager(manager: string, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (Buffer.byteLength(manager) > MAX_MANAGER_BYTES) errors.push(fieldError.tooLong(path, MAX_MANAGER_BYTES));
  if (/[\p{C}\p{Zl}\p{Zp}]/u.test(manager)) {
    errors.push(fieldError.invalid(path, manager, 'should only contain printable characters'));
  }
  return errors;
}
