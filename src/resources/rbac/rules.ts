import { dns1123Subdomain, type FieldError, fieldError, type Names, pathSegmentName } from '../../meta/index.ts';
import { byRule, eachOf, oneOf } from '../core/pod-spec/field-rules.ts';
import type { PolicyRule, RoleRef, Subject } from '../types/rbac-v1.ts';

const groupOf = ({ domain }: Names): string => `rbac.authorization.${domain}`;

/** What a role allows: something, and either resources or paths, the latter only for the whole cluster. */
export const validateRules = (rules: readonly PolicyRule[] | undefined, namespaced: boolean): FieldError[] =>
  eachOf(rules ?? [], 'rules', (rule, path) => {
    const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs: paths = [] } = rule;
    const found: FieldError[] = [];
    if ((verbs ?? []).length === 0) {
      found.push(fieldError.required(`${path}.verbs`, 'verbs must contain at least one value'));
    }
    if (paths.length > 0) {
      const at = `${path}.nonResourceURLs`;
      if (namespaced) {
        found.push(fieldError.invalid(at, paths, 'namespaced rules cannot apply to non-resource URLs'));
      }
      if (apiGroups.length + resources.length + resourceNames.length > 0) {
        const why = 'rules cannot apply to both regular resources and non-resource URLs';
        found.push(fieldError.invalid(at, paths, why));
      }
      return found;
    }
    if (apiGroups.length === 0) {
      found.push(fieldError.required(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
    }
    if (resources.length === 0) {
      found.push(fieldError.required(`${path}.resources`, 'resource rules must supply at least one resource'));
    }
    return found;
  });

interface Binding {
  roleRef?: RoleRef;
  subjects?: Subject[];
}

/** Groups that go without saying. */
export function defaultBinding(binding: Binding, names: Names): void {
  const group = groupOf(names);
  if (!binding.roleRef?.apiGroup) binding.roleRef = { ...binding.roleRef, apiGroup: group };
  for (const subject of binding.subjects ?? []) {
    if (subject.kind === 'User' || subject.kind === 'Group') subject.apiGroup ??= group;
  }
}

export function validateBinding(
  { roleRef = {}, subjects }: Binding,
  kinds: readonly string[],
  namespaced: boolean,
  names: Names,
): FieldError[] {
  const group = groupOf(names);
  const { apiGroup = '', kind = '', name = '' } = roleRef;
  return [
    ...oneOf('roleRef.apiGroup', apiGroup, [group]),
    ...oneOf('roleRef.kind', kind, kinds),
    ...byRule('roleRef.name', name, pathSegmentName),
    ...eachOf(subjects, 'subjects', (subject, path) => validateSubject(subject, namespaced, group, path)),
  ];
}

function validateSubject(
  { kind = '', apiGroup = '', name = '', namespace = '' }: Subject,
  namespaced: boolean,
  group: string,
  path: string,
): FieldError[] {
  if (kind === 'User' || kind === 'Group') return oneOf(`${path}.apiGroup`, apiGroup, [group]);
  if (kind !== 'ServiceAccount') return oneOf(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group']);
  return [
    ...(name === '' ? [] : byRule(`${path}.name`, name, dns1123Subdomain)),
    ...oneOf(`${path}.apiGroup`, apiGroup, ['']),
    ...(!namespaced && namespace === '' ? [fieldError.required(`${path}.namespace`)] : []),
  ];
}

/** A binding stays one to its role: who may bind another one is another question. */
export function validateSameRole({ roleRef = {} }: Binding, { roleRef: old = {} }: Binding): FieldError[] {
  const { apiGroup = '', kind = '', name = '' } = roleRef;
  if (apiGroup === (old.apiGroup ?? '') && kind === (old.kind ?? '') && name === (old.name ?? '')) return [];
  const shown = { APIGroup: apiGroup, Kind: kind, Name: name };
  return [fieldError.invalid('roleRef', shown, 'cannot change roleRef')];
}
