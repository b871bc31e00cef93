/** Reads the OpenAPI documents of extension API servers. They may hold anything: only the part about a group version is taken over. */
import { createHash } from 'node:crypto';
import { parseAnyJsonInSteps, stringifyJsonInSteps } from '../codec/index.ts';
import { isJsonObject, type Json, type JsonObject, Pace, type Steps, setKey } from '../meta/index.ts';
import type { OpenApiV2 } from './registrations.ts';

/** Maximum number of paths and of definitions of a group version. */
const maxPaths = 2_000;
const maxDefinitions = 2_000;
/** Maximum size of the part about a group version, and of the parameters that are written in place of references to them (bytes). */
const maxPart = 2 * 1024 * 1024;
const maxParameters = 1024 * 1024;

/** How references to definitions begin, and those to parameters. */
export const definitionsPrefix = '#/definitions/';
const parametersPrefix = '#/parameters/';

/** The part of an OpenAPI v2 document about a group version: its paths, and the definitions that they refer to. */
export function* partOfOpenApi(bytes: Uint8Array, group: string, version: string): Steps<OpenApiV2 | undefined> {
  const { value: document } = yield* parseAnyJsonInSteps(bytes);
  if (!isJsonObject(document) || document['swagger'] !== '2.0') return undefined;
  const own = membersOf(document['paths'], (path) => path.startsWith(`/apis/${group}/${version}/`), maxPaths);
  const paths = yield* withParameters(own, document['parameters']);
  const all = isJsonObject(document['definitions']) ? document['definitions'] : {};
  const definitions: JsonObject = {};
  const found = yield* refsIn(paths);
  for (const name of found) {
    if (found.size > maxDefinitions) return undefined;
    const definition = Object.hasOwn(all, name) ? all[name] : undefined;
    if (!isJsonObject(definition) || Object.hasOwn(definitions, name)) continue;
    setKey(definitions, name, definition);
    // The set grows while it is iterated.
    for (const more of yield* refsIn(definition)) found.add(more);
  }
  const text = yield* stringifyJsonInSteps({ paths, definitions });
  if (text.length > maxPart) return undefined;
  yield;
  const json = Buffer.from(text);
  yield;
  return { json, hash: createHash('sha256').update(json).digest('hex') };
}

/** The paths with parameters in place of references to them. References to unknown ones are left out, and those beyond the limit. */
function* withParameters(paths: JsonObject, parameters: Json | undefined): Steps<JsonObject> {
  const all = isJsonObject(parameters) ? parameters : {};
  const sizes = new Map<string, number>();
  let left = maxParameters;
  const pace = new Pace();
  function* resolved(value: Json | undefined): Steps<Json[]> {
    const found: Json[] = [];
    for (const one of Array.isArray(value) ? value : []) {
      if (pace.over()) yield;
      const ref = isJsonObject(one) ? one['$ref'] : undefined;
      if (typeof ref !== 'string' || !ref.startsWith(parametersPrefix)) {
        found.push(one);
        continue;
      }
      const name = ref.slice(parametersPrefix.length);
      const parameter = Object.hasOwn(all, name) ? all[name] : undefined;
      if (parameter === undefined) continue;
      const size = sizes.get(name) ?? (yield* stringifyJsonInSteps(parameter)).length;
      sizes.set(name, size);
      left -= size;
      if (left >= 0) found.push(parameter);
    }
    return found;
  }
  const out: JsonObject = {};
  for (const [path, item] of Object.entries(paths)) {
    const members: JsonObject = {};
    for (const [name, member] of Object.entries(item as JsonObject)) {
      if (pace.over()) yield;
      const isOperation = isJsonObject(member) && member['parameters'] !== undefined;
      if (name === 'parameters') setKey(members, name, yield* resolved(member));
      else
        setKey(members, name, isOperation ? { ...member, parameters: yield* resolved(member['parameters']) } : member);
    }
    setKey(out, path, members);
    yield;
  }
  return out;
}

function membersOf(value: Json | undefined, isKept: (name: string) => boolean, limit: number): JsonObject {
  const members: JsonObject = {};
  const kept = Object.entries(isJsonObject(value) ? value : {}).filter(
    ([name, one]) => isKept(name) && isJsonObject(one),
  );
  for (const [name, one] of kept.slice(0, limit)) setKey(members, name, one);
  return members;
}

/** The names of the definitions that a value refers to; those that are found first where they are too many. */
function* refsIn(value: Json): Steps<Set<string>> {
  const found = new Set<string>();
  const left: Json[] = [value];
  const pace = new Pace();
  while (left.length > 0 && found.size <= maxDefinitions) {
    if (pace.over()) yield;
    const next = left.pop() as Json;
    if (Array.isArray(next)) for (const item of next) left.push(item);
    else if (isJsonObject(next)) {
      const { $ref: ref } = next;
      if (typeof ref === 'string' && ref.startsWith(definitionsPrefix)) found.add(ref.slice(definitionsPrefix.length));
      for (const name in next) left.push(next[name] as Json);
    }
  }
  return found;
}

/** A copy of a value in which references to definitions are replaced by those of their new names. */
export function* renamedRefs(value: Json, renamed: ReadonlyMap<string, string>, pace = new Pace()): Steps<Json> {
  if (renamed.size === 0) return value;
  if (pace.over()) yield;
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const item of value) items.push(yield* renamedRefs(item, renamed, pace));
    return items;
  }
  if (!isJsonObject(value)) return value;
  const members: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    const isRef = name === '$ref' && typeof member === 'string' && member.startsWith(definitionsPrefix);
    const target = isRef ? renamed.get(member.slice(definitionsPrefix.length)) : undefined;
    setKey(
      members,
      name,
      target === undefined ? yield* renamedRefs(member, renamed, pace) : definitionsPrefix + target,
    );
  }
  return members;
}

/** The hash of the OpenAPI v3 document of a group version, from the index of these; undefined: there is no document. */
export function openApiV3Hash(index: Json, group: string, version: string): string | undefined {
  const paths = isJsonObject(index) ? index['paths'] : undefined;
  const name = `apis/${group}/${version}`;
  const entry = isJsonObject(paths) && Object.hasOwn(paths, name) ? paths[name] : undefined;
  const url = isJsonObject(entry) ? entry['serverRelativeURL'] : undefined;
  if (typeof url !== 'string') return undefined;
  return /[?&]hash=([\w-]{1,256})(?:&|$)/.exec(url)?.[1] ?? createHash('sha256').update(url).digest('hex');
}
