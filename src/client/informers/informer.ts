import { type ApiObject, type Clock, scheduler, type Turns } from '../../meta/index.ts';
import type { Client } from '../client.ts';
import { type KindPlace, keyIn, keyOf, placeIn, type TypedKind, type TypedObject } from '../kinds/kind.ts';
import { metadataOnly } from '../kinds/metadata-only.ts';
import { pagesOf } from '../kinds/pages.ts';
import type { ListOptions } from '../kinds/place-client.ts';
import type { Log } from '../runtime/log.ts';
import type { Signal } from '../transport/transport.ts';
import type { ClientWatchEvent } from '../transport/watch.ts';
import { reflect } from './reflector.ts';

/** Told of every change: without `old` an object is new, without `object` it has been deleted. */
export type ChangeHandler<T> = (object: T | undefined, old: T | undefined) => void;

/** What of a kind is held: all of it, or what is in a namespace and selected. */
export type Selection = Pick<ListOptions, 'labelSelector' | 'fieldSelector'> & { readonly namespace?: string };

export interface InformerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends lists and watches. */
  readonly signal: Signal;
}

/**
 * The objects of a kind in memory, kept up to date by list and watch. They are shared and must not be modified; they come
 * without `managedFields`. What this process writes can be there at once: `observe` and `forget` are called with the
 * responses of its writes, so that a reconcile never acts on a state older than its own last write.
 */
export class Informer<T extends TypedObject> {
  readonly kind: TypedKind<T>;
  readonly selection: Selection;
  /** Resolves when the first list is complete, or the kind is found not to be served. */
  readonly synced: Promise<void>;
  readonly #options: InformerOptions;
  readonly #objects = new Map<string, T>();
  readonly #byNamespace = new Map<string, Map<string, T>>();
  readonly #indexes = new Map<string, Index<T>>();
  readonly #handlers = new Set<ChangeHandler<T>>();
  /** The versions of objects, by uid, whose deletion own writes have shown and the watch has not yet. */
  readonly #removed = new Map<string, number>();
  /** The resourceVersion up to which the watch has shown every change; 0 before the first list. */
  #revision = 0;
  /** Nothing is asked of the server until the clock has moved on. */
  #waits = false;
  #place: KindPlace | undefined;
  #resolveSynced = () => {};
  /** Those who wait for the next thing that the server shows. */
  #waiting: (() => void)[] = [];

  readonly #turns: Turns;

  constructor(kind: TypedKind<T>, selection: Selection, options: InformerOptions) {
    this.kind = kind;
    this.selection = selection;
    this.#options = options;
    this.#turns = scheduler.turns(`informer of ${kind.kind}`);
    this.synced = new Promise((resolve) => {
      this.#resolveSynced = resolve;
    });
  }

  get(namespace: string, name: string): T | undefined {
    return this.#objects.get(keyIn(namespace, name));
  }

  /** Where the objects are; undefined until the server has told. */
  get place(): KindPlace | undefined {
    return this.#place;
  }

  /** The object of a key in queues: see `keyOf`. */
  getByKey(key: string): T | undefined {
    return this.#objects.get(key);
  }

  /** The objects of a namespace, or for an empty one all, in no particular order. */
  list(namespace = ''): T[] {
    if (namespace === '') return [...this.#objects.values()];
    return [...(this.#byNamespace.get(namespace)?.values() ?? [])];
  }

  get size(): number {
    return this.#objects.size;
  }

  /** The index of this name, by the values that `valuesOf` gives for each object: made on the first call. */
  indexBy(name: string, valuesOf: (object: T) => readonly string[]): Index<T> {
    const found = this.#indexes.get(name);
    if (found !== undefined) return found;
    const index = new Index(valuesOf);
    for (const object of this.#objects.values()) index.add(object);
    this.#indexes.set(name, index);
    return index;
  }

  /** The handler is also told of the objects that are there. It must not throw. The result takes it away. */
  onChange(handler: ChangeHandler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.#objects.values()) handler(object, undefined);
    return () => this.#handlers.delete(handler);
  }

  /** Whether the object is newer than what is held and what the watch has shown. */
  lacks(object: TypedObject): boolean {
    const held = this.#objects.get(keyOf(object));
    if (this.#removed.has(uidOf(object))) return false;
    return versionOf(object) > Math.max(held === undefined ? 0 : versionOf(held), this.#revision);
  }

  /** Takes the object that a write of this process returned, unless the watch has shown a later state. */
  observe(object: T): void {
    if (!this.lacks(object)) return;
    const uid = uidOf(object);
    const held = this.#objects.get(keyOf(object));
    // The object that had the name before was deleted, which the watch is still to show.
    if (held !== undefined && uidOf(held) !== uid) this.#removed.set(uidOf(held), versionOf(held));
    this.#set(object);
  }

  /** Drops the object of this uid, which this process has deleted, unless the watch has shown that. */
  forget(namespace: string, name: string, uid: string): void {
    const held = this.get(namespace, name);
    if (held === undefined || uidOf(held) !== uid) return;
    this.#removed.set(uid, versionOf(held));
    this.#delete(held);
  }

  /** Lists and watches until the signal is aborted. Never rejects: errors are logged. */
  run(): Promise<void> {
    const { client, clock, log, signal } = this.#options;
    const { namespace, ...selection } = this.selection;
    const place = async () => {
      this.#place = await client.resolve(this.kind);
      return placeIn(this.#place, namespace);
    };
    let found: T[] = [];
    signal.addEventListener('abort', () => this.#progressed());
    return reflect(
      { client, clock, log, signal, name: this.kind.kind, place, selection },
      {
        listing: () => {
          found = [];
        },
        page: (objects) => {
          for (const object of objects) found.push(this.#trimmed(object));
        },
        listed: async (revision) => {
          await this.#replace(found, revision);
          found = [];
          this.#progressed();
        },
        event: (event) => {
          this.#apply(event);
          this.#progressed();
        },
        failed: (code) => {
          if (code === 404) return this.#replace([], 0);
          return undefined;
        },
        waiting: (waits) => {
          this.#waits = waits;
          this.#progressed();
        },
      },
    );
  }

  /**
   * Resolves when everything is held that the server had at the call, or nothing more comes before the clock has moved
   * on: a list or watch has failed and is to be tried again. @throws StatusError
   */
  async caughtUp(): Promise<void> {
    const { signal } = this.#options;
    for (;;) {
      const progress = new Promise<void>((resolve) => this.#waiting.push(resolve));
      if (signal.aborted || this.#waits || (await this.#isCurrent())) return;
      await progress;
    }
  }

  /** Whether what is held is what the server lists. */
  async #isCurrent(): Promise<boolean> {
    if (this.#revision === 0 || this.#place === undefined) return false;
    const { client, signal } = this.#options;
    const { namespace, ...selection } = this.selection;
    // Whole objects where a server does not know the former.
    const options = { ...selection, signal, accept: `${metadataOnly(client.names).list}, application/json` };
    let listed = 0;
    for await (const { items, metadata } of pagesOf<ApiObject>(client, placeIn(this.#place, namespace), options)) {
      if (this.#revision >= Number(metadata.resourceVersion)) return true;
      listed += items.length;
      const isHeld = (object: ApiObject) => {
        const held = this.#objects.get(keyOf(object));
        return held !== undefined && uidOf(held) === uidOf(object) && versionOf(held) === versionOf(object);
      };
      if (!items.every(isHeld)) return false;
    }
    return listed === this.#objects.size;
  }

  #progressed(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  #apply({ type, object: shown }: ClientWatchEvent<ApiObject>): void {
    const object = this.#trimmed(shown);
    this.#revision = Math.max(this.#revision, versionOf(object));
    if (type === 'BOOKMARK') return;
    const uid = uidOf(object);
    const held = this.#objects.get(keyOf(object));
    if (type === 'DELETED') {
      this.#removed.delete(uid);
      if (held !== undefined && uidOf(held) === uid) this.#delete(held);
    } else if (!this.#removed.has(uid) && (held === undefined || versionOf(held) < versionOf(object))) {
      this.#set(object);
    }
  }

  /** Makes the content that of a list, but for what this process has written and deleted since. */
  async #replace(objects: readonly T[], revision: number): Promise<void> {
    // The store has been restored, or the kind is no longer served: nothing that is held is newer.
    const restarted = revision < this.#revision;
    const listed = new Map(objects.map((object) => [keyOf(object), object]));
    const uids = new Set(objects.map(uidOf));
    for (const [uid, version] of [...this.#removed]) {
      // A list that is older than the object does not show its deletion: the watch will show both.
      if (restarted || (version <= revision && !uids.has(uid))) this.#removed.delete(uid);
    }
    const turns = this.#turns;
    for (const [key, held] of [...this.#objects]) {
      if (turns.over) await turns.next();
      if (this.#objects.get(key) !== held) continue;
      const isListed = listed.get(key)?.metadata?.uid === held.metadata?.uid;
      if (!isListed && (restarted || versionOf(held) <= revision)) this.#delete(held);
    }
    this.#revision = revision;
    for (const object of objects) {
      if (turns.over) await turns.next();
      if (this.#removed.has(uidOf(object))) continue;
      const held = this.#objects.get(keyOf(object));
      if (held === undefined || restarted || versionOf(held) < versionOf(object)) this.#set(object);
    }
    this.#resolveSynced();
  }

  #set(object: T): void {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    // An object of the same name that was deleted and created again.
    if (old !== undefined && uidOf(old) !== uidOf(object)) {
      this.#delete(old);
      this.#set(object);
      return;
    }
    this.#objects.set(key, object);
    const { namespace = '' } = object.metadata ?? {};
    if (namespace !== '') {
      const inNamespace = this.#byNamespace.get(namespace) ?? new Map<string, T>();
      this.#byNamespace.set(namespace, inNamespace.set(key, object));
    }
    for (const index of this.#indexes.values()) {
      if (old !== undefined) index.remove(old);
      index.add(object);
    }
    for (const handler of this.#handlers) handler(object, old);
  }

  #delete(held: T): void {
    const key = keyOf(held);
    this.#objects.delete(key);
    const { namespace = '' } = held.metadata ?? {};
    const inNamespace = this.#byNamespace.get(namespace);
    inNamespace?.delete(key);
    if (inNamespace?.size === 0) this.#byNamespace.delete(namespace);
    for (const index of this.#indexes.values()) index.remove(held);
    for (const handler of this.#handlers) handler(undefined, held);
  }

  /** Objects of lists have no kind of their own. */
  #trimmed(object: ApiObject): T {
    delete object.metadata.managedFields;
    object.kind ??= this.kind.kind;
    object.apiVersion ??= this.#place?.apiVersion ?? this.kind.apiVersion;
    return object as TypedObject as T;
  }
}

export const versionOf = ({ metadata }: TypedObject): number => Number(metadata?.resourceVersion ?? 0);

const uidOf = ({ metadata }: TypedObject): string => metadata?.uid ?? '';

/** Objects by values of theirs. */
export class Index<T extends TypedObject> {
  readonly #valuesOf: (object: T) => readonly string[];
  readonly #byValue = new Map<string, Map<string, T>>();

  constructor(valuesOf: (object: T) => readonly string[]) {
    this.#valuesOf = valuesOf;
  }

  /** The objects with this value, in no particular order. */
  get(value: string): T[] {
    return [...(this.#byValue.get(value)?.values() ?? [])];
  }

  add(object: T): void {
    for (const value of this.#valuesOf(object)) {
      const objects = this.#byValue.get(value) ?? new Map<string, T>();
      this.#byValue.set(value, objects.set(keyOf(object), object));
    }
  }

  remove(object: T): void {
    for (const value of this.#valuesOf(object)) {
      const objects = this.#byValue.get(value);
      objects?.delete(keyOf(object));
      if (objects?.size === 0) this.#byValue.delete(value);
    }
  }
}
