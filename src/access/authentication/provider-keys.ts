import type { KeyObject } from 'node:crypto';
import {
  type Clock,
  inTurns,
  isJsonObject,
  type JsonObject,
  peerTurns,
  quote,
  readJsonTextInSteps,
} from '../../meta/index.ts';
import { isKeyOf, publicKeyOf } from './signatures.ts';

/** A response of an identity provider. */
export interface ProviderResponse {
  /** Such as 503 and `Service Unavailable`. */
  readonly status: number;
  readonly statusText: string;
  readonly text: string;
}

/**
 * Gets a document of an identity provider, with a bearer token when `accessToken` is not empty. Rejects with an Error whose
 * message says why there is no response.
 */
export type GetDocument = (url: string, accessToken?: string) => Promise<ProviderResponse>;

export interface ProviderKeysOptions {
  readonly issuer: string;
  /** Where its discovery document is, when not below the issuer. */
  readonly discoveryUrl?: string | undefined;
  readonly get: GetDocument;
  readonly clock: Pick<Clock, 'after' | 'monotonic'>;
  /** Is told why the provider could not be discovered. It may close the keys, which ends the attempts. */
  readonly failed: (why: string) => void;
}

/** A public key of a provider. */
export interface ProviderKey {
  /** Empty: it has none. */
  readonly id: string;
  /** The key for an algorithm; undefined when it is not one for it. */
  readonly forAlgorithm: (algorithm: string) => KeyObject | undefined;
}

/** How long after a failure the provider is discovered again (ms). */
const retryMs = 10_000;

/** How many times keys may be fetched at once because a token has an unknown one, and how often from then on (ms). */
const maxFetches = 30;
const fetchMs = 10_000;

/** The most keys of a provider that are used. */
const maxKeys = 100;

/**
 * The keys of an identity provider (OpenID Connect Discovery 1.0, RFC 7517). The provider is discovered in the background,
 * again until it succeeds; its keys are fetched for tokens with an unknown one, a few times at once and then every ten
 * seconds.
 */
export class ProviderKeys {
  readonly #options: ProviderKeysOptions;
  #keysUrl: string | undefined;
  #tokenEndpoint: string | undefined;
  #known: readonly ProviderKey[] = [];
  #fetching: Promise<readonly ProviderKey[]> | undefined;
  #fetches = maxFetches;
  #fetchedAt = 0;
  #cancel = () => {};
  #closed = false;
  /** Resolves when the provider has been discovered. */
  readonly discovered: Promise<void>;

  constructor(options: ProviderKeysOptions) {
    this.#options = options;
    this.discovered = new Promise((resolve) => void this.#discover(resolve));
  }

  /** Whether the provider has been discovered. */
  get ready(): boolean {
    return this.#keysUrl !== undefined;
  }

  /** Where clients exchange codes for tokens; undefined until discovered, and where the document names no URL with https. */
  get tokenEndpoint(): string | undefined {
    return this.#tokenEndpoint;
  }

  /** The keys as last fetched. */
  get known(): readonly ProviderKey[] {
    return this.#known;
  }

  /**
   * Fetches the keys, with others that ask for them at the same time. Resolves to the known ones when they were fetched too
   * often of late. Rejects with an Error whose message says why they cannot be had.
   */
  fetch(): Promise<readonly ProviderKey[]> {
    const url = this.#keysUrl;
    if (this.#fetching !== undefined) return this.#fetching;
    if (url === undefined || !this.#mayFetch()) return Promise.resolve(this.#known);
    this.#fetching = this.#fetchFrom(url).finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
  }

  #mayFetch(): boolean {
    const now = this.#options.clock.monotonic();
    this.#fetches = Math.min(maxFetches, this.#fetches + (now - this.#fetchedAt) / fetchMs);
    this.#fetchedAt = now;
    if (this.#fetches < 1) return false;
    this.#fetches--;
    return true;
  }

  async #discover(discovered: () => void): Promise<void> {
    const { issuer, discoveryUrl, get, clock, failed } = this.#options;
    try {
      const url = discoveryUrl ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
      const { status, statusText, text } = await get(url);
      if (status !== 200) throw new Error(`${status} ${statusText}`);
      const { issuer: named, jwks_uri: keysUrl, token_endpoint: tokenEndpoint } = await objectIn(text);
      if (named !== issuer) throw new Error(`it names itself ${JSON.stringify(named)}, not ${quote(issuer)}`);
      if (typeof keysUrl !== 'string' || !isSecure(keysUrl)) throw new Error('its jwks_uri must be a URL with https');
      this.#keysUrl = keysUrl;
      if (typeof tokenEndpoint === 'string' && isSecure(tokenEndpoint)) this.#tokenEndpoint = tokenEndpoint;
      discovered();
    } catch (error) {
      if (this.#closed) return;
      failed(error instanceof Error ? error.message : String(error));
      if (this.#closed) return;
      this.#cancel = clock.after(retryMs, () => void this.#discover(discovered));
    }
  }

  async #fetchFrom(url: string): Promise<readonly ProviderKey[]> {
    const { status, statusText, text } = await this.#options.get(url);
    if (status !== 200) throw new Error(`oidc: get keys failed: ${status} ${statusText} ${text.slice(0, 200)}`.trim());
    const { keys } = await objectIn(text);
    const found = Array.isArray(keys) ? keys.slice(0, maxKeys) : [];
    this.#known = found.flatMap((key) => (isJsonObject(key) && isForSignatures(key) ? [providerKey(key)] : []));
    return this.#known;
  }
}

/** Whether a text is a URL with https. */
export const isSecure = (url: string): boolean => URL.canParse(url) && new URL(url).protocol === 'https:';

async function objectIn(text: string): Promise<JsonObject> {
  const value = (await inTurns(readJsonTextInSteps(text), peerTurns('identity providers'))) ?? null;
  if (isJsonObject(value)) return value;
  throw new Error('oidc: failed to decode: invalid character that begins no JSON object');
}

/** Only asymmetric keys, and none that is meant for anything else. */
function isForSignatures({ kty, use = 'sig', key_ops: operations = ['verify'] }: JsonObject): boolean {
  if (kty !== 'RSA' && kty !== 'EC') return false;
  return use === 'sig' && Array.isArray(operations) && operations.includes('verify');
}

function providerKey(key: JsonObject): ProviderKey {
  const { kid, alg: only } = key;
  // Read when it is first needed, once. Null: it must not verify tokens.
  let read: KeyObject | null | undefined;
  return {
    id: typeof kid === 'string' ? kid : '',
    forAlgorithm: (algorithm) => {
      if (only !== undefined && only !== algorithm) return undefined;
      if (read === undefined) read = publicKeyOf(key) ?? null;
      return read !== null && isKeyOf(algorithm, read) ? read : undefined;
    },
  };
}
