import {
  compareQuantities,
  formatQuantity,
  inTurns,
  type StatusError,
  type Steps,
  serverTurns,
  statusError,
} from '../../meta/index.ts';
import {
  addInPlace,
  encodeResourceList,
  parseResourceList,
  type Quantities,
  sortedByName,
  subtractNonNegative,
} from '../../rules/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { ResourceQuota } from '../../types/core-v1.ts';
import type { PluginInitializer } from '../types.ts';

export type Quota = ObjectOf<typeof ResourceQuota>;

/** Usage that is added to the quotas of a namespace atomically. */
interface Charge {
  /** The usage of the resources that the quota limits; undefined when the quota does not match. Throws to reject. */
  readonly usageFor: (quota: Quota) => Quantities | undefined;
  readonly forbid: (why: string) => StatusError;
  /** Only checks the limits. */
  readonly dryRun: boolean;
}

/** Usage that was added to one quota, and in which epoch. */
interface ChargeEntry {
  readonly uid: string;
  readonly epoch: number;
  readonly amounts: Quantities;
}

export interface QuotaCharges {
  /**
   * Adds the usage to the quotas before the object is stored, so that the stored objects never exceed them, with any
   * number of concurrent requests and servers. @throws StatusError 403 when a quota is exceeded, 409 after too many
   * conflicts
   */
  charge(namespace: string, charge: Charge): Promise<readonly ChargeEntry[]>;
  /**
   * Subtracts entries of an object that was not stored after all. An entry of an older epoch stays: the usage may have
   * been recalculated since. Never rejects.
   */
  release(namespace: string, entries: readonly ChargeEntry[]): Promise<void>;
}

type Initializer = Pick<PluginInitializer, 'objects' | 'updateQuotaStatus'>;

interface Waiting {
  readonly charge: Charge | undefined;
  readonly entries: readonly ChargeEntry[];
  readonly resolve: (entries: readonly ChargeEntry[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Numbers of epochs are unique, also after the queue of a namespace was dropped. */
type BatchContext = Initializer & { readonly newEpoch: () => number };

/**
 * Pending charges of a namespace, and by uid the current epoch of each quota, with the quota as it was last read or
 * written: the epoch ends when another writer updates the quota.
 */
interface NamespaceQueue {
  waiting: Waiting[];
  draining: boolean;
  epochs: Map<string, { readonly epoch: number; readonly quota: Quota }>;
}

/** A quota while a batch of charges is applied. */
interface QuotaState {
  readonly quota: Quota;
  readonly uid: string;
  readonly epoch: number;
  readonly hard: Quantities;
  used: Quantities;
  changed: boolean;
}

/** Attempts per batch; each conflict with another writer costs one. */
const maxRounds = 20;
/** How many idle namespaces keep their epochs. For others, nothing can be released. */
const maxQueues = 10_000;

/** Charges that arrive while a batch of their namespace is written are collected into the next batch: one write for all. */
export function createQuotaCharges(initializer: Initializer): QuotaCharges {
  const queues = new Map<string, NamespaceQueue>();
  let epochs = 0;
  const newEpoch = () => ++epochs;
  const enqueue = (namespace: string, charge: Charge | undefined, entries: readonly ChargeEntry[]) =>
    new Promise<readonly ChargeEntry[]>((resolve, reject) => {
      const queue: NamespaceQueue = queues.get(namespace) ?? { waiting: [], draining: false, epochs: new Map() };
      queues.set(namespace, queue);
      queue.waiting.push({ charge, entries, resolve, reject });
      if (!queue.draining) void drain(namespace, queue);
    });
  const drain = async (namespace: string, queue: NamespaceQueue): Promise<void> => {
    queue.draining = true;
    while (queue.waiting.length > 0) {
      const batch = queue.waiting;
      queue.waiting = [];
      try {
        await commitBatch({ ...initializer, newEpoch }, namespace, queue, batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    queue.draining = false;
    if (queue.epochs.size === 0 || queues.size > maxQueues) queues.delete(namespace);
  };
  return {
    charge: (namespace, charge) => enqueue(namespace, charge, []),
    release: async (namespace, entries) => {
      // After a failure the usage stays too high: requests may be rejected needlessly, but no quota is exceeded.
      if (entries.length > 0) await enqueue(namespace, undefined, entries).catch(() => []);
    },
  };
}

async function commitBatch(
  initializer: BatchContext,
  namespace: string,
  queue: NamespaceQueue,
  batch: readonly Waiting[],
): Promise<void> {
  for (let round = 1; ; round++) {
    const quotas = await initializer.objects.list(ResourceQuota, namespace, round > 1);
    const turns = serverTurns();
    const states = await inTurns(loadQuotas(queue, quotas, initializer.newEpoch), turns);
    const outcomes = await inTurns(applyBatch(states, batch), turns);
    if (await writeQuotas(initializer, queue, states)) {
      batch.forEach(({ resolve, reject }, i) => {
        const outcome = outcomes[i];
        if (outcome !== undefined && 'refusal' in outcome) reject(outcome.refusal);
        else resolve(outcome?.entries ?? []);
      });
      return;
    }
    if (round === maxRounds) {
      throw statusError.conflict(
        { group: '', resource: 'resourcequotas' },
        quotas[0]?.metadata.name ?? '',
        'the object has been modified; please apply your changes to the latest version and try again',
      );
    }
  }
}

const revisionOf = ({ metadata }: Quota): number => Number(metadata.resourceVersion);

/** The current quotas by uid; one that was last written by another writer begins a new epoch. */
function* loadQuotas(
  queue: NamespaceQueue,
  quotas: readonly Quota[],
  newEpoch: () => number,
): Steps<ReadonlyMap<string, QuotaState>> {
  const epochs: NamespaceQueue['epochs'] = new Map();
  const states = new Map<string, QuotaState>();
  for (const found of quotas) {
    const { uid = '' } = found.metadata;
    const known = queue.epochs.get(uid);
    // The cache may not have what was written last.
    const current = known !== undefined && revisionOf(known.quota) >= revisionOf(found) ? known : undefined;
    const { quota, epoch } = current ?? { quota: found, epoch: newEpoch() };
    epochs.set(uid, { epoch, quota });
    const { hard, used } = quota.status ?? {};
    states.set(uid, {
      quota,
      uid,
      epoch,
      hard: parseResourceList(hard),
      used: parseResourceList(used),
      changed: false,
    });
    yield;
  }
  queue.epochs = epochs;
  return states;
}

type Outcome = { readonly entries: readonly ChargeEntry[] } | { readonly refusal: unknown };

/** Each charge of the batch sees the usage that those before it have added. */
function* applyBatch(states: ReadonlyMap<string, QuotaState>, batch: readonly Waiting[]): Steps<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { charge, entries } of batch) {
    const outcome = charge === undefined ? releaseEntries(states, entries) : applyCharge(states, charge);
    outcomes.push(yield* outcome);
  }
  return outcomes;
}

/** Subtracts entries of the current epochs. */
function* releaseEntries(states: ReadonlyMap<string, QuotaState>, entries: readonly ChargeEntry[]): Steps<Outcome> {
  for (const { uid, epoch, amounts } of entries) {
    yield;
    const state = states.get(uid);
    if (state?.epoch !== epoch) continue;
    setUsed(state, subtractNonNegative(masked(state.used, amounts.keys()), amounts));
  }
  return { entries: [] };
}

/** Adds a charge to all matching quotas or to none. */
function* applyCharge(states: ReadonlyMap<string, QuotaState>, charge: Charge): Steps<Outcome> {
  const shares: { state: QuotaState; amounts: Quantities; used: Quantities }[] = [];
  try {
    // Fields that the object lacks for any quota are reported before exceeded limits.
    for (const state of states.values()) {
      yield;
      const amounts = charge.usageFor(state.quota);
      if (amounts === undefined || amounts.size === 0) continue;
      const used = masked(state.used, amounts.keys());
      addInPlace(used, amounts);
      shares.push({ state, amounts, used });
    }
    for (const { state, amounts, used } of shares) {
      yield;
      checkHard(state, amounts, used, charge);
    }
  } catch (refusal) {
    return { refusal };
  }
  if (charge.dryRun) return { entries: [] };
  for (const { state, used } of shares) setUsed(state, used);
  return { entries: shares.map(({ state: { uid, epoch }, amounts }) => ({ uid, epoch, amounts })) };
}

/** Sets the usage of the given resources. */
function setUsed(state: QuotaState, used: Quantities): void {
  for (const [name, quantity] of used) state.used.set(name, quantity);
  state.changed = true;
}

/** The amounts of the given resources. */
function masked(amounts: Quantities, names: Iterable<string>): Quantities {
  const found: Quantities = new Map();
  for (const name of names) {
    const amount = amounts.get(name);
    if (amount !== undefined) found.set(name, amount);
  }
  return found;
}

/** `cpu=1,pods=10`, sorted by name. */
const formatQuantities = (amounts: Quantities): string =>
  sortedByName(amounts)
    .map(([name, amount]) => `${name}=${formatQuantity(amount)}`)
    .join(',');

function checkHard(
  { quota, hard, used: before }: QuotaState,
  amounts: Quantities,
  used: Quantities,
  { forbid }: Charge,
): void {
  const exceeded = new Set<string>();
  for (const name of amounts.keys()) {
    const limit = hard.get(name);
    const nextUsage = used.get(name);
    if (limit !== undefined && nextUsage !== undefined && compareQuantities(nextUsage, limit) > 0) exceeded.add(name);
  }
  if (exceeded.size === 0) return;
  const format = (list: Quantities) => formatQuantities(masked(list, exceeded));
  const name = quota.metadata.name ?? '';
  throw forbid(
    `exceeded quota: ${name}, requested: ${format(amounts)}, used: ${format(before)}, limited: ${format(hard)}`,
  );
}

/** False on a conflict; the quotas that were written before it are then restored, unless they have changed again. */
async function writeQuotas(
  initializer: Initializer,
  queue: NamespaceQueue,
  states: ReadonlyMap<string, QuotaState>,
): Promise<boolean> {
  const written: { readonly quota: Quota; readonly before: Quota; readonly epoch: number }[] = [];
  for (const state of states.values()) {
    if (!state.changed) continue;
    const quota = await initializer.updateQuotaStatus(state.quota, encodeResourceList(state.used));
    if (quota === undefined) {
      for (const { quota: later, before, epoch } of written) {
        const back = await initializer.updateQuotaStatus(later, before.status?.used ?? {});
        if (back !== undefined) remember(queue, epoch, back);
      }
      return false;
    }
    written.push({ quota, before: state.quota, epoch: state.epoch });
    remember(queue, state.epoch, quota);
  }
  return true;
}

function remember(queue: NamespaceQueue, epoch: number, quota: Quota): void {
  queue.epochs.set(quota.metadata.uid ?? '', { epoch, quota });
}
