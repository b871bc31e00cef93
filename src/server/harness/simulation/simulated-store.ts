import type { Clock } from '../../../meta/index.ts';
import {
  type CommitResult,
  type Compare,
  openMemoryStore,
  type Store,
  StoreError,
  type Write,
} from '../../../store/index.ts';
import type { Choices } from './seeded-random.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import { StoreLink, uncertain } from './store-link.ts';

export interface SimulatedStoreOptions {
  readonly clock: Clock;
  readonly random: Choices;
  /** Retention of history (ms). Default: that of the store in memory. */
  readonly historyMs?: number;
  /** Makes the store wrong, to show that checkers find it. */
  readonly defect?: ((store: Store) => Store) | undefined;
}

/** A commit that is not on disk yet. */
interface Proposal {
  readonly apply: () => void;
  /** The answer is lost, and with it the knowledge whether the commit took place. */
  readonly lose: () => void;
  readonly cancel: () => void;
}

/** Time until a commit is on disk (ms). */
const syncMs = { least: 0.5, range: 2 };

/**
 * The store of a simulated world: one history, as several members of etcd have it, behind links of the servers. A commit takes
 * place when it is on disk, in the order of arrival. While there is no leader, nothing is answered.
 */
export class SimulatedStore {
  /** The history itself: without delays and faults. */
  readonly state: Store;
  readonly #seen: Store;
  readonly #clock: Clock;
  readonly #random: Choices;
  readonly #proposals = new Set<Proposal>();
  /** Requests that wait for a leader; undefined while there is one. */
  #waiting: (() => void)[] | undefined;
  #syncedAt = 0;
  #slowMs = 0;
  #full = false;

  constructor({ clock, random, historyMs, defect }: SimulatedStoreOptions) {
    this.#clock = clock;
    this.#random = random;
    this.state = openMemoryStore({ clock, ...(historyMs === undefined ? {} : { historyMs }) });
    this.#seen = defect?.(this.state) ?? this.state;
  }

  /** The link of a process: what its server uses as its store. */
  link(process: SimulatedProcess): StoreLink {
    return new StoreLink({
      process,
      clock: this.#clock,
      random: this.#random,
      store: this.#seen,
      whenLed: (request) => this.#whenLed(request),
      commit: (...commit) => this.#propose(...commit),
    });
  }

  /** Adds this time to every write of the disk (ms). */
  slowDisk(ms: number): void {
    this.#slowMs = ms;
  }

  /** While the disk is full, only deletions are carried out. */
  fillDisk(full: boolean): void {
    this.#full = full;
  }

  /**
   * The leader is gone. Commits that were not on disk yet are lost from one of them on: some drivers repeat theirs when there
   * is a leader, the others do not know what became of it.
   */
  loseLeader(): void {
    this.#waiting ??= [];
    const proposals = [...this.#proposals];
    this.#proposals.clear();
    const kept = this.#random.integer(proposals.length + 1);
    for (const [i, proposal] of proposals.entries()) {
      proposal.cancel();
      if (i < kept || this.#random.chance(0.5)) this.#waiting.push(proposal.apply);
      else proposal.lose();
    }
  }

  /** A new leader answers what has been waiting. */
  electLeader(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    this.#syncedAt = 0;
    for (const request of waiting) request();
  }

  #whenLed(request: () => void): void {
    if (this.#waiting === undefined) request();
    else this.#waiting.push(request);
  }

  #propose(compares: readonly Compare[], writes: readonly Write[]): Promise<CommitResult> {
    if (this.#full && writes.some(({ value }) => value !== undefined)) {
      const message = 'the database is full (NOSPACE alarm): objects can be deleted in the meantime';
      return Promise.reject(new StoreError('full', message));
    }
    return new Promise((resolve, reject) => {
      const apply = () => resolve(this.#seen.commit(compares, writes));
      const now = this.#clock.monotonic();
      this.#syncedAt = Math.max(this.#syncedAt, now + this.#slowMs + syncMs.least + this.#random.integer(syncMs.range));
      const cancel = this.#clock.after(this.#syncedAt - now, () => {
        this.#proposals.delete(proposal);
        apply();
      });
      const proposal: Proposal = { apply, cancel, lose: () => reject(uncertain()) };
      this.#proposals.add(proposal);
    });
  }
}
