import { atOnce, type Json, type JsonObject, type Names, statusError } from '../meta/index.ts';
import type { StructSchema } from '../schema/index.ts';
import { elementOf } from './fields-of.ts';
import { merge } from './merge.ts';
import { pathElementText } from './path.ts';
import { memberShape, objectShape, type Shape } from './shape.ts';
import { validateApplyConfig } from './validate-apply.ts';

/** The maximum number of atomic values that a message names. */
const maxNamed = 100;

/**
 * An object with an applied configuration merged into it: nobody owns the fields, and nothing is pruned. Neither argument
 * is changed; the result shares values with both.
 * @throws StatusError 400 when the configuration does not fit the schema, has a null, or sets an atomic list, map or struct
 */
export function mergeValues(
  { schema, names }: { readonly schema: StructSchema; readonly names: Names },
  object: JsonObject,
  applyConfig: JsonObject,
): JsonObject {
  const shape = objectShape(schema, names);
  const errors = atOnce(validateApplyConfig(shape, applyConfig));
  findNulls(shape, applyConfig, '', errors);
  if (errors.length > 0) {
    const why = errors.length === 1 ? errors[0] : ['errors:', ...errors.map((error) => `  ${error}`)].join('\n');
    throw statusError.badRequest(`failed to convert patch object to typed object: ${why}`);
  }
  const atomics: string[] = [];
  findAtomics(shape, applyConfig, '', atomics);
  if (atomics.length > 0) {
    const paths = atomics.slice(0, maxNamed).join(', ');
    throw statusError.badRequest(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${paths}`);
  }
  return merge(shape, object, applyConfig);
}

/** The reference server's errors for a null, by the expected type; a value of any type may be null. */
const nullErrors: { readonly [expected: string]: string } = {
  list: 'expected list, got &{NULL_VALUE}',
  struct: 'expected map, got &{NULL_VALUE}',
  map: 'expected map, got &{NULL_VALUE}',
  string: 'expected string, got &value.valueUnstructured{Value:0}',
  number: 'expected numeric (int or float), got structpb.NullValue',
  boolean: 'expected boolean, got &{NULL_VALUE}',
  scalar: 'expected any scalar, got &{NULL_VALUE}',
};

/** The nulls within a value: a configuration says what a field is, and removes none. */
function findNulls(shape: Shape, value: Json, path: string, found: string[]): void {
  if (found.length >= maxNamed) return;
  if (value === null) {
    const why = nullErrors[shape.kind === 'scalar' ? shape.accepts : shape.kind];
    if (why !== undefined) found.push(`${path}: ${why}`);
  } else if (Array.isArray(value)) {
    if (shape.kind !== 'list') return;
    for (const [i, item] of value.entries()) {
      const at = shape.listType === 'atomic' ? `[${i}]` : pathElementText(elementOf(shape, item));
      findNulls(shape.element, item, `${path}${at}`, found);
    }
  } else if (typeof value === 'object' && (shape.kind === 'struct' || shape.kind === 'map')) {
    for (const key in value) {
      const member = memberShape(shape, key);
      if (member !== undefined) findNulls(member, value[key] as Json, `${path}.${key}`, found);
    }
  }
}

/** The paths of atomic lists, maps and structs within a value; values without a declared field are not looked at. */
function findAtomics(shape: Shape, value: Json, path: string, found: string[]): void {
  if (Array.isArray(value)) {
    if (shape.kind === 'untyped') found.push(path);
    if (shape.kind !== 'list') return;
    if (shape.listType === 'atomic') found.push(path);
    for (const [i, item] of value.entries()) findAtomics(shape.element, item, `${path}[${i}]`, found);
  } else if (typeof value === 'object' && value !== null && (shape.kind === 'struct' || shape.kind === 'map')) {
    if (shape.atomic) found.push(path);
    if (shape.kind === 'map') return;
    for (const key in value) {
      const member = shape.fields.get(key);
      if (member !== undefined) findAtomics(member.shape, value[key] as Json, `${path}.${key}`, found);
    }
  }
}
