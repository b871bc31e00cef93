import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../../meta/index.ts';
import type { Authenticated, TokenAuthenticator } from '../types.ts';
import type { TokenCacheCounts } from './counts.ts';

/** How long a token is not looked up again (ms): one that is valid, and one that nobody recognises. */
export interface TokenLifetimes {
  readonly valid: number;
  readonly unknown: number;
}

const defaultLifetimes: TokenLifetimes = { valid: 10_000, unknown: 0 };

/** How many tokens of each kind are kept, and of how long a result (characters). */
const maxTokens = 10_000;
const maxResult = 16 * 1024;

/** Values that expire, at most {@link maxTokens}, in the order in which they were set. */
class Expiring<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly until: number }>();
  readonly #clock: Pick<Clock, 'now'>;
  readonly #lifetime: number;

  constructor(clock: Pick<Clock, 'now'>, lifetime: number) {
    this.#clock = clock;
    this.#lifetime = lifetime;
  }

  get(key: string): { readonly value: V } | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.until > this.#clock.now()) return entry;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: V): void {
    if (this.#lifetime <= 0) return;
    const now = this.#clock.now();
    for (const [oldest, { until }] of this.#entries) {
      if (until > now && this.#entries.size < maxTokens) break;
      this.#entries.delete(oldest);
    }
    this.#entries.set(key, { value, until: now + this.#lifetime });
  }
}

/** The keys of tokens and audiences: digests with a secret, by which nobody who reads the memory finds a token. */
function tokenKeys(): (token: string, audiences: readonly string[]) => string {
  const secret = randomBytes(32).toString('base64');
  // The audiences of the server are one list, which most tokens are for.
  let last: readonly string[] = [];
  let prefix = `${secret}[]`;
  return (token, audiences) => {
    if (audiences !== last) {
      last = audiences;
      // The JSON text of a list ends where it ends: no other list and token have the same text.
      prefix = secret + JSON.stringify(audiences);
    }
    return hash('sha256', prefix + token, 'base64');
  };
}

/** Whether the result takes little memory: each text counts 8 characters more. */
function isShort({ user, audiences }: Authenticated): boolean {
  let left = maxResult - user.name.length - (user.uid?.length ?? 0);
  const count = (texts: readonly string[]) => {
    left -= 8 * texts.length;
    for (const { length } of left < 0 ? [] : texts) left -= length;
  };
  count(audiences);
  count(user.groups);
  for (const key in user.extra) count([key, ...(user.extra[key] ?? [])]);
  return left >= 0;
}

/**
 * Remembers for a while which tokens are valid, and which nobody recognises; one that is refused is looked up each time.
 * Requests with the same token at the same time share one lookup. Only keyed digests of tokens are kept.
 */
export function cachedAuthenticator(
  authenticate: TokenAuthenticator,
  clock: Pick<Clock, 'now'>,
  counts: TokenCacheCounts,
  lifetimes = defaultLifetimes,
): TokenAuthenticator {
  const keyOf = tokenKeys();
  const valid = new Expiring<Authenticated>(clock, lifetimes.valid);
  // Apart, so that anybody's tokens do not displace those that are in use.
  const unknown = new Expiring<undefined>(clock, lifetimes.unknown);
  const pending = new Map<string, Promise<Authenticated | undefined>>();
  const lookUp = async (key: string, token: string, audiences: readonly string[], owner: string | undefined) => {
    counts.inFlight++;
    let fetched = false;
    try {
      const found = await authenticate(token, audiences, owner);
      fetched = true;
      if (found === undefined) unknown.set(key, found);
      else if (isShort(found)) valid.set(key, found);
      return found;
    } finally {
      pending.delete(key);
      counts.inFlight--;
      if (fetched) counts.fetched++;
      else counts.failed++;
    }
  };
  return (token, audiences, owner) => {
    const key = keyOf(token, audiences);
    const known = valid.get(key) ?? unknown.get(key);
    if (known !== undefined) {
      counts.hits++;
      return known.value;
    }
    counts.misses++;
    let found = pending.get(key);
    if (found === undefined) {
      found = lookUp(key, token, audiences, owner);
      pending.set(key, found);
    }
    counts.blocked++;
    const unblock = () => void counts.blocked--;
    void found.then(unblock, unblock);
    return found;
  };
}
