/** YAML as the page shows and reads it. */
import { LineCounter, parseDocument, stringify } from 'yaml';
import { isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';

/** The text of an object, without `metadata.managedFields`, which the page shows next to the fields. */
export function yamlOf(object: JsonObject): string {
  const { apiVersion, kind, metadata, ...rest } = object;
  const { managedFields: _, ...shown } = isJsonObject(metadata) ? metadata : {};
  return stringify({ apiVersion, kind, metadata: shown, ...rest }, { lineWidth: 0 });
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

export interface YamlProblem {
  readonly message: string;
  readonly from: number;
  readonly to: number;
}

/** What is wrong with a text. */
export function yamlProblems(text: string): YamlProblem[] {
  const document = parseDocument(text, { lineCounter: new LineCounter() });
  return document.errors.map(({ message, pos: [from, to] }) => ({
    message: message.split('\n')[0] ?? message,
    from: Math.min(from, text.length),
    to: Math.min(to, text.length),
  }));
}

/** The most aliases that a text may have: each copies a part of it. */
const maxAliasCount = 100;

/** Reads an object. @throws Error that says why the text is not one */
export function readYaml(text: string): JsonObject {
  const [problem] = yamlProblems(text);
  if (problem !== undefined) throw new Error(problem.message);
  const value: unknown = parseDocument(text).toJS({ maxAliasCount });
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('the text is not an object');
  return value as JsonObject;
}
