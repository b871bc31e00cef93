/** The counters of tokens. Uses are counted when a token is looked up, not while the cache knows it. */
export interface TokenCounts {
  readonly serviceAccount: ServiceAccountTokenCounts;
  readonly cache: TokenCacheCounts;
}

export interface ServiceAccountTokenCounts {
  /** Tokens without an audience. */
  legacy: number;
  /** Of those, tokens of secrets that were generated with their account, or created by somebody. */
  legacyAuto: number;
  legacyManual: number;
  /** Refused, because the secret is marked as invalid. */
  legacyInvalidated: number;
  /** Tokens with an extended lifetime, after and before the end of the requested one. */
  stale: number;
  valid: number;
}

export interface TokenCacheCounts {
  hits: number;
  misses: number;
  fetched: number;
  failed: number;
  /** Lookups under way, and requests that wait for one. */
  inFlight: number;
  blocked: number;
}

export const emptyTokenCounts = (): TokenCounts => ({
  serviceAccount: { legacy: 0, legacyAuto: 0, legacyManual: 0, legacyInvalidated: 0, stale: 0, valid: 0 },
  cache: { hits: 0, misses: 0, fetched: 0, failed: 0, inFlight: 0, blocked: 0 },
});
