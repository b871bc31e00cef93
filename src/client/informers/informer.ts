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

/** Receives every change: `old` is undefined for a new object, `object` for a deleted one. */
export type ChangeHandler<T> = (object: T | undefined, old: T | undefined) => void;

/** Which objects of a kind an informer holds: all, or those of one namespace and selector. */
export type Selection = Pick<ListOptions, 'labelSelector' | 'fieldSelector'> & { readonly namespace?: string };

export interface InformerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends lists and watches. */
  readonly signal: Signal;
}

/**
 * Holds the objects of a kind in memory, kept up to date by list and watch. The objects are shared and must not be
 * modified; they have no `managedFields`. `observe` and `forget` receive the responses of writes of this process, so that
 * a reconcile never acts on a state older than its own last write.
 */
export class Informer<T extends TypedObject> {
  readonly kind: TypedKind<T>;
  readonly selection: Selection;
  /** Resolves when the first list is complete, or when the server does not serve the kind. */
  readonly synced: Promise<void>;
  readonly #options: InformerOptions;
  readonly #objects = new Map<string, T>();
  readonly #byNamespace = new Map<string, Map<string, T>>();
  readonly #indexes = new Map<string, Index<T>>();
  readonly #handlers = new Set<ChangeHandler<T>>();
  /** Objects that a write of this process has deleted and the watch has not yet: resourceVersions by uid. */
  readonly #removed = new Map<string, number>();
  /** The resourceVersion up to which every change is known; 0 before the first list. */
  #revision = 0;
  /** Whether the next request waits for the clock. */
  #waits = false;
  #place: KindPlace | undefined;
  #resolveSynced = () => {};
  /** Resolvers of calls that wait for the next list, event or delay. */
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

  /** Returns the object; undefined when it does not exist. The namespace of cluster-scoped objects is empty. */
  get(namespace: string, name: string): T | undefined {
    return this.#objects.get(keyIn(namespace, name));
  }

  /** The resource and scope of the kind; undefined until discovery has been read. */
  get place(): KindPlace | undefined {
    return this.#place;
  }

  /** Returns the object of a queue key; see `keyOf`. */
  getByKey(key: string): T | undefined {
    return this.#objects.get(key);
  }

  /** Returns the objects of a namespace in no particular order; an empty namespace means all. */
  list(namespace = ''): T[] {
    if (namespace === '') return [...this.#objects.values()];
    return [...(this.#byNamespace.get(namespace)?.values() ?? [])];
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Returns the index of this name over the values that `valuesOf` returns; created on the first call. */
  indexBy(name: string, valuesOf: (object: T) => readonly string[]): Index<T> {
    const existing = this.#indexes.get(name);
    if (existing !== undefined) return existing;
    const index = new Index(valuesOf);
    for (const object of this.#objects.values()) index.add(object);
    this.#indexes.set(name, index);
    return index;
  }

  /** Adds a handler, which also receives the existing objects. It must not throw. The returned function removes it. */
  onChange(handler: ChangeHandler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.#objects.values()) handler(object, undefined);
    return () => this.#handlers.delete(handler);
  }

  /** Returns whether the object is newer than the informer's own state. */
  lacks(object: TypedObject): boolean {
    const current = this.#objects.get(keyOf(object));
    if (this.#removed.has(uidOf(object))) return false;
    return versionOf(object) > Math.max(current === undefined ? 0 : versionOf(current), this.#revision);
  }

  /** Stores the response of a write of this process, unless the informer already has a later state. */
  observe(object: T): void {
    if (!this.lacks(object)) return;
    const uid = uidOf(object);
    const current = this.#objects.get(keyOf(object));
    // The previous object of this name has been deleted; the watch has not delivered that yet.
    if (current !== undefined && uidOf(current) !== uid) this.#removed.set(uidOf(current), versionOf(current));
    this.#set(object);
  }

  /** Drops the object of this uid, which this process has deleted. */
  forget(namespace: string, name: string, uid: string): void {
    const current = this.get(namespace, name);
    if (current === undefined || uidOf(current) !== uid) return;
    this.#removed.set(uid, versionOf(current));
    this.#delete(current);
  }

  /** Lists and watches until the signal is aborted. Never rejects: errors are logged. */
  run(): Promise<void> {
    const { client, clock, log, signal } = this.#options;
    const { namespace, ...selection } = this.selection;
    const place = async () => {
      this.#place = await client.resolve(this.kind);
      return placeIn(this.#place, namespace);
    };
    let listed: T[] = [];
    signal.addEventListener('abort', () => this.#progressed());
    return reflect(
      { client, clock, log, signal, name: this.kind.kind, place, selection },
      {
        listing: () => {
          listed = [];
        },
        page: (objects) => {
          for (const object of objects) listed.push(this.#trimmed(object));
        },
        listed: async (revision) => {
          await this.#replace(listed, revision);
          listed = [];
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
   * Resolves when the informer has everything that the server had at the call, or when a failed list or watch waits for
   * the clock before it is retried. @throws StatusError
   */
  async caughtUp(): Promise<void> {
    const { signal } = this.#options;
    for (;;) {
      const progress = new Promise<void>((resolve) => this.#waiting.push(resolve));
      if (signal.aborted || this.#waits || (await this.#isCurrent())) return;
      await progress;
    }
  }

  /** Whether the informer has exactly what the server lists. */
  async #isCurrent(): Promise<boolean> {
    if (this.#revision === 0 || this.#place === undefined) return false;
    const { client, signal } = this.#options;
    const { namespace, ...selection } = this.selection;
    // Complete objects where a server does not support metadata only.
    const options = { ...selection, signal, accept: `${metadataOnly(client.names).list}, application/json` };
    let listed = 0;
    for await (const { items, metadata } of pagesOf<ApiObject>(client, placeIn(this.#place, namespace), options)) {
      if (this.#revision >= Number(metadata.resourceVersion)) return true;
      listed += items.length;
      const isCurrent = (object: ApiObject) => {
        const current = this.#objects.get(keyOf(object));
        return current !== undefined && uidOf(current) === uidOf(object) && versionOf(current) === versionOf(object);
      };
      if (!items.every(isCurrent)) return false;
    }
    return listed === this.#objects.size;
  }

  #progressed(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  #apply({ type, object: received }: ClientWatchEvent<ApiObject>): void {
    const object = this.#trimmed(received);
    this.#revision = Math.max(this.#revision, versionOf(object));
    if (type === 'BOOKMARK') return;
    const uid = uidOf(object);
    const current = this.#objects.get(keyOf(object));
    if (type === 'DELETED') {
      this.#removed.delete(uid);
      if (current !== undefined && uidOf(current) === uid) this.#delete(current);
    } else if (!this.#removed.has(uid) && (current === undefined || versionOf(current) < versionOf(object))) {
      this.#set(object);
    }
  }

  /** Replaces the content by that of a list, except for what this process has written and deleted since. */
  async #replace(objects: readonly T[], revision: number): Promise<void> {
    // The store was restored, or the kind is no longer served: no local state is newer.
    const restarted = revision < this.#revision;
    const listed = new Map(objects.map((object) => [keyOf(object), object]));
    const uids = new Set(objects.map(uidOf));
    for (const [uid, version] of [...this.#removed]) {
      // A list older than the object does not reflect its deletion: the watch delivers both.
      if (restarted || (version <= revision && !uids.has(uid))) this.#removed.delete(uid);
    }
    const turns = this.#turns;
    for (const [key, current] of [...this.#objects]) {
      if (turns.over) await turns.next();
      if (this.#objects.get(key) !== current) continue;
      const isListed = listed.get(key)?.metadata?.uid === current.metadata?.uid;
      if (!isListed && (restarted || versionOf(current) <= revision)) this.#delete(current);
    }
    this.#revision = revision;
    for (const object of objects) {
      if (turns.over) await turns.next();
      if (this.#removed.has(uidOf(object))) continue;
      const current = this.#objects.get(keyOf(object));
      if (current === undefined || restarted || versionOf(current) < versionOf(object)) this.#set(object);
    }
    this.#resolveSynced();
  }

  #set(object: T): void {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    // The object was deleted and created again under the same name.
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

  #delete(current: T): void {
    const key = keyOf(current);
    this.#objects.delete(key);
    const { namespace = '' } = current.metadata ?? {};
    const inNamespace = this.#byNamespace.get(namespace);
    inNamespace?.delete(key);
    if (inNamespace?.size === 0) this.#byNamespace.delete(namespace);
    for (const index of this.#indexes.values()) index.remove(current);
    for (const handler of this.#handlers) handler(undefined, current);
  }

  /** Removes `managedFields`, and adds the kind that items of lists lack. */
  #trimmed(object: ApiObject): T {
    delete object.metadata.managedFields;
    object.kind ??= this.kind.kind;
    object.apiVersion ??= this.#place?.apiVersion ?? this.kind.apiVersion;
    return object as TypedObject as T;
  }
}

export const versionOf = ({ metadata }: TypedObject): number => Number(metadata?.resourceVersion ?? 0);

const uidOf = ({ metadata }: TypedObject): string => metadata?.uid ?? '';

/** Objects by the values of an index function. */
export class Index<T extends TypedObject> {
  readonly #valuesOf: (object: T) => readonly string[];
  readonly #byValue = new Map<string, Map<string, T>>();

  constructor(valuesOf: (object: T) => readonly string[]) {
    this.#valuesOf = valuesOf;
  }

  /** Returns the objects with this value in no particular order. */
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
