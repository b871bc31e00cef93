/** Claims that a token has elsewhere. */
import { parseToken } from '../../auth/index.ts';
import { type Clock, inTurnAfter, type JsonObject, quote, type Turns } from '../../meta/index.ts';
import {
  type ClaimSource,
  claimSources,
  type TokenRequirements,
  VerificationError,
  verifyIdToken,
} from './id-token.ts';
import { type GetDocument, isSecure, ProviderKeys } from './provider-keys.ts';

/** Why the value of a claim could not be fetched. */
export class DistributedClaimError extends Error {}

/** The maximum length of the token of a source, in characters. */
const maxLength = 128 * 1024;

/** How many issuers of sources are known at a time; beyond that the oldest one is forgotten. */
const maxIssuers = 16;

/** How many claims are fetched at a time. */
const maxFetches = 100;

/** An issuer of tokens of sources. */
interface DiscoveredIssuer {
  readonly keys: ProviderKeys;
  /** Rejects when the issuer cannot be discovered, or is forgotten before that. */
  readonly discovered: Promise<void>;
  readonly forget: (why: string) => void;
}

/**
 * Fetches distributed claims (OpenID Connect Core 1.0, 5.6.2): the source that a verified token names answers with a token
 * that has the claim, signed by any issuer that can be discovered. Nothing is cached but the keys of these issuers.
 */
export class DistributedClaims {
  readonly #get: GetDocument;
  readonly #clock: Pick<Clock, 'after' | 'monotonic' | 'now'>;
  readonly #issuers = new Map<string, DiscoveredIssuer>();
  #fetches = 0;

  constructor(get: GetDocument, clock: Pick<Clock, 'after' | 'monotonic' | 'now'>) {
    this.#get = get;
    this.#clock = clock;
  }

  /**
   * Returns the claims of a verified token with the claim `name`, which is fetched when the token names its source and has no
   * value of its own. The token of the source must meet the requirements of the provider. @throws DistributedClaimError
   */
  async fetch(claims: JsonObject, name: string, requirements: TokenRequirements, turns: Turns): Promise<JsonObject> {
    if (Object.hasOwn(claims, name)) return claims;
    const source = claimSources(claims).get(name);
    // An aggregated claim has no endpoint: its token is in the source.
    if (source === undefined || source.endpoint === '') return claims;
    if (this.#fetches >= maxFetches) throw new DistributedClaimError(`${maxFetches} claims are being fetched already`);
    this.#fetches++;
    try {
      const fetched = await this.#claimsOf(source, name, requirements, turns);
      const value = Object.hasOwn(fetched, name) ? fetched[name] : undefined;
      if (value === undefined) {
        const answer = `jwt returned by distributed claim endpoint ${quote(source.endpoint)}`;
        throw new DistributedClaimError(`${answer} did not contain claim: ${name}`);
      }
      return { ...claims, [name]: value };
    } finally {
      this.#fetches--;
    }
  }

  close(): void {
    for (const { forget } of this.#issuers.values()) forget('the identity provider is no longer in use');
  }

  /** The claims of the token with which the source answers, verified. */
  async #claimsOf(
    source: ClaimSource,
    name: string,
    requirements: TokenRequirements,
    turns: Turns,
  ): Promise<JsonObject> {
    // Many tokens of sources may arrive together, and each takes long to parse.
    const token = await inTurnAfter(this.#tokenOf(source), () => turns).catch((error: unknown) => {
      throw new DistributedClaimError(`while getting distributed claim ${quote(name)}: ${reasonOf(error)}`);
    });
    const parsed = parseToken(token, maxLength);
    const issuer = parsed?.claims['iss'];
    if (parsed === undefined || typeof issuer !== 'string') {
      const answer = `getting untrusted issuer from endpoint ${source.endpoint} failed for claim ${quote(name)}`;
      throw new DistributedClaimError(`${answer}: it is not a token with an issuer`);
    }
    const keys = await this.#keysOf(issuer).catch((error: unknown) => {
      throw new DistributedClaimError(`verifier for untrusted issuer ${quote(issuer)} failed: ${reasonOf(error)}`);
    });
    await verifyIdToken(parsed, requirements, keys, this.#clock.now() / 1_000, turns).catch((error: unknown) => {
      if (!(error instanceof VerificationError)) throw error;
      throw new DistributedClaimError(`verify distributed claim token: ${error.message}`);
    });
    return parsed.claims;
  }

  async #tokenOf({ endpoint, accessToken }: ClaimSource): Promise<string> {
    if (!isSecure(endpoint)) throw new Error('the endpoint must be a URL with https');
    const { status, statusText, text } = await this.#get(endpoint, accessToken);
    if (status === 200) return text;
    throw new Error(`error while getting distributed claim JWT: ${status} ${statusText}`);
  }

  /** The keys of an issuer, once it is discovered. After a failure, the next token makes the next attempt. */
  async #keysOf(issuer: string): Promise<ProviderKeys> {
    const { keys, discovered } = this.#issuers.get(issuer) ?? this.#discover(issuer);
    await discovered;
    return keys;
  }

  #discover(issuer: string): DiscoveredIssuer {
    if (!isSecure(issuer)) throw new Error('the issuer must be a URL with https');
    for (const { forget } of this.#issuers.values()) {
      if (this.#issuers.size < maxIssuers) break;
      forget(`tokens name more than ${maxIssuers} issuers at a time`);
    }
    let forget: (why: string) => void = () => {};
    const keys = new ProviderKeys({ issuer, get: this.#get, clock: this.#clock, failed: (why) => forget(why) });
    const discovered = new Promise<void>((resolve, reject) => {
      void keys.discovered.then(resolve);
      forget = (why) => {
        keys.close();
        this.#issuers.delete(issuer);
        reject(new Error(why));
      };
    });
    const entry = { keys, discovered, forget };
    this.#issuers.set(issuer, entry);
    return entry;
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
