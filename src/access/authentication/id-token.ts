import type { ParsedToken } from '../../auth/index.ts';
import { inTurnAfter, isJsonObject, type Json, type JsonObject, quote, type Turns } from '../../meta/index.ts';
import type { ProviderKey, ProviderKeys } from './provider-keys.ts';
import { isSignedWith } from './signatures.ts';
import { mismatch } from './user-mapping.ts';

/** The audiences and algorithms that a token must have. */
export interface TokenRequirements {
  /** One of them must be an audience of the token. */
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
}

/** The keys of the issuer of a token. */
export type IssuerKeys = Pick<ProviderKeys, 'known' | 'fetch'>;

/** Where the value of a claim is: an endpoint, which is empty for an aggregated claim (OpenID Connect Core 1.0, 5.6.2). */
export interface ClaimSource {
  readonly endpoint: string;
  readonly accessToken: string;
}

/** How long before it is valid a token is accepted, because clocks differ (s). */
const leeway = 300;

/** Why a token is not verified. */
export class VerificationError extends Error {}

const unverified = (why: string) => new VerificationError(`oidc: ${why}`);

/**
 * Verifies the registered claims of a parsed ID token, and its signature. `now` in seconds since 1970.
 * @throws VerificationError
 */
export async function verifyIdToken(
  parsed: ParsedToken,
  requirements: TokenRequirements,
  keys: IssuerKeys,
  now: number,
  turns: Turns,
): Promise<void> {
  checkClaims(parsed, requirements, now);
  await verifySignature(parsed, keys, turns);
}

/** The sources that a token names, by claim. @throws VerificationError for a source that the token does not have */
export function claimSources({
  _claim_names: names = {},
  _claim_sources: sources = {},
}: JsonObject): ReadonlyMap<string, ClaimSource> {
  if (!isJsonObject(names)) throw malformed(names);
  if (!isJsonObject(sources)) throw malformed(sources);
  const found = new Map<string, ClaimSource>();
  for (const [claim, name] of Object.entries(names)) {
    if (typeof name !== 'string') throw malformed(name);
    if (name === '') throw unverified('failed to obtain source from claim name');
    const source = Object.hasOwn(sources, name) ? sources[name] : undefined;
    if (source === undefined) throw unverified('source does not exist');
    if (!isJsonObject(source)) throw malformed(source);
    const { endpoint = '', access_token: accessToken = '' } = source;
    if (typeof endpoint !== 'string') throw malformed(endpoint);
    if (typeof accessToken !== 'string') throw malformed(accessToken);
    found.set(claim, { endpoint, accessToken });
  }
  return found;
}

const malformed = (value: Json) => unverified(`failed to unmarshal claims: ${mismatch(value)}`);

/** Checks the registered claims and the algorithm. `now` in seconds since 1970. */
function checkClaims({ algorithm, claims }: ParsedToken, requirements: TokenRequirements, now: number): void {
  const { sub = '', aud = [], exp, nbf } = claims;
  if (typeof sub !== 'string') throw malformed(sub);
  claimSources(claims);
  const audiences = typeof aud === 'string' ? [aud] : aud;
  const tokenAudiences = Array.isArray(audiences) ? audiences.filter((one) => typeof one === 'string') : [];
  if (!tokenAudiences.some((audience) => requirements.audiences.includes(audience))) {
    const quoted = requirements.audiences.map((audience) => quote(audience)).sort();
    const expected = quoted.length === 1 ? quoted.join() : `in [${quoted.join(' ')}]`;
    throw unverified(`expected audience ${expected} got [${tokenAudiences.map((one) => quote(one)).join(' ')}]`);
  }
  const expires = secondsOf(exp);
  if (expires === undefined || expires <= now) throw unverified(`token is expired (Token Expiry: ${textOf(expires)})`);
  const begins = secondsOf(nbf);
  if (nbf !== undefined && (begins === undefined || begins > now + leeway)) {
    throw unverified(`current time ${textOf(now)} before the nbf (not before) time: ${textOf(begins)}`);
  }
  if (!requirements.algorithms.includes(algorithm)) {
    const expected = requirements.algorithms.map((one) => quote(one)).join(' ');
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

/** Verifies the signature by a known key, and otherwise by those that the issuer publishes now. */
async function verifySignature(token: ParsedToken, keys: IssuerKeys, turns: Turns): Promise<void> {
  const { known } = keys;
  if (await isSignedByAny(token, known, turns)) return;
  const failed = 'failed to verify signature';
  const fetched = await inTurnAfter(keys.fetch(), () => turns).catch((error: unknown) => {
    throw new VerificationError(`${failed}: fetching keys ${error instanceof Error ? error.message : String(error)}`);
  });
  if (fetched === known || !(await isSignedByAny(token, fetched, turns)))
    throw new VerificationError(`${failed}: failed to verify id token signature`);
}

/** How many keys may be those of a token, which names none or one that several have: nobody knows yet who has sent it. */
const maxCandidates = 10;

async function isSignedByAny(token: ParsedToken, keys: readonly ProviderKey[], turns: Turns): Promise<boolean> {
  const { algorithm, keyId, signature } = token;
  // It is empty where it is not canonical base64url.
  if (signature.length === 0) return false;
  let candidates = 0;
  for (const { id, forAlgorithm } of keys) {
    if (keyId !== '' && keyId !== id) continue;
    const key = forAlgorithm(algorithm);
    if (key === undefined) continue;
    if (turns.over) await turns.next();
    if (isSignedWith(token, key)) return true;
    if (++candidates === maxCandidates) return false;
  }
  return false;
}
