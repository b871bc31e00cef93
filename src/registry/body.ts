import { strictFindings, stringifyJson } from '../codec/index.ts';
import { checkMembers, patchText, readOperations, visitedBy } from '../merge/index.ts';
import {
  type ApiObject,
  fieldError,
  formatGroupVersion,
  isJsonObject,
  type Json,
  type JsonObject,
  type ObjectMeta,
  type Path,
  parseGroupVersion,
  quote,
  StatusError,
  shorten,
  statusError,
  unknownField,
} from '../meta/index.ts';
import type { RegistryContext } from './context.ts';
import { requestKind, subresourceOf, toStorage } from './convert.ts';
import type { Change, ObjectBody, Target, WriteOptions } from './types.ts';

/**
 * Reads a body as an object of the target's kind, in the storage version; no one else holds any part of it. Fields that
 * nothing declares are dropped, and told as the request wants it. @throws StatusError 400, 413
 */
export function decodeBody(
  registry: RegistryContext,
  target: Target,
  { value, findings, json }: ObjectBody,
  options: WriteOptions,
): ApiObject {
  checkMembers(value);
  const { kind, apiVersion } = requestKind(target);
  const given = typeOf(value, kind, apiVersion);
  const said = `${given.kind} in version ${quote(parseGroupVersion(given.apiVersion)?.version ?? '')}`;
  try {
    const { object, unknown } = decode(registry, target, value, given);
    // Duplicates of a JSON body and its unknown fields are told in the order of its text.
    const sorts = json !== undefined && unknown.length > 0 && options.fieldValidation !== 'Ignore';
    tell(sorts ? strictFindings(json, unknown) : oddities(findings, unknown), options);
    return object;
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 400 || error instanceof WrongVersion) throw error;
    throw statusError.badRequest(`${said} cannot be handled as a ${kind}: ${error.message}`, error);
  }
}

/** What came of a patch, and what is odd about the patch itself. */
export interface Patched {
  readonly document: Json;
  readonly findings: readonly string[];
}

/**
 * The same for what a patch made of an object; the whole of it is told when it is no such object any more.
 * @throws StatusError 422
 */
export function decodePatched(
  registry: RegistryContext,
  target: Target,
  { document: patched, findings }: Patched,
  { format, patch }: Change & { readonly verb: 'patch' },
  options: WriteOptions,
): ApiObject {
  const { kind, apiVersion } = requestKind(target);
  try {
    if (!isJsonObject(patched)) throw statusError.badRequest('the patched document is no JSON object');
    // What a strategic patch says of the type counts for nothing: its result is never read as a text again.
    const given = format === 'strategic' ? { kind, apiVersion } : typeOf(patched, kind, apiVersion);
    const { object, unknown } = decode(registry, target, patched, given);
    tell(oddities(findings, unknown), options);
    return object;
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 400) throw error;
    const [shown, why] =
      format === 'strategic'
        ? [patchText(patch), misfit(error.message)]
        : [stringifyJson(sorted(patched, format === 'json' ? visitedBy(readOperations(patch)) : patch)), error.message];
    throw statusError.invalid({ group: '', kind: '' }, '', [fieldError.invalid('patch', shown, why)]);
  }
}

/** What does not fit a field, as it is told of values that were never text. */
function misfit(message: string): string {
  const [, value, type] = /cannot unmarshal (\w+) into Go .*?(?: of type|value of type) (\S+)$/.exec(message) ?? [];
  if (value === undefined || type === undefined) return message;
  const from = value === 'number' ? 'int64' : value;
  if (type.startsWith('map[')) return `cannot restore map from ${from}`;
  if (type.startsWith('[]')) return `cannot restore slice from ${from}`;
  if (/^[A-Z]|\./.test(type)) return `cannot restore struct from: ${from}`;
  return value === 'number' ? `cannot convert ${from} to ${type}` : `unrecognized type: ${type}`;
}

const oddities = (findings: readonly string[], unknown: readonly Path[]): readonly string[] =>
  unknown.length === 0 ? findings : [...findings, ...unknown.map(unknownField)];

/** Tells what is odd about a body, as the request wants it. @throws StatusError 400 */
export function tell(
  odd: readonly string[],
  { fieldValidation, warnings }: WriteOptions,
  how = 'strict decoding error',
): void {
  if (odd.length === 0 || fieldValidation === 'Ignore') return;
  if (fieldValidation === 'Strict') throw statusError.badRequest(`${how}: ${odd.join(', ')}`);
  for (const text of odd) warnings.add(text);
}

/** As the patched document is shown: keys are in order wherever the patch has gone. */
function sorted(value: Json, patch: Json): Json {
  if (!isJsonObject(value)) return value;
  const inner = isJsonObject(patch) ? patch : {};
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, isJsonObject(inner[key]) ? sorted(value[key] as Json, inner[key]) : (value[key] as Json)]),
  );
}

interface GivenType {
  readonly kind: string;
  readonly apiVersion: string;
}

/** What a body says it is, as messages show it; what it does not say it is by its place. */
function typeOf(value: JsonObject, kind: string, apiVersion: string): GivenType {
  const text = (name: string, fallback: string) => {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    return typeof given === 'string' && given !== '' ? shorten(given) : fallback;
  };
  return { kind: text('kind', kind), apiVersion: text('apiVersion', apiVersion) };
}

function decode(
  registry: RegistryContext,
  target: Target,
  value: JsonObject,
  given: GivenType,
): { object: ApiObject; unknown: readonly Path[] } {
  const { kind, apiVersion, type } = requestKind(target);
  if (given.kind !== kind || (given.apiVersion !== apiVersion && !isFormer(target, given))) {
    refuseType(registry, target, given);
  }
  const { value: decoded, unknown } = type.decode(value);
  const object = decoded as ApiObject;
  object.kind = kind;
  object.apiVersion = apiVersion;
  object.metadata ??= {} as ObjectMeta & JsonObject;
  return { object: toStorage(target, object), unknown };
}

/** Whether it is in a version of the subresource's kind that is no longer served, and still understood. */
function isFormer(target: Target, { apiVersion }: GivenType): boolean {
  const { group } = requestKind(target);
  const former = subresourceOf(target)?.formerVersions ?? [];
  return former.some((version) => formatGroupVersion({ group, version }) === apiVersion);
}

/** Where the wire's message looks for the kinds of bodies; clients compare whole messages. */
const schemes = {
  objects: 'pkg/api/legacyscheme/scheme.go:30',
  options: 'pkg/apis/meta/internalversion/scheme/register.go:27',
} as const;

export function unknownKind(kind: string, apiVersion: string, of: keyof typeof schemes): StatusError {
  const [what, version, scheme] = [kind, apiVersion, schemes[of]].map(quote);
  return statusError.badRequest(`no kind ${what} is registered for version ${version} in scheme ${scheme}`);
}

/** Told as it is, without a word on the kind. */
class WrongVersion extends StatusError {}

function refuseType({ resources }: RegistryContext, target: Target, given: GivenType): never {
  const { group, kind, apiVersion } = requestKind(target);
  const known = resources.filter(({ definition }) =>
    definition.versions.some(
      ({ version }) => formatGroupVersion({ group: definition.group, version }) === given.apiVersion,
    ),
  );
  const named = known.filter(({ definition }) => definition.kind === given.kind);
  if (named.some(({ definition }) => definition.group === group && definition.kind === kind)) {
    throw new WrongVersion(
      400,
      'BadRequest',
      `the API version in the data (${given.apiVersion}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (named.length === 0) {
    throw unknownKind(given.kind, given.apiVersion, 'objects');
  }
  const from = `${parseGroupVersion(given.apiVersion)?.version}.${given.kind}`;
  throw statusError.badRequest(`converting (${from}) to (${internalName(target)}): unknown conversion`);
}

/** What the wire's messages call the kind that is spoken at a target: `apps.Deployment`. */
export function internalName(target: Target): string {
  const { definition } = target.resource;
  if (definition.custom === true) return 'unstructured.Unstructured';
  const { kind, group } =
    target.subresource === '' ? { ...definition.storage, kind: definition.kind } : requestKind(target);
  return `${group === '' ? 'core' : group.split('.')[0]}.${kind}`;
}
