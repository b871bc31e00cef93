import { isJsonObject, type Json, type Random } from '../meta/index.ts';
import type { Store } from '../store/index.ts';
import { StartError } from './start-error.ts';
import { getOrCreate } from './stored-keys.ts';

/** What all servers of one store share. */
export interface ClusterIdentity {
  /** The API domain of the stored objects. */
  readonly domain: string;
  /** Key that signs continue tokens: 32 random bytes in base64url. */
  readonly tokenKey: string;
}

/** The key of the identity; keys of resources have a second slash. */
const identityKey = '/identity';
const tokenKeyBytes = 32;

/**
 * The identity of the store, written by the first server that opens it and never changed. `place` names the store in
 * messages. @throws StartError when the store belongs to another API domain; StoreError
 */
export async function openIdentity(
  store: Store,
  domain: string,
  random: Random,
  place: string,
): Promise<ClusterIdentity> {
  const value = await getOrCreate(store, identityKey, () => newIdentity(store, domain, random));
  const identity = readIdentity(value, place);
  if (identity.domain !== domain) {
    throw new StartError(
      `${place} holds the objects of --api-domain=${identity.domain}: start with --api-domain=${identity.domain}, or choose another --data-dir for ${domain}`,
    );
  }
  return identity;
}

/** An identity with the domain of the objects in the store, if there are any. */
async function newIdentity(store: Store, domain: string, random: Random): Promise<Buffer> {
  const existing = await storedDomain(store, domain);
  const key = Buffer.from(Array.from({ length: tokenKeyBytes }, () => random.integer(256)));
  const identity: ClusterIdentity = { domain: existing ?? domain, tokenKey: key.toString('base64url') };
  return Buffer.from(JSON.stringify(identity));
}

/** Every server creates the system priority classes, whose API group has its domain. */
const classPrefix = '/priorityclasses.scheduling.';

/** The domain of the objects in a store without an identity, preferably `domain`; undefined for an empty store. */
async function storedDomain(store: Store, domain: string): Promise<string | undefined> {
  const own = await store.list({ prefix: `${classPrefix}${domain}/`, limit: 1 });
  if (own.entries.length > 0) return domain;
  const [any] = (await store.list({ prefix: classPrefix, limit: 1 })).entries;
  return any?.key.slice(classPrefix.length).split('/', 1)[0];
}

/** @throws StartError */
function readIdentity(value: Uint8Array, place: string): ClusterIdentity {
  try {
    const stored = JSON.parse(Buffer.from(value).toString()) as Json;
    const { domain, tokenKey } = isJsonObject(stored) ? stored : {};
    if (typeof domain === 'string' && typeof tokenKey === 'string' && tokenKey.length >= tokenKeyBytes) {
      return { domain, tokenKey };
    }
  } catch {
    // Not JSON.
  }
  throw new StartError(`${place} has a damaged identity under the key ${identityKey}: restore it from a backup`);
}
