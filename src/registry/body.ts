import { sortFindings, stringifyJson } from '../codec/index.ts';
import { patchText, readOperations, visitedBy } from '../merge/index.ts';
import {
  type ApiObject,
  fieldError,
  formatGroupVersion,
  isJsonObject,
  type Json,
  type JsonObject,
  type ObjectMeta,
  parseGroupVersion,
  StatusError,
  statusError,
} from '../meta/index.ts';
import { spokenOf, toStorage } from './convert.ts';
import type { Core } from './core.ts';
import type { Body, Change, Target, WriteOptions } from './types.ts';

/** A body that has been read into the storage version. */
export interface DecodedBody {
  /** Fresh: no one else holds any part of it. */
  readonly object: ApiObject;
  /** What is odd about the body, for a writer who wants to be warned. */
  readonly warnings: readonly string[];
}

/**
 * Reads a body as an object of the target's kind. Fields that nothing declares are dropped, and told as the request
 * wants it. @throws StatusError 400
 */
export function decodeBody(
  core: Core,
  target: Target,
  { value, findings, json }: Body,
  { fieldValidation }: WriteOptions,
): DecodedBody {
  const { kind, apiVersion } = spokenOf(target);
  if (!isJsonObject(value)) {
    throw statusError.badRequest(
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; the body is no JSON object`,
    );
  }
  const given = typeOf(value, kind, apiVersion);
  const said = `${given.kind} in version ${JSON.stringify(parseGroupVersion(given.apiVersion)?.version ?? '')}`;
  try {
    const decoded = decode(core, target, value, given, findings);
    const { object } = decoded;
    const odd = json === undefined || fieldValidation === 'Ignore' ? decoded.odd : sortFindings(json, decoded.odd);
    if (odd.length > 0 && fieldValidation === 'Strict') throw strict(odd);
    return { object, warnings: fieldValidation === 'Warn' ? odd : [] };
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
  core: Core,
  target: Target,
  { document: patched, findings }: Patched,
  { format, patch }: Change & { readonly verb: 'patch' },
  { fieldValidation }: WriteOptions,
): DecodedBody {
  const { kind, apiVersion } = spokenOf(target);
  try {
    if (!isJsonObject(patched)) throw statusError.badRequest('the patched document is no JSON object');
    const given = typeOf(patched, kind, apiVersion);
    const { object, odd } = decode(core, target, patched, given, findings);
    if (odd.length > 0 && fieldValidation === 'Strict') throw strict(odd);
    return { object, warnings: fieldValidation === 'Warn' ? odd : [] };
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

const strict = (odd: readonly string[]) => statusError.badRequest(`strict decoding error: ${odd.join(', ')}`);

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

/** What a body says it is; what it does not say it is by its place. */
function typeOf(value: JsonObject, kind: string, apiVersion: string): GivenType {
  const text = (name: string, fallback: string) => {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    return typeof given === 'string' && given !== '' ? given : fallback;
  };
  return { kind: text('kind', kind), apiVersion: text('apiVersion', apiVersion) };
}

function decode(
  core: Core,
  target: Target,
  value: JsonObject,
  given: GivenType,
  findings: readonly string[],
): { object: ApiObject; odd: readonly string[] } {
  const { kind, apiVersion, type } = spokenOf(target);
  if (given.kind !== kind || given.apiVersion !== apiVersion) refuseType(core, target, given);
  const { value: decoded, unknown } = type.decode(value);
  const object = decoded as ApiObject;
  object.kind = kind;
  object.apiVersion = apiVersion;
  object.metadata ??= {} as ObjectMeta & JsonObject;
  const odd =
    unknown.length === 0 ? findings : [...findings, ...unknown.map((path) => `unknown field ${JSON.stringify(path)}`)];
  return { object: toStorage(target, object), odd };
}

/** Told as it is, without a word on the kind. */
class WrongVersion extends StatusError {}

function refuseType({ resources }: Core, target: Target, given: GivenType): never {
  const { group, kind, apiVersion } = spokenOf(target);
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
    throw statusError.badRequest(
      `no kind ${JSON.stringify(given.kind)} is registered for version ${JSON.stringify(given.apiVersion)}`,
    );
  }
  const from = `${parseGroupVersion(given.apiVersion)?.version}.${given.kind}`;
  const to = `${group === '' ? 'core' : group.split('.')[0]}.${kind}`;
  throw statusError.badRequest(`converting (${from}) to (${to}): unknown conversion`);
}
