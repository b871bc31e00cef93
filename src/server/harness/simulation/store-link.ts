import type { Clock } from '../../../meta/index.ts';
import {
  type Store,
  StoreError,
  type Watch,
  type WatchOptions,
  type WatchSink,
  type Write,
} from '../../../store/index.ts';
import { Channel } from './channel.ts';
import type { Choices } from './seeded-random.ts';
import type { SimulatedProcess } from './simulated-process.ts';

interface LinkOptions {
  readonly process: SimulatedProcess;
  /** The clock of the world. */
  readonly clock: Clock;
  readonly random: Choices;
  readonly store: Store;
  /** Runs a request once the store has a leader. */
  readonly whenLed: (request: () => void) => void;
  readonly commit: Store['commit'];
}

/** Time after which a call without an answer fails (ms), as that of the driver of etcd. */
const answerMs = 10_000;
/** The longest way of a request, an answer or the change of a watch (ms). */
const distanceMs = 3;

interface OpenWatch {
  readonly channel: Channel;
  /** The revision up to which it has delivered. */
  position: number;
  end(): void;
  fail(error: StoreError): void;
}

/** How one server reaches the store: requests and answers take time, each watch has a connection of its own. */
export class StoreLink {
  /** The store of the server. Closing it leaves the underlying store open. */
  readonly store: Store;
  readonly #options: LinkOptions;
  readonly #requests: Channel;
  readonly #answers: Channel;
  readonly #watches = new Set<OpenWatch>();
  readonly #calls = new Set<Promise<unknown>>();
  #cut = false;
  #closed = false;
  /** The number of commits whose answers are lost. */
  #losing = 0;

  constructor(options: LinkOptions) {
    const { store, process } = options;
    this.#options = options;
    process.whenKilled(() => {
      for (const watch of [...this.#watches]) watch.end();
    });
    this.#requests = this.#channel();
    this.#answers = this.#channel();
    const read = <T>(make: () => Promise<T>) => this.#call(make, (cause) => unavailable(cause));
    this.store = {
      maxValueBytes: store.maxValueBytes,
      revision: () => read(() => store.revision()),
      oldest: () => read(() => store.oldest()),
      size: () => read(() => store.size()),
      get: (...values) => read(() => store.get(...values)),
      list: (...values) => read(() => store.list(...values)),
      commit: (compares, writes) => this.#commit([...compares], writes.map(copied)),
      watch: (...values) => this.#watch(...values),
      compact: (revision) => read(() => store.compact(revision)),
      close: () => this.#close(),
    };
  }

  /** Cuts the link: nothing is delivered in either direction until it is healed. */
  cut(): void {
    this.#cut = true;
    this.#hold();
  }

  #hold(): void {
    this.#requests.hold();
    this.#answers.hold();
    for (const { channel } of this.#watches) channel.hold();
  }

  /** Heals the link: watches resume unless the store has compacted what they have missed. */
  async heal(): Promise<void> {
    if (!this.#cut) return;
    const oldest = await this.#options.store.oldest();
    this.#cut = false;
    this.#requests.release();
    this.#answers.release();
    for (const watch of [...this.#watches]) {
      if (watch.position + 1 >= oldest) watch.channel.release();
      else watch.fail(new StoreError('compacted', 'the watch has missed what is compacted', { revision: oldest }));
    }
  }

  /** Ends all watches, like a connection that is lost. Returns their number. */
  dropWatches(): number {
    const open = [...this.#watches];
    for (const watch of open) watch.fail(unavailable());
    return open.length;
  }

  /** Loses the answers of this number of commits. */
  loseAnswers(commits: number): void {
    this.#losing = commits;
  }

  #channel(): Channel {
    const { clock, random } = this.#options;
    const channel = new Channel(clock, () => (random.integer(1_000) / 1_000) * distanceMs);
    if (this.#cut) channel.hold();
    return channel;
  }

  #call<T>(make: () => Promise<T>, lost: (cause?: unknown) => StoreError): Promise<T> {
    const { process, clock, whenLed } = this.#options;
    if (this.#closed) return Promise.reject(closed());
    const call = new Promise<T>((resolve, reject) => {
      const cancel = clock.after(answerMs, () => process.enter(() => reject(lost())));
      const answer = (settle: () => void) =>
        this.#answers.send(() => {
          cancel();
          process.enter(settle);
        });
      const carryOut = () =>
        make().then(
          (value) => answer(() => resolve(value)),
          (error: Error) => answer(() => reject(error)),
        );
      this.#requests.send(() => whenLed(() => void carryOut()));
    });
    this.#calls.add(call);
    const end = () => this.#calls.delete(call);
    call.then(end, end);
    return call;
  }

  #commit(...commit: Parameters<Store['commit']>): ReturnType<Store['commit']> {
    return this.#call(async () => {
      const result = await this.#options.commit(...commit);
      if (this.#losing === 0) return result;
      this.#losing -= 1;
      throw uncertain();
    }, uncertain);
  }

  #watch(prefix: string, after: number, sink: WatchSink, options?: WatchOptions): Watch {
    const { process, store } = this.#options;
    const channel = this.#channel();
    let open = true;
    let inner: Watch | undefined;
    const end = () => {
      open = false;
      this.#watches.delete(watch);
      inner?.close();
    };
    const deliver = (run: () => void) => channel.send(() => process.enter(() => open && run()));
    const fail = (error: StoreError) => {
      end();
      sink.error(error);
    };
    const listener: WatchSink = {
      batch: (revision, changes) =>
        deliver(() => {
          watch.position = Math.max(watch.position, revision);
          sink.batch(revision, changes);
        }),
      error: (error) => deliver(() => fail(error)),
    };
    const watch: OpenWatch = {
      channel,
      position: after,
      end,
      fail: (error) => void this.#options.clock.after(0, () => process.enter(() => open && fail(error))),
    };
    this.#watches.add(watch);
    if (this.#closed) watch.fail(closed());
    // The store is asked at once, and answers like a watch of a server that has reached it later.
    else inner = store.watch(prefix, after, listener, options);
    return {
      progress: () => this.#requests.send(() => open && inner?.progress()),
      close: end,
    };
  }

  async #close(): Promise<void> {
    this.#closed = true;
    for (const watch of [...this.#watches]) watch.fail(closed());
    await Promise.allSettled(this.#calls);
  }
}

/** The caller may change its bytes once the call has returned. */
const copied = (write: Write): Write => (write.value === undefined ? write : { ...write, value: write.value.slice() });

/** The error of a commit whose answer was lost. */
export const uncertain = (): StoreError =>
  new StoreError('uncertain', 'the store has not told whether the commit took place');
const closed = () => new StoreError('closed', 'the store is closed');
const unavailable = (cause?: unknown) => new StoreError('unavailable', 'the store cannot be reached', { cause });
