import {
  type ApiObject,
  type FieldError,
  fieldError,
  type JsonObject,
  type Names,
  parseGroupVersion,
  statusError,
} from '../../meta/index.ts';
import type { RegistryContext } from '../context.ts';
import { dryRunErrors, invalidOptions, isDryRun, readFlag, readInteger } from '../read/parameters.ts';
import type { Strategy } from '../resource/definition.ts';
import type { Resource } from '../resource/resource.ts';
import { unknownKind } from './wrong-kind.ts';

/** The options of a delete request, checked. */
export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds: number | undefined;
  readonly policy: 'Orphan' | 'Foreground' | 'Background' | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  /** Deletes an object that is corrupt, without finalizers or preconditions. */
  readonly unsafe: boolean;
}

/** The option for it, which is ignored without its feature gate. */
const unsafeOption = 'ignoreStoreReadErrorWithClusterBreakingPotential';

/** Whether the options ask for the deletion of a corrupt object. */
export const isUnsafe = (options: JsonObject): boolean => options[unsafeOption] === true;

/** The options in the query of a request without a body, as an options object. */
export function deleteOptionsOf(query: {
  readonly dryRun?: readonly string[];
  readonly gracePeriodSeconds?: string;
  readonly orphanDependents?: string;
  readonly propagationPolicy?: string;
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}): JsonObject {
  const grace = readInteger(query.gracePeriodSeconds);
  const orphan = readFlag(query.orphanDependents);
  const unsafe = readFlag(query[unsafeOption]);
  const { uid, resourceVersion } = query;
  return {
    ...(query.dryRun === undefined ? {} : { dryRun: [...query.dryRun] }),
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(orphan === undefined ? {} : { orphanDependents: orphan }),
    ...(query.propagationPolicy === undefined ? {} : { propagationPolicy: query.propagationPolicy }),
    ...(unsafe === undefined ? {} : { [unsafeOption]: unsafe }),
    ...(uid || resourceVersion
      ? { preconditions: { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) } }
      : {}),
  };
}

const policies = ['Foreground', 'Background', 'Orphan'] as const;

/** The fields of a body decoded by its schema. */
interface OptionsBody {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly dryRun?: readonly string[] | null;
  readonly gracePeriodSeconds?: number | null;
  readonly orphanDependents?: boolean | null;
  readonly propagationPolicy?: string | null;
  readonly preconditions?: { readonly uid?: string | null; readonly resourceVersion?: string | null } | null;
}

/** @throws StatusError 400 for a body of another kind, 422 for invalid options */
export function readDeleteOptions(
  body: JsonObject,
  { names, features }: Pick<RegistryContext, 'names' | 'features'>,
): DeleteOptions {
  const { kind = '', apiVersion, ...fields } = body as OptionsBody;
  if (kind !== '' && kind !== 'DeleteOptions') throw unknownKind({ kind, apiVersion: apiVersion || 'v1' }, 'options');
  const dryRun = fields.dryRun ?? [];
  const policy = fields.propagationPolicy ?? undefined;
  const orphan = fields.orphanDependents ?? undefined;
  const unsafe = features.AllowUnsafeMalformedObjectDeletion && isUnsafe(body);
  const errors = dryRunErrors(dryRun);
  if (policy !== undefined && orphan !== undefined) {
    const why = 'orphanDependents and deletionPropagation cannot be both set';
    errors.push(fieldError.invalid('propagationPolicy', policy, why));
  }
  const supported = policies.find((name) => name === policy);
  if (policy !== undefined && supported === undefined) {
    errors.push(fieldError.notSupported('propagationPolicy', policy, [...policies, 'nil']));
  }
  const allErrors = unsafe ? [...errors, ...exclusionErrors(body)] : errors;
  if (allErrors.length > 0) throw invalidOptions(names, 'DeleteOptions', allErrors);
  return {
    dryRun: isDryRun(dryRun),
    gracePeriodSeconds: fields.gracePeriodSeconds ?? undefined,
    policy: supported ?? (orphan === undefined ? undefined : orphan ? 'Orphan' : 'Background'),
    uid: fields.preconditions?.uid ?? undefined,
    resourceVersion: fields.preconditions?.resourceVersion ?? undefined,
    unsafe,
  };
}

/** Options that cannot be combined with the deletion of a corrupt object. */
const exclusiveOptions = ['dryRun', 'propagationPolicy', 'orphanDependents', 'gracePeriodSeconds', 'preconditions'];

const exclusionErrors = (body: JsonObject): FieldError[] =>
  exclusiveOptions
    .filter((name) => (Array.isArray(body[name]) ? body[name].length > 0 : (body[name] ?? null) !== null))
    .map((name) => fieldError.invalid(unsafeOption, true, `cannot be set together with .${name}`));

/** @throws StatusError 422 for a deletion of a collection: corrupt objects are deleted one by one */
export function refuseUnsafe({ unsafe }: DeleteOptions, names: Names): void {
  if (!unsafe) return;
  const why = 'is not allowed with DELETECOLLECTION, try again after removing the option';
  throw invalidOptions(names, 'DeleteOptions', [fieldError.invalid(unsafeOption, true, why)]);
}

/** @throws StatusError 422: the option is for corrupt objects only */
export function refuseReadable({ id }: Resource, name: string): never {
  const why = 'is exclusively used to delete corrupt object(s), try again by removing this option';
  const kind = { group: id.group, kind: id.resource };
  throw statusError.invalid(kind, name, [fieldError.invalid(unsafeOption, true, why)]);
}

/** @throws StatusError 409 when a precondition does not hold */
export function checkPreconditions(resource: Resource, object: ApiObject, options: DeleteOptions): void {
  const { kind, strategy } = resource.definition;
  const { name = '', uid = '', resourceVersion = '' } = object.metadata;
  if (strategy.termination !== undefined) {
    checkTerminationPreconditions(resource, object, options);
    return;
  }
  const of = { group: parseGroupVersion(resource.format.apiVersion)?.group ?? '', resource: kind };
  if (options.uid !== undefined && options.uid !== uid) {
    throw statusError.conflict(
      of,
      name,
      `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    throw statusError.conflict(
      of,
      name,
      `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}

/** The same for a kind with a termination, whose messages differ. */
function checkTerminationPreconditions({ id }: Resource, { metadata }: ApiObject, options: DeleteOptions): void {
  const { name = '', uid = '', resourceVersion = '' } = metadata;
  for (const [what, expected, actual] of [
    ['UID', options.uid, uid],
    ['ResourceVersion', options.resourceVersion, resourceVersion],
  ] as const) {
    if (expected === undefined || expected === actual) continue;
    const why = `Precondition failed: ${what} in precondition: ${expected}, ${what} in object meta: ${actual}`;
    throw statusError.conflict(id, name, why);
  }
}

/** Adds the warning of the kind for a deletion without a propagation policy. */
export function warnWithoutPolicy(
  { definition }: Resource,
  { policy }: DeleteOptions,
  warn: (text: string) => void,
): void {
  const { noPolicyWarning } = definition.strategy;
  if (policy === undefined && noPolicyWarning !== undefined) warn(noPolicyWarning);
}

const orphan = 'orphan';
const foreground = 'foregroundDeletion';

const finalizerOf = { Orphan: orphan, Foreground: foreground, Background: undefined };

/**
 * The finalizers of an object that is deleted: the propagation policy of the request takes precedence over a propagation
 * finalizer of the object, and that over the default of the kind.
 */
export function finalizersFor(
  { metadata }: ApiObject,
  { policy }: DeleteOptions,
  byDefault: Strategy['garbageCollectionPolicy'],
): string[] {
  const before = metadata.finalizers ?? [];
  const isPropagation = (name: string) => name === orphan || name === foreground;
  const fallback = before.find(isPropagation) ?? (byDefault === 'OrphanDependents' ? orphan : undefined);
  const propagation = byDefault === 'Unsupported' ? undefined : policy === undefined ? fallback : finalizerOf[policy];
  const retained = before.filter((name) => !isPropagation(name));
  if (propagation !== undefined) retained.push(propagation);
  // A different order does not count as a change.
  const present = new Set(before);
  return retained.length === before.length && retained.every((name) => present.has(name)) ? before : retained;
}
