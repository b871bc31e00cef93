import type { Names, User } from '../meta/index.ts';
import { systemAuthenticated, systemMasters, systemUnauthenticated } from './groups.ts';
import type { Attributes, Authorizer, Decision, ResourceRule, Rules } from './types.ts';

const allowed: Decision = { allowed: true, reason: '' };
const noOpinion: Decision = { allowed: false, reason: '' };

const noRules: Rules = { resourceRules: [], nonResourceRules: [], incomplete: false };
const unknownRules: Rules = { ...noRules, incomplete: true };
const everything: Rules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
};

const isMaster = ({ groups }: User) => groups.includes(systemMasters);

/** The group `system:masters` may do everything. */
export const mastersAuthorizer: Authorizer = Object.assign(
  ({ user }: Attributes) => (isMaster(user) ? allowed : noOpinion),
  { rulesFor: (user: User) => (isMaster(user) ? everything : noRules) },
);

/** Exact paths, or with a trailing `*` every path that begins so. */
const publicPaths = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
const discoveryPaths = [...publicPaths, '/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'];

function openPaths({ groups }: User): readonly string[] {
  if (groups.includes(systemAuthenticated)) return discoveryPaths;
  return groups.includes(systemUnauthenticated) ? publicPaths : [];
}

/**
 * Every authenticated user may read discovery, version and health, anonymous ones version and health: what the roles
 * `system:discovery` and `system:public-info-viewer` grant.
 */
export const discoveryAuthorizer: Authorizer = Object.assign(
  ({ user, verb, resource, path }: Attributes) =>
    resource === undefined && verb === 'get' && covers(openPaths(user), path) ? allowed : noOpinion,
  {
    rulesFor: (user: User): Rules => {
      const nonResourceURLs = openPaths(user);
      return nonResourceURLs.length === 0
        ? noRules
        : { ...noRules, nonResourceRules: [{ verbs: ['get'], nonResourceURLs }] };
    },
  },
);

/** Every authenticated user may ask about itself: what the role `system:basic-user` grants. */
export function selfReviewAuthorizer({ domain }: Names): Authorizer {
  const create = (group: string, resources: readonly string[]): ResourceRule => ({
    verbs: ['create'],
    apiGroups: [group],
    resources,
  });
  const resourceRules = [
    create(`authentication.${domain}`, ['selfsubjectreviews']),
    create(`authorization.${domain}`, ['selfsubjectaccessreviews', 'selfsubjectrulesreviews']),
  ];
  const rules: Rules = { ...noRules, resourceRules };
  return Object.assign(
    ({ user, verb, resource }: Attributes) =>
      resource !== undefined &&
      resource.subresource === '' &&
      user.groups.includes(systemAuthenticated) &&
      resourceRules.some(
        ({ verbs, apiGroups, resources }) =>
          verbs.includes(verb) && apiGroups.includes(resource.group) && resources.includes(resource.resource),
      )
        ? allowed
        : noOpinion,
    { rulesFor: (user: User) => (user.groups.includes(systemAuthenticated) ? rules : noRules) },
  );
}

function covers(patterns: readonly string[], path: string): boolean {
  return patterns.some((p) => (p.endsWith('*') ? path.startsWith(p.slice(0, -1)) : p === path));
}

/** Asks one after the other until one allows; with none that does, the reasons of all stand. The rules of all add up. */
export function unionAuthorizer(authorizers: readonly Authorizer[]): Authorizer {
  // Answers without a promise when no authorizer asked for one.
  const askFrom = (index: number, attributes: Attributes, earlier: readonly string[]): ReturnType<Authorizer> => {
    let reasons = earlier;
    for (let i = index; i < authorizers.length; i++) {
      const decision = authorizers[i]?.(attributes) ?? noOpinion;
      if (decision instanceof Promise) return askOn(decision, i + 1, attributes, reasons);
      if (decision.allowed) return decision;
      if (decision.reason !== '') reasons = [...reasons, decision.reason];
    }
    return reasons.length === 0 ? noOpinion : { allowed: false, reason: reasons.join(', ') };
  };
  const askOn = async (
    pending: Promise<Decision>,
    index: number,
    attributes: Attributes,
    reasons: readonly string[],
  ): Promise<Decision> => {
    const decision = await pending;
    if (decision.allowed) return decision;
    return askFrom(index, attributes, decision.reason === '' ? reasons : [...reasons, decision.reason]);
  };
  return Object.assign((attributes: Attributes) => askFrom(0, attributes, []), {
    rulesFor: (user: User, namespace: string) => allRules(authorizers, user, namespace),
  });
}

async function allRules(authorizers: readonly Authorizer[], user: User, namespace: string): Promise<Rules> {
  const all = await Promise.all(authorizers.map(async ({ rulesFor }) => rulesFor?.(user, namespace) ?? unknownRules));
  return {
    resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
    nonResourceRules: all.flatMap(({ nonResourceRules }) => nonResourceRules),
    incomplete: all.some(({ incomplete }) => incomplete),
  };
}
