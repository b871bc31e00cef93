import { forServer, type ParsedToken, parseToken, type TokenAuthenticator } from '../../auth/index.ts';
import {
  type Clock,
  inTurns,
  type Json,
  type JsonObject,
  type Names,
  quote,
  scheduler,
  type User,
} from '../../meta/index.ts';
import type { ProviderKey, ProviderKeys } from './provider-keys.ts';
import { mismatch, refused, type UserMapping, userInSteps } from './user-mapping.ts';

/** The algorithms that may sign a token (RFC 7518). */
export const signingAlgorithms: readonly string[] = [
  ...['ES256', 'ES384', 'ES512'],
  ...['PS256', 'PS384', 'PS512'],
  ...['RS256', 'RS384', 'RS512'],
];

/** What the tokens of an identity provider must be, and who they stand for. */
export interface OpenIdProvider {
  readonly issuer: string;
  /** One of them must be an audience of the token. */
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  readonly mapping: UserMapping;
}

export interface OpenIdOptions {
  readonly provider: OpenIdProvider;
  readonly keys: Pick<ProviderKeys, 'ready' | 'known' | 'fetch'>;
  readonly names: Names;
  readonly clock: Pick<Clock, 'now'>;
  /** The audiences of this server, for which every token of the provider is valid. */
  readonly audiences: readonly string[];
}

/** How long before it is valid a token is accepted, because clocks differ (s). */
const leeway = 300;

/**
 * Authenticates the ID tokens of an identity provider (OpenID Connect Core 1.0). Has no opinion on tokens of other issuers;
 * throws a 401 StatusError whose message says what is wrong with one of its own.
 */
export function openIdAuthenticator({ provider, keys, names, clock, audiences }: OpenIdOptions): TokenAuthenticator {
  return (token, requested) => {
    const parsed = parseToken(token);
    if (parsed === undefined || parsed.claims['iss'] !== provider.issuer) return undefined;
    const authenticate = async () => {
      if (!keys.ready) throw refused('authenticator not initialized');
      checkClaims(parsed, provider, clock.now() / 1_000);
      await verify(token, parsed, keys);
      return forServer(await userOf(parsed.claims, provider, names), requested, audiences);
    };
    return authenticate();
  };
}

const unverified = (why: string) => refused(`verify token: oidc: ${why}`);

/** The registered claims, and the algorithm. `now` in seconds since 1970. */
function checkClaims({ algorithm, claims }: ParsedToken, provider: OpenIdProvider, now: number): void {
  const { sub = '', aud = [], exp, nbf } = claims;
  if (typeof sub !== 'string') throw unverified(`failed to unmarshal claims: ${mismatch(sub)}`);
  const audiences = typeof aud === 'string' ? [aud] : aud;
  const named = Array.isArray(audiences) ? audiences.filter((one) => typeof one === 'string') : [];
  if (!named.some((audience) => provider.audiences.includes(audience))) {
    const quoted = provider.audiences.map((audience) => quote(audience)).sort();
    const expected = quoted.length === 1 ? quoted.join() : `in [${quoted.join(' ')}]`;
    throw unverified(`expected audience ${expected} got [${named.map((one) => quote(one)).join(' ')}]`);
  }
  const expires = secondsOf(exp);
  if (expires === undefined || expires <= now) throw unverified(`token is expired (Token Expiry: ${textOf(expires)})`);
  const begins = secondsOf(nbf);
  if (nbf !== undefined && (begins === undefined || begins > now + leeway)) {
    throw unverified(`current time ${textOf(now)} before the nbf (not before) time: ${textOf(begins)}`);
  }
  if (!provider.algorithms.includes(algorithm)) {
    const expected = provider.algorithms.map((one) => quote(one)).join(' ');
    throw unverified(`id token signed with unsupported algorithm, expected [${expected}] got ${quote(algorithm)}`);
  }
}

/** The largest time that is a date (s). */
const maxSeconds = 8_640_000_000_000;

/** Seconds since 1970, as a number or its text; undefined for anything else. */
function secondsOf(value: Json | undefined): number | undefined {
  const seconds = typeof value === 'string' && /^\d{1,13}(\.\d{1,9})?$/.test(value) ? Number(value) : value;
  return typeof seconds === 'number' && seconds >= 0 && seconds <= maxSeconds ? Math.floor(seconds) : undefined;
}

const textOf = (seconds: number | undefined): string =>
  seconds === undefined
    ? '0001-01-01 00:00:00 +0000 UTC'
    : `${new Date(seconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')} +0000 UTC`;

/** Verifies the signature by a known key, and otherwise by those that the provider has now. */
async function verify(token: string, parsed: ParsedToken, keys: OpenIdOptions['keys']): Promise<void> {
  const { known } = keys;
  if (await isSignedByAny(token, parsed, known)) return;
  const failed = 'verify token: failed to verify signature';
  const fetched = await keys.fetch().catch((error: unknown) => {
    throw refused(`${failed}: fetching keys ${error instanceof Error ? error.message : String(error)}`);
  });
  if (fetched === known || !(await isSignedByAny(token, parsed, fetched)))
    throw refused(`${failed}: failed to verify id token signature`);
}

async function isSignedByAny(
  token: string,
  { algorithm, keyId, signature }: ParsedToken,
  keys: readonly ProviderKey[],
): Promise<boolean> {
  // The library would also read one that is not canonical base64url.
  if (signature.length === 0) return false;
  // Loaded when it is needed: most servers have no identity provider.
  const { compactVerify } = await import('jose');
  for (const { id, forAlgorithm } of keys) {
    if (keyId !== '' && keyId !== id) continue;
    const key = await forAlgorithm(algorithm);
    if (key === undefined) continue;
    try {
      await compactVerify(token, key, { algorithms: [algorithm] });
      return true;
    } catch {
      // Another key may verify it.
    }
  }
  return false;
}

/** A promise only where it takes more than a step. */
function userOf(claims: JsonObject, { issuer, mapping }: OpenIdProvider, names: Names): User | Promise<User> {
  const steps = userInSteps(claims, mapping, names);
  const { done, value } = steps.next();
  return done === true ? value : inTurns(steps, scheduler.turns(issuer));
}
