import { isDeepStrictEqual } from 'node:util';
import { type ApiObject, type Client, type ClientWatch, StatusError, type Store } from '../../src/server/index.ts';

/** The change of one object in one commit; both states carry the version that they had. */
export interface Entry {
  readonly revision: number;
  readonly before: ApiObject | undefined;
  readonly after: ApiObject | undefined;
}

/** Everything that ever happened to the config maps of a store, as the store itself tells it. */
export class Journal {
  readonly entries: Entry[] = [];
  readonly #versions = new Map<string, Entry[]>();
  readonly #stop: () => void;
  readonly #begins: number;

  constructor(store: Store, after: number) {
    this.#begins = after;
    const sink: Parameters<Store['watch']>[2] = {
      batch: (revision, changes) => {
        for (const { key, entry, previous } of changes) {
          if (!/\/configmaps\/[^/]+\/[^/]+$/.test(key)) continue;
          this.#add(key, {
            revision,
            before: previous && objectOf(previous.value, previous.revision),
            after: entry && objectOf(entry.value, revision),
          });
        }
      },
      error: (error) => {
        throw error;
      },
    };
    const watch = store.watch('', after, sink, { previous: true });
    this.#stop = () => watch.close();
  }

  get latest(): number {
    return this.entries.at(-1)?.revision ?? 0;
  }

  /** The version at which the journal begins. */
  get first(): number {
    return this.#begins;
  }

  /** Index of the first entry after a revision. */
  after(revision: number): number {
    let low = 0;
    let high = this.entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.entries[middle] as Entry).revision > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The selected objects as they were, in the order of their keys. */
  at(revision: number, selection: Selection): ApiObject[] {
    const found: ApiObject[] = [];
    for (const key of [...this.#versions.keys()].sort()) {
      const object = this.#versions.get(key)?.findLast((entry) => entry.revision <= revision)?.after;
      if (object !== undefined && selection.matches(object)) found.push(object);
    }
    return found;
  }

  close(): void {
    this.#stop();
  }

  #add(key: string, entry: Entry): void {
    this.entries.push(entry);
    const versions = this.#versions.get(key);
    if (versions === undefined) this.#versions.set(key, [entry]);
    else versions.push(entry);
  }
}

function objectOf(value: Uint8Array, revision: number): ApiObject {
  const object = JSON.parse(Buffer.from(value).toString()) as ApiObject;
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}

/** Some of the config maps: as the server is asked for them, and what that means. */
export interface Selection {
  readonly namespace?: string;
  readonly name?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly matches: (object: ApiObject) => boolean;
}

/** The event of a change for a watch of a selection. */
function eventOf({ before, after, revision }: Entry, { matches }: Selection) {
  const was = before !== undefined && matches(before);
  const is = after !== undefined && matches(after);
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', object: after };
  if (!was) return undefined;
  return {
    type: 'DELETED',
    object: { ...before, metadata: { ...before.metadata, resourceVersion: String(revision) } },
  };
}

const versionOf = ({ metadata }: ApiObject): number => Number(metadata.resourceVersion);
const keysOf = (objects: readonly ApiObject[]): string => objects.map(keyOf).join(', ');
const keyOf = ({ metadata }: ApiObject): string => `${metadata.namespace}/${metadata.name}`;

/** How a watcher that knows nothing begins. */
export type Beginning = 'list' | 'cached' | 'stream' | 'plain';

export interface Counts {
  joined: { [how in Beginning | 'resumed' | 'ofBookmark']: number };
  events: number;
  bookmarks: number;
  expired: number;
  ended: number;
}

/**
 * A client that keeps a copy of a selection, as clients do: lists, watches, comes back with the version it saw last,
 * and lists again when that is too old. Every event is compared with the journal at once.
 */
export class Watcher {
  readonly selection: Selection;
  /** Resolves when the watch has ended; undefined when there is none. */
  done: Promise<void> | undefined;
  failure: Error | undefined;
  readonly #client: Client;
  readonly #journal: Journal;
  readonly #counts: Counts;
  readonly #held = new Map<string, ApiObject>();
  /** The last version seen; undefined: the watcher must list first. */
  #version: number | undefined;
  #fromBookmark = false;
  /** The highest version of anything seen. */
  #highest = 0;
  /** The next entry of the journal that has not been told. */
  #next = 0;
  /** The rest of the initial state; with a streamed one, how it is told. */
  #initial: ApiObject[] = [];
  #streaming = false;
  #watch: ClientWatch<ApiObject> | undefined;
  #pause: { over: Promise<void>; end: () => void } | undefined;

  constructor(client: Client, journal: Journal, counts: Counts, selection: Selection) {
    this.#client = client;
    this.#journal = journal;
    this.#counts = counts;
    this.selection = selection;
  }

  get #place() {
    const { namespace, name } = this.selection;
    return {
      apiVersion: 'v1',
      resource: 'configmaps',
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
    };
  }

  get #selectors() {
    const { labelSelector, fieldSelector, name } = this.selection;
    const field = name === undefined ? fieldSelector : `metadata.name=${name}`;
    return {
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(field === undefined ? {} : { fieldSelector: field }),
    };
  }

  /** While it is away: it knows nothing, or just what was there at a version. */
  remember(version: number | undefined): void {
    this.#version = version;
    this.#held.clear();
    this.#fromBookmark = false;
    if (version === undefined) return;
    for (const object of this.#journal.at(version, this.selection)) this.#held.set(keyOf(object), object);
    this.#next = this.#journal.after(version);
  }

  /** Starts to watch: from the version seen last when there is one, else as `how` says. */
  async join(how: Beginning, options: { bookmarks: boolean; timeoutSeconds?: number }): Promise<void> {
    const { bookmarks, ...timeout } = options;
    if (this.#version === undefined && (how === 'list' || how === 'cached')) await this.#list(how === 'cached');
    else if (this.#version !== undefined) {
      this.#counts.joined.resumed++;
      if (this.#fromBookmark) this.#counts.joined.ofBookmark++;
    }
    const version = this.#version;
    this.#streaming = version === undefined && how === 'stream';
    if (version === undefined) this.#held.clear();
    this.#watch = await this.#client.watch(this.#place, {
      ...this.#selectors,
      ...timeout,
      ...(version === undefined ? {} : { resourceVersion: String(version) }),
      ...(bookmarks || this.#streaming ? { allowWatchBookmarks: true } : {}),
      ...(this.#streaming ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' as const } : {}),
    });
    if (version === undefined && !this.#streaming) {
      // Nothing was written since it was asked for: the state is the latest.
      this.#counts.joined.plain++;
      this.#initial = this.#journal.at(this.#journal.latest, this.selection);
      this.#next = this.#journal.entries.length;
    }
    this.done = this.#read(this.#watch);
  }

  leave(): void {
    this.#watch?.close();
    this.resumeReading();
  }

  /** Takes no further events until `resumeReading`. */
  stopReading(): void {
    if (this.#pause !== undefined) return;
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#pause = { over, end };
  }

  resumeReading(): void {
    this.#pause?.end();
    this.#pause = undefined;
  }

  /** The first event that has not been told, of those that have happened. */
  get missing() {
    const { entries } = this.#journal;
    for (let i = this.#next; i < entries.length; i++) {
      const event = eventOf(entries[i] as Entry, this.selection);
      if (event !== undefined) return event;
    }
    return this.#initial.length > 0 || this.#streaming ? { type: 'ADDED', object: this.#initial[0] } : undefined;
  }

  /** Compares what it holds with a list, now that all is still. */
  async compareWithList(): Promise<void> {
    const { items } = await this.#client.list<ApiObject>(
      this.#place.name === undefined ? this.#place : withoutName(this.#place),
      this.#selectors,
    );
    const held = [...this.#held.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    if (!isDeepStrictEqual(held.map(withoutKind), items)) {
      throw new Error(`what was watched is not what is listed: ${keysOf(held)} and ${keysOf(items)}`);
    }
  }

  async #list(cached: boolean): Promise<void> {
    this.#counts.joined[cached ? 'cached' : 'list']++;
    const before = this.#journal.latest;
    const place = this.#place.name === undefined ? this.#place : withoutName(this.#place);
    const { items, metadata } = await this.#client.list<ApiObject>(place, {
      ...this.#selectors,
      ...(cached ? { resourceVersion: '0' } : {}),
    });
    const version = Number(metadata.resourceVersion);
    if (!cached && version < before) throw new Error(`a consistent list shows ${version}, after ${before}`);
    if (version < this.#highest) throw new Error(`a list goes back to ${version}, from ${this.#highest}`);
    const expected = this.#journal.at(version, this.selection);
    if (!isDeepStrictEqual(items, expected.map(withoutKind))) {
      throw new Error(`the list at ${version} is not the state then: ${keysOf(items)} and ${keysOf(expected)}`);
    }
    this.#held.clear();
    for (const object of expected) this.#held.set(keyOf(object), object);
    this.#reach(version);
    this.#next = this.#journal.after(version);
  }

  async #read(watch: ClientWatch<ApiObject>): Promise<void> {
    try {
      for await (const { type, object } of watch) {
        this.#take(type, object);
        if (this.#pause !== undefined) await this.#pause.over;
      }
      this.#counts.ended++;
    } catch (error) {
      if (error instanceof StatusError && error.code === 410) {
        this.#counts.expired++;
        this.#version = undefined;
      } else this.failure = error as Error;
    }
    // Whoever has not seen the whole state at the start has nothing to come back with.
    if (this.#initial.length > 0 || this.#streaming) this.#version = undefined;
    this.#initial = [];
    this.#streaming = false;
    this.#watch = undefined;
    this.done = undefined;
  }

  #take(type: string, object: ApiObject): void {
    this.#counts.events++;
    if (this.#streaming) this.#takeStreamed(type, object);
    else if (this.#initial.length > 0) {
      const expected = this.#initial.shift() as ApiObject;
      this.#same({ type, object }, { type: 'ADDED', object: expected });
      this.#held.set(keyOf(expected), expected);
    } else if (type === 'BOOKMARK') this.#takeBookmark(versionOf(object));
    else this.#takeLive(type, object);
  }

  #takeLive(type: string, object: ApiObject): void {
    const { entries } = this.#journal;
    let expected: ReturnType<typeof eventOf>;
    while (expected === undefined) {
      const entry = entries[this.#next++];
      if (entry === undefined) throw new Error(`${type} ${keyOf(object)} at ${versionOf(object)} never happened`);
      expected = eventOf(entry, this.selection);
    }
    this.#same({ type, object }, expected);
    const key = keyOf(object);
    if ((type === 'ADDED') === this.#held.has(key)) throw new Error(`${type} ${key}, which is held or not`);
    if (type === 'DELETED') this.#held.delete(key);
    else this.#held.set(key, object);
    this.#reach(versionOf(object));
  }

  /** Nothing up to a bookmark may be outstanding. */
  #takeBookmark(version: number): void {
    this.#counts.bookmarks++;
    // Who came back with an old version may have been further in an earlier watch.
    const reached = this.#version ?? 0;
    if (version < reached) throw new Error(`a bookmark goes back to ${version}, from ${reached}`);
    const { entries } = this.#journal;
    for (; (entries[this.#next]?.revision ?? Number.POSITIVE_INFINITY) <= version; this.#next++) {
      const event = eventOf(entries[this.#next] as Entry, this.selection);
      if (event !== undefined) {
        throw new Error(
          `the bookmark ${version} comes before ${event.type} at ${versionOf(event.object as ApiObject)}`,
        );
      }
    }
    this.#reach(version);
    this.#fromBookmark = true;
  }

  #takeStreamed(type: string, object: ApiObject): void {
    if (type === 'ADDED') {
      this.#held.set(keyOf(object), object);
      return;
    }
    const { annotations } = object.metadata;
    if (type !== 'BOOKMARK' || annotations?.['k8s.io/initial-events-end'] !== 'true') {
      throw new Error(`${type} amid the initial events`);
    }
    this.#counts.joined.stream++;
    const version = versionOf(object);
    const expected = this.#journal.at(version, this.selection);
    if (!isDeepStrictEqual([...this.#held.values()], expected)) {
      throw new Error(`the streamed list at ${version} is not the state then`);
    }
    if (version < this.#highest) throw new Error(`a streamed list goes back to ${version}, from ${this.#highest}`);
    this.#streaming = false;
    this.#next = this.#journal.after(version);
    this.#reach(version);
  }

  #same(seen: { type: string; object: ApiObject }, expected: { type: string; object: ApiObject | undefined }): void {
    if (isDeepStrictEqual(seen, expected)) return;
    const told = ({ type, object }: typeof expected) =>
      object === undefined ? type : `${type} ${keyOf(object)} at ${versionOf(object)}`;
    throw new Error(`${told(seen)} was told where ${told(expected)} was due`);
  }

  #reach(version: number): void {
    this.#version = version;
    this.#fromBookmark = false;
    this.#highest = Math.max(this.#highest, version);
  }
}

function withoutName<P extends { name?: string }>(place: P): Omit<P, 'name'> {
  const { name: _, ...rest } = place;
  return rest;
}

/** An object as it stands in a list. */
export function withoutKind(object: ApiObject): Omit<ApiObject, 'kind' | 'apiVersion'> {
  const { kind: _, apiVersion: __, ...rest } = object;
  return rest;
}
