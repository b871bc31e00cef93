/**
 * The repair loop of cluster IPs and node ports: makes the allocations agree with the services again after unreadable
 * services were removed, IPAddress objects were changed by hand, or a store was imported.
 *
 * Everything is read at one revision, and every correction is guarded by the revisions that were read, so that it never
 * conflicts with a concurrent write; what changes meanwhile is handled by the next run.
 */
import { at, formatIp, type IpNumber, type JsonObject, readIp, serverTurns } from '../meta/index.ts';
import type { Holder, Registry, Resource } from '../registry/index.ts';
import { type Compare, type Entry, pagesOf, type Store, type Write } from '../store/index.ts';
import { familyLabel, familyOf, holderOf, managedBy, newIpAddress, sameHolder } from './address-objects.ts';
import { bitOf, blockKey, blockOf, blockPrefix, readBits, storedBits } from './port-blocks.ts';
import { readStored } from './read-stored-object.ts';

export interface RepairContext {
  readonly store: Store;
  readonly registry: Registry;
  readonly services: Resource;
  readonly addresses: Resource;
  /** Receives what was wrong. All is corrected but duplicates. */
  readonly warn: (text: string, fields: { readonly [name: string]: unknown }) => void;
}

interface ServiceState {
  readonly holder: Holder;
  readonly entry: Pick<Entry, 'key' | 'revision'>;
  /** Undefined when the service cannot be decoded. */
  readonly addresses: readonly string[] | undefined;
  readonly ports: readonly number[];
}

/** Runs once. The result is the number of corrections. */
export async function repair(context: RepairContext): Promise<number> {
  const revision = await context.store.revision();
  const services: ServiceState[] = [];
  for await (const entry of entries(context.store, context.services.keyPrefix, revision)) {
    services.push(stateOf(context.services, entry));
  }
  return (await repairAddresses(context, services, revision)) + (await repairPorts(context, services, revision));
}

/** Each is decoded in a turn of the server: users may create large objects. */
async function* entries(store: Store, prefix: string, revision: number): AsyncGenerator<Entry> {
  const turns = serverTurns();
  for await (const page of pagesOf(store, { prefix, revision })) {
    for (const entry of page.entries) {
      yield entry;
      if (turns.over) await turns.next();
    }
  }
}

function stateOf({ keyPrefix }: Resource, stored: Entry): ServiceState {
  const { key, revision } = stored;
  const entry = { key, revision };
  const [namespace = '', name = ''] = key.slice(keyPrefix.length).split('/');
  const holder = { resource: 'services', namespace, name };
  const object = readStored(stored);
  if (object === undefined) return { holder, entry, addresses: undefined, ports: [] };
  const spec = (field: string) => at(object, 'spec', field);
  const list = (field: string) => {
    const value = spec(field);
    return Array.isArray(value) ? value : [];
  };
  const addresses = list('clusterIPs').flatMap((value) => {
    const address = typeof value === 'string' ? readIp(value) : undefined;
    return address === undefined ? [] : formatIp(address);
  });
  const ports = [...list('ports').map((port) => at(port, 'nodePort')), spec('healthCheckNodePort')];
  const isPort = (port: unknown): port is number => Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536;
  return { holder, entry, addresses, ports: [...new Set(ports.filter(isPort))] };
}

const nameOf = ({ namespace, name }: Holder): string => `${namespace}/${name}`;

async function repairAddresses(
  context: RepairContext,
  services: readonly ServiceState[],
  revision: number,
): Promise<number> {
  const holders = new Map<string, ServiceState>();
  const byName = new Map(services.map((service) => [nameOf(service.holder), service]));
  for (const service of services) {
    for (const address of service.addresses ?? []) {
      const other = holders.get(address);
      if (other === undefined) holders.set(address, service);
      else warnDuplicate(context, 'address', address, [other, service]);
    }
  }
  let corrected = 0;
  const seen = new Set<string>();
  for await (const entry of entries(context.store, context.addresses.keyPrefix, revision)) {
    const name = entry.key.slice(context.addresses.keyPrefix.length);
    const object = readStored(entry);
    seen.add(name);
    if (object === undefined) continue;
    const parent = holderOf(object);
    const referenced = parent?.resource === 'services' ? byName.get(nameOf(parent)) : undefined;
    // The service that lists the address; of several, the parent reference of the IPAddress.
    const holder = referenced?.addresses?.includes(name) === true ? referenced : holders.get(name);
    if (holder !== undefined) {
      if (isCorrect(context, name, object, holder.holder)) continue;
      corrected += await assign(context, holder, name, entry);
    } else if (isManaged(context, object) && (referenced === undefined || referenced.addresses !== undefined)) {
      const deleted = await context.store.commit([{ key: entry.key, revision: entry.revision }], [{ key: entry.key }]);
      if (deleted.ok) context.warn('a cluster IP was allocated that no service uses', { address: name });
      corrected += deleted.ok ? 1 : 0;
    }
  }
  for (const [address, service] of holders) {
    if (!seen.has(address)) corrected += await assign(context, service, address, undefined);
  }
  return corrected;
}

function warnDuplicate(
  { warn }: RepairContext,
  what: string,
  value: string | number,
  services: readonly ServiceState[],
) {
  const names = services.map(({ holder }) => nameOf(holder));
  warn(`several services use the same ${what}: all but one of them must be created again`, {
    [what]: value,
    services: names,
  });
}

const isManaged = ({ addresses: { names } }: RepairContext, object: JsonObject): boolean => {
  const [key, value] = managedBy(names);
  return at(object, 'metadata', 'labels', key) === value;
};

function isCorrect(context: RepairContext, name: string, object: JsonObject, holder: Holder): boolean {
  const address = readIp(name);
  const family = at(object, 'metadata', 'labels', familyLabel(context.addresses.names));
  return (
    isManaged(context, object) &&
    address !== undefined &&
    family === familyOf(address) &&
    sameHolder(holderOf(object), holder)
  );
}

/** Writes the IPAddress of a service, guarded by the revision of the service. */
async function assign(
  { store, registry, addresses, warn }: RepairContext,
  { holder, entry: service }: ServiceState,
  name: string,
  entry: Entry | undefined,
): Promise<number> {
  const { key, value } = newIpAddress(registry, addresses, readIp(name) as IpNumber, holder);
  const compares = [
    { key, revision: entry?.revision ?? 0 },
    { key: service.key, revision: service.revision },
  ];
  const { ok } = await store.commit(compares, [{ key, value }]);
  if (ok) warn('the cluster IP of a service was not allocated to it', { address: name, service: nameOf(holder) });
  return ok ? 1 : 0;
}

async function repairPorts(
  context: RepairContext,
  services: readonly ServiceState[],
  revision: number,
): Promise<number> {
  const used = new Map<number, ServiceState>();
  for (const service of services) {
    for (const port of service.ports) {
      const other = used.get(port);
      if (other === undefined) used.set(port, service);
      else warnDuplicate(context, 'node port', port, [other, service]);
    }
  }
  const expectedBits = new Map<string, number>();
  for (const port of used.keys()) {
    const key = blockKey(blockOf(port));
    expectedBits.set(key, ((expectedBits.get(key) ?? 0) | bitOf(port)) >>> 0);
  }
  // The ports of an unreadable service are unknown: no port is released then.
  const allReadable = services.every(({ addresses }) => addresses !== undefined);
  const corrections: { readonly compare: Compare; readonly write: Write }[] = [];
  const correct = (key: string, held: Entry | undefined, bits: number) => {
    const before = held === undefined ? 0 : readBits(held);
    const after = allReadable ? bits : (bits | before) >>> 0;
    if (after === before) return;
    const value = storedBits(after);
    const compare = { key, revision: held?.revision ?? 0 };
    corrections.push({ compare, write: value === undefined ? { key } : { key, value } });
  };
  for await (const entry of entries(context.store, blockPrefix, revision)) {
    correct(entry.key, entry, expectedBits.get(entry.key) ?? 0);
    expectedBits.delete(entry.key);
  }
  for (const [key, bits] of expectedBits) correct(key, undefined, bits);
  let corrected = 0;
  for (const { compare, write } of corrections) {
    if ((await context.store.commit([compare], [write])).ok) corrected++;
  }
  if (corrected > 0) context.warn('the allocated node ports were not those of the services', { blocks: corrected });
  return corrected;
}
