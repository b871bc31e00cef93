import type { ClientLink } from './client-link.ts';
import type { SimulatedFault, SimulatedFaultName } from './plan.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import type { SimulatedServer } from './simulated-server.ts';
import type { SimulatedStore } from './simulated-store.ts';

/** A client or a process of the user. */
export interface Caller {
  readonly process: SimulatedProcess;
  readonly link: ClientLink;
  /** Ends the process without a farewell; does nothing for a client. */
  crash(): void;
  start(): void;
}

/** The targets of faults. */
export interface FaultTargets {
  readonly store: SimulatedStore;
  readonly servers: ReadonlyMap<string, SimulatedServer>;
  readonly callers: ReadonlyMap<string, Caller>;
  readonly webhooks: { failing: boolean };
}

// biome-ignore lint/suspicious/noConfusingVoidType: faults without an end return nothing
type End = (() => unknown) | void;

/** Begins a fault and returns what ends it. Faults of the same kind and target that overlap end with the first end. */
const begin: {
  readonly [name in SimulatedFaultName]: (fault: SimulatedFault, targets: FaultTargets) => End | Promise<End>;
} = {
  crash: (fault, targets) => {
    const target = targets.servers.get(fault.of ?? '') ?? callerOf(fault, targets);
    target.crash();
    // Another crash may have ended in the meantime.
    return () => (target.process.killed ? target.start() : undefined);
  },
  pause: (fault, targets) => {
    const process = processOf(fault, targets);
    process.pause();
    return () => process.resume();
  },
  partition: ({ of = '' }, { servers, callers }) => {
    const [from = '', to = ''] = of.split('/');
    const caller = callers.get(from);
    if (caller !== undefined) {
      const { link } = caller;
      link.cut(to);
      return () => link.heal(to);
    }
    const link = servers.get(from)?.link;
    if (to !== 'store' || link === undefined) throw unknownTarget(of);
    link.cut();
    return () => link.heal();
  },
  'clock skew': (fault, targets) => {
    const process = processOf(fault, targets);
    process.skew(fault.by ?? 0);
    return () => process.skew(0);
  },
  'clock drift': (fault, targets) => {
    const process = processOf(fault, targets);
    process.drift(fault.by ?? 0);
    return () => process.drift(0);
  },
  'slow disk': ({ by = 0 }, { store }) => {
    store.slowDisk(by);
    return () => store.slowDisk(0);
  },
  'full disk': (_, { store }) => {
    store.fillDisk(true);
    return () => store.fillDisk(false);
  },
  'no leader': (_, { store }) => {
    store.loseLeader();
    return () => store.electLeader();
  },
  compaction: async ({ by = 0 }, { store }) => {
    const revision = (await store.state.revision()) - by;
    if (revision > 0) await store.state.compact(revision);
  },
  'dropped watches': ({ of = '' }, { servers, callers }) => {
    const link = servers.get(of)?.link ?? callers.get(of)?.link;
    if (link === undefined) throw unknownTarget(of);
    link.dropWatches();
  },
  'lost answers': ({ of = '', by = 1 }, { servers }) => {
    const link = servers.get(of)?.link;
    if (link === undefined) throw unknownTarget(of);
    link.loseAnswers(by);
    return () => link.loseAnswers(0);
  },
  'lost responses': (fault, targets) => {
    const { link } = callerOf(fault, targets);
    link.loseResponses(true);
    return () => link.loseResponses(false);
  },
  'duplicate requests': (fault, targets) => {
    const { link } = callerOf(fault, targets);
    link.duplicateRequests(true);
    return () => link.duplicateRequests(false);
  },
  'failing webhooks': (_, { webhooks }) => {
    webhooks.failing = true;
    return () => {
      webhooks.failing = false;
    };
  },
};

const unknownTarget = (of: string): Error => new Error(`a fault cannot begin: nothing is called ${JSON.stringify(of)}`);

function callerOf({ of = '' }: SimulatedFault, { callers }: FaultTargets): Caller {
  const caller = callers.get(of);
  if (caller === undefined) throw unknownTarget(of);
  return caller;
}

const processOf = (fault: SimulatedFault, targets: FaultTargets): SimulatedProcess =>
  (targets.servers.get(fault.of ?? '') ?? callerOf(fault, targets)).process;

/** Begins a fault. Resolves to what ends it. @throws Error for a target that does not exist */
export async function beginFault(fault: SimulatedFault, targets: FaultTargets): Promise<() => Promise<void>> {
  const beginning = begin[fault.fault];
  if (beginning === undefined) throw new Error(`a fault cannot begin: none is called ${JSON.stringify(fault.fault)}`);
  const end = await beginning(fault, targets);
  return async () => {
    await end?.();
  };
}
