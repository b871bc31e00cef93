import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../../meta/index.ts';
import type { Authenticated, TokenAuthenticator } from '../types.ts';
import type { TokenCacheCounts } from './counts.ts';

/** How long a valid token is not looked up again (ms), how many tokens are kept, and of how many audiences. */
const lifetimeMs = 10_000;
const maxTokens = 10_000;
const maxAudiences = 16;

interface CachedToken {
  readonly found: Authenticated;
  /** In milliseconds since 1970. */
  readonly until: number;
}

/**
 * Remembers for ten seconds which tokens are valid; an invalid one is looked up each time. Requests with the same token
 * at the same time share one lookup. Only keyed digests of tokens are kept.
 */
export function cachedAuthenticator(
  authenticate: TokenAuthenticator,
  clock: Pick<Clock, 'now'>,
  counts: TokenCacheCounts,
): TokenAuthenticator {
  const secret = randomBytes(32);
  /** In the order in which they expire. */
  const cached = new Map<string, CachedToken>();
  const pending = new Map<string, Promise<Authenticated | undefined>>();
  const lookUp = async (key: string, token: string, audiences: readonly string[]) => {
    counts.inFlight++;
    let fetched = false;
    try {
      const found = await authenticate(token, audiences);
      fetched = true;
      if (found === undefined || found.audiences.length > maxAudiences) return found;
      const now = clock.now();
      for (const [oldest, { until }] of cached) {
        if (until > now && cached.size < maxTokens) break;
        cached.delete(oldest);
      }
      cached.set(key, { found, until: now + lifetimeMs });
      return found;
    } finally {
      pending.delete(key);
      counts.inFlight--;
      if (fetched) counts.fetched++;
      else counts.failed++;
    }
  };
  return (token, audiences) => {
    // The JSON text of a list ends where it ends: no other list and token have the same text.
    const key = createHmac('sha256', secret).update(JSON.stringify(audiences)).update(token).digest('base64');
    const known = cached.get(key);
    if (known !== undefined && known.until > clock.now()) {
      counts.hits++;
      return known.found;
    }
    counts.misses++;
    cached.delete(key);
    let found = pending.get(key);
    if (found === undefined) {
      found = lookUp(key, token, audiences);
      pending.set(key, found);
    }
    counts.blocked++;
    const unblock = () => void counts.blocked--;
    void found.then(unblock, unblock);
    return found;
  };
}
