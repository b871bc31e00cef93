import { isJsonObject, type Json, type Random } from '../meta/index.ts';
import type { Entry, Store } from '../store/index.ts';
import { StartError } from './start-error.ts';

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
  const identity = (await storedIdentity(store, place)) ?? (await newIdentity(store, domain, random, place));
  if (identity.domain !== domain) {
    throw new StartError(
      `${place} holds the objects of --api-domain=${identity.domain}: start with --api-domain=${identity.domain}, or choose another --data-dir for ${domain}`,
    );
  }
  return identity;
}

async function storedIdentity(store: Store, place: string): Promise<ClusterIdentity | undefined> {
  const { entry } = await store.get(identityKey);
  return entry && readIdentity(entry, place);
}

/** Creates the identity, or returns that of another server that was first. */
async function newIdentity(store: Store, domain: string, random: Random, place: string): Promise<ClusterIdentity> {
  const existing = await storedDomain(store, domain);
  const key = Buffer.from(Array.from({ length: tokenKeyBytes }, () => random.integer(256)));
  const identity: ClusterIdentity = { domain: existing ?? domain, tokenKey: key.toString('base64url') };
  const compare = { key: identityKey, revision: 0 };
  const result = await store.commit([compare], [{ key: identityKey, value: Buffer.from(JSON.stringify(identity)) }]);
  if (result.ok) return identity;
  const [found] = result.found;
  return found === undefined ? identity : readIdentity(found, place);
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
function readIdentity({ value }: Entry, place: string): ClusterIdentity {
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
