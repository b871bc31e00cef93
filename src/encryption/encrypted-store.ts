import { formatGroupResource, type GroupResource, serverTurns } from '../meta/index.ts';
import {
  type Change,
  type CommitResult,
  type Compare,
  type Entry,
  type GetResult,
  type ListRange,
  type ListResult,
  type Store,
  StoreError,
  type Watch,
  type WatchOptions,
  type WatchSink,
  type Write,
} from '../store/index.ts';
import type { EncryptionRules } from './rules.ts';

export interface EncryptedStoreOptions {
  readonly store: Store;
  /** The present rules. */
  readonly rules: () => EncryptionRules;
  /** The resource of a key, or that of a prefix of keys; undefined where nothing is encrypted. */
  readonly resourceOf: (key: string) => GroupResource | undefined;
  /** The prefix of the store's keys in the authenticated paths: a ciphertext is valid under one path only. */
  readonly pathPrefix: string;
  /** Called when the store is closed, which waits for it. */
  readonly onClose?: () => Promise<void>;
}

/**
 * A store whose values are encrypted by resource, over one that holds the ciphertexts. An entry that cannot be decrypted
 * has an empty value, which no reader takes for an object. It is `stale`, as are those that would be stored in another
 * way now. Reads and watches fail as `unavailable` while a key cannot be had.
 */
export class EncryptedStore implements Store {
  readonly encrypts = true;
  readonly #options: EncryptedStoreOptions;
  readonly #store: Store;
  /** The watches that follow what their readers have listed. */
  readonly #watches = new Set<DecryptedWatch>();
  /** The resources with entries that could not be decrypted. */
  readonly #unreadable = new Set<string>();

  constructor(options: EncryptedStoreOptions) {
    this.#options = options;
    this.#store = options.store;
  }

  get maxValueBytes(): number {
    return this.#store.maxValueBytes - this.#options.rules().overhead;
  }

  revision(): Promise<number> {
    return this.#store.revision();
  }

  oldest(): Promise<number> {
    return this.#store.oldest();
  }

  size(): Promise<number | undefined> {
    return this.#store.size();
  }

  async get(key: string, revision?: number): Promise<GetResult> {
    const found = await this.#store.get(key, revision);
    return { ...found, entry: await this.#decryptIfAny(found.entry) };
  }

  async list(range: ListRange): Promise<ListResult> {
    const page = await this.#store.list(range);
    const entries: Entry[] = [];
    const turns = serverTurns();
    for (const entry of page.entries) {
      if (turns.over) await turns.next();
      const decrypted = this.#decrypt(entry);
      entries.push(decrypted instanceof Promise ? await decrypted : decrypted);
    }
    return { ...page, entries };
  }

  async commit(compares: readonly Compare[], writes: readonly Write[]): Promise<CommitResult> {
    for (const { value } of writes) this.#checkSize(value);
    const result = await this.#store.commit(
      compares,
      writes.map((write) => this.#encrypt(write)),
    );
    if (result.ok) return result;
    return { ...result, found: await Promise.all(result.found.map((entry) => this.#decryptIfAny(entry))) };
  }

  watch(prefix: string, after: number, sink: WatchSink, options?: WatchOptions): Watch {
    const decrypt = (entry: Entry | undefined) => entry && this.#decrypt(entry);
    const watch = new DecryptedWatch(prefix, sink, decrypt, () => this.#watches.delete(watch));
    // Those of history begin where their reader cannot list.
    if (options?.previous !== true) this.#watches.add(watch);
    return watch.open((inner) => this.#store.watch(prefix, after, inner, options));
  }

  compact(revision: number): Promise<void> {
    return this.#store.compact(revision);
  }

  async close(): Promise<void> {
    const stopped = this.#options.onClose?.();
    await this.#store.close();
    await stopped;
  }

  /** Makes the readers of resources with undecryptable entries read them again: it may be known how by now. */
  recheck(): void {
    for (const watch of [...this.#watches]) {
      const resource = this.#options.resourceOf(watch.prefix);
      if (resource !== undefined && this.#unreadable.has(formatGroupResource(resource))) watch.restart();
    }
    this.#unreadable.clear();
  }

  #checkSize(value: Uint8Array | undefined): void {
    const { maxValueBytes } = this;
    if (value === undefined || value.length <= maxValueBytes) return;
    throw new StoreError('invalid', `a value of ${value.length} bytes is longer than ${maxValueBytes}`);
  }

  #encrypt(write: Write): Write {
    const { key, value } = write;
    const resource = value && this.#options.resourceOf(key);
    if (value === undefined || resource === undefined) return write;
    return { ...write, value: this.#options.rules().transformerOf(resource).encrypt(value, this.#pathOf(key)) };
  }

  async #decryptIfAny(entry: Entry | undefined): Promise<Entry | undefined> {
    return entry && this.#decrypt(entry);
  }

  #decrypt(entry: Entry): Entry | Promise<Entry> {
    const { key, value, revision } = entry;
    const resource = this.#options.resourceOf(key);
    if (resource === undefined) return entry;
    const found = this.#options.rules().transformerOf(resource).decrypt(value, this.#pathOf(key));
    const entryOf = (decrypted: Awaited<typeof found>): Entry => {
      if (decrypted?.stale === true) return { key, revision, ...decrypted };
      if (decrypted !== undefined) return { key, revision, value: decrypted.value };
      this.#unreadable.add(formatGroupResource(resource));
      return { key, revision, value: new Uint8Array(), stale: true };
    };
    return found instanceof Promise ? found.then(entryOf) : entryOf(found);
  }

  #pathOf(key: string): string {
    return this.#options.pathPrefix + key;
  }
}

type Decrypt = (entry: Entry | undefined) => Entry | undefined | Promise<Entry>;

/** A watch that delivers decrypted changes, in order: those that wait for a key hold up what comes after them. */
class DecryptedWatch implements Watch {
  readonly prefix: string;
  readonly #sink: WatchSink;
  readonly #decrypt: Decrypt;
  readonly #onEnd: () => void;
  #inner: Watch | undefined;
  #ended = false;
  /** The end of the deliveries that wait for keys; undefined when none does. */
  #pending: Promise<void> | undefined;

  constructor(prefix: string, sink: WatchSink, decrypt: Decrypt, onEnd: () => void) {
    this.prefix = prefix;
    this.#sink = sink;
    this.#decrypt = decrypt;
    this.#onEnd = onEnd;
  }

  open(watch: (sink: WatchSink) => Watch): this {
    this.#inner = watch({
      batch: (revision, changes) => {
        this.#inOrder(() => this.#batch(revision, changes));
      },
      error: (error) => {
        this.#inOrder(() => this.#fail(error));
      },
    });
    return this;
  }

  progress(): void {
    this.#inner?.progress();
  }

  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd();
    this.#inner?.close();
  }

  /** Ends the watch in a way that makes its reader list the entries again. */
  restart(): void {
    this.#fail(new StoreError('compacted', 'entries may be decrypted that could not be before'));
  }

  #inOrder(deliver: () => void | Promise<void>): void {
    const started = this.#pending === undefined ? deliver() : this.#pending.then(deliver);
    if (started === undefined) return;
    const pending: Promise<void> = started.finally(() => {
      if (this.#pending === pending) this.#pending = undefined;
    });
    this.#pending = pending;
  }

  #batch(revision: number, changes: readonly Change[]): void | Promise<void> {
    if (this.#ended) return undefined;
    const decrypted = changes.map((change) => this.#decryptChange(change));
    if (decrypted.every((one): one is Change => !(one instanceof Promise))) {
      this.#sink.batch(revision, decrypted);
      return undefined;
    }
    const deliver = (all: readonly Change[]) => {
      if (!this.#ended) this.#sink.batch(revision, all);
    };
    return Promise.all(decrypted.map((one) => Promise.resolve(one))).then(deliver, (error: StoreError) =>
      this.#fail(error),
    );
  }

  #decryptChange({ key, entry, previous }: Change): Change | Promise<Change> {
    const now = this.#decrypt(entry);
    const before = this.#decrypt(previous);
    if (!(now instanceof Promise) && !(before instanceof Promise)) return { key, entry: now, previous: before };
    return Promise.all([Promise.resolve(now), Promise.resolve(before)]).then(([one, other]) => ({
      key,
      entry: one,
      previous: other,
    }));
  }

  #fail(error: StoreError): void {
    if (this.#ended) return;
    this.close();
    this.#sink.error(error);
  }
}
