/** Validation of resource names, such as `cpu` and `example.com/gpu`. */
import { type FieldError, fieldError, type Names, qualifiedName } from '../../meta/index.ts';
import { isExtended, isForContainers, isNative, isStandard } from '../../rules/index.ts';
import { byRule } from './field-rules.ts';

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
