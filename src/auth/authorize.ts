import { systemAuthenticated, systemMasters, systemUnauthenticated } from './groups.ts';
import type { Attributes, Authorizer, Decision } from './types.ts';

const allowed: Decision = { allowed: true, reason: '' };
const noOpinion: Decision = { allowed: false, reason: '' };

/** The group `system:masters` may do everything. */
export const mastersAuthorizer: Authorizer = ({ user }) => (user.groups.includes(systemMasters) ? allowed : noOpinion);

/** Exact paths, or with a trailing `*` every path that begins so. */
const publicPaths = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
const discoveryPaths = [...publicPaths, '/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*'];

/**
 * Every authenticated user may read discovery, version and health, anonymous ones version and health: what the roles
 * `system:discovery` and `system:public-info-viewer` grant.
 */
export const discoveryAuthorizer: Authorizer = ({ user, verb, resource, path }) => {
  if (resource !== undefined || verb !== 'get') return noOpinion;
  if (user.groups.includes(systemAuthenticated)) return covers(discoveryPaths, path) ? allowed : noOpinion;
  if (user.groups.includes(systemUnauthenticated)) return covers(publicPaths, path) ? allowed : noOpinion;
  return noOpinion;
};

function covers(patterns: readonly string[], path: string): boolean {
  return patterns.some((p) => (p.endsWith('*') ? path.startsWith(p.slice(0, -1)) : p === path));
}

/** Asks one after the other until one allows; with none that does, the reasons of all stand. */
export function allowFirst(authorizers: readonly Authorizer[]): Authorizer {
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
  return (attributes) => askFrom(0, attributes, []);
}
