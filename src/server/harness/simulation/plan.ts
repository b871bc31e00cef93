import type { Choices } from './seeded-random.ts';
import { choicesOf } from './seeded-random.ts';

/** The faults of a simulated world. */
export type SimulatedFaultName =
  /** A server, or a process of the user, ends without a farewell and is started again after the fault. */
  | 'crash'
  /** A process runs nothing. */
  | 'pause'
  /** Two that talk to each other do not reach each other: `client-1/server-2`, `server-1/store`. */
  | 'partition'
  /** The time of day of a process differs by `by` ms. */
  | 'clock skew'
  /** The clock of a process runs `by` percent faster than that of the world, or slower if negative. */
  | 'clock drift'
  /** Writes to the disk of the store take `by` ms longer. */
  | 'slow disk'
  /** The store carries out deletions only. */
  | 'full disk'
  /** The store has no leader: commits that are not on disk yet are lost, or their answers are. */
  | 'no leader'
  /** All history but the last `by` revisions is compacted. */
  | 'compaction'
  /** The watches of a server on the store, or those of a client or process, lose their connections. */
  | 'dropped watches'
  /** The answers of the next `by` commits of a server are lost: it does not know whether they took place. */
  | 'lost answers'
  /** Requests of a process are served, but their responses are lost. */
  | 'lost responses'
  /** Reads and updates of a process are served twice. */
  | 'duplicate requests'
  /** Calls of webhooks fail. */
  | 'failing webhooks';

/** A fault at a time. */
export interface SimulatedFault {
  /** When it begins (ms since the world is ready). */
  readonly at: number;
  readonly fault: SimulatedFaultName;
  /** The process, or the two ends. */
  readonly of?: string;
  /** How long it lasts (ms). */
  readonly for?: number;
  /** How much: see {@link SimulatedFaultName}. */
  readonly by?: number;
}

/** An operation of a client at a time. */
export interface PlannedOperation {
  /** When it begins at the earliest (ms since the world is ready); after the one before it of the same client. */
  readonly at: number;
  readonly client: string;
  /** The name of the operation. */
  readonly run: string;
  /** The seed of its choices. */
  readonly seed: number;
}

/** The plan of a simulated world: chosen by its seed, or written down. */
export interface SimulationPlan {
  readonly operations: readonly PlannedOperation[];
  readonly faults: readonly SimulatedFault[];
}

/** The parts of a world, by name. */
export interface Parts {
  readonly servers: readonly string[];
  readonly clients: readonly string[];
  /** The processes of the user. */
  readonly processes: readonly string[];
}

interface FaultRange {
  /** Whom it can strike; empty: the store. */
  readonly of: (parts: Parts) => readonly string[];
  /** The longest duration (ms); 0: it has none. */
  readonly for: number;
  /** The largest amount. */
  readonly by?: number;
  /** Whether the amount may be negative. */
  readonly isSigned?: true;
}

const callers = ({ clients, processes }: Parts): readonly string[] => [...clients, ...processes];
const everybody = ({ servers, processes }: Parts): readonly string[] => [...servers, ...processes];
const store = () => [];

/** The ranges that a seed chooses from. */
const faultRanges: { readonly [name in SimulatedFaultName]: FaultRange } = {
  crash: { of: everybody, for: 5_000 },
  pause: { of: everybody, for: 8_000 },
  partition: {
    of: (parts) => [
      ...parts.servers.map((server) => `${server}/store`),
      ...callers(parts).flatMap((caller) => parts.servers.map((server) => `${caller}/${server}`)),
    ],
    for: 15_000,
  },
  'clock skew': { of: everybody, for: 10_000, by: 60_000 },
  'clock drift': { of: everybody, for: 20_000, by: 10, isSigned: true },
  'slow disk': { of: store, for: 5_000, by: 500 },
  'full disk': { of: store, for: 3_000 },
  'no leader': { of: store, for: 4_000 },
  compaction: { of: store, for: 0, by: 50 },
  'dropped watches': { of: (parts) => [...parts.servers, ...callers(parts)], for: 0 },
  'lost answers': { of: ({ servers }) => servers, for: 5_000, by: 3 },
  'lost responses': { of: callers, for: 2_000 },
  'duplicate requests': { of: callers, for: 3_000 },
  'failing webhooks': { of: store, for: 3_000 },
};

export const faultNames = Object.keys(faultRanges) as SimulatedFaultName[];

export interface PlanOptions {
  readonly parts: Parts;
  /** The names of the operations. */
  readonly operations: readonly string[];
  readonly faults: readonly SimulatedFaultName[];
  /** How long operations and faults begin (ms). */
  readonly durationMs: number;
  /** The mean time between two operations of a client, and between two faults (ms). */
  readonly operationEveryMs: number;
  readonly faultEveryMs: number;
}

/** Chooses what happens, by seed. */
export function drawPlan(seed: number, options: PlanOptions): SimulationPlan {
  const { parts, operations, faults, durationMs, operationEveryMs, faultEveryMs } = options;
  const planned = parts.clients.flatMap((client) => {
    const random = choicesOf(seed, `operations of ${client}`);
    return [...times(random, durationMs, operations.length === 0 ? 0 : operationEveryMs)].map((at) => ({
      at,
      client,
      run: random.pick(operations),
      seed: random.integer(1_000_000),
    }));
  });
  const random = choicesOf(seed, 'faults');
  const chosen = [...times(random, durationMs, faults.length === 0 ? 0 : faultEveryMs)].flatMap((at) =>
    drawFault(at, random.pick(faults), parts, random),
  );
  return { operations: planned.sort((a, b) => a.at - b.at), faults: chosen };
}

/** Moments with this mean distance; none when it is 0. */
function* times(random: Choices, durationMs: number, everyMs: number): Generator<number> {
  if (everyMs === 0) return;
  for (let at = random.integer(everyMs); at < durationMs; at += 1 + random.integer(2 * everyMs)) yield at;
}

function drawFault(at: number, fault: SimulatedFaultName, parts: Parts, random: Choices): SimulatedFault[] {
  const { of, for: longest, by, isSigned } = faultRanges[fault];
  const targets = of(parts);
  if (targets.length === 0 && of !== store) return [];
  // Some last so long that timeouts pass, most are short.
  const range = random.chance(0.3) ? longest : longest / 5;
  const sign = isSigned === true && random.chance(0.5) ? -1 : 1;
  return [
    {
      at,
      fault,
      ...(targets.length === 0 ? {} : { of: random.pick(targets) }),
      ...(longest === 0 ? {} : { for: 1 + random.integer(range) }),
      ...(by === undefined ? {} : { by: sign * (1 + random.integer(by)) }),
    },
  ];
}
