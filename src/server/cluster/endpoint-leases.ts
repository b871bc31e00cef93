/**
 * Leases of the endpoints of the API service: each server maintains a key with a time to live in the store that contains its
 * address.
 */
import { at, type Json, readIp } from '../../meta/index.ts';
import type { Entry, Store } from '../../store/index.ts';
import { defaultSettings } from '../settings/flags.ts';

/** The address of an API server. */
export interface ServerEndpoint {
  readonly ip: string;
  readonly port: number;
}

export const leasePrefix = '/masterleases/';
/** The time to live of a lease that is not renewed (seconds). */
const leaseSeconds = 15;
/** Other processes write to the store, too: more leases are not read, and larger ones are invalid. */
const maxLeases = 1_000;
const maxLeaseBytes = 16 * 1024;

/** The key of a lease: the address, with a port other than the default one, so that servers of one machine differ. */
function keyOf({ ip, port }: ServerEndpoint): string {
  if (port === defaultSettings.securePort) return leasePrefix + ip;
  return `${leasePrefix}${ip.includes(':') ? `[${ip}]` : ip}:${port}`;
}

/** The ports of a server in Endpoints and EndpointSlices. */
export const portsOf = (port: number) => [{ name: 'https', port, protocol: 'TCP' }];

/** Creates or renews the lease. @throws StoreError */
export async function renewLease(store: Store, endpoint: ServerEndpoint): Promise<void> {
  const { ip, port } = endpoint;
  const value = { kind: 'Endpoints', apiVersion: 'v1', subsets: [{ addresses: [{ ip }], ports: portsOf(port) }] };
  await store.commit([], [{ key: keyOf(endpoint), value: Buffer.from(JSON.stringify(value)), ttl: leaseSeconds }]);
}

/** @throws StoreError */
export async function removeLease(store: Store, endpoint: ServerEndpoint): Promise<void> {
  await store.commit([], [{ key: keyOf(endpoint) }]);
}

/** The endpoints whose leases have not expired, in the order of their keys. @throws StoreError */
export async function leasedEndpoints(store: Store): Promise<ServerEndpoint[]> {
  const { entries } = await store.list({ prefix: leasePrefix, limit: maxLeases });
  return entries.flatMap(readLease);
}

/** Returns none for an invalid lease. */
function readLease({ value }: Entry): ServerEndpoint[] {
  if (value.length > maxLeaseBytes) return [];
  let lease: Json;
  try {
    lease = JSON.parse(Buffer.from(value).toString()) as Json;
  } catch {
    return [];
  }
  const [subset] = listAt(lease, 'subsets');
  const ip = at(listAt(subset, 'addresses')[0], 'ip');
  const port = at(listAt(subset, 'ports')[0], 'port');
  return typeof ip === 'string' && readIp(ip) !== undefined && isPort(port) ? [{ ip, port }] : [];
}

/** An invalid port would make the endpoints of all servers invalid. */
const isPort = (port: Json | undefined): port is number =>
  typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535;

function listAt(value: Json | undefined, field: string): readonly Json[] {
  const list = at(value, field);
  return Array.isArray(list) ? list : [];
}
