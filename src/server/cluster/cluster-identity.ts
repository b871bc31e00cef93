import { dns1123Subdomain, isJsonObject, type Json, type Random } from '../../meta/index.ts';
import type { Store, StoreSnapshot } from '../../store/index.ts';
import { getOrCreate } from '../certificates/stored-keys.ts';
import { StartError } from '../start-error.ts';

/** The identity that all servers of a store share. */
export interface ClusterIdentity {
  /** The API domain of the stored objects. */
  readonly domain: string;
  /** Key that signs continue tokens: 32 random bytes in base64url. */
  readonly tokenKey: string;
}

/** The store key of the identity; keys of resources have a second slash. */
export const identityKey = '/identity';
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
  const value = await getOrCreate(store, identityKey, () => newIdentity(store, domain, random, place));
  const identity = readIdentity(value, place);
  if (identity.domain !== domain) {
    throw new StartError(
      `${place} holds the objects of --api-domain=${identity.domain}: start with --api-domain=${identity.domain}, or choose another --data-dir or --etcd-prefix for ${domain}`,
    );
  }
  return identity;
}

/** An identity with the domain of the objects in the store, if there are any. @throws StartError, StoreError */
async function newIdentity(store: Store, domain: string, random: Random, place: string): Promise<Buffer> {
  const existing = await storedDomain(store, place);
  const key = Buffer.from(Array.from({ length: tokenKeyBytes }, () => random.integer(256)));
  const identity: ClusterIdentity = { domain: existing ?? domain, tokenKey: key.toString('base64url') };
  return Buffer.from(JSON.stringify(identity));
}

/** Every server creates the system priority classes, whose API group has its domain. */
export const classPrefix = '/priorityclasses/';
const classGroup = 'scheduling.';
/** Their prefix before keys followed the reference server. */
const formerClassPrefix = `/priorityclasses.${classGroup}`;

/** The domain of the objects in a store without an identity; undefined for an empty store. @throws StartError */
async function storedDomain(store: Store, place: string): Promise<string | undefined> {
  const [first] = (await store.list({ prefix: classPrefix, limit: 1 })).entries;
  if (first === undefined) return undefined;
  const domain = domainOfClass(first.value);
  if (domain !== undefined) return domain;
  throw new StartError(
    `${place} holds objects that are not JSON, such as ${first.key}: let the server that wrote them write JSON (--storage-media-type=application/json) and update each`,
  );
}

/** Detects the API domain of the objects in a snapshot; undefined when none tells it. @throws StartError, StoreError */
export async function domainOf(snapshot: StoreSnapshot): Promise<string | undefined> {
  let domain: string | undefined;
  for await (const page of snapshot.pages()) {
    for (const { key, value } of page) {
      if (key === identityKey) return readIdentity(value, 'the store').domain;
      if (key.startsWith(classPrefix)) domain ??= domainOfClass(value);
    }
  }
  return domain;
}

/** The API domain of a stored priority class; undefined when it cannot be read. */
export function domainOfClass(value: Uint8Array): string | undefined {
  const stored = jsonOf(value);
  const { apiVersion } = isJsonObject(stored) ? stored : {};
  if (typeof apiVersion !== 'string' || !apiVersion.startsWith(classGroup)) return undefined;
  return apiVersion.slice(classGroup.length).split('/', 1)[0];
}

/** @throws StartError when objects are under keys of an earlier form */
async function refuseFormerKeys(store: Store, place: string): Promise<void> {
  if ((await store.list({ prefix: formerClassPrefix, limit: 1 })).entries.length === 0) return;
  throw new StartError(
    `${place} was written by an earlier development version, with other keys: read it with that version, or choose another --data-dir`,
  );
}

function jsonOf(value: Uint8Array): Json | undefined {
  try {
    return JSON.parse(Buffer.from(value).toString()) as Json;
  } catch {
    return undefined;
  }
}

/** Parses a stored identity. @throws StartError */
export function readIdentity(value: Uint8Array, place: string): ClusterIdentity {
  const stored = jsonOf(value);
  const { domain, tokenKey } = isJsonObject(stored) ? stored : {};
  if (typeof domain === 'string' && typeof tokenKey === 'string' && tokenKey.length >= tokenKeyBytes) {
    if (dns1123Subdomain(domain).length === 0) return { domain, tokenKey };
  }
  throw new StartError(`${place} has a damaged identity under the key ${identityKey}: restore it from a backup`);
}
