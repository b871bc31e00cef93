import { type FieldError, fieldError } from './field-error.ts';
import { isJsonObject, type Json } from './json.ts';
import {
  everything,
  type LabelOperator,
  type LabelRequirement,
  type LabelSelector,
  labelSelector,
} from './selectors.ts';
import { labelValue, qualifiedName } from './validate-names.ts';

const OPERATORS = new Map<Json | undefined, LabelOperator>([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

const nothing: LabelSelector = {
  requirements: [],
  text: '<none>',
  matches: () => false,
  requires: () => undefined,
};

/**
 * The selector that a `LabelSelector` object (`matchLabels`, `matchExpressions`) means. An absent one selects nothing,
 * an empty one everything. Takes the object as valid: an expression that is not selects nothing.
 */
export function selectorFromObject(value: Json | undefined): LabelSelector {
  if (!isJsonObject(value)) return nothing;
  const requirements: LabelRequirement[] = [];
  if (isJsonObject(value['matchLabels'])) {
    for (const [key, wanted] of Object.entries(value['matchLabels'])) {
      requirements.push({ key, operator: '=', values: [textOf(wanted)] });
    }
  }
  for (const expression of listOf(value['matchExpressions'])) {
    const operator = isJsonObject(expression) ? OPERATORS.get(expression['operator']) : undefined;
    if (!isJsonObject(expression) || operator === undefined) return nothing;
    const values = [...new Set(listOf(expression['values']).map(textOf))].sort();
    requirements.push({ key: textOf(expression['key']), operator, values });
  }
  return requirements.length === 0 ? everything : labelSelector(requirements);
}

/** Text where text belongs; what is not text is for the schema to refuse. */
export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

/** What is wrong with a `LabelSelector` object, below `path`. */
export function validateSelectorObject(value: Json | undefined, path: string): FieldError[] {
  if (!isJsonObject(value)) return [];
  const found = isJsonObject(value['matchLabels']) ? validateLabels(value['matchLabels'], `${path}.matchLabels`) : [];
  listOf(value['matchExpressions']).forEach((expression, i) => {
    if (isJsonObject(expression)) found.push(...validateExpression(expression, `${path}.matchExpressions[${i}]`));
  });
  return found;
}

function validateExpression(expression: { [key: string]: Json }, path: string): FieldError[] {
  const found: FieldError[] = [];
  const operator = OPERATORS.get(expression['operator']);
  const values = listOf(expression['values']);
  if (operator === undefined) {
    found.push(fieldError.invalid(`${path}.operator`, expression['operator'] ?? '', 'not a valid selector operator'));
  } else if ((operator === 'in' || operator === 'notin') && values.length === 0) {
    found.push(fieldError.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if ((operator === 'exists' || operator === '!') && values.length > 0) {
    const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    found.push(fieldError.forbidden(`${path}.values`, why));
  }
  const key = textOf(expression['key']);
  found.push(...qualifiedName(key).map((why) => fieldError.invalid(`${path}.key`, key, why)));
  values.forEach((value, i) => {
    found.push(...labelValue(textOf(value)).map((why) => fieldError.invalid(`${path}.values[${i}]`, value, why)));
  });
  return found;
}

/** What is wrong with the keys and values of labels; `path` is the field of every finding. */
export function validateLabels(labels: { readonly [key: string]: Json }, path: string): FieldError[] {
  const found: FieldError[] = [];
  for (const key in labels) {
    const value = labels[key] as Json;
    for (const why of qualifiedName(key)) found.push(fieldError.invalid(path, key, why));
    for (const why of labelValue(textOf(value))) found.push(fieldError.invalid(path, value, why));
  }
  return found;
}
