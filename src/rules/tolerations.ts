import { type FieldError, fieldError, labelValue, qualifiedName } from '../meta/index.ts';
import type { Toleration } from '../types/core-v1.ts';

/** Validates the toleration at the field path `at`. */
export function validateToleration(toleration: Toleration, at: string): FieldError[] {
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
  const errors = key === '' ? [] : qualifiedName(key).map((why) => fieldError.invalid(`${at}.key`, key, why));
  if (key === '' && operator !== 'Exists') {
    const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(fieldError.invalid(`${at}.operator`, operator, why));
  }
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    const why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
    errors.push(fieldError.invalid(`${at}.effect`, effect, why));
  }
  if (operator === 'Exists') {
    const why = "value must be empty when `operator` is 'Exists'";
    if (value !== '') errors.push(fieldError.invalid(`${at}.operator`, value, why));
  } else if (operator === 'Equal' || operator === '') {
    const reasons = labelValue(value);
    if (reasons.length > 0) errors.push(fieldError.invalid(`${at}.operator`, value, reasons.join(';')));
  }
  return errors;
}
