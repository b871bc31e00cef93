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
  await refuseFormerKeys(store, place);
  const identity = (await storedIdentity(store, place)) ?? (await newIdentity(store, domain, random, place));
  if (identity.domain !== domain) {
    throw new StartError(
      `${place} holds the objects of --api-domain=${identity.domain}: start with --api-domain=${identity.domain}, or choose another --data-dir or --etcd-prefix for ${domain}`,
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
  const existing = await storedDomain(store, place);
  const key = Buffer.from(Array.from({ length: tokenKeyBytes }, () => random.integer(256)));
  const identity: ClusterIdentity = { domain: existing ?? domain, tokenKey: key.toString('base64url') };
  const compare = { key: identityKey, revision: 0 };
  const result = await store.commit([compare], [{ key: identityKey, value: Buffer.from(JSON.stringify(identity)) }]);
  if (result.ok) return identity;
  const [found] = result.found;
  return found === undefined ? identity : readIdentity(found, place);
}

/** Every server creates the system priority classes, whose API group has its domain. */
const classPrefix = '/priorityclasses/';
const classGroup = 'scheduling.';
/** Where they were before keys were those of the reference server. */
const formerClassPrefix = `/priorityclasses.${classGroup}`;

/** The domain of the objects in a store without an identity; undefined for an empty store. @throws StartError */
async function storedDomain(store: Store, place: string): Promise<string | undefined> {
  const [first] = (await store.list({ prefix: classPrefix, limit: 1 })).entries;
  if (first === undefined) return undefined;
  const stored = jsonOf(first);
  const { apiVersion } = isJsonObject(stored) ? stored : {};
  if (typeof apiVersion === 'string' && apiVersion.startsWith(classGroup)) {
    return apiVersion.slice(classGroup.length).split('/', 1)[0];
  }
  throw new StartError(
    `${place} holds objects that are not JSON, such as ${first.key}: let the server that wrote them write JSON (--storage-media-type=application/json) and update each`,
  );
}

/** @throws StartError when objects are under keys of an earlier form */
async function refuseFormerKeys(store: Store, place: string): Promise<void> {
  if ((await store.list({ prefix: formerClassPrefix, limit: 1 })).entries.length === 0) return;
  throw new StartError(
    `${place} was written by an earlier development version, with other keys: read it with that version, or choose another --data-dir`,
  );
}

function jsonOf({ value }: Entry): Json | undefined {
  try {
    return JSON.parse(Buffer.from(value).toString()) as Json;
  } catch {
    return undefined;
  }
}

/** @throws StartError */
function readIdentity(entry: Entry, place: string): ClusterIdentity {
  const stored = jsonOf(entry);
  const { domain, tokenKey } = isJsonObject(stored) ? stored : {};
  if (typeof domain === 'string' && typeof tokenKey === 'string' && tokenKey.length >= tokenKeyBytes) {
    return { domain, tokenKey };
  }
  throw new StartError(`${place} has a damaged identity under the key ${identityKey}: restore it from a backup`);
}
