/** Defaults and validation of match resources, rules and match conditions. */
import { type FieldError, fieldError, pathSegmentName, qualifiedName } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type {
  MatchCondition,
  MatchResources,
  NamedRuleWithOperations,
  RuleWithOperations,
} from '../../types/admissionregistration-v1.ts';
import { byRule, eachOf, selector, unique } from '../shared/field-rules.ts';

type NamedRule = Infer<typeof NamedRuleWithOperations>;

export function defaultMatch(match: MatchResources | undefined): void {
  if (match === undefined) return;
  match.matchPolicy ??= 'Equivalent';
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  for (const rule of [...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])]) rule.scope ??= '*';
}

export const validateMatch = (match: MatchResources | undefined, path: string): FieldError[] => [
  ...selector(match?.namespaceSelector, `${path}.namespaceSelector`),
  ...selector(match?.objectSelector, `${path}.objectSelector`),
  ...eachOf(match?.resourceRules, `${path}.resourceRules`, validateNamedRule),
  ...eachOf(match?.excludeResourceRules, `${path}.excludeResourceRules`, validateNamedRule),
];

const validateNamedRule = (rule: NamedRule, path: string): FieldError[] => [
  ...eachOf(rule.resourceNames, `${path}.resourceNames`, (name, at) => byRule(at, name, pathSegmentName)),
  ...unique(rule.resourceNames, `${path}.resourceNames`, (name) => name),
  ...validateRule(rule, path),
];

/** Fields of a rule in which `*` must be the only entry, with their names in errors. */
const parts = { operations: 'operations', apiGroups: 'API groups', apiVersions: 'API versions' } as const;

export function validateRule(rule: RuleWithOperations, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [field, what] of Object.entries(parts)) {
    const values = rule[field as keyof typeof parts] ?? [];
    const at = `${path}.${field}`;
    if (values.length === 0) errors.push(fieldError.required(at));
    if (values.length > 1 && values.includes('*')) {
      errors.push(fieldError.invalid(at, values, `if '*' is present, must not specify other ${what}`));
    }
  }
  errors.push(
    ...eachOf(rule.apiVersions, `${path}.apiVersions`, (version, at) =>
      version === '' ? [fieldError.required(at)] : [],
    ),
  );
  return [...errors, ...validateResources(rule.resources ?? [], `${path}.resources`)];
}

function validateResources(resources: readonly string[], path: string): FieldError[] {
  if (resources.length === 0) return [fieldError.required(path)];
  const ofResource = new Set<string>();
  const ofSubresource = new Set<string>();
  const errors = eachOf(resources, path, (name, at) => {
    if (name === '') return [fieldError.required(at)];
    const slash = name.indexOf('/');
    if (slash < 0) return [];
    const [resource, subresource] = [name.slice(0, slash), name.slice(slash + 1)];
    const ownErrors: FieldError[] = [];
    const refuse = (general: string) =>
      ownErrors.push(fieldError.invalid(at, name, `if '${general}' is present, must not specify ${name}`));
    if (ofResource.has(resource)) refuse(`${resource}/*`);
    if (ofSubresource.has(subresource)) refuse(`*/${subresource}`);
    if (subresource === '*') ofResource.add(resource);
    if (resource === '*') ofSubresource.add(subresource);
    return ownErrors;
  });
  const list = [...resources];
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(fieldError.invalid(path, list, "if '*/*' is present, must not specify other resources"));
  }
  const whole = resources.filter((name) => name !== '' && !name.includes('/'));
  if (whole.includes('*') && whole.at(-1) !== '*') {
    const why = "if '*' is present, must not specify other resources without subresources";
    errors.push(fieldError.invalid(path, list, why));
  }
  return errors;
}

const MAX_CONDITIONS = 64;

/** Validates match conditions, except for their expressions. */
export function validateConditions(
  conditions: readonly Infer<typeof MatchCondition>[] | undefined,
  path: string,
): FieldError[] {
  const count = conditions?.length ?? 0;
  return [
    ...(count > MAX_CONDITIONS ? [fieldError.tooMany(path, count, MAX_CONDITIONS)] : []),
    ...eachOf(conditions, path, ({ name = '', expression = '' }, at) => [
      ...(expression !== '' && expression.trim() === '' ? [fieldError.required(`${at}.expression`)] : []),
      ...(name === '' ? [] : byRule(`${at}.name`, name, qualifiedName)),
    ]),
  ];
}
