import {
  aggregateMessages,
  formatGroupResource,
  type Names,
  quote,
  type ResourcePlace,
  scheduler,
  shorten,
  type User,
} from '../../meta/index.ts';
import {
  type Attributes,
  type Authorizer,
  type Decision,
  type DecisionLog,
  noOpinion,
  type ResourceRule,
  type Rules,
} from '../types.ts';
import { formatTexts } from './coverage.ts';
import type { RbacIndex } from './rbac-index.ts';
import { pathAction, type Rule, resourceAction } from './rules.ts';
import type { Binding } from './subject-bindings.ts';

/**
 * Allows what the roles grant that are bound to the user or to one of the user's groups. Has no opinion of the rest, and
 * logs it.
 */
export function rbacAuthorizer(index: RbacIndex, names: Names, log: DecisionLog = {}): Authorizer {
  const decide = (grant: Binding | undefined, attributes: Attributes, namespace: string): Decision => {
    const { user } = attributes;
    if (grant !== undefined) return new Granted(grant, user, index);
    log.debug?.(denialOf(attributes), {});
    const missing = unresolvedRoles(index, user, namespace, (kind) => kind.toLowerCase(), names);
    return missing === '' ? noOpinion : { allowed: false, reason: `RBAC: ${missing}` };
  };
  const authorize = (attributes: Attributes): Decision | Promise<Decision> => {
    if (!index.loaded) return notLoaded;
    const { user, verb, resource, path } = attributes;
    const namespace = resource?.namespace ?? '';
    const action =
      resource === undefined
        ? pathAction(verb, path)
        : resourceAction(verb, resource.group, resource.resource, resource.subresource, resource.name);
    const grant = index.findGrant(user, namespace, action);
    return grant instanceof Promise
      ? grant.then((found) => decide(found, attributes, namespace))
      : decide(grant, attributes, namespace);
  };
  return Object.assign(authorize, {
    rulesFor: async (user: User, namespace: string): Promise<Rules> => {
      if (!index.loaded) return { ...noRules, incomplete: true, evaluationError: notLoaded.reason };
      const { rules, complete } = await differentRules(index, user, namespace);
      const unresolved = unresolvedRoles(index, user, namespace, (kind) => kind.toLowerCase(), names);
      const errors = [unresolved, complete ? '' : tooMany].filter((text) => text !== '');
      return {
        resourceRules: rules.filter(({ resources }) => resources.length > 0).map(resourceRuleOf),
        nonResourceRules: rules
          .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
          .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
        incomplete: !complete,
        ...(errors.length === 0 ? {} : { evaluationError: errors.join('; ') }),
      };
    },
  });
}

/** The denial of a request that no rule allows, in the words of the reference server. */
function denialOf({ user, verb, resource, path }: Attributes): string {
  const text = (value: string) => quote(shorten(value));
  const { namespace = '' } = resource ?? {};
  const what = resource === undefined ? `nonResourceURL ${text(path)}` : `resource ${placeOf(resource)}`;
  const where = namespace === '' ? 'cluster-wide' : `in namespace ${text(namespace)}`;
  const groups = formatTexts(user.groups.slice(0, maxGroups));
  return `RBAC: no rules authorize user ${text(user.name)} with groups ${groups} to ${text(verb)} ${what} ${where}`;
}

function placeOf({ group, resource, subresource, name }: ResourcePlace): string {
  const whole = [formatGroupResource({ group, resource }), subresource].filter((part) => part !== '').join('/');
  return quote(shorten(whole)) + (name === '' ? '' : ` named ${quote(shorten(name))}`);
}

/** Maximum number of a user's groups in a line of the log. */
const maxGroups = 100;

/** Limits of a list of rules: how many are looked at, and the bytes of those that are listed. */
const maxRules = 50_000;
const maxRuleBytes = 1024 * 1024;
const tooMany = 'RBAC: the rules are too many to list: only some of them are listed';

/** The rules of the user, equal ones once; not complete when there are too many. Made in turns of the user. */
async function differentRules(
  index: RbacIndex,
  user: User,
  namespace: string,
): Promise<{ readonly rules: readonly Rule[]; readonly complete: boolean }> {
  const turns = scheduler.turns(user.name);
  const different = new Map<string, Rule>();
  let [looked, bytes] = [0, 0];
  for (const { compiled } of index.rolesOf(user, namespace)) {
    for (const rule of compiled?.rules ?? []) {
      if (turns.over) await turns.next();
      const text = JSON.stringify(rule);
      if (!different.has(text)) bytes += text.length;
      different.set(text, rule);
      if (++looked > maxRules || bytes > maxRuleBytes) return { rules: [...different.values()], complete: false };
    }
  }
  return { rules: [...different.values()], complete: true };
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

/** Maximum number of missing roles in one message, and of roles that are examined for it. */
const maxNamed = 16;
const maxLooked = 10_000;

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
  let looked = 0;
  for (const { compiled, supported, kind, name } of index.rolesOf(user, namespace)) {
    if (++looked > maxLooked) break;
    if (compiled !== undefined) continue;
    problems.add(
      supported
        ? `${resourceOf(kind)}.rbac.authorization.${domain} ${quote(name)} not found`
        : `unsupported role reference kind: ${quote(kind)}`,
    );
  }
  const reportedProblems = [...problems].slice(0, maxNamed);
  if (reportedProblems.length < problems.size)
    reportedProblems.push(`and ${problems.size - reportedProblems.length} more`);
  return aggregateMessages(reportedProblems);
}
