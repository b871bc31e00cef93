import { isJsonObject, type Json, type JsonObject, Pace, type Steps, shorten, valueText } from '../meta/index.ts';
import { elementOf, identityOf } from './fields-of.ts';
import { missingKey, pathElementText } from './path.ts';
import {
  type ListShape,
  memberShape,
  type ObjectShape,
  type ScalarShape,
  type Shape,
  type StructShape,
} from './shape.ts';

/** The maximum number of reported errors. */
const maxErrors = 100;
/** The maximum length of a value in one error, in characters. */
const maxValueText = 256;

/**
 * The errors of an applied configuration: undeclared fields, values of the wrong type, list entries that are duplicates
 * or lack a key. Each error starts with its path: `.data.a: expected string, got …`.
 */
export function* validateApplyConfig(shape: StructShape, applyConfig: JsonObject): Steps<string[]> {
  const errors: string[] = [];
  yield* check(shape, applyConfig, '', errors, new Pace());
  return errors;
}

function* check(shape: Shape, value: Json, path: string, errors: string[], pace: Pace): Steps<void> {
  if (value === null || errors.length >= maxErrors) return;
  switch (shape.kind) {
    case 'unowned':
    case 'untyped':
      return;
    case 'scalar':
      checkScalar(shape.accepts, value, path, errors);
      return;
    case 'list':
      if (Array.isArray(value)) yield* checkList(shape, value, path, errors, pace);
      else report(path, `expected list, got &{${plain(value)}}`, errors);
      return;
    default:
      if (isJsonObject(value)) yield* checkObject(shape, value, path, errors, pace);
      else report(path, `expected map, got &{${plain(value)}}`, errors);
  }
}

function* checkObject(shape: ObjectShape, value: JsonObject, path: string, errors: string[], pace: Pace): Steps<void> {
  for (const key in value) {
    if (pace.over()) yield;
    const inner = memberShape(shape, key);
    if (inner === undefined) {
      // Validation of a struct stops at the first undeclared field.
      report(`${path}.${key}`, 'field not declared in schema', errors);
      return;
    }
    const item = value[key] as Json;
    if (item !== null && passes(inner, item)) continue;
    yield* check(inner, item, `${path}.${key}`, errors, pace);
  }
}

/** Whether a scalar has its type: a fast path that builds no path. */
const passes = (shape: Shape, value: Json): boolean =>
  shape.kind === 'scalar' && (shape.accepts === 'anything' || typeof value === shape.accepts);

function* checkList(shape: ListShape, list: Json[], path: string, errors: string[], pace: Pace): Steps<void> {
  const seen = new Set<string>();
  for (const [i, entry] of list.entries()) {
    if (pace.over()) yield;
    if (errors.length >= maxErrors) return;
    if (shape.listType === 'atomic') {
      yield* check(shape.element, entry, `${path}[${i}]`, errors, pace);
      continue;
    }
    const why = shape.listType === 'map' ? invalidMapEntry(shape, entry) : invalidSetEntry(entry);
    if (why !== undefined) {
      report(path, `element ${i}: ${why}`, errors);
      return;
    }
    const identity = identityOf(shape, entry);
    if (seen.has(identity)) report(path, `duplicate entries for key ${textOf(shape, entry)}`, errors);
    seen.add(identity);
    if (passes(shape.element, entry)) continue;
    // The path of an entry is built only when it has errors.
    const inside: string[] = [];
    yield* check(shape.element, entry, '', inside, pace);
    if (inside.length === 0) continue;
    const at = `${path}${textOf(shape, entry)}`;
    for (const error of inside) {
      const further = error.startsWith('.') || error.startsWith('[');
      if (errors.length < maxErrors) errors.push(shorten(`${at}${further ? '' : ': '}${error}`));
    }
  }
}

const textOf = (shape: ListShape, entry: Json): string => shorten(pathElementText(elementOf(shape, entry)));

function invalidMapEntry(shape: ListShape, entry: Json): string | undefined {
  if (entry === null) return 'associative list with keys may not have a null element';
  if (!isJsonObject(entry)) return 'associative list with keys may not have non-map elements';
  const missing = shape.keys.find(({ name, default: absent }) => absent === undefined && !Object.hasOwn(entry, name));
  if (missing === undefined) return undefined;
  return missingKey(missing.name);
}

function invalidSetEntry(entry: Json): string | undefined {
  if (entry === null) return "associative list without keys has an element that's an explicit null";
  if (isJsonObject(entry)) return "associative list without keys has an element that's a map type";
  return Array.isArray(entry) ? 'not supported: associative list with lists as elements' : undefined;
}

function checkScalar(accepts: ScalarShape['accepts'], value: Json, path: string, errors: string[]): void {
  const type = typeof value === 'bigint' ? 'number' : typeof value;
  if (accepts === 'anything' || (accepts === 'scalar' ? type !== 'object' : type === accepts)) return;
  switch (accepts) {
    case 'string':
      report(path, `expected string, got &value.valueUnstructured{Value:${quoted(value)}}`, errors);
      break;
    case 'number':
      report(path, `expected numeric (int or float), got ${typeWord(value)}`, errors);
      break;
    case 'boolean':
      report(path, `expected boolean, got &{${plain(value)}}`, errors);
      break;
    default:
      report(path, `expected any scalar, got &{${plain(value)}}`, errors);
  }
}

function report(path: string, why: string, errors: string[]): void {
  if (errors.length < maxErrors) errors.push(shorten(path === '' ? why : `${path}: ${why}`));
}

// Values as the reference server shows them in these errors, which clients print verbatim.

function typeWord(value: Json): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isJsonObject(value)) return 'map[string]interface {}';
  return typeof value === 'boolean' ? 'bool' : 'string';
}

const plain = (value: Json): string => valueText(value, maxValueText);

/** The beginning of a literal, of which no more parts are made than it needs. */
function quoted(value: Json): string {
  let text = '';
  for (const part of literal(value)) {
    text += part;
    if (text.length >= maxValueText) break;
  }
  return text.slice(0, maxValueText);
}

function* literal(value: Json): Generator<string> {
  if (value === null) yield 'interface {}(nil)';
  else if (typeof value === 'string') yield JSON.stringify(value.slice(0, maxValueText));
  else if (Array.isArray(value)) {
    yield '[]interface {}{';
    yield* separated(', ', value, literal);
    yield '}';
  } else if (isJsonObject(value)) {
    yield 'map[string]interface {}{';
    yield* separated(', ', Object.keys(value).sort(), function* (key) {
      yield `"${key}":`;
      yield* literal(value[key] as Json);
    });
    yield '}';
  } else yield String(value);
}

function* separated<T>(
  separator: string,
  items: readonly T[],
  partsOf: (item: T) => Iterable<string>,
): Generator<string> {
  for (const [i, item] of items.entries()) {
    if (i > 0) yield separator;
    yield* partsOf(item);
  }
}
