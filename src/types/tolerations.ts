/** Rules of tolerations. */
import { type FieldError, fieldError, labelValue, qualifiedName } from '../meta/index.ts';
import type { Toleration } from './core-v1.ts';

/** The field errors of a toleration at a path. */
export function validateToleration(toleration: Toleration, at: string): FieldError[] {
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
  const found = key === '' ? [] : qualifiedName(key).map((why) => fieldError.invalid(`${at}.key`, key, why));
  if (key === '' && operator !== 'Exists') {
    const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    found.push(fieldError.invalid(`${at}.operator`, operator, why));
  }
  if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
    const why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
    found.push(fieldError.invalid(`${at}.effect`, effect, why));
  }
  if (operator === 'Exists') {
    const why = "value must be empty when `operator` is 'Exists'";
    if (value !== '') found.push(fieldError.invalid(`${at}.operator`, value, why));
  } else if (operator === 'Equal' || operator === '') {
    const faults = labelValue(value);
    if (faults.length > 0) found.push(fieldError.invalid(`${at}.operator`, value, faults.join(';')));
  }
  return found;
}
