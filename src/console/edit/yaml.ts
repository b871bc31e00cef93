/** YAML as the page shows and reads it. */
import { parseDocument, stringify } from 'yaml';
import { isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';

/** The text of an object, without `metadata.managedFields`, which the page shows next to the fields. */
export function yamlOf(object: JsonObject): string {
  const { apiVersion, kind, metadata, ...rest } = object;
  const { managedFields: _, ...shown } = isJsonObject(metadata) ? metadata : {};
  return valueText({ apiVersion, kind, metadata: shown, ...rest } as JsonObject);
}

/** The same value with its members in the order of another one, so that a diff shows differences only. */
export function inOrderOf(like: Json | undefined, value: Json): Json {
  if (Array.isArray(value)) {
    return value.map((item, index) => inOrderOf(Array.isArray(like) ? like[index] : undefined, item));
  }
  if (!isJsonObject(value) || !isJsonObject(like)) return value;
  const names = [...new Set([...Object.keys(like), ...Object.keys(value)])];
  const ordered = names.flatMap((name) => {
    const member = Object.hasOwn(value, name) ? value[name] : undefined;
    return member === undefined ? [] : [[name, inOrderOf(like[name], member)] as const];
  });
  return Object.fromEntries(ordered);
}

/** The most aliases that a text may have: each copies a part of it. */
const maxAliasCount = 100;

/** Reads an object. @throws Error that says why the text is not one */
export function readYaml(text: string): JsonObject {
  const value = readValue(text);
  if (!isJsonObject(value)) throw new Error('the text is not an object');
  return value;
}

/** Reads a value of any type. @throws Error that says why the text is not valid */
export function readValue(text: string): Json {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) throw new Error(firstLine(error));
  return document.toJS({ maxAliasCount }) as Json;
}

/** The message without the lines of the text that follow it. */
export const firstLine = ({ message }: Error): string => message.split('\n')[0] ?? message;

/** A value of any type as YAML. */
export const valueText = (value: Json): string => stringify(value, { lineWidth: 0 });
