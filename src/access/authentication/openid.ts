import { forServer, invalidToken, type ParsedToken, parseToken, type TokenAuthenticator } from '../../auth/index.ts';
import { type Clock, type Json, type JsonObject, type Names, quote, type User } from '../../meta/index.ts';
import type { ProviderKey, ProviderKeys } from './provider-keys.ts';

/** The algorithms of which the signature of a token may be (RFC 7518). */
export const signingAlgorithms = [
  ...['RS256', 'RS384', 'RS512'],
  ...['ES256', 'ES384', 'ES512'],
  ...['PS256', 'PS384', 'PS512'],
] as const;

/** What the tokens of an identity provider must be, and who they stand for. */
export interface OpenIdProvider {
  readonly issuer: string;
  /** One of them must be an audience of the token. */
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  readonly username: PrefixedClaim;
  readonly groups: PrefixedClaim | undefined;
  /** The values that claims must have. */
  readonly requiredClaims: ReadonlyMap<string, string>;
}

interface PrefixedClaim {
  readonly claim: string;
  readonly prefix: string;
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
      return forServer(userOf(parsed.claims, provider, names), requested, audiences);
    };
    return authenticate();
  };
}

const refused = (why: string) => invalidToken(`oidc: ${why}`);
const unverified = (why: string) => refused(`verify token: oidc: ${why}`);

/** The registered claims, and the algorithm. `now` in seconds since 1970. */
function checkClaims({ algorithm, claims }: ParsedToken, provider: OpenIdProvider, now: number): void {
  const { sub = '', aud = [], exp, nbf } = claims;
  if (typeof sub !== 'string') throw unverified(`failed to unmarshal claims: ${mismatch(sub)}`);
  const audiences = typeof aud === 'string' ? [aud] : aud;
  const named = Array.isArray(audiences) ? audiences.filter((one) => typeof one === 'string') : [];
  if (!named.some((audience) => provider.audiences.includes(audience))) {
    const expected = provider.audiences.map((audience) => quote(audience)).join(' ');
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

function userOf(claims: JsonObject, { username, groups, requiredClaims }: OpenIdProvider, names: Names): User {
  const user = {
    name: usernameOf(claims, username),
    groups: groups === undefined ? [] : groupsOf(claims, groups),
    ...extraOf(claims, names),
  };
  for (const [claim, wanted] of requiredClaims) {
    const value = claimOf(claims, claim);
    if (value === undefined) throw refused(`required claim ${claim} not present in ID token`);
    if (typeof value !== 'string') throw refused(`parse claim ${claim}: ${mismatch(value)}`);
    if (value !== wanted) {
      throw refused(`required claim ${claim} value does not match. Got = ${value}, want = ${wanted}`);
    }
  }
  return user;
}

const claimOf = (claims: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(claims, name) ? claims[name] : undefined;

function usernameOf(claims: JsonObject, { claim, prefix }: PrefixedClaim): string {
  const value = claimOf(claims, claim);
  const parse = `parse username claims ${quote(claim)}`;
  if (value === undefined) throw refused(`${parse}: claim not present`);
  if (typeof value !== 'string') throw refused(`${parse}: ${mismatch(value)}`);
  if (claim === 'email') {
    const verified = claimOf(claims, 'email_verified') ?? true;
    if (typeof verified !== 'boolean') throw refused(`parse 'email_verified' claim: ${mismatch(verified)}`);
    if (!verified) throw refused('email not verified');
  }
  return prefix + value;
}

function groupsOf(claims: JsonObject, { claim, prefix }: PrefixedClaim): string[] {
  const value = claimOf(claims, claim) ?? [];
  const groups = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(groups)) throw refused(`parse groups claim ${quote(claim)}: ${mismatch(groups)}`);
  return groups.map((group) => {
    if (typeof group !== 'string') throw refused(`parse groups claim ${quote(claim)}: ${mismatch(group)}`);
    return prefix + group;
  });
}

/** The id of the token. */
function extraOf({ jti }: JsonObject, { labels }: Names): Pick<User, 'extra'> {
  if (typeof jti !== 'string' || jti === '') return {};
  return { extra: { [`authentication.${labels}/credential-id`]: [`JTI=${jti}`] } };
}

const mismatch = (value: Json): string =>
  `json: cannot unmarshal ${Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value} into a value of type string`;
