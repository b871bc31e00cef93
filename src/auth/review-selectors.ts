import {
  type FieldError,
  type FieldTerm,
  fieldError,
  type LabelOperator,
  type LabelRequirement,
  labelValue,
  qualifiedName,
  quote,
  receiveSelectors,
} from '../meta/index.ts';
import { type SelectorAttributes, selectorAttributes } from './selector-attributes.ts';
import type { Requirements } from './types.ts';

/** Field and label selectors of an access review, raw or as requirements. */
export interface ReviewSelectors {
  readonly fieldSelector?: Selector | null;
  readonly labelSelector?: Selector | null;
}

interface Selector {
  readonly rawSelector?: string;
  readonly requirements?: readonly Requirement[];
}

interface Requirement {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: readonly string[];
}

/**
 * The selectors as attributes. Raw selectors that cannot be parsed and requirements that this server does not know are
 * left out, and an error says so.
 */
export function reviewedSelectors({ fieldSelector, labelSelector }: ReviewSelectors): SelectorAttributes {
  const raw = receiveSelectors(labelSelector?.rawSelector ?? '', fieldSelector?.rawSelector ?? '');
  const { requirements: fields = [] } = fieldSelector ?? {};
  const { requirements: labels = [] } = labelSelector ?? {};
  return {
    ...selectorAttributes(raw),
    ...(fields.length === 0 ? {} : { fieldSelector: knownRequirements(fields, fieldTerm) }),
    ...(labels.length === 0 ? {} : { labelSelector: knownRequirements(labels, labelRequirement) }),
  };
}

/** `read` returns why a requirement is not known. */
function knownRequirements<R>(
  given: readonly Requirement[],
  read: (requirement: Requirement) => R | string,
): Requirements<R> {
  const requirements: R[] = [];
  let error: string | undefined;
  for (const requirement of given) {
    const found = read(requirement);
    if (typeof found === 'string') error ??= found;
    else requirements.push(found);
  }
  return error === undefined ? { requirements } : { requirements, error };
}

function fieldTerm({ key = '', operator = '', values = [] }: Requirement): FieldTerm | string {
  const [value, ...more] = values;
  if (more.length > 0) return 'fieldSelectors do not yet support multiple values';
  if (operator === 'Exists' || operator === 'DoesNotExist') return `fieldSelectors do not yet support ${operator}`;
  if (operator !== 'In' && operator !== 'NotIn') return `${quote(operator)} is not a valid field selector operator`;
  return value === undefined
    ? `fieldSelectors ${operator} must have one value`
    : { field: key, value, not: operator === 'NotIn' };
}

const labelOperators = new Map<string, LabelOperator>([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

function labelRequirement({ key = '', operator = '', values = [] }: Requirement): LabelRequirement | string {
  const known = labelOperators.get(operator);
  if (known === undefined) return `${quote(operator)} is not a valid label selector operator`;
  const [error] = [...qualifiedName(key), ...values.flatMap(labelValue)];
  return error ?? { key, operator: known, values: [...new Set(values)].sort() };
}

/** Field errors of the selectors at `path`. Unknown operators are allowed, for authorizers that know them. */
export function selectorErrors({ fieldSelector, labelSelector }: ReviewSelectors, path: string): FieldError[] {
  return [
    ...errorsOf(fieldSelector ?? undefined, `${path}.fieldSelector`, fieldTermErrors),
    ...errorsOf(labelSelector ?? undefined, `${path}.labelSelector`, labelTermErrors),
  ];
}

/** As many as the selector of a request may have. */
const maxRequirements = 1_000;
/** The most values of a requirement. */
const maxValues = 1_000;

type TermErrors = (term: Requirement, path: string) => FieldError[];

function errorsOf(selector: Selector | undefined, path: string, termErrors: TermErrors): FieldError[] {
  if (selector === undefined) return [];
  const { rawSelector = '', requirements = [] } = selector;
  // The rest of a review that is too large is not looked at.
  if (requirements.length > maxRequirements) {
    return [fieldError.tooMany(`${path}.requirements`, requirements.length, maxRequirements)];
  }
  const long = requirements.findIndex(({ values = [] }) => values.length > maxValues);
  if (long >= 0) {
    const count = requirements[long]?.values?.length ?? 0;
    return [fieldError.tooMany(`${path}.requirements[${long}].values`, count, maxValues)];
  }
  const found: FieldError[] = [];
  if (rawSelector !== '' && requirements.length > 0) {
    const why = 'may not specified at the same time as requirements';
    found.push(fieldError.invalid(`${path}.rawSelector`, rawSelector, why));
  }
  if (rawSelector === '' && requirements.length === 0) {
    const why = `when ${path} is specified, requirements or rawSelector is required`;
    found.push(fieldError.required(`${path}.requirements`, why));
  }
  return [
    ...found,
    ...requirements.flatMap((term, i) => {
      const at = `${path}.requirements[${i}]`;
      return [...termErrors(term, at), ...operatorErrors(term, at)];
    }),
  ];
}

const fieldTermErrors: TermErrors = ({ key = '' }, path) =>
  key === '' ? [fieldError.required(`${path}.key`, 'must be specified')] : [];

const labelTermErrors: TermErrors = ({ key = '', values = [] }, path) => [
  ...qualifiedName(key).map((why) => fieldError.invalid(`${path}.key`, key, why)),
  ...values.flatMap((value, i) =>
    labelValue(value).map((why) => fieldError.invalid(`${path}.values[${i}]`, value, why)),
  ),
];

function operatorErrors({ operator = '', values = [] }: Requirement, path: string): FieldError[] {
  const found: FieldError[] = [];
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    found.push(fieldError.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    found.push(fieldError.forbidden(`${path}.values`, why));
  }
  return found;
}
