import {
  type Authenticated,
  forServer,
  type ParsedToken,
  parseToken,
  type TokenAuthenticator,
} from '../../auth/index.ts';
import {
  type Clock,
  inTurns,
  type JsonObject,
  type Names,
  scheduler,
  type Turns,
  type User,
} from '../../meta/index.ts';
import { DistributedClaimError, type DistributedClaims } from './distributed-claims.ts';
import { type TokenRequirements, VerificationError, verifyIdToken } from './id-token.ts';
import type { ProviderKeys } from './provider-keys.ts';
import { refused, type UserMapping, userInSteps } from './user-mapping.ts';

/** The requirements on the tokens of an identity provider, and the mapping to users. */
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
 * Authenticates the ID tokens of identity providers (OpenID Connect Core 1.0), each of which has its own issuer. Has no
 * opinion on tokens of other issuers; throws a 401 StatusError whose message says what is wrong with one of theirs.
 */
export function openIdAuthenticator(providers: readonly OpenIdOptions[]): TokenAuthenticator {
  const byIssuer = new Map<unknown, OpenIdOptions>(providers.map((options) => [options.provider.issuer, options]));
  return (token, requested, owner) => {
    // Read once, however many providers there are: nobody knows yet who has sent it.
    const parsed = byIssuer.size === 0 ? undefined : parseToken(token);
    const options = parsed && byIssuer.get(parsed.claims['iss']);
    return (
      parsed && options && authenticate(parsed, requested, scheduler.turns(owner ?? options.provider.issuer), options)
    );
  };
}

/** @throws StatusError 401 */
async function authenticate(
  parsed: ParsedToken,
  requested: readonly string[],
  turns: Turns,
  { provider, keys, distributedClaims, names, clock, audiences }: OpenIdOptions,
): Promise<Authenticated | undefined> {
  if (!keys.ready) throw refused('authenticator not initialized');
  await verifyIdToken(parsed, provider, keys, clock.now() / 1_000, turns).catch((error: unknown) => {
    throw error instanceof VerificationError ? refused(`verify token: ${error.message}`) : error;
  });
  const groupClaims = await groupClaimsOf(parsed.claims, provider, distributedClaims, turns);
  return forServer(await userOf(parsed.claims, groupClaims, turns, provider, names), requested, audiences);
}

/** The claims with that of the groups, which is fetched when the token only names its source. */
async function groupClaimsOf(
  claims: JsonObject,
  provider: OpenIdProvider,
  distributedClaims: OpenIdOptions['distributedClaims'],
  turns: Turns,
): Promise<JsonObject> {
  const { groups } = provider.mapping;
  if (groups === undefined || !('claim' in groups)) return claims;
  try {
    return await distributedClaims.fetch(claims, groups.claim, provider, turns);
  } catch (error) {
    if (!(error instanceof DistributedClaimError)) throw error;
    throw refused(`could not expand distributed claims: ${error.message}`);
  }
}

/** A promise only where it takes more than a step. */
function userOf(
  claims: JsonObject,
  groupClaims: JsonObject,
  turns: Turns,
  { mapping }: OpenIdProvider,
  names: Names,
): User | Promise<User> {
  const steps = userInSteps(claims, mapping, names, groupClaims);
  const { done, value } = steps.next();
  return done === true ? value : inTurns(steps, turns);
}
