import { forServer, parseToken, type TokenAuthenticator } from '../../auth/index.ts';
import { type Clock, inTurns, type JsonObject, type Names, scheduler, type User } from '../../meta/index.ts';
import { DistributedClaimError, type DistributedClaims } from './distributed-claims.ts';
import { type TokenRequirements, VerificationError, verifyIdToken } from './id-token.ts';
import type { ProviderKeys } from './provider-keys.ts';
import { refused, type UserMapping, userInSteps } from './user-mapping.ts';

/** The algorithms that may sign a token (RFC 7518). */
export const signingAlgorithms: readonly string[] = [
  ...['ES256', 'ES384', 'ES512'],
  ...['PS256', 'PS384', 'PS512'],
  ...['RS256', 'RS384', 'RS512'],
];

/** What the tokens of an identity provider must be, and who they stand for. */
export interface OpenIdProvider extends TokenRequirements {
  readonly issuer: string;
  readonly mapping: UserMapping;
}

export interface OpenIdOptions {
  readonly provider: OpenIdProvider;
  readonly keys: Pick<ProviderKeys, 'ready' | 'known' | 'fetch'>;
  /** Fetches groups that a token has elsewhere. */
  readonly distributedClaims: Pick<DistributedClaims, 'fetch'>;
  readonly names: Names;
  readonly clock: Pick<Clock, 'now'>;
  /** The audiences of this server, for which every token of the provider is valid. */
  readonly audiences: readonly string[];
}

/**
 * Authenticates the ID tokens of an identity provider (OpenID Connect Core 1.0). Has no opinion on tokens of other issuers;
 * throws a 401 StatusError whose message says what is wrong with one of its own.
 */
export function openIdAuthenticator({
  provider,
  keys,
  distributedClaims,
  names,
  clock,
  audiences,
}: OpenIdOptions): TokenAuthenticator {
  return (token, requested) => {
    const parsed = parseToken(token);
    if (parsed === undefined || parsed.claims['iss'] !== provider.issuer) return undefined;
    const authenticate = async () => {
      if (!keys.ready) throw refused('authenticator not initialized');
      await verifyIdToken(token, parsed, provider, keys, clock.now() / 1_000).catch((error: unknown) => {
        throw error instanceof VerificationError ? refused(`verify token: ${error.message}`) : error;
      });
      const groupClaims = await groupClaimsOf(parsed.claims, provider, distributedClaims);
      return forServer(await userOf(parsed.claims, groupClaims, provider, names), requested, audiences);
    };
    return authenticate();
  };
}

/** The claims with that of the groups, which is fetched when the token only names its source. */
async function groupClaimsOf(
  claims: JsonObject,
  provider: OpenIdProvider,
  distributedClaims: OpenIdOptions['distributedClaims'],
): Promise<JsonObject> {
  const { groups } = provider.mapping;
  if (groups === undefined || !('claim' in groups)) return claims;
  try {
    return await distributedClaims.fetch(claims, groups.claim, provider);
  } catch (error) {
    if (!(error instanceof DistributedClaimError)) throw error;
    throw refused(`could not expand distributed claims: ${error.message}`);
  }
}

/** A promise only where it takes more than a step. */
function userOf(
  claims: JsonObject,
  groupClaims: JsonObject,
  { issuer, mapping }: OpenIdProvider,
  names: Names,
): User | Promise<User> {
  const steps = userInSteps(claims, mapping, names, groupClaims);
  const { done, value } = steps.next();
  return done === true ? value : inTurns(steps, scheduler.turns(issuer));
}
