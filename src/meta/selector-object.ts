import { errorsOfEach, type FieldError, fieldError } from './field-error.ts';
import { isJsonObject, type Json, textOf } from './json.ts';
import {
  everything,
  type LabelOperator,
  type LabelRequirement,
  type LabelSelector,
  labelSelector,
} from './selectors.ts';
import { validateLabels } from './validate-meta.ts';
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
 * The selector of a `LabelSelector` object (`matchLabels`, `matchExpressions`). An absent one selects nothing, an empty
 * one everything. The object must be valid: with an invalid expression it selects nothing.
 */
export function selectorFromObject(value: Json | undefined): LabelSelector {
  if (!isJsonObject(value)) return nothing;
  const requirements: LabelRequirement[] = [];
  if (isJsonObject(value['matchLabels'])) {
    for (const [key, expected] of Object.entries(value['matchLabels'])) {
      requirements.push({ key, operator: '=', values: [textOf(expected)] });
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

const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

/** Validates a `LabelSelector` object at `path`. */
export function validateSelectorObject(value: Json | undefined, path: string): FieldError[] {
  if (!isJsonObject(value)) return [];
  const errors = isJsonObject(value['matchLabels']) ? validateLabels(value['matchLabels'], `${path}.matchLabels`) : [];
  const expressions = errorsOfEach(listOf(value['matchExpressions']), (expression, i) =>
    isJsonObject(expression) ? validateExpression(expression, `${path}.matchExpressions[${i}]`) : [],
  );
  return [...errors, ...expressions];
}

function validateExpression(expression: { [key: string]: Json }, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const operator = OPERATORS.get(expression['operator']);
  const values = listOf(expression['values']);
  if (operator === undefined) {
    errors.push(fieldError.invalid(`${path}.operator`, expression['operator'] ?? '', 'not a valid selector operator'));
  } else if ((operator === 'in' || operator === 'notin') && values.length === 0) {
    errors.push(fieldError.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if ((operator === 'exists' || operator === '!') && values.length > 0) {
    const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    errors.push(fieldError.forbidden(`${path}.values`, why));
  }
  const key = textOf(expression['key']);
  for (const why of qualifiedName(key)) errors.push(fieldError.invalid(`${path}.key`, key, why));
  const wrongValues = errorsOfEach(values, (value, i) =>
    labelValue(textOf(value)).map((why) => fieldError.invalid(`${path}.values[${i}]`, value, why)),
  );
  return [...errors, ...wrongValues];
}
