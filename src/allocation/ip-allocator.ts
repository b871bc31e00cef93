/**
 * The IP allocator of services. Each address in use has an IPAddress object with its name, written in the same commit
 * as the service: two services cannot have the same address, also with several servers, and neither object exists
 * without the other.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { formatIp, type IpNumber, type Random, readIp } from '../meta/index.ts';
import { type Allocator, consistentCache, type Holder, type Registry, type Resource } from '../registry/index.ts';
import type { Store } from '../store/index.ts';
import { familyOf, holderOf, newIpAddress, sameHolder } from './address-objects.ts';
import { type AddressRange, candidates, holds } from './address-range.ts';
import type { Changes } from './changes.ts';
import type { Ranges } from './ranges.ts';
import { readStored } from './read-stored-object.ts';

export interface IpAllocatorContext {
  readonly store: Store;
  readonly random: Random;
  readonly registry: () => Registry;
  /** The resource of IPAddress. */
  readonly addresses: () => Resource;
  readonly ranges: Ranges;
}

/** Addresses tried between two yields to the event loop. */
const batchSize = 2_000;

export function ipAllocator(
  context: IpAllocatorContext,
  family: AddressRange['family'],
  holder: Holder,
  changes: Changes,
): Allocator {
  const { store, registry, addresses } = context;
  const keyOf = (address: IpNumber) => addresses().keyPrefix + formatIp(address);
  return {
    allocate: async (value) => {
      const address = readIp(value);
      if (address === undefined || familyOf(address) !== family || !(await isInRange(context, address))) {
        return 'the provided network does not match the current range';
      }
      if ((await store.get(keyOf(address))).entry !== undefined) return 'provided IP is already allocated';
      const { key, value: stored } = newIpAddress(registry(), addresses(), address, holder);
      changes.put(key, undefined, stored);
      return undefined;
    },
    allocateNext: async () => {
      const address = await findFree(context, family);
      if (address === undefined) return undefined;
      const { key, value } = newIpAddress(registry(), addresses(), address, holder);
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

/** The allocator of dry runs: it does not check which addresses are in use, as recorded from the reference server. */
export function dryRunIpAllocator(
  context: Pick<IpAllocatorContext, 'ranges'>,
  family: AddressRange['family'],
): Allocator {
  return {
    allocate: async (value) => {
      const address = readIp(value);
      if (address !== undefined && (await isInRange(context, address))) return undefined;
      return `provided IP ${value} is not in the valid range`;
    },
    allocateNext: async () => {
      const range = (await context.ranges()).find((one) => one.family === family);
      return range && formatIp({ bits: range.base, size: range.size });
    },
    release: async () => {},
  };
}

/**
 * An address that is free in the watch cache. A range is reported full only by a cache that has every write answered
 * before. @throws StatusError 504 when the cache does not catch up
 */
async function findFree(context: IpAllocatorContext, family: AddressRange['family']): Promise<IpNumber | undefined> {
  const resource = context.addresses();
  await resource.storage.cache.ready();
  const seen = await findIn(context, family, await context.ranges());
  if (seen !== undefined) return seen;
  await consistentCache(context, resource);
  return findIn(context, family, await context.ranges(true));
}

/** An address is reported outside of all ranges only if it is not in those of the latest state either. */
async function isInRange({ ranges }: Pick<IpAllocatorContext, 'ranges'>, address: IpNumber): Promise<boolean> {
  const isIn = (range: AddressRange) => holds(range, address);
  return (await ranges()).some(isIn) || (await ranges(true)).some(isIn);
}

async function findIn(
  { addresses, random }: IpAllocatorContext,
  family: AddressRange['family'],
  ranges: readonly AddressRange[],
): Promise<IpNumber | undefined> {
  const { storage, keyPrefix } = addresses();
  const snapshot = storage.cache.snapshot();
  let tried = 0;
  for (const range of ranges.filter((one) => one.family === family)) {
    for (const bits of candidates(range, random)) {
      const address = { bits, size: range.size };
      if (snapshot.get(keyPrefix + formatIp(address)) === undefined) return address;
      if (++tried % batchSize === 0) await yieldToEventLoop();
    }
  }
  return undefined;
}
