import { type Claim, claimOf } from './claims.ts';
import type { History, Operation, WatchSession } from './history.ts';
import type { State, States } from './states.ts';

/** Findings about an operation in addition to its outcome. */
export interface Judged {
  readonly operation: Operation;
  readonly claim: Claim;
  /** The highest revision that anybody had seen before it started. */
  readonly bound: number;
  /** The revision below which it must not have seen the store. */
  readonly floor: number;
  /** With a claim to have seen a state of its key: those that it can have seen. */
  readonly possible: readonly State[];
}

export interface Sweep {
  readonly operations: readonly Judged[];
  /** The highest revision that anybody had seen before a watch started. */
  readonly bounds: ReadonlyMap<WatchSession, number>;
}

/**
 * Goes through a history in the order of time and keeps the highest revision that a client has seen. Revisions order all
 * changes. So a history is linearizable if each operation can be given a revision that is at least what had been seen
 * before it started; and where there is a choice, the lowest one is right, because it asks least of all later operations.
 */
export function sweep({ operations, watches }: History, states: States): Sweep {
  let seen = 0;
  const see = (revision: number) => {
    seen = Math.max(seen, revision);
  };
  const starts = new Map(operations.map(({ id, start }) => [id, start]));
  const judged: Judged[] = [];
  const bounds = new Map<WatchSession, number>();
  // At the same time, what starts comes before what ends: they overlap.
  const moments = [
    ...operations.flatMap((operation) => {
      let bound = 0;
      const start = () => {
        bound = seen;
      };
      const end = () => {
        const one = judge(operation, bound, states, starts);
        judged.push(one);
        see(lowest(one));
      };
      return [
        { time: operation.start, order: 0, run: start },
        { time: operation.end, order: 1, run: end },
      ];
    }),
    ...watches.map((session) => ({ time: session.start, order: 0, run: () => bounds.set(session, seen) })),
    ...watches.flatMap(({ events }) =>
      events.map(({ time, version }) => ({ time, order: 1, run: () => see(version) })),
    ),
  ];
  for (const { run } of moments.sort((a, b) => a.time - b.time || a.order - b.order)) run();
  return { operations: judged, bounds };
}

function judge(operation: Operation, bound: number, states: States, starts: ReadonlyMap<number, number>): Judged {
  const { request, end } = operation;
  const claim = claimOf(operation, states);
  const floor = request.verb === 'get' || request.verb === 'list' ? (request.version ?? bound) : bound;
  const isBegun = ({ object }: State) =>
    object === undefined || (starts.get(Number(object.data?.['write'])) ?? 0) <= end;
  const possible =
    claim.type === 'saw' && 'key' in request
      ? states.of(request.key).filter((state) => state.to > floor && isBegun(state) && claim.holds(state))
      : [];
  return { operation, claim, bound, floor, possible };
}

/** The lowest revision that an operation shows to exist. */
function lowest({ claim, possible }: Judged): number {
  if (claim.type === 'wrote' || claim.type === 'listed') return claim.revision ?? 0;
  return possible[0]?.from ?? 0;
}
