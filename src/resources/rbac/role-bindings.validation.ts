import { dns1123Subdomain, type FieldError, fieldError, type Names, pathSegmentName } from '../../meta/index.ts';
import type { RoleRef, Subject } from '../../types/rbac-v1.ts';
import { byRule, eachOf, oneOf } from '../shared/field-rules.ts';

const groupOf = ({ domain }: Names): string => `rbac.authorization.${domain}`;

interface Binding {
  roleRef?: RoleRef;
  subjects?: Subject[];
}

/** Defaults the API groups of the role and of the subjects. */
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

/** Rejects a change of `roleRef`: it is immutable. */
export function validateRoleRefImmutable({ roleRef = {} }: Binding, { roleRef: old = {} }: Binding): FieldError[] {
  const { apiGroup = '', kind = '', name = '' } = roleRef;
  if (apiGroup === (old.apiGroup ?? '') && kind === (old.kind ?? '') && name === (old.name ?? '')) return [];
  const printedValue = { APIGroup: apiGroup, Kind: kind, Name: name };
  return [fieldError.invalid('roleRef', printedValue, 'cannot change roleRef')];
}
