import { type FieldError, fieldError } from '../meta/index.ts';

/** Field and label selectors of an access review, raw or as requirements. */
export interface Selectors {
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

/** Field errors of the selectors at `path`. Unknown operators are allowed, for authorizers that know them. */
export function selectorErrors({ fieldSelector, labelSelector }: Selectors, path: string): FieldError[] {
  return [
    ...errorsOf(fieldSelector ?? undefined, `${path}.fieldSelector`),
    ...errorsOf(labelSelector ?? undefined, `${path}.labelSelector`),
  ];
}

function errorsOf(selector: Selector | undefined, path: string): FieldError[] {
  if (selector === undefined) return [];
  const { rawSelector = '', requirements = [] } = selector;
  const found: FieldError[] = [];
  if (rawSelector !== '' && requirements.length > 0) {
    const why = 'may not specified at the same time as requirements';
    found.push(fieldError.invalid(`${path}.rawSelector`, rawSelector, why));
  }
  if (rawSelector === '' && requirements.length === 0) {
    const why = `when ${path} is specified, requirements or rawSelector is required`;
    found.push(fieldError.required(`${path}.requirements`, why));
  }
  return [...found, ...requirements.flatMap((r, i) => requirementErrors(r, `${path}.requirements[${i}]`))];
}

function requirementErrors({ key = '', operator = '', values = [] }: Requirement, path: string): FieldError[] {
  const found: FieldError[] = [];
  if (key === '') found.push(fieldError.required(`${path}.key`, 'must be specified'));
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    found.push(fieldError.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    found.push(fieldError.forbidden(`${path}.values`, why));
  }
  return found;
}
