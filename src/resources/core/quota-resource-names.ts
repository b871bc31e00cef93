/** Validation of the resource names of quotas. */
import { type FieldError, fieldError, type Names } from '../../meta/index.ts';
import { isStandard } from '../../rules/index.ts';
import { validateAmount } from '../pod-template/resources.ts';
import { validateResourceName } from '../shared/resource-names.ts';

/** Whether a standard resource is supported in quotas: all but the plain `storage`. */
export const isForQuota = (name: string): boolean => isStandard(name) && name !== 'storage';

/** Validates one entry of a quota. */
export function validateQuotaAmount(name: string, amount: string, path: string, names: Names): FieldError[] {
  const errors = validateResourceName(name, path);
  if (!name.includes('/') && !isForQuota(name)) {
    errors.push(fieldError.invalid(path, name, 'must be a standard resource for quota'));
  }
  return [...errors, ...validateAmount(name, amount, path, names)];
}
