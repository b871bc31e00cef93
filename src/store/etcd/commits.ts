import type { Clock } from '../../meta/index.ts';
import type { KeyCompare, KeyWrite } from '../check.ts';
import type { CommitResult, StoreError } from '../store.ts';
import { pause } from '../timers.ts';
import { isLeaseLost, isOutOfSpace, isRefusal, isUnsent, storeErrorOf, uncertainError } from './failure.ts';
import type { KeySpace } from './key-space.ts';
import type { Lease, Leases } from './leases.ts';
import { attemptMs, type Members, patienceMs, roundMs } from './members.ts';
import type { RequestOp, Rpc, TxnRequest, TxnResponse } from './rpc.ts';
import type { Slot, Slots } from './slots.ts';

export interface CommitTools {
  readonly members: Members;
  readonly keys: KeySpace;
  readonly leases: Leases;
  readonly slots: Slots;
  readonly clock: Clock;
  readonly rpc: Rpc;
}

/** Maximum number of operations that etcd accepts by default in each of the three parts of a transaction. */
const maxOperations = 128;

// The value of a slot: whether the attempt that wrote it was carried out.
const carriedOut = Buffer.alloc(0);
const refused = Buffer.from('refused');

const equalsRevision = (key: Buffer, modRevision: number) => ({ key, target: 2 as const, modRevision });
const isBefore = (range: { key: Buffer; rangeEnd: Buffer }, modRevision: number) => ({
  ...range,
  target: 2 as const,
  result: 2 as const,
  modRevision,
});
const equalsVersion = (key: Buffer, version: number) => ({ key, target: 0 as const, version });

/** Deletions need no space, and neither slots. A commit without writes only writes a slot. */
const needsSpace = (ops: readonly RequestOp[]) => ops.length === 0 || ops.some((op) => 'requestPut' in op);

/** The slot of an attempt and what earlier attempts may have done: see {@link Commits}. */
interface Attempt {
  readonly slot: Slot | undefined;
  /** Whether an earlier attempt may have been, or may still be, carried out. */
  readonly repeated: boolean;
}

/**
 * Commits as transactions of etcd. When the answer to one is lost, the same transaction is sent again. Its slot
 * (`slots.ts`) ensures that at most one of them takes place and shows whether it was the first. The second also writes the
 * slot when it is refused, so that the first can no longer take place; the value tells a third attempt which one it was.
 *
 * A commit without a slot is sent once and is uncertain when its answer is lost: one that may change nothing, because it
 * must not take a revision then; one whose transaction has no room for the slot; and one that only deletes while etcd has
 * no space for the slot, so that space can be freed.
 *
 * etcd answers the transaction that reaches its quota with an error although it carries it out: the slot shows this. From
 * then on a commit without writes writes a slot until etcd accepts that.
 */
export class Commits {
  readonly #tools: CommitTools;
  /** Whether etcd had no space for the last commit that needed some. */
  #full = false;

  constructor(tools: CommitTools) {
    this.#tools = tools;
  }

  async commit(compares: readonly KeyCompare[], writes: readonly KeyWrite[]): Promise<CommitResult> {
    const { leases } = this.#tools;
    // The caller may change the bytes.
    const copied = writes.map((write) => ({ ...write, value: write.value && Buffer.from(write.value) }));
    for (;;) {
      const leasesByTtl = await this.#takeLeases(copied);
      let used = true;
      try {
        const ops = copied.map((write) => this.#operation(write, leasesByTtl.get(write.ttl)));
        const result = await this.#carryOut(compares, copied, ops);
        used = result.ok;
        return result;
      } catch (error) {
        const failure = this.#failure(error);
        used = failure.code === 'uncertain';
        if (!isLeaseLost(error)) throw failure;
        for (const lease of leasesByTtl.values()) leases.drop(lease);
      } finally {
        for (const lease of leasesByTtl.values()) leases.release(lease, used);
      }
    }
  }

  /** The leases of a commit by time to live. */
  async #takeLeases(writes: readonly KeyWrite[]): Promise<Map<number, Lease>> {
    const leasesByTtl = new Map<number, Lease>();
    try {
      for (const { ttl } of writes) {
        if (ttl > 0 && !leasesByTtl.has(ttl)) leasesByTtl.set(ttl, await this.#tools.leases.take(ttl));
      }
      return leasesByTtl;
    } catch (error) {
      for (const lease of leasesByTtl.values()) this.#tools.leases.release(lease, false);
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): StoreError {
    const failure = storeErrorOf(error);
    if (failure.code === 'full') this.#full = true;
    return failure;
  }

  #operation({ key, value }: KeyWrite, lease: Lease | undefined): RequestOp {
    const at = this.#tools.keys.key(key);
    if (value === undefined) return { requestDeleteRange: { key: at } };
    return { requestPut: { key: at, value: value as Buffer, ...(lease && { lease: lease.id }) } };
  }

  async #carryOut(
    compares: readonly KeyCompare[],
    writes: readonly KeyWrite[],
    ops: readonly RequestOp[],
  ): Promise<CommitResult> {
    const { slots, members, rpc } = this.#tools;
    if (ops.length === 0) {
      if (this.#full) await this.#try([], [], slots.take());
      return this.#result(await members.read(rpc.txn, this.#request(compares, ops)), compares);
    }
    const guarded = new Set(compares.filter(({ revision, below }) => revision > 0 && !below).map(({ key }) => key));
    const changes = writes.some(({ key, value }) => value !== undefined || guarded.has(key));
    // The slot adds a read and a write; the write is a nested transaction, which counts as well.
    const fits = compares.length <= maxOperations - 3 && ops.length <= maxOperations - 2;
    return this.#try(compares, ops, changes && fits ? slots.take() : undefined);
  }

  /** Fails with the error of etcd when the commit has not taken place and never will. */
  async #try(
    compares: readonly KeyCompare[],
    ops: readonly RequestOp[],
    slot: Slot | undefined,
  ): Promise<CommitResult> {
    const { members, clock, rpc, slots } = this.#tools;
    const until = clock.monotonic() + patienceMs;
    let repeated = false;
    for (let failures = 0; ; ) {
      let response: TxnResponse;
      try {
        const request = this.#request(compares, ops, { slot, repeated });
        response = await members.send(rpc.txn, request, Math.min(attemptMs, until - clock.monotonic()));
      } catch (error) {
        if (slot !== undefined && isOutOfSpace(error)) {
          const done = await this.#carriedOut(slot, error);
          if (done !== undefined) return done;
          if (repeated) throw uncertainError(error);
          slots.giveBack(slot);
          if (needsSpace(ops)) throw error;
          slot = undefined;
          continue;
        }
        if (!isUnsent(error) && (!isRefusal(error) || repeated) && !isLeaseLost(error)) {
          if (slot === undefined || isRefusal(error)) throw uncertainError(error);
          repeated = true;
        } else if (isRefusal(error)) {
          throw error;
        }
        if (++failures % members.all.length === 0) await pause(clock, roundMs);
        if (members.closed || clock.monotonic() >= until) throw repeated ? uncertainError(error) : error;
        continue;
      }
      if (slot === undefined) return this.#result(response, compares);
      const result = this.#slotResult(response, compares, { slot, repeated });
      if (result !== undefined) return result;
      slot = slots.take();
      repeated = false;
    }
  }

  /** Returns the result of a commit that was carried out although etcd answered with an error. */
  async #carriedOut(slot: Slot, cause: unknown): Promise<CommitResult | undefined> {
    const { members, rpc, slots } = this.#tools;
    const { kvs } = await members.read(rpc.range, { key: slot.key }).catch(() => {
      throw uncertainError(cause);
    });
    const [found] = kvs;
    if ((found?.version ?? 0) === slot.version) return undefined;
    if (found === undefined || found.version !== slot.version + 1 || found.value.equals(refused)) {
      throw uncertainError(cause);
    }
    slot.version++;
    slots.giveBack(slot);
    return { ok: true, revision: found.modRevision };
  }

  #request(compares: readonly KeyCompare[], ops: readonly RequestOp[], attempt?: Attempt): TxnRequest {
    const { keys } = this.#tools;
    const compare = compares.map(({ key, revision, below }) =>
      below ? isBefore(keys.range(key), revision + 1) : equalsRevision(keys.key(key), revision),
    );
    // One key is read of a range: the responses have the order of the compares.
    const failure = compares.map(({ key }) => ({ requestRange: { key: keys.key(key) } }));
    if (attempt?.slot === undefined) return { compare, success: ops, failure };
    const { slot, repeated } = attempt;
    const read = { requestRange: { key: slot.key } };
    const isUnused = equalsVersion(slot.key, slot.version);
    const write = (value: Buffer) => ({ requestPut: { key: slot.key, value } });
    const refuse = { requestTxn: { compare: [isUnused], success: [write(refused)], failure: [] } };
    return {
      compare: [...compare, isUnused],
      success: [...ops, write(carriedOut)],
      failure: repeated ? [...failure, read, refuse] : [...failure, read],
    };
  }

  /** Returns the result of a commit with a slot; undefined when it did not take place and never will with this slot. */
  #slotResult(
    response: TxnResponse,
    compares: readonly KeyCompare[],
    { slot, repeated }: { readonly slot: Slot; readonly repeated: boolean },
  ): CommitResult | undefined {
    const { slots } = this.#tools;
    if (response.succeeded) {
      this.#full = false;
      slot.version++;
      slots.giveBack(slot);
      return this.#result(response, compares);
    }
    const found = response.responses[compares.length]?.responseRange?.kvs[0];
    const version = found?.version ?? 0;
    if (version === slot.version) {
      if (!repeated) slots.giveBack(slot);
      return this.#result(response, compares);
    }
    if (!repeated) return undefined;
    if (found === undefined || version !== slot.version + 1) throw uncertainError('the slot has been removed');
    return found.value.equals(refused) ? undefined : { ok: true, revision: found.modRevision };
  }

  #result({ header, succeeded, responses }: TxnResponse, compares: readonly KeyCompare[]): CommitResult {
    const { revision } = header;
    if (succeeded) return { ok: true, revision };
    const found = compares.map(({ below }, i) => {
      const kv = below ? undefined : responses[i]?.responseRange?.kvs[0];
      return kv && this.#tools.keys.entry(kv);
    });
    return { ok: false, revision, found };
  }
}
