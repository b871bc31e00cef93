import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../meta/index.ts';
import { StoreError } from '../store.ts';
import type { Environment } from './environment.ts';
import { openedByOther } from './failure.ts';
import {
  closedVersion,
  formatKey,
  formatValue,
  loggedVersion,
  logKey,
  marksKey,
  stateKey,
  unsealedKey,
} from './format.ts';
import type { Log } from './log.ts';
import type { Change } from './log-format.ts';
import type { Reader } from './reader.ts';
import { encodeMarks, encodePosition, encodeState, Slab, type State } from './records.ts';
import { withoutReports } from './reports.ts';
import { missedOthers } from './sequence.ts';
import { stageGroups, writeChanges } from './tables.ts';
import { encodeMark, type Group, type LogMark } from './tail.ts';
import type { Batch } from './transaction.ts';
import { type Seals, type Sweep, seal, sweep } from './upkeep.ts';

/** The least number of records that each transaction examines to remove compacted history, and the last one. */
const recordsASweep = 256;
const recordsALastSweep = 4096;
/** Each attempt but the first needs another process that opens the files during a transaction. */
const maxAttempts = 5;
/** When a checkpoint is due: changes or bytes in the log alone, or time since the first of them (ms). */
const changesDue = 512;
const bytesDue = 512 * 1024;
const dueMs = 500;
/** Limits of one checkpoint. */
const changesAStep = 1024;
const bytesAStep = 1024 * 1024;

const pageBytes = 4096;
/** The pages that every transaction writes: the way to the roots of the tables, and the list of free pages. */
const pagesOfRoots = 64;

export interface TreeUpkeep {
  readonly clock: Pick<Clock, 'after'>;
  /** The earliest revision that an open read or watch still needs. */
  readonly needed: () => number;
  /** Called with damaged records that the compaction of history has skipped. */
  readonly damaged: (error: StoreError) => void;
}

/** The work of one transaction. */
interface Work {
  readonly groups: readonly Group[];
  readonly batch: Batch | undefined;
  readonly isLast: boolean;
}

/**
 * The tree follows the log: it takes groups of commits in durable transactions, several at once, and then frees their space
 * in the log. Compacted history is removed with them.
 */
export class Tree {
  readonly #environment: Environment;
  readonly #reader: Reader;
  readonly #log: Log | undefined;
  readonly #upkeep: TreeUpkeep;
  readonly #slab = new Slab();
  /** The groups that are in the log alone, oldest first. */
  readonly #pending: Group[];
  #pendingChanges = 0;
  #pendingBytes = 0;
  /** The state that the tree has, and its mark of the log. */
  #state: State;
  #mark: LogMark | undefined;
  /** Why the last transaction failed. */
  #failing: unknown;
  /** The files must be reopened before the next transaction. */
  #isBroken = false;
  #isClosing = false;
  /** The last transaction: each begins when the one before has ended. */
  #last: Promise<unknown> = Promise.resolve();
  #running = false;
  #cancelTimer: (() => void) | undefined;

  constructor(environment: Environment, reader: Reader, log: Log | undefined, upkeep: TreeUpkeep) {
    this.#environment = environment;
    this.#reader = reader;
    this.#log = log;
    this.#upkeep = upkeep;
    this.#state = environment.treeState;
    this.#mark = environment.mark;
    this.#pending = [...environment.tail];
    for (const { changes } of this.#pending) this.#count(changes, 1);
    this.#wait();
  }

  get state(): State {
    return this.#state;
  }

  /** Whether commits are in the log alone. */
  get isBehind(): boolean {
    return this.#pending.length > 0;
  }

  /** Whether the last transaction failed. */
  get isFailing(): boolean {
    return this.#failing !== undefined;
  }

  /** Takes a group that is durable in the log: reads see it from now on. */
  add(group: Group): void {
    stageGroups(this.#environment, [group]);
    this.#pending.push(group);
    this.#count(group.changes, 1);
    if (this.#pendingChanges >= changesDue || this.#pendingBytes >= bytesDue) this.#run();
    else this.#wait();
  }

  /** Begins to remove compacted history, and to seal records, when there are some. */
  start(): void {
    if (this.#hasUpkeep()) this.#run();
  }

  /** Writes the oldest groups, so that the log has space. */
  step(): Promise<void> {
    return this.#exclusive(() => this.#step());
  }

  /**
   * Writes all groups, and then a batch, which need not be in the log. False, with the batch not written, when LMDB has
   * missed the last transaction. Fails as `uncertain` when it is unknown whether the batch has been written.
   */
  commit(batch: Batch): Promise<boolean> {
    return this.#exclusive(async () => {
      while (this.isBehind) await this.#step();
      if (this.#isBroken) await this.#reopen();
      return this.#attempt({ groups: [], batch, isLast: false });
    });
  }

  /** Resolves when no transaction is being written, and the files are open. Fails when they cannot be opened again. */
  settled(): Promise<void> {
    return this.#exclusive(async () => {
      if (this.#isBroken) await this.#reopen();
    });
  }

  /** Writes all groups, and then needs the log no longer. When that fails, they stay in the log. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#cancelTimer?.();
    await this.#exclusive(async () => {
      while (this.isBehind) await this.#step();
      if (this.#mark !== undefined || this.#hasUpkeep())
        await this.#attempt({ groups: [], batch: undefined, isLast: true });
    }).catch(() => undefined);
    await this.#log?.close();
  }

  #exclusive<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#last.then(run, run);
    this.#last = result.catch(() => undefined);
    return result;
  }

  #wait(): void {
    if (this.#cancelTimer !== undefined || this.#isClosing || this.#pending.length === 0) return;
    this.#cancelTimer = this.#upkeep.clock.after(dueMs, () => {
      this.#cancelTimer = undefined;
      this.#run();
    });
  }

  #run(): void {
    if (this.#running) return;
    this.#running = true;
    void this.#loop().finally(() => {
      this.#running = false;
      this.#wait();
    });
  }

  async #loop(): Promise<void> {
    do {
      try {
        await this.step();
      } catch {
        // The next commit reports it, and the timer tries again.
        return;
      }
      await setImmediate();
    } while (
      !this.#isClosing &&
      (this.#pendingChanges >= changesDue || this.#pendingBytes >= bytesDue || this.#hasUpkeep())
    );
  }

  /** Whether there is compacted history to remove, or records are left without a checksum. */
  #hasUpkeep(): boolean {
    if (this.#failing !== undefined) return false;
    return this.#environment.unsealed !== undefined || this.#state.swept < this.#sweptUntil(this.#state);
  }

  #sweptUntil({ oldest }: State): number {
    return Math.min(oldest, this.#upkeep.needed());
  }

  async #step(): Promise<void> {
    if (this.#isBroken) await this.#reopen();
    for (let attempt = 1; ; attempt++) {
      const groups = this.#oldest();
      if (groups.length === 0 && !this.#hasUpkeep()) return;
      if (await this.#attempt({ groups, batch: undefined, isLast: false })) return;
      if (attempt === maxAttempts) throw openedByOther(this.#environment.path);
      this.#environment.sequence.correct();
    }
  }

  /** The groups of the next checkpoint. */
  #oldest(): Group[] {
    let [count, changes, bytes] = [0, 0, 0];
    for (const group of this.#pending) {
      if (changes >= changesAStep || bytes >= bytesAStep) break;
      changes += group.changes.length;
      bytes += bytesOf(group.changes);
      count++;
    }
    return this.#pending.slice(0, count);
  }

  /** One transaction. False, with nothing written, when LMDB has missed the last one. */
  async #attempt({ groups, batch, isLast }: Work): Promise<boolean> {
    const { sequence } = this.#environment;
    sequence.check();
    const state = batch?.state ?? groups.at(-1)?.state ?? this.#state;
    // Twice the records that it adds, each with its head, so that the backlog of a busy store shrinks.
    const written = groups.reduce((sum, { changes }) => sum + changes.length, batch?.changes.length ?? 0);
    const limit = isLast ? recordsALastSweep : Math.max(recordsASweep, written);
    const { swept } = this.#state;
    const removals = sweep(this.#environment, this.#reader, { swept, until: this.#sweptUntil(state), limit }, (error) =>
      this.#upkeep.damaged(error),
    );
    const seals = seal(this.#environment, this.#slab);
    const parts = [
      seals?.changes ?? [],
      ...groups.map(({ changes }) => changes),
      batch?.changes ?? [],
      removals.changes,
    ];
    const after = { ...state, swept: removals.swept };
    const mark = isLast ? undefined : this.#markAfter(groups, batch);
    try {
      await this.#environment.reserve(bytesOfTransaction(parts));
      if (!(await withoutReports(() => sequence.batch(() => this.#write(parts, after, mark, seals))))) return false;
    } catch (error) {
      const cause = await causeOf(error);
      if (missedOthers(cause)) return false;
      return this.#fail(cause);
    }
    this.#failing = undefined;
    this.#settle(after, mark, removals, seals);
    return true;
  }

  /** A batch without groups names a log that cannot be used yet. */
  #markAfter(groups: readonly Group[], batch: Batch | undefined): LogMark | undefined {
    if (batch !== undefined && this.#log !== undefined) return this.#log.mark;
    return this.#mark && { id: this.#mark.id, sequence: groups.at(-1)?.sequence ?? this.#mark.sequence };
  }

  /** Part of a transaction. */
  #write(
    parts: readonly (readonly Change[])[],
    state: State,
    mark: LogMark | undefined,
    seals: Seals | undefined,
  ): void {
    const { root } = this.#environment;
    for (const changes of parts) writeChanges(this.#environment, changes);
    if (seals?.unsealed === 'none') void root.remove(unsealedKey);
    else if (seals !== undefined) void root.put(unsealedKey, encodePosition(seals.unsealed));
    void root.put(stateKey, encodeState(state));
    if (state.marks !== this.#state.marks) void root.put(marksKey, encodeMarks(state));
    if (mark !== undefined) void root.put(logKey, encodeMark(mark));
    if ((mark === undefined) === (this.#mark === undefined)) return;
    if (mark === undefined) void root.remove(logKey);
    void root.put(formatKey, formatValue(mark === undefined ? closedVersion : loggedVersion));
  }

  #settle(state: State, mark: LogMark | undefined, removals: Sweep, seals: Seals | undefined): void {
    this.#state = state;
    this.#setMark(mark);
    removals.settle();
    if (seals !== undefined) this.#environment.sealedUpTo(seals.unsealed);
  }

  /** The tree has this mark: the groups up to it need no log. */
  #setMark(mark: LogMark | undefined): void {
    this.#mark = mark;
    if (mark === undefined || this.#log === undefined) return;
    for (
      let group = this.#pending[0];
      group !== undefined && group.sequence <= mark.sequence;
      group = this.#pending[0]
    ) {
      for (const change of group.changes) this.#environment.all[change.table]?.unstage(change, group.sequence);
      this.#count(group.changes, -1);
      this.#pending.shift();
    }
    this.#log.release(mark);
  }

  async #fail(cause: unknown): Promise<never> {
    this.#failing = cause;
    // A failure before the new root was written has changed nothing.
    if (this.#works()) throw cause;
    this.#isBroken = true;
    // Reads need the files now. When this fails, the next request tries again.
    await this.#reopen().catch(() => undefined);
    throw new StoreError('uncertain', `writing to ${this.#environment.path} failed: check the disk`, { cause });
  }

  /** Reopens the files after a transaction with an unknown outcome. */
  async #reopen(): Promise<void> {
    await this.#environment.reopen(this.#state.latest);
    const { treeState, mark } = this.#environment;
    this.#state = treeState;
    this.#setMark(mark);
    this.#reader.heads.load();
    this.#isBroken = false;
  }

  /** Whether the library can still begin a transaction. */
  #works(): boolean {
    try {
      this.#environment.root.transactionSync(() => undefined);
      return true;
    } catch {
      return false;
    }
  }

  #count(changes: readonly Change[], sign: 1 | -1): void {
    this.#pendingChanges += sign * changes.length;
    this.#pendingBytes += sign * bytesOf(changes);
  }
}

function bytesOf(changes: readonly Change[]): number {
  let bytes = 0;
  for (const { value } of changes) bytes += value?.length ?? 0;
  return bytes;
}

/** Maximum number of bytes that a transaction writes: two pages for each change of a table, plus the values. */
function bytesOfTransaction(parts: readonly (readonly Change[])[]): number {
  let bytes = pagesOfRoots * pageBytes;
  for (const changes of parts) bytes += 2 * changes.length * pageBytes + bytesOf(changes);
  return bytes;
}

/** The library reports the cause of a failed transaction in a promise on the error, which is settled by then. */
export async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error && 'commitError' in error)) return error;
  const reported = Promise.resolve(error.commitError).then(
    () => error,
    (cause: unknown) => cause,
  );
  return Promise.race([reported, setImmediate(error)]);
}
