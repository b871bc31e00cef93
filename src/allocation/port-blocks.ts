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
  isUsed(port: number): Promise<boolean>;
  use(port: number, used: boolean): Promise<void>;
  /** Adds the changed blocks to the commit. */
  finish(changes: Changes): void;
}

interface PortBlock {
  readonly entry: Entry | undefined;
  bits: number;
}

/** Blocks as they are in the store when the first of them is needed: they are few and small, and read in one list. */
export function loadPortBlocks(store: Store): PortBlocks {
  const blocks = new Map<string, PortBlock>();
  let loading: Promise<void> | undefined;
  const loadAll = async () => {
    for await (const { entries } of pagesOf(store, { prefix: blockPrefix })) {
      for (const entry of entries) blocks.set(entry.key, { entry, bits: readBits(entry) });
    }
  };
  const load = async (port: number): Promise<PortBlock> => {
    loading ??= loadAll();
    await loading;
    const key = blockKey(blockOf(port));
    const block = blocks.get(key) ?? { entry: undefined, bits: 0 };
    blocks.set(key, block);
    return block;
  };
  return {
    isUsed: async (port) => ((await load(port)).bits & bitOf(port)) !== 0,
    use: async (port, used) => {
      const block = await load(port);
      block.bits = (used ? block.bits | bitOf(port) : block.bits & ~bitOf(port)) >>> 0;
    },
    finish: (changes) => {
      for (const [key, { entry, bits }] of blocks) {
        if (bits === (entry === undefined ? 0 : readBits(entry))) continue;
        changes.put(key, entry, storedBits(bits));
      }
    },
  };
}
