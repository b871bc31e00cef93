/** Validation of the resource names of quotas and limit ranges. */
import { type FieldError, fieldError, type Names, qualifiedName } from '../../meta/index.ts';
import { isExtended, isForContainers, isNative, isStandard } from '../../rules/index.ts';
import { validateAmount } from '../pod-template/resources.ts';
import { byRule } from '../shared/field-rules.ts';

const isQualified = (name: string): boolean => qualifiedName(name).length === 0;

/** Validates a resource name: standard, or with a domain. */
export function validateResourceName(name: string, path: string): FieldError[] {
  const errors = byRule(path, name, qualifiedName);
  if (errors.length > 0 || name.includes('/') || isStandard(name)) return errors;
  return [fieldError.invalid(path, name, 'must be a standard resource type or fully qualified')];
}

/** Validates the name of a resource that containers can request. */
export function validateContainerResourceName(name: string, path: string, names: Names): FieldError[] {
  const errors = validateResourceName(name, path);
  if (!name.includes('/')) {
    if (isForContainers(name)) return errors;
    return [...errors, fieldError.invalid(path, name, 'must be a standard resource for containers')];
  }
  if (isNative(name, names) || isExtended(name, names, isQualified)) return errors;
  return [...errors, fieldError.invalid(path, name, "doesn't follow extended resource name standard")];
}

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
