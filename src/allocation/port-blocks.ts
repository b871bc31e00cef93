/**
 * The stored bitmap of node ports in use: a key for each block of 32 ports with at least one in use, whose value is the
 * bits in hexadecimal. A key is written in the commit of the service that allocates or releases the ports, guarded by
 * the revision that was read: two services cannot have the same port, also with several servers, and no port leaks.
 *
 * One key for all ports would make all concurrent allocations conflict; one key for each port would exceed the limit of
 * a commit for a service with many ports.
 */
import { type Entry, pagesOf, type Store } from '../store/index.ts';
import type { Changes } from './changes.ts';

export const blockPrefix = '/ranges/servicenodeports/';
const blockPorts = 32;

/** Five digits, so that the keys sort by number. */
export const blockKey = (block: number): string => blockPrefix + String(block).padStart(5, '0');
export const blockOf = (port: number): number => Math.floor(port / blockPorts);
export const bitOf = (port: number): number => (1 << (port % blockPorts)) >>> 0;

/** The bits of a stored block; 0 when the value is damaged. */
export function readBits({ value }: Entry): number {
  const text = Buffer.from(value).toString('latin1');
  return /^[0-9a-f]{1,8}$/.test(text) ? Number.parseInt(text, 16) : 0;
}

/** The stored value of a block; undefined (no key) when no port is in use. */
export const storedBits = (bits: number): Uint8Array | undefined =>
  bits === 0 ? undefined : Buffer.from(bits.toString(16));

/** The node ports in use, as the store has them. @throws StoreError */
export async function storedPorts(store: Store): Promise<Set<number>> {
  const ports = new Set<number>();
  for await (const { entries } of pagesOf(store, { prefix: blockPrefix })) {
    for (const entry of entries) {
      const first = Number(entry.key.slice(blockPrefix.length)) * blockPorts;
      const bits = readBits(entry);
      for (let port = first; port < first + blockPorts; port++) if ((bits & bitOf(port)) !== 0) ports.add(port);
    }
  }
  return ports;
}

/** The blocks that one attempt to write a service reads and changes. */
export interface PortBlocks {
  /** Resolves once the blocks are read: before that no port can be looked up or changed. */
  load(): Promise<void>;
  isUsed(port: number): boolean;
  use(port: number, used: boolean): void;
  /** Adds the changed blocks to the commit. */
  finish(changes: Changes): void;
}

interface PortBlock {
  readonly entry: Entry | undefined;
  readonly bits: number;
}

const noBlock: PortBlock = { entry: undefined, bits: 0 };

/** Blocks as they are in the store when the first of them is needed: they are few and small, and read in one list. */
export function loadPortBlocks(store: Store): PortBlocks {
  const blocks = new Map<number, PortBlock>();
  let loading: Promise<void> | undefined;
  const loadAll = async () => {
    for await (const { entries } of pagesOf(store, { prefix: blockPrefix })) {
      for (const entry of entries) {
        blocks.set(Number(entry.key.slice(blockPrefix.length)), { entry, bits: readBits(entry) });
      }
    }
  };
  return {
    load: () => {
      loading ??= loadAll();
      return loading;
    },
    isUsed: (port) => ((blocks.get(blockOf(port)) ?? noBlock).bits & bitOf(port)) !== 0,
    use: (port, used) => {
      const { entry, bits } = blocks.get(blockOf(port)) ?? noBlock;
      blocks.set(blockOf(port), { entry, bits: (used ? bits | bitOf(port) : bits & ~bitOf(port)) >>> 0 });
    },
    finish: (changes) => {
      for (const [block, { entry, bits }] of blocks) {
        if (bits === (entry === undefined ? 0 : readBits(entry))) continue;
        changes.put(entry?.key ?? blockKey(block), entry, storedBits(bits));
      }
    },
  };
}
