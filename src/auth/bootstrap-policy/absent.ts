import { formatGroupResource } from '../../meta/index.ts';
import type { PolicyRule } from '../../types/rbac-v1.ts';
import { isBinding, type PolicyObject } from './objects.ts';

/** Rights of components apart from their task. */
const ancillary = new Set(['events', 'leases', 'subjectaccessreviews', 'tokenreviews']);

/**
 * The default roles and bindings of a server without some resources, such as `deployments.apps`: rules do not name them, and
 * roles of components that have no task left are gone with their bindings.
 */
export function withoutAbsent(policy: readonly PolicyObject[], absent: ReadonlySet<string>): PolicyObject[] {
  if (absent.size === 0) return [...policy];
  const idOf = ({ kind, metadata }: { readonly kind: string; readonly metadata: { readonly name: string } }) =>
    `${kind} ${metadata.name}`;
  const gone = new Set<string>();
  const trimmed = policy.map((object) => {
    if (isBinding(object) || !object.rules) return object;
    const rules = object.rules.flatMap((rule) => trimmedRule(rule, absent));
    if (rules.length < object.rules.length && object.metadata.name.startsWith('system:') && rules.every(isAncillary)) {
      gone.add(idOf(object));
    }
    return { ...object, rules };
  });
  return trimmed.filter((object) => {
    if (!isBinding(object)) return !gone.has(idOf(object));
    return !gone.has(idOf({ kind: object.roleRef.kind ?? '', metadata: { name: object.roleRef.name ?? '' } }));
  });
}

/** The rule without the absent resources; none when it named no others. */
function trimmedRule(rule: PolicyRule, absent: ReadonlySet<string>): PolicyRule[] {
  const { apiGroups = [], resources = [] } = rule;
  const isAbsent = (path: string) => {
    const [resource = ''] = path.split('/');
    return apiGroups.some((group) => absent.has(formatGroupResource({ group, resource })));
  };
  const left = resources.filter((resource) => !isAbsent(resource));
  if (left.length === resources.length) return [rule];
  return left.length === 0 ? [] : [{ ...rule, resources: left }];
}

const isAncillary = ({ resources = [], nonResourceURLs = [] }: PolicyRule): boolean =>
  nonResourceURLs.length === 0 && resources.every((resource) => ancillary.has(resource));
