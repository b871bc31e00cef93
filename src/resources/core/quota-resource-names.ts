/** Names of resources where amounts are limited for a whole namespace. */
import { type FieldError, fieldError, type Names, qualifiedName } from '../../meta/index.ts';
import { isExtended, isForContainers, isNative, isStandard } from '../pod-template/resource-names.ts';
import { validateAmount } from '../pod-template/resources.ts';
import { byRule } from '../shared/field-rules.ts';

const isQualified = (name: string): boolean => qualifiedName(name).length === 0;

/** A name with a domain, or one with a meaning of its own. */
export function validateResourceName(name: string, path: string): FieldError[] {
  const found = byRule(path, name, qualifiedName);
  if (found.length > 0 || name.includes('/') || isStandard(name)) return found;
  return [fieldError.invalid(path, name, 'must be a standard resource type or fully qualified')];
}

/** A resource that a container can ask for. */
export function validateContainerResourceName(name: string, path: string, names: Names): FieldError[] {
  const found = validateResourceName(name, path);
  if (!name.includes('/')) {
    if (isForContainers(name)) return found;
    return [...found, fieldError.invalid(path, name, 'must be a standard resource for containers')];
  }
  if (isNative(name, names) || isExtended(name, names, isQualified)) return found;
  return [...found, fieldError.invalid(path, name, "doesn't follow extended resource name standard")];
}

/** Has a meaning of its own in a quota: every standard resource but the bare amount of storage. */
export const isForQuota = (name: string): boolean => isStandard(name) && name !== 'storage';

/** One limit of a quota. */
export function validateQuotaAmount(name: string, amount: string, path: string, names: Names): FieldError[] {
  const found = validateResourceName(name, path);
  if (!name.includes('/') && !isForQuota(name)) {
    found.push(fieldError.invalid(path, name, 'must be a standard resource for quota'));
  }
  return [...found, ...validateAmount(name, amount, path, names)];
}
