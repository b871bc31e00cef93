import type { Names, User } from '../meta/index.ts';
import { systemAuthenticated, systemMasters, systemUnauthenticated } from './groups.ts';
import { type Attributes, type Authorizer, type Decision, noOpinion, type ResourceRule, type Rules } from './types.ts';

const allowed: Decision = { allowed: true, reason: '' };

const emptyRules: Rules = { resourceRules: [], nonResourceRules: [], incomplete: false };
const incompleteRules: Rules = { ...emptyRules, incomplete: true };
const allRulesGranted: Rules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
};

const isInMasters = ({ groups }: User) => groups.includes(systemMasters);

/** The group `system:masters` may do everything. */
export const mastersAuthorizer: Authorizer = Object.assign(
  ({ user }: Attributes) => (isInMasters(user) ? allowed : noOpinion),
  { rulesFor: (user: User) => (isInMasters(user) ? allRulesGranted : emptyRules) },
);

/** The authorization mode `AlwaysAllow`. */
export const alwaysAllowAuthorizer: Authorizer = Object.assign(() => allowed, { rulesFor: () => allRulesGranted });

/** The authorization mode `AlwaysDeny`. It does not prevent another authorizer from allowing, as in the reference server. */
export const alwaysDenyAuthorizer: Authorizer = Object.assign(
  (): Decision => ({ allowed: false, reason: 'Everything is forbidden.' }),
  { rulesFor: () => emptyRules },
);

/** Exact paths, or path prefixes with a trailing `*`. */
const publicPaths = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
const discoveryPaths = [...publicPaths, '/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'];

function allowedPaths({ groups }: User): readonly string[] {
  if (groups.includes(systemAuthenticated)) return discoveryPaths;
  return groups.includes(systemUnauthenticated) ? publicPaths : [];
}

/**
 * Authenticated users may read discovery, version and health, anonymous users version and health: what the roles
 * `system:discovery` and `system:public-info-viewer` grant.
 */
export const discoveryAuthorizer: Authorizer = Object.assign(
  ({ user, verb, resource, path }: Attributes) =>
    resource === undefined && verb === 'get' && matchesPath(allowedPaths(user), path) ? allowed : noOpinion,
  {
    rulesFor: (user: User): Rules => {
      const nonResourceURLs = allowedPaths(user);
      return nonResourceURLs.length === 0
        ? emptyRules
        : { ...emptyRules, nonResourceRules: [{ verbs: ['get'], nonResourceURLs }] };
    },
  },
);

/** Authenticated users may create self reviews: what the role `system:basic-user` grants. */
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
  const rules: Rules = { ...emptyRules, resourceRules };
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
    { rulesFor: (user: User) => (user.groups.includes(systemAuthenticated) ? rules : emptyRules) },
  );
}

function matchesPath(patterns: readonly string[], path: string): boolean {
  return patterns.some((p) => (p.endsWith('*') ? path.startsWith(p.slice(0, -1)) : p === path));
}

/**
 * The first authorizer in order that allows or denies decides; without one there is no opinion, and the reasons are
 * joined. Rules are concatenated.
 */
export function unionAuthorizer(authorizers: readonly Authorizer[]): Authorizer {
  // Synchronous unless an authorizer returns a promise.
  const authorizeFrom = (
    attributes: Attributes,
    index = 0,
    earlier: readonly string[] = [],
  ): ReturnType<Authorizer> => {
    let reasons = earlier;
    for (let i = index; i < authorizers.length; i++) {
      const decision = authorizers[i]?.(attributes) ?? noOpinion;
      if (decision instanceof Promise) return continueWith(decision, i + 1, attributes, reasons);
      if (decision.allowed || decision.denied === true) return decision;
      if (decision.reason !== '') reasons = [...reasons, decision.reason];
    }
    return reasons.length === 0 ? noOpinion : { allowed: false, reason: reasons.join('\n') };
  };
  const continueWith = async (
    pending: Promise<Decision>,
    index: number,
    attributes: Attributes,
    reasons: readonly string[],
  ): Promise<Decision> => {
    const decision = await pending;
    if (decision.allowed || decision.denied === true) return decision;
    return authorizeFrom(attributes, index, decision.reason === '' ? reasons : [...reasons, decision.reason]);
  };
  return Object.assign(authorizeFrom, {
    rulesFor: (user: User, namespace: string) => unionRules(authorizers, user, namespace),
  });
}

async function unionRules(authorizers: readonly Authorizer[], user: User, namespace: string): Promise<Rules> {
  const all = await Promise.all(
    authorizers.map(async ({ rulesFor }) => rulesFor?.(user, namespace) ?? incompleteRules),
  );
  const errors = all.flatMap(({ evaluationError = '' }) => (evaluationError === '' ? [] : [evaluationError]));
  return {
    resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
    nonResourceRules: all.flatMap(({ nonResourceRules }) => nonResourceRules),
    incomplete: all.some(({ incomplete }) => incomplete),
    ...(errors.length === 0 ? {} : { evaluationError: errors.join(', ') }),
  };
}
