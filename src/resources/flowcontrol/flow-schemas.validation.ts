import { dns1123Label, dns1123Subdomain, type FieldError, fieldError } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import {
  FlowDistinguisherMethod,
  type FlowSchemaSpec,
  type NonResourcePolicyRule,
  type PolicyRulesWithSubjects,
  type ResourcePolicyRule,
  type Subject,
} from '../../types/flowcontrol-v1.ts';
import { byRule, eachOf } from '../shared/field-rules.ts';
import { internalForm } from '../shared/internal-go-form.ts';

const MAX_PRECEDENCE = 10_000;
const EXEMPT = 'exempt';

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

export function validateFlowSchema(spec: FlowSchemaSpec, name: string): FieldError[] {
  const { matchingPrecedence: rank = 0, distinguisherMethod: method, priorityLevelConfiguration: level } = spec;
  const errors: FieldError[] = [];
  const refuse = (why: string) => errors.push(fieldError.invalid('spec.matchingPrecedence', rank, why));
  if (rank <= 0) refuse('must be a positive value');
  if (rank > MAX_PRECEDENCE) refuse(`must not be greater than ${MAX_PRECEDENCE}`);
  if (rank === 1 && name !== EXEMPT) refuse("only the schema named 'exempt' may have matchingPrecedence 1");
  if (method !== undefined) {
    const methods = ['ByNamespace', 'ByUser'];
    // The error shows the whole distinguisher method.
    if (!methods.includes(method.type ?? '')) {
      const printedValue = internalForm(method, FlowDistinguisherMethod);
      errors.push(fieldError.notSupported('spec.distinguisherMethod.type', printedValue, methods));
    }
  }
  const at = 'spec.priorityLevelConfiguration.name';
  if (level?.name) errors.push(...byRule(at, level.name, dns1123Subdomain));
  else errors.push(fieldError.required(at, 'must reference a priority level'));
  return [...errors, ...eachOf(spec.rules, 'spec.rules', validateRules)];
}

function validateRules(rule: Infer<typeof PolicyRulesWithSubjects>, path: string): FieldError[] {
  const { resourceRules = [], nonResourceRules = [] } = rule;
  const subjects = rule.subjects ?? [];
  const errors: FieldError[] = [];
  if (subjects.length === 0) {
    errors.push(fieldError.required(`${path}.subjects`, 'subjects must contain at least one value'));
  }
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    const why = 'at least one of resourceRules and nonResourceRules has to be non-empty';
    errors.push(fieldError.required(path, why));
  }
  return [
    ...errors,
    ...eachOf(subjects, `${path}.subjects`, validateSubject),
    ...eachOf(resourceRules, `${path}.resourceRules`, validateResourceRule),
    ...eachOf(nonResourceRules, `${path}.nonResourceRules`, validatePathRule),
  ];
}

/** The field of each subject kind. */
const subjectFields = { Group: 'group', ServiceAccount: 'serviceAccount', User: 'user' } as const;

function validateSubject(subject: Infer<typeof Subject>, path: string): FieldError[] {
  const { kind = '', serviceAccount } = subject;
  const kinds = Object.keys(subjectFields);
  if (!kinds.includes(kind)) return [fieldError.inPlaceOf(path, fieldError.notSupported(`${path}.kind`, kind, kinds))];
  const errors = Object.entries(subjectFields).flatMap(([one, field]) => {
    const present = subject[field] !== undefined;
    if (present === (one === kind)) return [];
    return present
      ? [fieldError.forbiddenSubtree(`${path}.${field}`, `${field} is forbidden when subject kind is not '${one}'`)]
      : [fieldError.required(`${path}.${field}`, `${field} is required when subject kind is '${one}'`)];
  });
  if (kind !== 'ServiceAccount' || serviceAccount === undefined) return errors;
  const { name = '', namespace = '' } = serviceAccount;
  const at = `${path}.serviceAccount`;
  return [
    ...errors,
    ...(name === '' || name === '*' ? [] : byRule(`${at}.name`, name, dns1123Subdomain)),
    ...(namespace === ''
      ? [fieldError.required(`${at}.namespace`, 'must specify namespace for service account')]
      : byRule(`${at}.namespace`, namespace, dns1123Label)),
  ];
}

/** Validates a list that must not be empty and in which `*` must be the only entry. */
function validateList(list: readonly string[], path: string, missing: string, others: string): FieldError[] {
  if (list.length === 0) return [fieldError.required(path, missing)];
  if (list.length === 1 || !list.includes('*')) return [];
  return [fieldError.invalid(path, [...list], `if '*' is present, must not specify other ${others}`)];
}

function validateVerbs(list: readonly string[], path: string): FieldError[] {
  const errors = validateList(list, path, 'verbs must contain at least one value', 'verbs');
  if (list.includes('*') || list.every((verb) => verbs.includes(verb))) return errors;
  return [...errors, fieldError.notSupported(path, [...list], verbs)];
}

function validateResourceRule(rule: Infer<typeof ResourcePolicyRule>, path: string): FieldError[] {
  const namespaces = rule.namespaces ?? [];
  const at = `${path}.namespaces`;
  const errors = [
    ...validateVerbs(rule.verbs ?? [], `${path}.verbs`),
    ...validateList(
      rule.apiGroups ?? [],
      `${path}.apiGroups`,
      'resource rules must supply at least one api group',
      'api groups',
    ),
    ...validateList(
      rule.resources ?? [],
      `${path}.resources`,
      'resource rules must supply at least one resource',
      'resources',
    ),
  ];
  if (namespaces.length > 0 || rule.clusterScope !== true) {
    const missing = 'resource rules that are not cluster scoped must supply at least one namespace';
    errors.push(...validateList(namespaces, at, missing, 'namespaces'));
  }
  if (namespaces.includes('*')) return errors;
  const prefix = "each member of this list must be '*' or a DNS-1123 label; ";
  const nameRule = (namespace: string) => dns1123Label(namespace).map((why) => prefix + why);
  return [...errors, ...eachOf(namespaces, at, (namespace, place) => byRule(place, namespace, nameRule))];
}

function validatePathRule(rule: Infer<typeof NonResourcePolicyRule>, path: string): FieldError[] {
  const urls = rule.nonResourceURLs ?? [];
  const at = `${path}.nonResourceURLs`;
  const missing = 'nonResourceURLs must contain at least one value';
  return [
    ...validateVerbs(rule.verbs ?? [], `${path}.verbs`),
    ...validateList(urls, at, missing, 'non-resource URLs'),
    ...(urls.includes('*') ? [] : eachOf(urls, at, validatePath)),
  ];
}

/** The first error of a non-resource path. */
function validatePath(path: string, field: string): FieldError[] {
  if (path === '/') return [];
  const wildcards = path.split('*').length - 1;
  const checks: readonly (readonly [is: boolean, why: string])[] = [
    [path === '', 'must not be empty'],
    [!path.startsWith('/'), 'must start with slash'],
    [path.includes(' '), 'must not contain white-space'],
    [path.includes('//'), 'must not contain double slash'],
    [wildcards > 1 || (wildcards === 1 && !path.endsWith('/*')), 'wildcard can only do suffix matching'],
  ];
  const first = checks.find(([is]) => is);
  return first === undefined ? [] : [fieldError.invalid(field, path, first[1])];
}
