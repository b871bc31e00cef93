/**
 * Addresses of services. Each that is in use has an object of its own, named after it, written in the same commit as
 * the service: two services cannot have one address, on however many servers they are made, and neither is ever there
 * without the other.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { formatIp, type IpNumber, type Random, readIp } from '../meta/index.ts';
import { type Allocator, consistentCache, type Holder, type Registry, type Resource } from '../registry/index.ts';
import type { Store } from '../store/index.ts';
import { familyOf, holderOf, newAddress, sameHolder } from './address-objects.ts';
import { type AddressRange, candidates, holds } from './address-range.ts';
import type { Changes } from './changes.ts';
import { readStored } from './stored.ts';

export interface AddressWorld {
  readonly store: Store;
  readonly random: Random;
  readonly registry: () => Registry;
  /** The resource of the objects. */
  readonly addresses: () => Resource;
  /** What services may have just now. */
  readonly ranges: () => Promise<readonly AddressRange[]>;
}

/** So many addresses are tried before others get their turn. */
const stride = 2_000;

export function ipAllocator(
  world: AddressWorld,
  family: AddressRange['family'],
  holder: Holder,
  changes: Changes,
): Allocator {
  const { store, registry, addresses } = world;
  const keyOf = (address: IpNumber) => addresses().keyPrefix + formatIp(address);
  return {
    allocate: async (value) => {
      const address = readIp(value);
      const ranges = await world.ranges();
      if (address === undefined || familyOf(address) !== family || !ranges.some((range) => holds(range, address))) {
        return 'the provided network does not match the current range';
      }
      if ((await store.get(keyOf(address))).entry !== undefined) return 'provided IP is already allocated';
      const { key, value: stored } = newAddress(registry(), addresses(), address, holder);
      changes.put(key, undefined, stored);
      return undefined;
    },
    allocateNext: async () => {
      const address = await findFree(world, family);
      if (address === undefined) return undefined;
      const { key, value } = newAddress(registry(), addresses(), address, holder);
      changes.put(key, undefined, value);
      return formatIp(address);
    },
    release: async (value) => {
      const address = readIp(value);
      if (address === undefined) return;
      const key = keyOf(address);
      const { entry } = await store.get(key);
      const object = entry && readStored(entry);
      if (object !== undefined && sameHolder(holderOf(object), holder)) changes.put(key, entry, undefined);
    },
  };
}

/** The same for a rehearsal: what is free is not looked at, as recorded. */
export function dryRunIpAllocator(world: Pick<AddressWorld, 'ranges'>, family: AddressRange['family']): Allocator {
  return {
    allocate: async (value) => {
      const address = readIp(value);
      const ranges = await world.ranges();
      if (address !== undefined && ranges.some((range) => holds(range, address))) return undefined;
      return `provided IP ${value} is not in the valid range`;
    },
    allocateNext: async () => {
      const range = (await world.ranges()).find((one) => one.family === family);
      return range && formatIp({ bits: range.base, size: range.size });
    },
    release: async () => {},
  };
}

/**
 * An address that is free in the watch cache. A range is reported full only by a cache that has every write answered
 * before. @throws StatusError 504 when the cache does not catch up
 */
async function findFree(world: AddressWorld, family: AddressRange['family']): Promise<IpNumber | undefined> {
  const resource = world.addresses();
  await resource.cache.ready();
  const ranges = (await world.ranges()).filter((range) => range.family === family);
  const seen = await findIn(world, ranges);
  if (seen !== undefined) return seen;
  await consistentCache(world, resource);
  return findIn(world, ranges);
}

async function findIn(
  { addresses, random }: AddressWorld,
  ranges: readonly AddressRange[],
): Promise<IpNumber | undefined> {
  const { cache, keyPrefix } = addresses();
  const snapshot = cache.snapshot();
  let tried = 0;
  for (const range of ranges) {
    for (const bits of candidates(range, random)) {
      const address = { bits, size: range.size };
      if (snapshot.get(keyPrefix + formatIp(address)) === undefined) return address;
      if (++tried % stride === 0) await turn();
    }
  }
  return undefined;
}
