import { type FieldError, fieldError } from '../../meta/index.ts';
import type { PolicyRule } from '../../types/rbac-v1.ts';
import { eachOf } from '../shared/field-rules.ts';

/** Validates policy rules: verbs, and either resources or non-resource URLs, the latter in cluster roles only. */
export const validateRules = (rules: readonly PolicyRule[] | undefined, namespaced: boolean): FieldError[] =>
  eachOf(rules ?? [], 'rules', (rule, path) => {
    const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs: paths = [] } = rule;
    const errors: FieldError[] = [];
    if ((verbs ?? []).length === 0) {
      errors.push(fieldError.required(`${path}.verbs`, 'verbs must contain at least one value'));
    }
    if (paths.length > 0) {
      const at = `${path}.nonResourceURLs`;
      if (namespaced) {
        errors.push(fieldError.invalid(at, paths, 'namespaced rules cannot apply to non-resource URLs'));
      }
      if (apiGroups.length + resources.length + resourceNames.length > 0) {
        const why = 'rules cannot apply to both regular resources and non-resource URLs';
        errors.push(fieldError.invalid(at, paths, why));
      }
      return errors;
    }
    if (apiGroups.length === 0) {
      errors.push(fieldError.required(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
    }
    if (resources.length === 0) {
      errors.push(fieldError.required(`${path}.resources`, 'resource rules must supply at least one resource'));
    }
    return errors;
  });
