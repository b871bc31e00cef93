import type { Random } from '../meta/index.ts';
import type { Allocator } from '../registry/index.ts';
import type { Blocks } from './port-blocks.ts';

/** Ports from the first to the last, both included. */
export interface PortRange {
  readonly from: number;
  readonly to: number;
}

export const formatPortRange = ({ from, to }: PortRange): string => `${from}-${to}`;

/** The lower part, for who asks for a certain port: a thirty-second of the range, from 16 to 128 ports. */
function reservedOf({ from, to }: PortRange): number {
  const size = to - from + 1;
  return size <= 16 ? 0 : Math.min(Math.max(Math.floor(size / 32), 16), 128);
}

const allocated = 'provided port is already allocated';

export function nodePortAllocator(blocks: Blocks, range: PortRange, random: Random): Allocator {
  let last: number | undefined;
  const dynamic = range.from + reservedOf(range);
  /** The ports of a service lie together where they can, so that few keys tell of them. */
  const firstFree = async (from: number, to: number): Promise<number | undefined> => {
    const size = to - from + 1;
    const start = last !== undefined && last >= from && last < to ? last + 1 - from : random.integer(size);
    for (let i = 0; i < size; i++) {
      const port = from + ((start + i) % size);
      if (!(await blocks.isUsed(port))) return port;
    }
    return undefined;
  };
  return {
    allocate: async (value) => {
      const port = Number(value);
      if (!(port >= range.from && port <= range.to)) {
        return `provided port is not in the valid range. The range of valid ports is ${formatPortRange(range)}`;
      }
      if (await blocks.isUsed(port)) return allocated;
      await blocks.use(port, true);
      return undefined;
    },
    allocateNext: async () => {
      const upper = await firstFree(dynamic, range.to);
      const port = upper ?? (dynamic > range.from ? await firstFree(range.from, dynamic - 1) : undefined);
      if (port === undefined) return undefined;
      await blocks.use(port, true);
      last = port;
      return String(port);
    },
    release: (value) => blocks.use(Number(value), false),
  };
}

/** The first port that a rehearsal makes up: one that no service can have. */
const madeUp = 32_769;

/** The same for a rehearsal: a port that nobody asked for is made up, as recorded. */
export function dryRunNodePortAllocator(blocks: Blocks): Allocator {
  const taken = new Set<number>();
  let highest: number | undefined;
  const add = (port: number) => {
    taken.add(port);
    highest = Math.max(highest ?? port, port);
  };
  return {
    allocate: async (value) => {
      const port = Number(value);
      if (taken.has(port) || (await blocks.isUsed(port))) return allocated;
      add(port);
      return undefined;
    },
    allocateNext: async () => {
      const port = highest === undefined ? madeUp : highest + 1;
      add(port);
      return String(port);
    },
    release: async () => {},
  };
}
