/**
 * Makes addresses and node ports say again what the services say: after services were removed that nobody could read,
 * objects were changed by hand, or a store came from elsewhere.
 *
 * Everything is read as it was at one revision, and every correction is written only if what it touches is still as it
 * was then. So no correction can hit what is being made at the same time; what it misses is found the next time.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { at, formatIp, type IpNumber, type JsonObject, readIp } from '../meta/index.ts';
import type { Holder, Registry, Resource } from '../registry/index.ts';
import type { Entry, Guard, Store, Write } from '../store/index.ts';
import { familyLabel, familyOf, holderOf, managedBy, newIpAddress, sameHolder } from './address-objects.ts';
import { bitOf, blockKey, blockOf, blockPrefix, readBits, storedBits } from './port-blocks.ts';
import { readStored } from './stored.ts';

export interface RepairContext {
  readonly store: Store;
  readonly registry: Registry;
  readonly services: Resource;
  readonly addresses: Resource;
  /** Tells what was wrong. */
  readonly warn: (text: string, fields: { readonly [name: string]: unknown }) => void;
}

interface ServiceState {
  readonly holder: Holder;
  readonly entry: Entry;
  /** Undefined when it cannot be read. */
  readonly addresses: readonly string[] | undefined;
  readonly ports: readonly number[];
}

/** How many objects are read before others get their turn. */
const stride = 500;

/** How many corrections were made. */
export async function repair(context: RepairContext): Promise<number> {
  const revision = await context.store.revision();
  const services: ServiceState[] = [];
  for await (const entry of entries(context.store, context.services.keyPrefix, revision)) {
    services.push(stateOf(context.services, entry));
  }
  return (await repairAddresses(context, services, revision)) + (await repairPorts(context, services, revision));
}

async function* entries(store: Store, prefix: string, revision: number): AsyncGenerator<Entry> {
  for (let after: string | undefined; ; ) {
    const start = after === undefined ? {} : { after };
    const page = await store.list({ prefix, revision, limit: stride, ...start });
    yield* page.entries;
    after = page.entries.at(-1)?.key;
    if (!page.more || after === undefined) return;
    await turn();
  }
}

function stateOf({ keyPrefix }: Resource, entry: Entry): ServiceState {
  const [namespace = '', name = ''] = entry.key.slice(keyPrefix.length).split('/');
  const holder = { resource: 'services', namespace, name };
  const object = readStored(entry);
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
      else tellShared(context, 'address', address, [other, service]);
    }
  }
  let corrected = 0;
  const seen = new Set<string>();
  for await (const entry of entries(context.store, context.addresses.keyPrefix, revision)) {
    const name = entry.key.slice(context.addresses.keyPrefix.length);
    const object = readStored(entry);
    seen.add(name);
    if (object === undefined) continue;
    const named = holderOf(object);
    const claimant = named?.resource === 'services' ? byName.get(nameOf(named)) : undefined;
    // Who holds it by its own word; of several that do, the one that the object names.
    const holder = claimant?.addresses?.includes(name) === true ? claimant : holders.get(name);
    if (holder !== undefined) {
      if (isRight(context, name, object, holder.holder)) continue;
      corrected += await give(context, holder, name, entry);
    } else if (isOurs(context, object) && (claimant === undefined || claimant.addresses !== undefined)) {
      const gone = await context.store.commit([{ key: entry.key, revision: entry.revision }], [{ key: entry.key }]);
      if (gone.ok) context.warn('an address that no service has was freed', { address: name });
      corrected += gone.ok ? 1 : 0;
    }
  }
  for (const [address, service] of holders) {
    if (!seen.has(address)) corrected += await give(context, service, address, undefined);
  }
  return corrected;
}

function tellShared({ warn }: RepairContext, what: string, value: string | number, services: readonly ServiceState[]) {
  const names = services.map(({ holder }) => nameOf(holder));
  warn(`several services have one ${what}: all but one of them must be made anew`, { [what]: value, services: names });
}

const isOurs = ({ addresses: { names } }: RepairContext, object: JsonObject): boolean => {
  const [key, value] = managedBy(names);
  return at(object, 'metadata', 'labels', key) === value;
};

function isRight(context: RepairContext, name: string, object: JsonObject, holder: Holder): boolean {
  const address = readIp(name);
  const family = at(object, 'metadata', 'labels', familyLabel(context.addresses.names));
  return (
    isOurs(context, object) &&
    address !== undefined &&
    family === familyOf(address) &&
    sameHolder(holderOf(object), holder)
  );
}

/** Writes whose an address is, if the service still says so. */
async function give(
  { store, registry, addresses, warn }: RepairContext,
  { holder, entry: service }: ServiceState,
  name: string,
  entry: Entry | undefined,
): Promise<number> {
  const { key, value } = newIpAddress(registry, addresses, readIp(name) as IpNumber, holder);
  const guards = [
    { key, revision: entry?.revision ?? 0 },
    { key: service.key, revision: service.revision },
  ];
  const { ok } = await store.commit(guards, [{ key, value }]);
  if (ok) warn('the address of a service was not its own', { address: name, service: nameOf(holder) });
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
      else tellShared(context, 'node port', port, [other, service]);
    }
  }
  const wanted = new Map<string, number>();
  for (const port of used.keys()) {
    const key = blockKey(blockOf(port));
    wanted.set(key, ((wanted.get(key) ?? 0) | bitOf(port)) >>> 0);
  }
  // What the ports of a service are that cannot be read, nobody knows: then none is freed.
  const sure = services.every(({ addresses }) => addresses !== undefined);
  const corrections: { readonly guard: Guard; readonly write: Write }[] = [];
  const correct = (key: string, held: Entry | undefined, bits: number) => {
    const before = held === undefined ? 0 : readBits(held);
    const after = sure ? bits : (bits | before) >>> 0;
    if (after === before) return;
    const value = storedBits(after);
    const guard = { key, revision: held?.revision ?? 0 };
    corrections.push({ guard, write: value === undefined ? { key } : { key, value } });
  };
  for await (const entry of entries(context.store, blockPrefix, revision)) {
    correct(entry.key, entry, wanted.get(entry.key) ?? 0);
    wanted.delete(entry.key);
  }
  for (const [key, bits] of wanted) correct(key, undefined, bits);
  let corrected = 0;
  for (const { guard, write } of corrections) {
    if ((await context.store.commit([guard], [write])).ok) corrected++;
  }
  if (corrected > 0) context.warn('node ports did not agree with the services', { blocks: corrected });
  return corrected;
}
