import { isJsonObject, type Json, type JsonObject, shorten } from '../meta/index.ts';
import { elementOf, identityOf } from './fields-of.ts';
import { elementText } from './path.ts';
import {
  type ListShape,
  memberShape,
  type ObjectShape,
  type ScalarShape,
  type Shape,
  type StructShape,
} from './shape.ts';

/** How many findings are told at most. */
const maxFindings = 100;
/** How much of a value one finding shows. */
const maxValueText = 256;

/**
 * What is wrong with an intent: fields that nobody declares, values of the wrong type, entries of a list that are there
 * twice or lack a key. Each finding starts with its path: `.data.a: expected string, got …`.
 */
export function validateApplyConfig(shape: StructShape, applyConfig: JsonObject): string[] {
  const findings: string[] = [];
  check(shape, applyConfig, '', findings);
  return findings;
}

function check(shape: Shape, value: Json, path: string, findings: string[]): void {
  if (value === null || findings.length >= maxFindings) return;
  switch (shape.kind) {
    case 'unowned':
    case 'free':
      return;
    case 'scalar':
      checkScalar(shape.accepts, value, path, findings);
      return;
    case 'list':
      if (Array.isArray(value)) checkList(shape, value, path, findings);
      else tell(path, `expected list, got &{${plain(value)}}`, findings);
      return;
    default:
      if (isJsonObject(value)) checkObject(shape, value, path, findings);
      else tell(path, `expected map, got &{${plain(value)}}`, findings);
  }
}

function checkObject(shape: ObjectShape, value: JsonObject, path: string, findings: string[]): void {
  for (const key in value) {
    const inner = memberShape(shape, key);
    if (inner === undefined) {
      // The first unknown field ends the look at its struct.
      tell(`${path}.${key}`, 'field not declared in schema', findings);
      return;
    }
    const item = value[key] as Json;
    if (item !== null && passes(inner, item)) continue;
    check(inner, item, `${path}.${key}`, findings);
  }
}

/** Whether a scalar is of its type: spares most fields the text of their path. */
const passes = (shape: Shape, value: Json): boolean =>
  shape.kind === 'scalar' && (shape.accepts === 'anything' || typeof value === shape.accepts);

function checkList(shape: ListShape, list: Json[], path: string, findings: string[]): void {
  const seen = new Set<string>();
  for (const [i, entry] of list.entries()) {
    if (findings.length >= maxFindings) return;
    if (shape.listType === 'atomic') {
      check(shape.element, entry, `${path}[${i}]`, findings);
      continue;
    }
    const why = shape.listType === 'map' ? whyUnkeyed(shape, entry) : whyNoMember(entry);
    if (why !== undefined) {
      tell(path, `element ${i}: ${why}`, findings);
      return;
    }
    const identity = identityOf(shape, entry);
    if (seen.has(identity)) tell(path, `duplicate entries for key ${textOf(shape, entry)}`, findings);
    seen.add(identity);
    if (passes(shape.element, entry)) continue;
    // The path is spelled only when there is something to tell.
    const inside: string[] = [];
    check(shape.element, entry, '', inside);
    if (inside.length === 0) continue;
    const at = `${path}${textOf(shape, entry)}`;
    for (const finding of inside) {
      const further = finding.startsWith('.') || finding.startsWith('[');
      if (findings.length < maxFindings) findings.push(shorten(`${at}${further ? '' : ': '}${finding}`));
    }
  }
}

const textOf = (shape: ListShape, entry: Json): string => shorten(elementText(elementOf(shape, entry)));

function whyUnkeyed(shape: ListShape, entry: Json): string | undefined {
  if (entry === null) return 'associative list with keys may not have a null element';
  if (!isJsonObject(entry)) return 'associative list with keys may not have non-map elements';
  const missing = shape.keys.find(({ name, default: absent }) => absent === undefined && !Object.hasOwn(entry, name));
  if (missing === undefined) return undefined;
  return `associative list with keys has an element that omits key field "${missing.name}" (and doesn't have default value)`;
}

function whyNoMember(entry: Json): string | undefined {
  if (entry === null) return "associative list without keys has an element that's an explicit null";
  if (isJsonObject(entry)) return "associative list without keys has an element that's a map type";
  return Array.isArray(entry) ? 'not supported: associative list with lists as elements' : undefined;
}

function checkScalar(accepts: ScalarShape['accepts'], value: Json, path: string, findings: string[]): void {
  const type = typeof value === 'bigint' ? 'number' : typeof value;
  if (accepts === 'anything' || (accepts === 'scalar' ? type !== 'object' : type === accepts)) return;
  switch (accepts) {
    case 'string':
      tell(path, `expected string, got &value.valueUnstructured{Value:${quoted(value)}}`, findings);
      break;
    case 'number':
      tell(path, `expected numeric (int or float), got ${typeWord(value)}`, findings);
      break;
    case 'boolean':
      tell(path, `expected boolean, got &{${plain(value)}}`, findings);
      break;
    default:
      tell(path, `expected any scalar, got &{${plain(value)}}`, findings);
  }
}

function tell(path: string, why: string, findings: string[]): void {
  if (findings.length < maxFindings) findings.push(shorten(path === '' ? why : `${path}: ${why}`));
}

// How the findings spell a value; existing clients show these texts as they are.

function typeWord(value: Json): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isJsonObject(value)) return 'map[string]interface {}';
  return typeof value === 'boolean' ? 'bool' : 'string';
}

const plain = (value: Json): string => wordsOf(value).slice(0, maxValueText);
const quoted = (value: Json): string => literalOf(value).slice(0, maxValueText);

function wordsOf(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(wordsOf).join(' ')}]`;
  if (!isJsonObject(value)) return String(value);
  const members = Object.keys(value).sort();
  return `map[${members.map((key) => `${key}:${wordsOf(value[key] as Json)}`).join(' ')}]`;
}

function literalOf(value: Json): string {
  if (value === null) return 'interface {}(nil)';
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(literalOf).join(', ')}}`;
  if (!isJsonObject(value)) return String(value);
  const members = Object.keys(value).sort();
  return `map[string]interface {}{${members.map((key) => `"${key}":${literalOf(value[key] as Json)}`).join(', ')}}`;
}
