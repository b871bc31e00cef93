import {
  dns1123Label,
  dns1123Subdomain,
  type FieldError,
  fieldError,
  labelValue,
  qualifiedName,
  validateSelectorObject,
} from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type {
  Affinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  PodSpec,
} from '../../types/core-v1.ts';
import type { LabelSelector } from '../../types/meta-v1.ts';
import { byRule, eachOf } from '../shared/field-rules.ts';

type Requirement = Infer<typeof NodeSelectorRequirement>;
type Term = Infer<typeof PodAffinityTerm>;

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Validates node affinity, pod affinity and pod anti-affinity. */
export function validateAffinity(affinity: Affinity | undefined, path: string): FieldError[] {
  const { nodeAffinity: nodes, podAffinity, podAntiAffinity } = affinity ?? {};
  const errors: FieldError[] = [];
  if (nodes?.[REQUIRED] !== undefined) {
    errors.push(...validateNodeSelector(nodes[REQUIRED], `${path}.nodeAffinity.${REQUIRED}`));
  }
  errors.push(
    ...eachOf(nodes?.[PREFERRED], `${path}.nodeAffinity.${PREFERRED}`, ({ weight = 0, preference = {} }, at) => [
      ...validateWeight(weight, at),
      ...validateTerm(preference, `${at}.preference`, true),
    ]),
  );
  return [
    ...errors,
    ...validateInterPodAffinity(podAffinity, `${path}.podAffinity`),
    ...validateInterPodAffinity(podAntiAffinity, `${path}.podAntiAffinity`),
  ];
}

const validateWeight = (weight: number, path: string): FieldError[] =>
  weight > 0 && weight <= 100 ? [] : [fieldError.invalid(`${path}.weight`, weight, 'must be in the range 1-100')];

/** Validates a node selector: its terms are ORed. */
export function validateNodeSelector({ nodeSelectorTerms: terms = [] }: NodeSelector, path: string): FieldError[] {
  const at = `${path}.nodeSelectorTerms`;
  if ((terms ?? []).length === 0) return [fieldError.required(at, 'must have at least one node selector term')];
  return eachOf(terms, at, (term, place) => validateTerm(term, place, false));
}

/**
 * Validates a node selector term. Label values of preferred terms are not validated (`anyValue`), those of required
 * terms are.
 */
function validateTerm(term: Infer<typeof NodeSelectorTerm>, path: string, anyValue: boolean): FieldError[] {
  return [
    ...eachOf(term.matchExpressions, `${path}.matchExpressions`, (one, at) => validateRequirement(one, at, anyValue)),
    ...eachOf(term.matchFields, `${path}.matchFields`, validateFieldRequirement),
  ];
}

function validateRequirement(
  { key = '', operator = '', values = [] }: Requirement,
  path: string,
  anyValue: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  const at = `${path}.values`;
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) {
        errors.push(fieldError.required(at, "must be specified when `operator` is 'In' or 'NotIn'"));
      }
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        errors.push(fieldError.forbidden(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
      }
      break;
    case 'Gt':
    case 'Lt':
      if (values.length !== 1) {
        errors.push(fieldError.required(at, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
      }
      break;
    default:
      errors.push(fieldError.invalid(`${path}.operator`, operator, 'not a valid selector operator'));
  }
  errors.push(...byRule(`${path}.key`, key, qualifiedName));
  return anyValue ? errors : [...errors, ...eachOf(values, at, (value, place) => byRule(place, value, labelValue))];
}

function validateFieldRequirement({ key = '', operator = '', values = [] }: Requirement, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(fieldError.invalid(`${path}.operator`, operator, 'not a valid selector operator'));
  } else if (values.length !== 1) {
    const why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.push(fieldError.required(`${path}.values`, why));
  }
  if (key !== 'metadata.name') {
    return [...errors, fieldError.invalid(`${path}.key`, key, 'not a valid field selector key')];
  }
  return [...errors, ...eachOf(values, `${path}.values`, (value, at) => byRule(at, value, dns1123Subdomain))];
}

function validateInterPodAffinity(affinity: Infer<typeof PodAffinity> | undefined, path: string): FieldError[] {
  return [
    ...eachOf(affinity?.[REQUIRED], `${path}.${REQUIRED}`, validatePodTerm),
    ...eachOf(affinity?.[PREFERRED], `${path}.${PREFERRED}`, ({ weight = 0, podAffinityTerm = {} }, at) => [
      ...validateWeight(weight, at),
      ...validatePodTerm(podAffinityTerm, `${at}.podAffinityTerm`),
    ]),
  ];
}

function validatePodTerm(term: Term, path: string): FieldError[] {
  const { labelSelector, namespaceSelector, namespaces = [], topologyKey = '' } = term;
  return [
    ...validateSelectorObject(labelSelector, `${path}.labelSelector`),
    ...validateSelectorObject(namespaceSelector, `${path}.namespaceSelector`),
    ...namespaces.flatMap((namespace) => byRule(`${path}.namespace`, namespace, dns1123Label)),
    ...validateLabelKeys(term, path),
    ...(topologyKey === '' ? [fieldError.required(`${path}.topologyKey`, 'can not be empty')] : []),
    ...byRule(`${path}.topologyKey`, topologyKey, qualifiedName),
  ];
}

type LabelKeys = Pick<Term, 'matchLabelKeys' | 'mismatchLabelKeys' | 'labelSelector'>;

/**
 * Validates `matchLabelKeys` and `mismatchLabelKeys`; `path` is that of the term or constraint with the label selector.
 * `always`: the keys are validated even where they are forbidden.
 */
export function validateLabelKeys(
  { matchLabelKeys = [], mismatchLabelKeys = [], labelSelector }: LabelKeys,
  path: string,
  always = false,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [field, keys] of Object.entries({ matchLabelKeys, mismatchLabelKeys })) {
    const isForbidden = keys.length > 0 && labelSelector === undefined;
    if (isForbidden) {
      errors.push(fieldError.forbidden(`${path}.${field}`, 'must not be specified when labelSelector is not set'));
    }
    if (!isForbidden || always)
      errors.push(...eachOf(keys, `${path}.${field}`, (key, at) => byRule(at, key, qualifiedName)));
  }
  const selected = new Set(Object.keys(labelSelector?.matchLabels ?? {}));
  const places = new Map(matchLabelKeys.map((key, i) => [key, i]));
  for (const { key = '' } of labelSelector?.matchExpressions ?? []) {
    const i = places.get(key);
    if (i !== undefined && selected.has(key)) {
      errors.push(fieldError.invalid(`${path}[${i}]`, key, 'exists in both matchLabelKeys and labelSelector'));
    }
    selected.add(key);
  }
  const mismatched = new Set(mismatchLabelKeys);
  matchLabelKeys.forEach((key, i) => {
    if (!mismatched.has(key)) return;
    const why = 'exists in both matchLabelKeys and mismatchLabelKeys';
    errors.push(fieldError.invalid(`${path}.matchLabelKeys[${i}]`, key, why));
  });
  return errors;
}

type Labels = { readonly [key: string]: string } | undefined;

/** Merges the values of the pod's labels named by `matchLabelKeys` and `mismatchLabelKeys` into the label selectors. */
export function completeSelectors({ affinity, topologySpreadConstraints }: PodSpec, labels: Labels): void {
  for (const kind of [affinity?.podAffinity, affinity?.podAntiAffinity]) {
    for (const term of kind?.[REQUIRED] ?? []) completeTerm(term, labels);
    for (const { podAffinityTerm } of kind?.[PREFERRED] ?? []) completeTerm(podAffinityTerm ?? {}, labels);
  }
  for (const constraint of topologySpreadConstraints ?? []) completeTerm(constraint, labels);
}

function completeTerm({ labelSelector, matchLabelKeys, mismatchLabelKeys }: LabelKeys, labels: Labels): void {
  if (labelSelector === undefined) return;
  addExpressions(labelSelector, 'In', matchLabelKeys ?? [], labels);
  addExpressions(labelSelector, 'NotIn', mismatchLabelKeys ?? [], labels);
}

function addExpressions(
  selector: LabelSelector,
  operator: 'In' | 'NotIn',
  keys: readonly string[],
  labels: Labels,
): void {
  const conflictingKeys = keys.filter((key) => Object.hasOwn(labels ?? {}, key));
  if (conflictingKeys.length === 0) return;
  selector.matchExpressions = [
    ...(selector.matchExpressions ?? []),
    ...conflictingKeys.map((key) => ({ key, operator, values: [labels?.[key] as string] })),
  ];
}
