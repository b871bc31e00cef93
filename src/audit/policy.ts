import type { AuditAttributes, GroupResources, Level, Policy, PolicyRule, Stage } from './types.ts';

/** The audit level and the omissions that a policy sets for a request. */
export interface RequestAuditConfig {
  readonly level: Level;
  readonly omitStages: ReadonlySet<Stage>;
  readonly omitManagedFields: boolean;
}

export type PolicyRuleEvaluator = (attributes: AuditAttributes) => RequestAuditConfig;

/** Evaluates the rules of a policy in their order. */
export function policyRuleEvaluator(policy: Policy): PolicyRuleEvaluator {
  const { omitManagedFields = false } = policy;
  const rules = policy.rules.map((rule) => ({
    rule,
    config: {
      level: rule.level,
      omitStages: new Set([...(policy.omitStages ?? []), ...(rule.omitStages ?? [])]),
      omitManagedFields: rule.omitManagedFields ?? omitManagedFields,
    },
  }));
  const noRule: RequestAuditConfig = { level: 'None', omitStages: new Set(), omitManagedFields };
  return (attributes) => {
    for (const { rule, config } of rules) if (ruleMatches(rule, attributes)) return config;
    return noRule;
  };
}

function ruleMatches(rule: PolicyRule, attributes: AuditAttributes): boolean {
  const { users = [], userGroups = [], verbs = [], resources = [], namespaces = [], nonResourceURLs = [] } = rule;
  const { user, verb, resource, path } = attributes;
  if (users.length > 0 && (user === undefined || !users.includes(user.name))) return false;
  if (userGroups.length > 0 && user?.groups.some((group) => userGroups.includes(group)) !== true) return false;
  if (verbs.length > 0 && !verbs.includes(verb)) return false;
  if (resources.length > 0 || namespaces.length > 0) {
    if (resource === undefined || (namespaces.length > 0 && !namespaces.includes(resource.namespace))) return false;
    return resources.length === 0 || resources.some((one) => resourceMatches(one, resource));
  }
  return nonResourceURLs.length === 0 || (resource === undefined && nonResourceURLs.some((url) => isAt(path, url)));
}

const isAt = (path: string, url: string): boolean =>
  url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1)));

function resourceMatches(
  { group = '', resources = [], resourceNames = [] }: GroupResources,
  asked: NonNullable<AuditAttributes['resource']>,
): boolean {
  if (group !== asked.group && group !== '*') return false;
  if (resources.length === 0) return true;
  if (resourceNames.length > 0 && !resourceNames.includes(asked.name)) return false;
  const { resource, subresource } = asked;
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  return resources.some(
    (named) =>
      named === '*' ||
      named === whole ||
      named === `${resource}/*` ||
      (subresource !== '' && named === `*/${subresource}`),
  );
}
