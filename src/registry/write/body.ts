import { strictFindingsInSteps, stringifyJsonInSteps } from '../../codec/index.ts';
import { checkMembers, patchText, readOperations, visitedBy } from '../../merge/index.ts';
import {
  type ApiObject,
  at,
  comparePaths,
  fieldError,
  formatGroupVersion,
  getKey,
  isJsonObject,
  isLarge,
  type Json,
  type JsonObject,
  jsonType,
  maxShown,
  type ObjectMeta,
  type Path,
  parseGroupVersion,
  quote,
  StatusError,
  type Steps,
  setKey,
  shorten,
  sortedInSteps,
  sortedTexts,
  statusError,
  unknownField,
} from '../../meta/index.ts';
import type { RegistryContext } from '../context.ts';
import { requestKind, toStorageInSteps } from '../resource/target.ts';
import type { Change, ObjectBody, Target, WriteOptions } from '../types.ts';
import { type ObjectType, wrongKind } from './wrong-kind.ts';

/**
 * Decodes a body as a new object of the target's kind, in the storage version. Unknown fields are dropped and reported as
 * `fieldValidation` says. @throws StatusError 400, 413
 */
export function* decodeBody(
  registry: RegistryContext,
  target: Target,
  { value, findings, json }: ObjectBody,
  options: WriteOptions,
): Steps<ApiObject> {
  yield* checkMembers(value);
  const { kind, apiVersion } = requestKind(target);
  const bodyType = typeOf(value, kind, isCustomObject(target) ? '' : apiVersion);
  try {
    const { object, unknown } = yield* decode(registry, target, value, bodyType);
    if (options.fieldValidation !== 'Ignore') {
      // Unknown fields of custom objects are found by pruning, after duplicate ones.
      const body = isCustomObject(target) ? { findings } : { findings, json };
      yield;
      reportStrictErrors(yield* strictErrorsOf(body, unknown), options);
    }
    return object;
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 400 || error instanceof WrongVersion) throw error;
    const version = quote(parseGroupVersion(bodyType.apiVersion)?.version ?? '');
    const why = `${bodyType.kind} in version ${version} cannot be handled as a ${kind}: ${error.message}`;
    throw statusError.badRequest(why, error);
  }
}

/** The patched document, and the strict errors of the patch itself. */
export interface Patched {
  readonly document: Json;
  readonly findings: readonly string[];
}

/** Decodes a patched document likewise. @throws StatusError 422 with the whole document when it is not of the kind */
export function* decodePatched(
  registry: RegistryContext,
  target: Target,
  { document: patched, findings }: Patched,
  { format, patch }: Change & { readonly verb: 'patch' },
  options: WriteOptions,
): Steps<ApiObject> {
  const { kind, apiVersion } = requestKind(target);
  try {
    if (!isJsonObject(patched)) throw statusError.badRequest('the patched document is not a JSON object');
    if (isCustomObject(target)) checkPatchedType(target, patched);
    // A strategic merge patch cannot change the type: its result is not decoded by kind and apiVersion.
    const bodyType = format === 'strategic' ? { kind, apiVersion } : typeOf(patched, kind, apiVersion);
    const { object, unknown } = yield* decode(registry, target, patched, bodyType);
    reportStrictErrors(yield* strictErrorsOf({ findings }, unknown), options);
    return object;
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 400) throw error;
    const [text, why] =
      format === 'strategic'
        ? [patchText(patch), conversionError(error.message)]
        : yield* describePatched(patched, format === 'json' ? visitedBy(readOperations(patch)) : patch, error);
    throw statusError.invalid({ group: '', kind: '' }, '', [fieldError.invalid('patch', text, why)]);
  }
}

/** The patched document in an error message, and what is wrong with it. */
function* describePatched(patched: Json, patch: Json, error: StatusError): Steps<[shown: string, why: string]> {
  const text = yield* documentText(patched, patch);
  return [text, error instanceof NoKind ? `${error.message} in '${shorten(text, maxShown)}'` : error.message];
}

/** The types of values in messages on strategic merge patches, by their names in messages on JSON bodies. */
const fromTypes: { readonly [type: string]: string } = { number: 'int64', object: 'map', array: 'slice' };

/** The message for a value of the wrong type in a strategic merge patch, from that for a JSON body. */
function conversionError(message: string): string {
  const [, value, type] = /cannot unmarshal (\w+) into Go .*?(?: of type|value of type) (\S+)$/.exec(message) ?? [];
  if (value === undefined || type === undefined) return message;
  const from = fromTypes[value] ?? value;
  if (type.startsWith('map[')) return `cannot restore map from ${from}`;
  if (type.startsWith('[]')) return `cannot restore slice from ${from}`;
  if (/^[A-Z]|\./.test(type)) return `cannot restore struct from: ${from}`;
  return value === 'number' ? `cannot convert ${from} to ${type}` : `unrecognized type: ${type}`;
}

/** The findings of a body and its unknown fields: in the order of the text where that is given, else in that of their paths. */
export function* strictErrorsOf(
  { findings, json }: Pick<ObjectBody, 'findings' | 'json'>,
  unknown: readonly Path[],
): Steps<readonly string[]> {
  if (unknown.length === 0) return findings;
  if (json !== undefined) return yield* strictFindingsInSteps(json, unknown);
  return [...findings, ...(yield* sortedInSteps(unknown, comparePaths)).map(unknownField)];
}

/** Whether the bodies of requests to the target are custom objects. */
export const isCustomObject = ({ resource, subresource }: Target): boolean =>
  resource.definition.custom !== undefined && resource.subresources.get(subresource)?.requestKind === undefined;

/** Reports strict decoding errors as warnings or not at all, as `fieldValidation` says. @throws StatusError 400 for `Strict` */
export function reportStrictErrors(
  errors: readonly string[],
  { fieldValidation, warn }: WriteOptions,
  prefix = 'strict decoding error',
): void {
  if (errors.length === 0 || fieldValidation === 'Ignore') return;
  if (fieldValidation === 'Strict') throw statusError.badRequest(`${prefix}: ${errors.join(', ')}`);
  for (const error of errors) for (const text of warningsOf(error)) warn(text);
}

/** The duplicate keys of a YAML body are a single error, and a warning each. */
function warningsOf(error: string): readonly string[] {
  const [, lines] = /^(?:error converting YAML to JSON: )?yaml: unmarshal errors:\n(.*)$/s.exec(error) ?? [];
  return lines === undefined ? [error] : lines.split('\n').map((line) => line.trim());
}

/** The patched document in an error message: keys are sorted in the objects that the patch visits. */
function* sorted(value: Json, patch: Json): Steps<Json> {
  if (!isJsonObject(value)) return value;
  const inner = isJsonObject(patch) ? patch : {};
  const out: JsonObject = {};
  for (const key of yield* sortedTexts(Object.keys(value))) {
    const item = value[key] as Json;
    setKey(out, key, isJsonObject(inner[key]) ? yield* sorted(item, inner[key]) : item);
  }
  return out;
}

function* documentText(patched: Json, patch: Json): Steps<string> {
  yield;
  const document = yield* sorted(patched, patch);
  yield;
  return yield* stringifyJsonInSteps(document);
}

/** Kind and apiVersion of a body, shortened for messages; those of the target where the body has none or the same. */
function typeOf(value: JsonObject, kind: string, apiVersion: string): ObjectType {
  const text = (name: string, expected: string) => {
    const member = getKey(value, name);
    return typeof member !== 'string' || member === '' || member === expected ? expected : shorten(member);
  };
  return { kind: text('kind', kind), apiVersion: text('apiVersion', apiVersion) };
}

/** The document to which a custom object was patched has no kind. */
class NoKind extends StatusError {}

/** A patch does not change the kind or the apiVersion of a custom object. @throws StatusError 400, 422 */
function checkPatchedType(target: Target, patched: JsonObject): void {
  const expected = requestKind(target);
  for (const field of ['apiVersion', 'kind']) {
    const member = getKey(patched, field) ?? '';
    if (typeof member === 'string') continue;
    const why = `json: cannot unmarshal ${jsonType(member)} into Go struct field .${field} of type string`;
    throw statusError.badRequest(`couldn't get version/kind; json parse error: ${why}`);
  }
  const { kind, apiVersion } = typeOf(patched, '', '');
  if (kind === '') throw new NoKind(400, 'BadRequest', "Object 'Kind' is missing");
  const { group } = parseGroupVersion(apiVersion) ?? {};
  if (group === undefined) throw statusError.badRequest(`unexpected GroupVersion string: ${apiVersion}`);
  const errors = (
    [
      ['kind', kind, expected.kind],
      ['apiVersion', apiVersion, expected.apiVersion],
    ] as const
  )
    .filter(([, actual, required]) => actual !== required)
    .map(([field, actual, required]) => fieldError.invalid(field, actual, `must be ${required}`));
  if (errors.length > 0) throw statusError.invalid({ group, kind }, target.name, errors);
}

function* decode(
  registry: RegistryContext,
  target: Target,
  value: JsonObject,
  bodyType: ObjectType,
): Steps<{ object: ApiObject; unknown: readonly Path[] }> {
  const { kind, apiVersion, type } = requestKind(target);
  if (bodyType.kind !== kind || (bodyType.apiVersion !== apiVersion && !isFormer(target, bodyType))) {
    if (target.resource.definition.custom !== undefined) rejectCustomType(target, value, bodyType);
    rejectType(registry, target, bodyType);
  }
  const { value: decoded, unknown } = isLarge(value) ? yield* type.decodeInSteps(value) : type.decode(value);
  const object = decoded as ApiObject;
  object.kind = kind;
  object.apiVersion = apiVersion;
  object.metadata ??= {} as ObjectMeta & JsonObject;
  return { object: yield* toStorageInSteps(target, object), unknown };
}

/** Whether a type is a removed version of the subresource's kind that is still accepted. */
function isFormer(target: Target, { apiVersion }: ObjectType): boolean {
  const { group } = requestKind(target);
  const former = target.resource.subresources.get(target.subresource)?.formerVersions ?? [];
  return former.some((version) => formatGroupVersion({ group, version }) === apiVersion);
}

/** Its message is not prefixed with the kind. */
class WrongVersion extends StatusError {}

/** Any kind can be decoded as a custom resource, so that validation refuses another one. */
function rejectCustomType(target: Target, value: JsonObject, { kind, apiVersion }: ObjectType): never {
  const expected = requestKind(target);
  if (apiVersion !== expected.apiVersion) throw wrongVersion(apiVersion, expected.apiVersion);
  const name = at(value, 'metadata', 'name');
  const must = fieldError.invalid('kind', kind, `must be ${expected.kind}`);
  throw statusError.invalid({ ...expected, kind }, typeof name === 'string' ? name : target.name, [must]);
}

const wrongVersion = (actual: string, expected: string): StatusError =>
  new WrongVersion(
    400,
    'BadRequest',
    `the API version in the data (${actual}) does not match the expected API version (${expected})`,
  );

function rejectType({ catalog: { resources } }: RegistryContext, target: Target, bodyType: ObjectType): never {
  const { group, kind, apiVersion } = requestKind(target);
  const isAnotherVersion = resources.some(
    ({ definition }) =>
      definition.group === group &&
      definition.kind === kind &&
      bodyType.kind === kind &&
      definition.versions.some(({ version }) => formatGroupVersion({ group, version }) === bodyType.apiVersion),
  );
  if (isAnotherVersion) throw wrongVersion(bodyType.apiVersion, apiVersion);
  throw wrongKind(bodyType, target.resource.definition.group, internalName(target), resources);
}

/** The internal name of a target's kind in messages of the reference server: `apps.Deployment`. */
export function internalName(target: Target): string {
  const { definition } = target.resource;
  if (definition.custom !== undefined) return 'unstructured.Unstructured';
  const { kind, group } =
    target.subresource === '' ? { ...definition.storage, kind: definition.kind } : requestKind(target);
  return `${group === '' ? 'core' : group.split('.')[0]}.${kind}`;
}
