import { type FieldError, fieldError, qualifiedName, validateSelectorObject } from '../../meta/index.ts';
import { validateToleration } from '../../rules/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { PodReadinessGate, PodSchedulingGate, Toleration, TopologySpreadConstraint } from '../../types/core-v1.ts';
import { byRule, eachOf, oneOf } from '../shared/field-rules.ts';
import { validateLabelKeys } from './affinity.ts';

/** Validates `tolerations`. */
export const validateTolerations = (tolerations: readonly Toleration[] | undefined, path: string): FieldError[] =>
  eachOf(tolerations, path, validateToleration);

type Constraint = Infer<typeof TopologySpreadConstraint>;

/** Validates `topologySpreadConstraints`. */
export function validateSpread(constraints: readonly Constraint[] | undefined, path: string): FieldError[] {
  const last = new Map((constraints ?? []).map((constraint, i) => [spreadKey(constraint), i]));
  return eachOf(constraints, path, (constraint, at, i) => {
    const { maxSkew = 0, topologyKey = '', whenUnsatisfiable: action = '', minDomains } = constraint;
    const errors: FieldError[] = [];
    if (maxSkew <= 0) errors.push(fieldError.invalid(`${at}.maxSkew`, maxSkew, 'must be greater than zero'));
    if (topologyKey === '') errors.push(fieldError.required(`${at}.topologyKey`, 'can not be empty'));
    // The schema rejects all other values.
    if (action === '') errors.push(...oneOf(`${at}.whenUnsatisfiable`, action, ['DoNotSchedule', 'ScheduleAnyway']));
    if (last.get(spreadKey(constraint)) !== i) {
      errors.push(fieldError.duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${action}}`));
    }
    if (minDomains !== undefined) {
      const field = `${at}.minDomains`;
      if (minDomains <= 0) errors.push(fieldError.invalid(field, minDomains, 'must be greater than zero'));
      if (action !== 'DoNotSchedule') {
        const why = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`;
        errors.push(fieldError.invalid(field, minDomains, why));
      }
    }
    return [
      ...errors,
      ...validateLabelKeys(constraint, at, true),
      ...validateSelectorObject(constraint.labelSelector, `${at}.labelSelector`),
    ];
  });
}

/** The key that must be unique among the constraints. */
const spreadKey = ({ topologyKey = '', whenUnsatisfiable = '' }: Constraint): string =>
  JSON.stringify([topologyKey, whenUnsatisfiable]);

/** Validates `schedulingGates`. */
export function validateSchedulingGates(
  gates: readonly Infer<typeof PodSchedulingGate>[] | undefined,
  path: string,
): FieldError[] {
  const seen = new Set<string>();
  return eachOf(gates, path, ({ name = '' }, at) => {
    const errors = byRule(at, name, qualifiedName);
    if (seen.has(name)) errors.push(fieldError.duplicate(at, name));
    seen.add(name);
    return errors;
  });
}

/** Validates `readinessGates`. */
export const validateReadinessGates = (
  gates: readonly Infer<typeof PodReadinessGate>[] | undefined,
  path: string,
): FieldError[] =>
  eachOf(gates, path, ({ conditionType = '' }, at) => byRule(`${at}.conditionType`, conditionType, qualifiedName));

/** Validates a preemption policy, of a pod or of a priority class. */
export function validatePreemption(policy: string | undefined, path: string): FieldError[] {
  if (policy === undefined) return [];
  return policy === '' ? [fieldError.required(path)] : oneOf(path, policy, ['PreemptLowerPriority', 'Never']);
}
