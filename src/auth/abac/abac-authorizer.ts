import type { User } from '../../meta/index.ts';
import type { Attributes, Authorizer, Decision, Rules } from '../types.ts';
import type { Policy } from './policy-file.ts';

const allowed: Decision = { allowed: true, reason: '' };
const noMatch: Decision = { allowed: false, reason: 'No policy matched.' };
const readVerbs: readonly string[] = ['get', 'list', 'watch'];

/** The authorization mode `ABAC`: allows what one of the policies allows, and has no opinion of the rest. */
export function abacAuthorizer(policies: readonly Policy[]): Authorizer {
  const ofUsers = indexed(policies, ({ user }) => user);
  const ofGroups = indexed(policies, ({ user, group }) => (user === '' ? group : ''));
  const authorize = (attributes: Attributes): Decision => {
    const { user } = attributes;
    const allows = (policy: Policy) => concerns(policy, user) && covers(policy, attributes);
    if (ofUsers.get(user.name)?.some(allows)) return allowed;
    return user.groups.some((group) => ofGroups.get(group)?.some(allows)) ? allowed : noMatch;
  };
  return Object.assign(authorize, {
    rulesFor: (user: User, namespace: string) =>
      rulesOf(policies.filter((policy) => concerns(policy, user) && matches(policy.namespace, namespace))),
  });
}

/** The policies by a key; those whose key is empty are left out. */
function indexed(policies: readonly Policy[], keyOf: (policy: Policy) => string): ReadonlyMap<string, Policy[]> {
  const index = new Map<string, Policy[]>();
  for (const policy of policies) {
    const key = keyOf(policy);
    const known = index.get(key);
    if (known !== undefined) known.push(policy);
    else if (key !== '') index.set(key, [policy]);
  }
  return index;
}

const concerns = ({ user, group }: Policy, { name, groups }: User): boolean =>
  (user !== '' || group !== '') && (user === '' || user === name) && (group === '' || groups.includes(group));

const matches = (pattern: string, value: string): boolean => pattern === '*' || pattern === value;

function covers(policy: Policy, { verb, resource, path }: Attributes): boolean {
  if (policy.readonly && !readVerbs.includes(verb)) return false;
  return resource === undefined
    ? matchesPath(policy.nonResourcePath, path)
    : matches(policy.namespace, resource.namespace) &&
        matches(policy.resource, resource.resource) &&
        matches(policy.apiGroup, resource.group);
}

const matchesPath = (pattern: string, path: string): boolean =>
  pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, '')));

const verbsOf = ({ readonly }: Policy): readonly string[] => (readonly ? readVerbs : ['*']);

const rulesOf = (policies: readonly Policy[]): Rules => ({
  resourceRules: policies
    .filter(({ resource }) => resource !== '')
    .map((policy) => ({ verbs: verbsOf(policy), apiGroups: [policy.apiGroup], resources: [policy.resource] })),
  nonResourceRules: policies
    .filter(({ nonResourcePath }) => nonResourcePath !== '')
    .map((policy) => ({ verbs: verbsOf(policy), nonResourceURLs: [policy.nonResourcePath] })),
  incomplete: false,
});
