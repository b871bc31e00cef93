import { type FieldError, fieldError, formatTime, qualifiedName } from '../../meta/index.ts';
import type { Condition } from '../../types/meta-v1.ts';
import { byRule, eachOf, oneOf, unique } from './field-rules.ts';

const statuses = ['False', 'True', 'Unknown'];
const MAX_REASON = 1024;
const MAX_MESSAGE = 32 * 1024;
const reasonForm = /^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const reasonRule = (reason: string): string[] =>
  reasonForm.test(reason)
    ? []
    : [
        "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')",
      ];

/** Validates a list of `metav1.Condition`. */
export const validateConditions = (conditions: readonly Condition[] | undefined, path: string): FieldError[] => [
  ...unique(conditions, path, ({ type = '' }) => type, '.type'),
  ...eachOf(conditions, path, validateCondition),
];

function validateCondition(condition: Condition, path: string): FieldError[] {
  const { type = '', status = '', observedGeneration = 0, reason = '', message = '' } = condition;
  const errors = [...byRule(`${path}.type`, type, qualifiedName), ...oneOf(`${path}.status`, status, statuses)];
  if (observedGeneration < 0) {
    const why = 'must be greater than or equal to zero';
    errors.push(fieldError.invalid(`${path}.observedGeneration`, observedGeneration, why));
  }
  if ((condition.lastTransitionTime ?? '') === '') {
    errors.push(fieldError.required(`${path}.lastTransitionTime`, 'must be set'));
  }
  if (reason === '') errors.push(fieldError.required(`${path}.reason`, 'must be set'));
  else errors.push(...byRule(`${path}.reason`, reason, reasonRule));
  if (Buffer.byteLength(reason) > MAX_REASON) errors.push(fieldError.tooLong(`${path}.reason`, MAX_REASON));
  if (Buffer.byteLength(message) > MAX_MESSAGE) errors.push(fieldError.tooLong(`${path}.message`, MAX_MESSAGE));
  return errors;
}

/**
 * The conditions with the given one added, or replacing the one of its type. `lastTransitionTime` changes only with the
 * status.
 */
export function withCondition<C extends Pick<Condition, 'type' | 'status' | 'lastTransitionTime'>>(
  conditions: readonly C[] = [],
  condition: C,
  now: number,
): C[] {
  const before = conditions.find(({ type }) => type === condition.type);
  const since = before?.status === condition.status ? before?.lastTransitionTime : undefined;
  const next = { ...condition, lastTransitionTime: since ?? formatTime(now) };
  return before === undefined ? [...conditions, next] : conditions.map((other) => (other === before ? next : other));
}

/** A condition of a pod that was never probed: the unset time is written as null. */
export const neverProbed: object = { lastProbeTime: null };
