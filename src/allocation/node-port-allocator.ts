import type { Random } from '../meta/index.ts';
import type { Allocator } from '../registry/index.ts';
import type { PortBlocks } from './port-blocks.ts';

/** An inclusive range of ports. */
export interface PortRange {
  readonly from: number;
  readonly to: number;
}

export const formatPortRange = ({ from, to }: PortRange): string => `${from}-${to}`;

/** Size of the static band at the start, for requested ports: a thirty-second of the range, 16 to 128 ports. */
function reservedOf({ from, to }: PortRange): number {
  const size = to - from + 1;
  return size <= 16 ? 0 : Math.min(Math.max(Math.floor(size / 32), 16), 128);
}

const allocated = 'provided port is already allocated';

export function nodePortAllocator(blocks: PortBlocks, range: PortRange, random: Random): Allocator {
  let last: number | undefined;
  const dynamic = range.from + reservedOf(range);
  /** Prefers the port after the last one of this service, so that its ports share few keys. */
  const firstFree = (from: number, to: number): number | undefined => {
    const size = to - from + 1;
    const start = last !== undefined && last >= from && last < to ? last + 1 - from : random.integer(size);
    for (let i = 0; i < size; i++) {
      const port = from + ((start + i) % size);
      if (!blocks.isUsed(port)) return port;
    }
    return undefined;
  };
  return {
    allocate: async (value) => {
      const port = Number(value);
      if (!(port >= range.from && port <= range.to)) {
        return `provided port is not in the valid range. The range of valid ports is ${formatPortRange(range)}`;
      }
      await blocks.load();
      if (blocks.isUsed(port)) return allocated;
      blocks.use(port, true);
      return undefined;
    },
    allocateNext: async () => {
      await blocks.load();
      const upper = firstFree(dynamic, range.to);
      const port = upper ?? (dynamic > range.from ? firstFree(range.from, dynamic - 1) : undefined);
      if (port === undefined) return undefined;
      blocks.use(port, true);
      last = port;
      return String(port);
    },
    release: async (value) => {
      await blocks.load();
      blocks.use(Number(value), false);
    },
  };
}

/** The first port that a dry run returns; it is outside of the default range. */
const firstDryRunPort = 32_769;

/** The allocator of dry runs: it returns made-up ports, as recorded from the reference server. */
export function dryRunNodePortAllocator(blocks: PortBlocks): Allocator {
  const allocatedPorts = new Set<number>();
  let highest: number | undefined;
  const add = (port: number) => {
    allocatedPorts.add(port);
    highest = Math.max(highest ?? port, port);
  };
  return {
    allocate: async (value) => {
      const port = Number(value);
      await blocks.load();
      if (allocatedPorts.has(port) || blocks.isUsed(port)) return allocated;
      add(port);
      return undefined;
    },
    allocateNext: async () => {
      const port = highest === undefined ? firstDryRunPort : highest + 1;
      add(port);
      return String(port);
    },
    release: async () => {},
  };
}
