import { getKey, isJsonObject, type Json, type JsonObject, setKey, valueText } from '../../meta/index.ts';
import { isInt64 } from './value-schema.ts';

/** The maximum length of a value in a message, in characters. */
const maxShownValue = 256;

/** The field names of a path such as `.spec.replicas`. */
export const fieldNames = (path: string): string[] => path.replace(/^\./, '').split('.');

/** A nested field: a value of the expected type, undefined if it is absent, or the reason why it cannot be read. */
export type Nested<T> = { readonly value: T | undefined; readonly problem?: undefined } | { readonly problem: string };

export const nestedInteger = (object: JsonObject, names: readonly string[]): Nested<number> =>
  nested(object, names, 'int64', (value) =>
    (typeof value === 'number' || typeof value === 'bigint') && isInt64(value) ? Number(value) : undefined,
  );

export const nestedText = (object: JsonObject, names: readonly string[]): Nested<string> =>
  nested(object, names, 'string', (value) => (typeof value === 'string' ? value : undefined));

function nested<T>(
  object: JsonObject,
  names: readonly string[],
  type: string,
  read: (value: Json) => T | undefined,
): Nested<T> {
  let current: Json = object;
  for (const name of names) {
    if (!isJsonObject(current)) {
      if (current === null) return { value: undefined };
      const mismatch = `${valueText(current, maxShownValue)} is of the type ${typeName(current)}, expected map[string]interface{}`;
      return { problem: `.${names.join('.')} accessor error: ${mismatch}` };
    }
    const next: Json | undefined = getKey(current, name);
    if (next === undefined) return { value: undefined };
    current = next;
  }
  const value = read(current);
  if (value !== undefined) return { value };
  const mismatch = `${valueText(current, maxShownValue)} is of the type ${typeName(current)}, expected ${type}`;
  return { problem: `.${names.join('.')} accessor error: ${mismatch}` };
}

/** The Go type of a value. */
function typeName(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'object':
      return 'map[string]interface {}';
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    default:
      return isInt64(value as number | bigint) ? 'int64' : 'float64';
  }
}

/** Sets a nested field; the objects on the path are copied, and made where they are missing. */
export function setNested(object: JsonObject, [name = '', ...rest]: readonly string[], value: Json): void {
  if (rest.length === 0) {
    setKey(object, name, value);
    return;
  }
  const inner = getKey(object, name);
  const copy = isJsonObject(inner) ? { ...inner } : {};
  setKey(object, name, copy);
  setNested(copy, rest, value);
}
