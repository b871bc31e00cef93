import { type OpenApiV2, renamedRefs } from '../../aggregation/index.ts';
import { parseAnyJsonInSteps, stringifyJsonInSteps } from '../../codec/index.ts';
import { isJsonObject, type JsonObject, type Steps } from '../../meta/index.ts';
import type { Part } from './openapi-encodings.ts';

/** The fields that the documents of extension API servers add to a document. */
export type RemoteFields = { readonly [part in Part]: readonly (readonly [name: string, value: JsonObject])[] };

/**
 * The paths and schemas of the documents of extension API servers. A schema whose name is taken gets another one: `taken` has the
 * names of the schemas of the whole document. Schemas of the same name and content are added once.
 */
export function* remoteFields(documents: readonly OpenApiV2[], taken: ReadonlySet<string>): Steps<RemoteFields> {
  const paths = new Map<string, JsonObject>();
  const schemas = new Map<string, JsonObject>();
  const texts = new Map<string, string>();
  for (const { json } of documents) {
    const { value } = yield* parseAnyJsonInSteps(json);
    const { paths: ownPaths = {}, definitions = {} } = isJsonObject(value) ? value : {};
    const renamed = new Map<string, string>();
    const own = objectsIn(definitions);
    for (const [name, schema] of own) {
      const text = yield* stringifyJsonInSteps(schema);
      const free = freeName(name, text, taken, texts);
      texts.set(free, text);
      if (free !== name) renamed.set(name, free);
      yield;
    }
    for (const [name, schema] of own) {
      schemas.set(renamed.get(name) ?? name, (yield* renamedRefs(schema, renamed)) as JsonObject);
    }
    for (const [path, operations] of objectsIn(ownPaths)) {
      if (!paths.has(path)) paths.set(path, (yield* renamedRefs(operations, renamed)) as JsonObject);
    }
  }
  return { paths: [...paths], schemas: [...schemas] };
}

/** The name, or the first of `name_v2`, `name_v3`… that no other schema has. */
function freeName(name: string, text: string, taken: ReadonlySet<string>, texts: ReadonlyMap<string, string>): string {
  const isFree = (one: string) => !taken.has(one) && (texts.get(one) ?? text) === text;
  let free = name;
  for (let i = 2; !isFree(free); i++) free = `${name}_v${i}`;
  return free;
}

/** The members of an object that are objects. */
export const objectsIn = (value: unknown): [string, JsonObject][] =>
  Object.entries(isJsonObject(value as JsonObject) ? (value as JsonObject) : {}).filter(
    (entry): entry is [string, JsonObject] => isJsonObject(entry[1]),
  );
