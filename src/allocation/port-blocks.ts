/**
 * Which node ports are in use, as the store has it: a key for each 32 ports in a row of which one is in use, with a bit
 * for each of them in hexadecimal digits. Every key is written in the commit of the service that takes the ports or
 * gives them back, and only if it is as it was read: so two services cannot have one port, on however many servers they
 * are made, and nothing leaks.
 *
 * One key for all ports would have every two services that take any wait for each other; one for each port would be
 * more than a commit may hold for a service with many ports.
 */
import type { Entry, Store } from '../store/index.ts';
import type { Changes } from './changes.ts';

export const blockPrefix = '/ranges/servicenodeports/';
const blockPorts = 32;

/** In five digits, so that they lie in order. */
export const blockKey = (block: number): string => blockPrefix + String(block).padStart(5, '0');
export const blockOf = (port: number): number => Math.floor(port / blockPorts);
export const bitOf = (port: number): number => (1 << (port % blockPorts)) >>> 0;

/** The ports of a block that are in use; none when nobody can tell. */
export function readBits({ value }: Entry): number {
  const text = Buffer.from(value).toString('latin1');
  return /^[0-9a-f]{1,8}$/.test(text) ? Number.parseInt(text, 16) : 0;
}

/** What the store holds of a block: nothing when no port is in use. */
export const storedBits = (bits: number): Uint8Array | undefined =>
  bits === 0 ? undefined : Buffer.from(bits.toString(16));

/** The blocks that one attempt to write a service looks at. */
export interface Blocks {
  isUsed(port: number): Promise<boolean>;
  use(port: number, used: boolean): Promise<void>;
  /** Adds to the commit what has changed. */
  finish(changes: Changes): void;
}

interface Block {
  readonly entry: Entry | undefined;
  bits: number;
}

export function openBlocks(store: Store): Blocks {
  const blocks = new Map<number, Block>();
  const load = async (port: number): Promise<Block> => {
    const at = blockOf(port);
    const known = blocks.get(at);
    if (known !== undefined) return known;
    const { entry } = await store.get(blockKey(at));
    const block = { entry, bits: entry === undefined ? 0 : readBits(entry) };
    blocks.set(at, block);
    return block;
  };
  return {
    isUsed: async (port) => ((await load(port)).bits & bitOf(port)) !== 0,
    use: async (port, used) => {
      const block = await load(port);
      block.bits = (used ? block.bits | bitOf(port) : block.bits & ~bitOf(port)) >>> 0;
    },
    finish: (changes) => {
      for (const [at, { entry, bits }] of blocks) {
        if (bits === (entry === undefined ? 0 : readBits(entry))) continue;
        changes.put(blockKey(at), entry, storedBits(bits));
      }
    },
  };
}
