import { errorsNow, type FieldError, fieldError, pathSegmentName } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import { type AggregationRule, ClusterRole } from '../../types/rbac-v1.ts';
import { resource } from '../shared/define.ts';
import { eachOf, selector } from '../shared/field-rules.ts';
import { validateRules } from './roles.validation.ts';

export const clusterRoles = resource({
  group: 'rbac.authorization.{domain}',
  plural: 'clusterroles',
  kind: 'ClusterRole',
  schema: ClusterRole,
  lifecycle: { introduced: '1.8' },
  followed: true,
  namespaced: false,
  strategy: {
    nameRule: pathSegmentName,
    createOnUpdate: true,
    validate: ({ rules, aggregationRule }) => [...validateRules(rules, false), ...validateAggregation(aggregationRule)],
  },
});

function validateAggregation(rule: Infer<typeof AggregationRule> | undefined): FieldError[] {
  const path = 'aggregationRule.clusterRoleSelectors';
  if (rule === undefined) return [];
  if ((rule.clusterRoleSelectors ?? []).length > 0) {
    return eachOf(rule.clusterRoleSelectors, path, (one, at) => {
      const errors = errorsNow(selector(one, at));
      if (errors.length === 0) return errors;
      return [...errors, fieldError.invalid(at, null, 'invalid label selector.')];
    });
  }
  return [fieldError.required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
}
