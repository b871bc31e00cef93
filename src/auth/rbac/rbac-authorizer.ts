import { aggregateMessages, type Names, quote, type User } from '../../meta/index.ts';
import { type Attributes, type Authorizer, type Decision, noOpinion, type ResourceRule, type Rules } from '../types.ts';
import type { Binding, RbacIndex } from './rbac-index.ts';
import { pathAction, resourceAction } from './rules.ts';

/** Allows what the roles grant that are bound to the user or to one of the user's groups. Has no opinion of the rest. */
export function rbacAuthorizer(index: RbacIndex, names: Names): Authorizer {
  const authorize = ({ user, verb, resource, path }: Attributes): Decision => {
    if (!index.loaded) return notLoaded;
    const namespace = resource?.namespace ?? '';
    const action =
      resource === undefined
        ? pathAction(verb, path)
        : resourceAction(verb, resource.group, resource.resource, resource.subresource, resource.name);
    const grant = index.findGrant(user, namespace, action);
    if (grant !== undefined) return new Granted(grant, user, index);
    const missing = unresolvedRoles(index, user, namespace, (kind) => kind.toLowerCase(), names);
    return missing === '' ? noOpinion : { allowed: false, reason: `RBAC: ${missing}` };
  };
  return Object.assign(authorize, {
    rulesFor: (user: User, namespace: string): Rules => {
      if (!index.loaded) return { ...noRules, incomplete: true, evaluationError: notLoaded.reason };
      const rules = index.bindingsOf(user, namespace).flatMap(({ role }) => role?.compiled?.rules ?? []);
      const error = unresolvedRoles(index, user, namespace, (kind) => kind.toLowerCase(), names);
      return {
        resourceRules: rules.filter(({ resources }) => resources.length > 0).map(resourceRuleOf),
        nonResourceRules: rules
          .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
          .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
        incomplete: false,
        ...(error === '' ? {} : { evaluationError: error }),
      };
    },
  });
}

/** Most requests need no reason: its text takes longer than the decision. */
class Granted implements Decision {
  readonly allowed = true;
  readonly #binding: Binding;
  readonly #user: User;
  readonly #index: RbacIndex;

  constructor(binding: Binding, user: User, index: RbacIndex) {
    this.#binding = binding;
    this.#user = user;
    this.#index = index;
  }

  get reason(): string {
    return `RBAC: allowed by ${describe(this.#binding, this.#user, this.#index)}`;
  }
}

const notLoaded = { allowed: false, reason: 'RBAC: the roles and bindings are not loaded yet' };
const noRules: Rules = { resourceRules: [], nonResourceRules: [], incomplete: false };

const resourceRuleOf = ({ verbs, apiGroups, resources, resourceNames }: ResourceRule): ResourceRule => ({
  verbs,
  apiGroups,
  resources,
  ...(resourceNames?.length ? { resourceNames } : {}),
});

function describe(binding: Binding, user: User, index: RbacIndex): string {
  const { namespace, name, roleRef } = binding;
  const { kind, ...subject } = index.subjectOf(binding, user) ?? { kind: 'User', name: user.name, namespace: '' };
  const to = quote(subject.namespace === '' ? subject.name : `${subject.name}/${subject.namespace}`);
  const what = namespace === '' ? `ClusterRoleBinding ${quote(name)}` : `RoleBinding ${quote(`${name}/${namespace}`)}`;
  return `${what} of ${roleRef.kind} ${quote(roleRef.name)} to ${kind} ${to}`;
}

/** So many roles that do not exist are named in one message. */
const maxNamed = 16;

/**
 * Names the roles that bindings of the user refer to and that do not exist; empty when there are none. `resourceOf` is
 * the resource of a kind of role.
 */
export function unresolvedRoles(
  index: RbacIndex,
  user: User,
  namespace: string,
  resourceOf: (kind: string) => string,
  { domain }: Names,
): string {
  const problems = new Set<string>();
  for (const { role, roleRef } of index.bindingsOf(user, namespace)) {
    if (role?.compiled !== undefined) continue;
    problems.add(
      role === undefined
        ? `unsupported role reference kind: ${quote(roleRef.kind)}`
        : `${resourceOf(roleRef.kind)}.rbac.authorization.${domain} ${quote(roleRef.name)} not found`,
    );
  }
  const named = [...problems].slice(0, maxNamed);
  if (named.length < problems.size) named.push(`and ${problems.size - named.length} more`);
  return aggregateMessages(named);
}
