import {
  type ApiObject,
  fieldError,
  type Json,
  type JsonObject,
  maxShown,
  type ObjectMeta,
  type OwnerReference,
  Pace,
  StatusError,
  type Steps,
  shorten,
  statusError,
} from '../../../meta/index.ts';
import { versionFault } from '../../read/parameters.ts';
import { objectKey } from '../../resource/target.ts';
import { metaFields } from '../../stored/format.ts';
import type { Target, WriteOptions } from '../../types.ts';

type MetadataFields = { readonly [name in keyof ObjectMeta]: Json | undefined };
const noChanges: MetadataFields = {};

/**
 * Metadata in the order in which it is encoded, with the fields of `changes` replaced. Empty fields and those that are
 * not stored are left out.
 */
export function storedMetadata(metadata: MetadataFields, changes = noChanges): ObjectMeta & JsonObject {
  const out: JsonObject = {};
  for (const name of metaFields) {
    const value = name in changes ? changes[name] : metadata[name];
    if (value !== undefined && value !== null && value !== '') out[name] = value;
  }
  return out as ObjectMeta & JsonObject;
}

/** The 404 for the object of the request. */
export const notFound = ({ resource, name }: Target): StatusError => statusError.notFound(resource.id, name);

/** Defaults the namespace to that of the request; removes it from a cluster-scoped object. @throws StatusError 400 */
export function defaultNamespace({ resource, namespace }: Target, metadata: ObjectMeta): void {
  const { namespaced } = resource.definition;
  const bodyNamespace = metadata.namespace ?? '';
  if (namespaced && bodyNamespace !== '' && bodyNamespace !== namespace) {
    throw statusError.badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  metadata.namespace = namespaced ? namespace : '';
}

/** @throws StatusError 400 when the body has another namespace or name than the path */
export function checkNamespaceAndName(target: Target, metadata: ObjectMeta): void {
  defaultNamespace(target, metadata);
  const { name = '' } = metadata;
  if (name === '') {
    throw statusError.badRequest(
      `the name of the object (${target.name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (name !== target.name) {
    throw statusError.badRequest(
      `the name of the object (${name}) does not match the name on the URL (${target.name})`,
    );
  }
}

/**
 * A precondition that does not hold, as the storage layer of the reference server reports it: with the key in its etcd,
 * or before its prefix is added in a dry run.
 */
export const preconditionFault = (key: string, why: string, dryRun: boolean): string =>
  `StorageError: invalid object, Code: 4, Key: ${dryRun ? '' : '/registry'}${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`;

/** @throws StatusError 409 when the body has another uid than the stored object */
export function checkUid(
  { target, dryRun }: { readonly target: Target; readonly dryRun: boolean },
  { uid = '' }: ObjectMeta,
  old: ApiObject | undefined,
): void {
  const { resource, name } = target;
  const storedUid = old?.metadata.uid ?? '';
  if (uid === '' || uid === storedUid) return;
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${storedUid}`;
  throw statusError.conflict(resource.id, name, preconditionFault(objectKey(resource, target), why, dryRun));
}

/** Whether a resourceVersion is set: neither empty nor 0. @throws StatusError 500 when it is not a number */
function isVersionSet(text: string): boolean {
  const why = text === '' ? undefined : versionFault(text);
  if (why !== undefined) throw new StatusError(500, '', why);
  return Number(text) > 0;
}

/**
 * @throws StatusError 409 when the body has another resourceVersion than the stored object, 422 when the kind requires one
 */
export function checkVersion(target: Target, { resourceVersion = '' }: ObjectMeta, stored: ObjectMeta): void {
  const { definition, id } = target.resource;
  const { group, resource: kind } = id;
  if (resourceVersion === stored.resourceVersion) return;
  if (isVersionSet(resourceVersion)) throw statusError.modified(id, target.name);
  if (definition.strategy.unconditionalUpdate !== false) return;
  throw statusError.invalid({ group, kind }, target.name, [
    fieldError.invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
  ]);
}

/** @throws StatusError 500 for a new object with a resourceVersion */
export function rejectPresetVersion({ metadata: { resourceVersion = '' } }: ApiObject): void {
  // A resourceVersion that is not a number is ignored.
  if (!/^[0-9]+$/.test(resourceVersion) || !isVersionSet(resourceVersion)) return;
  throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created');
}

const duplicateWarning =
  'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed:';

/** Whether owner references of the object may be duplicates. */
export const mayRepeatOwners = ({ metadata: { ownerReferences } }: ApiObject): boolean =>
  ownerReferences !== undefined && ownerReferences.length > 1;

/** Removes duplicate owner references from the object and adds a warning. Runs in steps: there may be very many. */
export function* dedupeOwnerReferences(
  { metadata }: ApiObject,
  { warn }: Pick<WriteOptions, 'warn'>,
  author: 'writer' | 'admission',
): Steps<void> {
  const { ownerReferences = [] } = metadata;
  // Duplicates have the same uid.
  if (new Set(ownerReferences.map(({ uid }) => uid)).size === ownerReferences.length) return;
  const pace = new Pace();
  const seen = new Set<string>();
  const unique: OwnerReference[] = [];
  const duplicates: string[] = [];
  for (const reference of ownerReferences) {
    if (pace.over(Object.keys(reference).length)) yield;
    // Decoded references have their members in the same order.
    const text = JSON.stringify(reference);
    if (seen.has(text)) duplicates.push(reference.uid);
    else unique.push(reference);
    seen.add(text);
  }
  if (duplicates.length === 0) return;
  metadata.ownerReferences = unique;
  const when = author === 'writer' ? '' : ' after mutating admission happens';
  const uids = shorten(duplicates.join(', '), maxShown);
  warn(`.metadata.ownerReferences contains duplicate entries${when}; ${duplicateWarning} ${uids}`);
}
