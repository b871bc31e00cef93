/** The schemas of kinds, from the OpenAPI v3 documents of the server. */
import { readJson } from '../../client/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';
import type { Kind } from '../state/discovery.ts';
import type { Session } from '../state/session.ts';
import type { FieldPath } from './paths.ts';

/** A schema of OpenAPI v3, with its extensions. */
export interface Schema extends JsonObject {}

/** The schema of a kind with those that it refers to. */
export interface KindSchema {
  readonly root: Schema;
  /** The schema of a field; undefined: the schema does not have the field. */
  at(path: FieldPath): Schema | undefined;
  /** The names of the fields that distinguish the items of a list; undefined: the list is one value. */
  listKeys(path: FieldPath): readonly string[] | undefined;
}

const documents = new WeakMap<Session, Map<string, Promise<Json>>>();

/** Reads the schema of a kind; undefined: there is none. @throws StatusError */
export async function readSchema(session: Session, kind: Kind): Promise<KindSchema | undefined> {
  // The index changes with the definitions; the URL of a document has its hash.
  const index = (await read(session, '/openapi/v3')) as {
    paths?: { [path: string]: { serverRelativeURL: string } };
  };
  const path = kind.group === '' ? `api/${kind.version}` : `apis/${kind.apiVersion}`;
  const url = index.paths?.[path]?.serverRelativeURL;
  if (url === undefined) return undefined;
  const document = (await readDocument(session, url)) as { components?: { schemas?: { [name: string]: Schema } } };
  return schemaOfKind(document.components?.schemas ?? {}, kind, session.names.extension);
}

const read = async ({ client }: Session, url: string): Promise<Json> =>
  readJson(await client.request({ method: 'GET', url, headers: {} }));

/** Each document is read once a session. */
function readDocument(session: Session, url: string): Promise<Json> {
  const known = documents.get(session) ?? new Map<string, Promise<Json>>();
  documents.set(session, known);
  const reading = known.get(url) ?? read(session, url);
  known.set(url, reading);
  reading.catch(() => known.delete(url));
  return reading;
}

/** The schema of a kind among those of its document; undefined: the document has none. */
export function schemaOfKind(
  schemas: { readonly [name: string]: Schema },
  { group, version, kind }: Pick<Kind, 'group' | 'version' | 'kind'>,
  extension: string,
): KindSchema | undefined {
  const isOfKind = (schema: Schema) => {
    const kinds = schema[`${extension}group-version-kind`];
    return (
      Array.isArray(kinds) &&
      kinds.some((of) => isJsonObject(of) && of['group'] === group && of['version'] === version && of['kind'] === kind)
    );
  };
  const root = Object.values(schemas).find(isOfKind);
  if (root === undefined) return undefined;
  const at = (path: FieldPath) => {
    let schema: Schema | undefined = root;
    for (const part of path) schema = schema && below(schemas, schema, part);
    return schema;
  };
  return {
    root,
    at,
    listKeys: (path) => {
      const keys = at(path)?.[`${extension}list-map-keys`];
      return Array.isArray(keys) ? (keys as string[]) : undefined;
    },
  };
}

/** The schema of a member, without references; its own description comes before that of the type. */
function below(
  schemas: { readonly [name: string]: Schema },
  schema: Schema,
  part: string | number,
): Schema | undefined {
  const { properties, items, additionalProperties } = schema;
  const member =
    typeof part === 'number'
      ? items
      : isJsonObject(properties) && Object.hasOwn(properties, part)
        ? properties[part]
        : additionalProperties;
  return isJsonObject(member) ? resolve(schemas, member) : undefined;
}

function resolve(schemas: { readonly [name: string]: Schema }, schema: Schema): Schema {
  const { allOf, $ref, description } = schema;
  const reference = $ref ?? (Array.isArray(allOf) && isJsonObject(allOf[0]) ? allOf[0]['$ref'] : undefined);
  if (typeof reference !== 'string') return schema;
  const found = schemas[reference.slice(reference.lastIndexOf('/') + 1)] ?? {};
  return { ...found, ...schema, ...(description === undefined ? {} : { description }) };
}

/** The type of a field as people write it: `[]string`, `map of integer`. */
export function typeText({ type, items, additionalProperties, format }: Schema): string {
  if (type === 'array') return `[]${isJsonObject(items) ? typeText(items) : ''}`;
  if (isJsonObject(additionalProperties)) return `map of ${typeText(additionalProperties)}`;
  return [type, format].filter((text) => typeof text === 'string').join(', ') || 'object';
}

/** The description of a field; empty if the schema has none. */
export const descriptionOf = ({ description }: Schema): string => (typeof description === 'string' ? description : '');

/** The first sentence of a description, or its first line where that is shorter. */
export const firstSentence = (description: string): string => /^.*?(?:\.(?=\s|$)|$)/m.exec(description)?.[0] ?? '';

/** The fields that an object must have. */
export const requiredOf = ({ required }: Schema): readonly string[] =>
  Array.isArray(required) ? (required as string[]) : [];

/** The fields of an object with their schemas. */
export function fieldsOf({ properties }: Schema): [name: string, schema: Schema][] {
  return isJsonObject(properties) ? (Object.entries(properties) as [string, Schema][]) : [];
}
