import { type FieldError, fieldError } from './field-error.ts';
import { parseGroupVersion } from './gvk.ts';
import type { Json } from './json.ts';
import type { ObjectMeta, OwnerReference } from './object.ts';
import { quote, shorten } from './quote.ts';
import { textOf, validateLabels } from './selector-object.ts';
import { dns1123Label, dns1123Subdomain, type NameRule, qualifiedName } from './validate-names.ts';

/** What the keys and values of all annotations together may take, in bytes. */
const MAX_ANNOTATION_BYTES = 256 * 1024;
const MAX_MANAGER_BYTES = 128;
const MAX_SUBRESOURCE_BYTES = 256;
/** Every write looks at the fields of each manager. */
const MAX_MANAGERS = 10_000;

export interface MetaRules {
  readonly namespaced: boolean;
  /** Default: DNS-1123 subdomain. */
  readonly nameRule?: NameRule;
  /** Finalizers that may stand without a domain. Absent: any may. */
  readonly finalizerNames?: readonly string[];
}

/**
 * What is wrong with the metadata of a new object, whose generated name has been filled in. `free` is what
 * {@link validateFreeFields} has found.
 */
export function validateObjectMeta(
  metadata: ObjectMeta,
  rules: MetaRules,
  path = 'metadata',
  free: readonly FieldError[] = validateFreeFields(metadata, path),
): FieldError[] {
  const { name = '', generateName = '', namespace = '', generation = 0, finalizers = [] } = metadata;
  const nameRule = rules.nameRule ?? dns1123Subdomain;
  const found: FieldError[] = [];
  if (generateName !== '') {
    for (const why of nameRule(asPrefix(generateName))) {
      found.push(fieldError.invalid(`${path}.generateName`, generateName, why));
    }
  }
  if (name === '') found.push(fieldError.required(`${path}.name`, 'name or generateName is required'));
  else for (const why of nameRule(name)) found.push(fieldError.invalid(`${path}.name`, name, why));
  if (!rules.namespaced) {
    if (namespace !== '') found.push(fieldError.forbidden(`${path}.namespace`, 'not allowed on this type'));
  } else if (namespace === '') found.push(fieldError.required(`${path}.namespace`));
  else for (const why of dns1123Label(namespace)) found.push(fieldError.invalid(`${path}.namespace`, namespace, why));
  if (generation < 0) {
    found.push(fieldError.invalid(`${path}.generation`, generation, 'must be greater than or equal to 0'));
  }
  return [
    ...found,
    ...free,
    ...validateFinalizers(finalizers, `${path}.finalizers`),
    ...validateBareFinalizers(finalizers, rules.finalizerNames, path),
  ];
}

/**
 * What a change of metadata may not do. An absent uid, creation or deletion time or grace period means "as it was";
 * filling them in is the caller's.
 */
export function validateObjectMetaUpdate(
  metadata: ObjectMeta,
  old: ObjectMeta,
  free: readonly FieldError[] = validateFreeFields(metadata),
): FieldError[] {
  const path = 'metadata';
  const found: FieldError[] = [];
  if (old.deletionTimestamp !== undefined) {
    const before = new Set(old.finalizers);
    const added = (metadata.finalizers ?? []).filter((finalizer) => !before.has(finalizer)).sort();
    if (added.length > 0) {
      const list = `[]string{${added.map(quote).join(', ')}}`;
      const why = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
      found.push(fieldError.forbidden(`${path}.finalizers`, why));
    }
  }
  if ((metadata.resourceVersion ?? '') === '') {
    found.push(fieldError.invalid(`${path}.resourceVersion`, '', 'must be specified for an update'));
  }
  const { generation = 0 } = metadata;
  if (generation < (old.generation ?? 0)) {
    found.push(fieldError.invalid(`${path}.generation`, generation, 'must not be decremented'));
  }
  for (const field of ['name', 'namespace'] as const) {
    const value = metadata[field] ?? '';
    if (value !== (old[field] ?? '')) found.push(immutable(`${path}.${field}`, value));
  }
  for (const field of ['uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    const value = metadata[field];
    if (value !== undefined && value !== old[field]) found.push(immutable(`${path}.${field}`, value));
  }
  return [...found, ...free];
}

/** The finding that every change of a field that never changes gets. */
export function immutable(field: string, value: Json | undefined): FieldError {
  return fieldError.invalid(field, value, 'field is immutable');
}

/** More text follows a prefix: a hyphen at its end is fine when the rest would be. */
const asPrefix = (prefix: string): string => (/.-$/.test(prefix) ? `${prefix.slice(0, -2)}a` : prefix);

/** What is wrong with the fields that anyone may change at any time: labels, annotations, owners, managers. */
export function validateFreeFields(metadata: ObjectMeta, path = 'metadata'): FieldError[] {
  return [
    ...validateLabels(metadata.labels ?? {}, `${path}.labels`),
    ...validateAnnotations(metadata.annotations ?? {}, `${path}.annotations`),
    ...validateOwners(metadata.ownerReferences ?? [], `${path}.ownerReferences`),
    ...validateManagers(metadata.managedFields ?? [], `${path}.managedFields`),
  ];
}

/** What is wrong with annotations; `path` is the field of every finding. */
export function validateAnnotations(annotations: { readonly [key: string]: string }, path: string): FieldError[] {
  const found: FieldError[] = [];
  let size = 0;
  for (const key in annotations) {
    for (const why of qualifiedName(key.toLowerCase())) found.push(fieldError.invalid(path, key, why));
    size += Buffer.byteLength(key) + Buffer.byteLength(annotations[key] as string);
  }
  if (size > MAX_ANNOTATION_BYTES) found.push(fieldError.tooLong(path, MAX_ANNOTATION_BYTES));
  return found;
}

function validateOwners(owners: readonly OwnerReference[], path: string): FieldError[] {
  const found: FieldError[] = [];
  let controller: OwnerReference | undefined;
  for (const owner of owners) {
    const { group = '', version = '' } = parseGroupVersion(owner.apiVersion ?? '') ?? {};
    if (version === '')
      found.push(fieldError.invalid(`${path}.apiVersion`, owner.apiVersion, 'version must not be empty'));
    for (const field of ['kind', 'name', 'uid'] as const) {
      if ((owner[field] ?? '') === '') found.push(fieldError.invalid(`${path}.${field}`, '', 'must not be empty'));
    }
    if (group === '' && version === 'v1' && owner.kind === 'Event') {
      found.push(fieldError.invalid(path, owner, '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (owner['controller'] !== true) continue;
    if (controller !== undefined) {
      const [first, second] = [controller, owner].map(({ kind, name }) => shorten(`${kind}/${name}`));
      const why = `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${second}`;
      found.push(fieldError.invalid(path, owners as OwnerReference[], why));
    }
    controller ??= owner;
  }
  return found;
}

function validateFinalizers(finalizers: readonly string[], path: string): FieldError[] {
  const found = finalizers.flatMap((finalizer) =>
    qualifiedName(finalizer).map((why) => fieldError.invalid(path, finalizer, why)),
  );
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    const why = 'finalizer orphan and foregroundDeletion cannot be both set';
    found.push(fieldError.invalid(path, [...finalizers], why));
  }
  return found;
}

/** Finalizers that have no domain and are none of the names; where there are no names, any may stand. */
export function validateBareFinalizers(
  finalizers: readonly string[],
  names: readonly string[] | undefined,
  path = 'metadata',
): FieldError[] {
  if (names === undefined) return [];
  const why = 'name is neither a standard finalizer name nor is it fully qualified';
  return finalizers.flatMap((finalizer, i) =>
    finalizer.includes('/') || names.includes(finalizer)
      ? []
      : [fieldError.invalid(`${path}.finalizers[${i}]`, finalizer, why)],
  );
}

function validateManagers(entries: readonly Json[], path: string): FieldError[] {
  if (entries.length > MAX_MANAGERS) return [fieldError.tooMany(path, entries.length, MAX_MANAGERS)];
  const found: FieldError[] = [];
  entries.forEach((entry, i) => {
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return;
    const { operation = '', fieldsType = '', manager = '', subresource = '' } = entry;
    const at = `${path}[${i}]`;
    if (operation !== 'Apply' && operation !== 'Update') {
      found.push(fieldError.invalid(`${at}.operation`, operation, 'must be `Apply` or `Update`'));
    }
    if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
      found.push(fieldError.invalid(`${at}.fieldsType`, fieldsType, 'must be `FieldsV1`'));
    }
    for (const error of validateManager(textOf(manager), `${at}.manager`)) found.push(error);
    if (Buffer.byteLength(textOf(subresource)) > MAX_SUBRESOURCE_BYTES) {
      found.push(fieldError.tooLong(`${at}.subresource`, MAX_SUBRESOURCE_BYTES));
    }
  });
  return found;
}

/** What is wrong with the name of a field manager. */
function validateManager(manager: string, path: string): FieldError[] {
  const found: FieldError[] = [];
  if (Buffer.byteLength(manager) > MAX_MANAGER_BYTES) found.push(fieldError.tooLong(path, MAX_MANAGER_BYTES));
  if (/[\p{C}\p{Zl}\p{Zp}]/u.test(manager)) {
    found.push(fieldError.invalid(path, manager, 'should only contain printable characters'));
  }
  return found;
}
