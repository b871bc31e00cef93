import type { Random } from '../meta/index.ts';
import {
  type Allocator,
  type OpenAllocations,
  type Registry,
  type Resource,
  waitForRevision,
} from '../registry/index.ts';
import type { Store } from '../store/index.ts';
import type { AddressRange } from './address-range.ts';
import { newChanges } from './changes.ts';
import { dryRunIpAllocator, type IpAllocatorContext, ipAllocator } from './ip-allocator.ts';
import { dryRunNodePortAllocator, nodePortAllocator, type PortRange } from './node-port-allocator.ts';
import { loadPortBlocks } from './port-blocks.ts';
import { rangesOf } from './ranges.ts';

export interface AllocationOptions {
  readonly store: Store;
  readonly random: Random;
  /** Called during writes only. It must serve `ipaddresses` and `servicecidrs`. */
  readonly registry: () => Registry;
  /** API group of both. */
  readonly group: string;
  /** IP families of services, the primary one first. */
  readonly families: readonly AddressRange['family'][];
  readonly nodePorts: PortRange;
}

/** The allocators of services: one for each configured IP family, and `nodePorts`. */
export function createAllocations(options: AllocationOptions): OpenAllocations {
  const { store, random, families, nodePorts } = options;
  const context = allocatorContext(options);
  return (holder, dryRun) => {
    const changes = newChanges();
    const blocks = loadPortBlocks(store);
    const allocators = new Map<string, Allocator>();
    for (const family of families) {
      const allocator = dryRun ? dryRunIpAllocator(context, family) : ipAllocator(context, family, holder, changes);
      allocators.set(family, allocator);
    }
    allocators.set(
      'nodePorts',
      dryRun ? dryRunNodePortAllocator(blocks) : nodePortAllocator(blocks, nodePorts, random),
    );
    return {
      allocators,
      changes: () => {
        blocks.finish(changes);
        return changes;
      },
      // Blocks of ports are read from the store.
      catchUp: (revision) => waitForRevision(context.addresses(), revision),
    };
  };
}

function allocatorContext({ store, random, registry, group }: AllocationOptions): IpAllocatorContext {
  const resources = new Map<string, Resource>();
  const find = (plural: string): Resource => {
    const found = resources.get(plural) ?? registry().find(group, 'v1', plural);
    if (found === undefined) throw new Error(`${plural} are not served`);
    resources.set(plural, found);
    return found;
  };
  const ranges = rangesOf(store, () => find('servicecidrs'));
  return { store, random, registry, addresses: () => find('ipaddresses'), ranges };
}
