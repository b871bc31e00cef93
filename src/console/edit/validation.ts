/** Validates a YAML text while the user types: its syntax, and its schema. The review has the last word. */
import { isMap, isScalar, isSeq, type ParsedNode, parseDocument, type YAMLMap } from 'yaml';
import { isJsonObject, type Json } from '../../meta/index.ts';
import { isTextOrNumber } from '../form/controls.ts';
import type { FieldPath } from '../object/paths.ts';
import { type KindSchema, requiredOf, type Schema, typeText } from '../object/schema.ts';
import { t } from '../texts.ts';
import { firstLine } from './yaml.ts';

export interface YamlProblem {
  /** A text with errors is not YAML. A warning is what the schema says. */
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** The range in the text. */
  readonly from: number;
  readonly to: number;
}

/** The first problems are shown. Longer texts (in UTF-16 units) are checked by the review only. */
const maxProblems = 100;
const maxLength = 300_000;

/** The problems of a text. Without a schema, those of its syntax. */
export function yamlProblems(text: string, schema: KindSchema | undefined): YamlProblem[] {
  if (text.length > maxLength) return [];
  const { contents, errors } = parseDocument(text);
  if (errors.length > 0) {
    return errors.map((error) => ({
      severity: 'error',
      message: firstLine(error),
      from: Math.min(error.pos[0], text.length),
      to: Math.min(error.pos[1], text.length),
    }));
  }
  if (schema === undefined || contents === null) return [];
  const found: YamlProblem[] = [];
  for (const problem of problemsAt(contents, { schema, path: [], place: contents })) {
    found.push(problem);
    if (found.length === maxProblems) break;
  }
  return found;
}

interface Position {
  readonly schema: KindSchema;
  readonly path: FieldPath;
  /** The node to mark when the value lacks something: its key, or itself. */
  readonly place: ParsedNode;
}

function* problemsAt(node: ParsedNode, position: Position): Generator<YamlProblem> {
  const { schema, path } = position;
  const field = schema.at(path);
  // A null is a field that is not set. Values of aliases are checked where they are.
  if (field === undefined || (isScalar(node) && node.value === null)) return;
  if (!hasTypeOf(field, node)) {
    yield problem(node, t('wrongType', { type: typeText(field) }));
  } else if (isScalar(node)) {
    const choices = field['enum'];
    if (Array.isArray(choices) && !choices.includes(node.value as Json)) {
      const shown = choices.map((choice) => (typeof choice === 'string' ? choice : JSON.stringify(choice)));
      yield problem(node, t('notAChoice', { choices: shown.join(', ') }));
    }
  } else if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) {
      yield* problemsAt(item, { schema, path: [...path, index], place: item });
    }
  } else if (isMap(node)) {
    yield* problemsOfMembers(node, field, position);
  }
}

function* problemsOfMembers(
  node: YAMLMap.Parsed,
  field: Schema,
  { schema, path, place }: Position,
): Generator<YamlProblem> {
  const names = new Set<string>();
  for (const { key, value } of node.items) {
    if (!isScalar(key)) continue;
    const name = String(key.value);
    names.add(name);
    const member = [...path, name];
    if (isClosed(field) && schema.at(member) === undefined) yield problem(key, t('unknownField', { field: name }));
    else if (value !== null) yield* problemsAt(value, { schema, path: member, place: key });
  }
  for (const name of requiredOf(field)) {
    if (!names.has(name)) yield problem(place, t('missingField', { field: name }));
  }
}

const problem = ({ range: [from, to] }: ParsedNode, message: string): YamlProblem => ({
  severity: 'warning',
  message,
  from,
  to,
});

/** Whether an object has no other fields than those that its schema names. */
function isClosed({ properties, additionalProperties = false, ...extensions }: Schema): boolean {
  const isOpen = Object.entries(extensions).some(
    ([name, value]) => value === true && /-(?:preserve-unknown-fields|embedded-resource)$/.test(name),
  );
  return isJsonObject(properties) && additionalProperties === false && !isOpen;
}

const types: { readonly [type: string]: (node: ParsedNode, value: unknown) => boolean } = {
  object: (node) => isMap(node),
  array: (node) => isSeq(node),
  string: (_, value) => typeof value === 'string',
  boolean: (_, value) => typeof value === 'boolean',
  integer: (_, value) => Number.isInteger(value),
  number: (_, value) => typeof value === 'number',
};

/** Whether a value is of the type of its schema, as far as the schema names one of the types that it may have. */
function hasTypeOf(schema: Schema, node: ParsedNode): boolean {
  const value = isScalar(node) ? node.value : undefined;
  if (isTextOrNumber(schema)) return typeof value === 'string' || typeof value === 'number';
  const { type } = schema;
  const fits = typeof type === 'string' && Object.hasOwn(types, type) ? types[type] : undefined;
  return fits === undefined || fits(node, value);
}
