import type { Client, ClientWatchEvent } from '../client/index.ts';
import type { ApiObject, Clock, Names } from '../meta/index.ts';
import { type Kind, type KindPlace, keyIn, keyOf, type Named, placeOf } from './kind.ts';
import type { Log } from './log.ts';
import { reflect, type Selection } from './reflector.ts';

/** Told of every change: without `old` an object is new, without `object` it has been deleted. */
export type ChangeHandler<T> = (object: T | undefined, old: T | undefined) => void;

export interface InformerOptions {
  readonly client: Client;
  readonly names: Names;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * The objects of a kind in memory, kept up to date by list and watch. They are shared and must not be modified; they come
 * without `managedFields`. What the controllers of this process write is there at once: `observe` and `forget` are
 * called with the responses of their writes, so that a reconcile never acts on a state older than its own last write.
 */
export class Informer<T extends Named> {
  readonly kind: Kind<T>;
  /** Resolves when the first list is complete, or the kind is found not to be served. */
  readonly synced: Promise<void>;
  readonly #options: InformerOptions;
  readonly selection: Selection;
  readonly #objects = new Map<string, T>();
  readonly #byNamespace = new Map<string, Map<string, T>>();
  readonly #indexes = new Map<string, Index<T>>();
  readonly #handlers: ChangeHandler<T>[] = [];
  /** The versions of objects, by uid, whose deletion own writes have shown and the watch has not yet. */
  readonly #removed = new Map<string, number>();
  /** The resourceVersion up to which the watch has shown every change; 0 before the first list. */
  #revision = 0;
  #resolveSynced = () => {};

  constructor(kind: Kind<T>, selection: Selection, options: InformerOptions) {
    this.kind = kind;
    this.selection = selection;
    this.#options = options;
    this.synced = new Promise((resolve) => {
      this.#resolveSynced = resolve;
    });
  }

  get(namespace: string, name: string): T | undefined {
    return this.#objects.get(keyIn(namespace, name));
  }

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

  /** The handler is also told of the objects that are there. It must not throw. */
  onChange(handler: ChangeHandler<T>): void {
    this.#handlers.push(handler);
    for (const object of this.#objects.values()) handler(object, undefined);
  }

  /** Takes the object that a write of this process returned, unless the watch has shown a later state. */
  observe(object: T): void {
    const { uid = '' } = object.metadata;
    const held = this.#objects.get(keyOf(object));
    if (this.#removed.has(uid) || versionOf(object) <= Math.max(held ? versionOf(held) : 0, this.#revision)) return;
    // The object that had the name before was deleted, which the watch is still to show.
    if (held !== undefined && held.metadata.uid !== uid) this.#removed.set(held.metadata.uid ?? '', versionOf(held));
    this.#set(object);
  }

  /** Drops the object of this uid, which this process has deleted, unless the watch has shown that. */
  forget(namespace: string, name: string, uid: string): void {
    const held = this.get(namespace, name);
    if (held?.metadata.uid !== uid) return;
    this.#removed.set(uid, versionOf(held));
    this.#delete(held);
  }

  /** Lists and watches until the signal is aborted. Never rejects: errors are logged. */
  run(): Promise<void> {
    const { client, names, clock, log, signal } = this.#options;
    let found: T[] = [];
    return reflect(
      { client, clock, log, signal, place: placeOf(this.kind, names), selection: this.selection },
      {
        listing: () => {
          found = [];
        },
        page: (objects) => {
          for (const object of objects) found.push(this.#trimmed(object));
        },
        listed: (revision) => {
          this.#replace(found, revision);
          found = [];
        },
        event: (event) => this.#apply(event),
        failed: (code) => {
          if (code === 404) this.#replace([], 0);
        },
      },
    );
  }

  #apply({ type, object: shown }: ClientWatchEvent<ApiObject>): void {
    const object = this.#trimmed(shown);
    this.#revision = Math.max(this.#revision, versionOf(object));
    if (type === 'BOOKMARK') return;
    const { uid = '' } = object.metadata;
    const held = this.#objects.get(keyOf(object));
    if (type === 'DELETED') {
      this.#removed.delete(uid);
      if (held?.metadata.uid === uid) this.#delete(held);
    } else if (!this.#removed.has(uid) && (held === undefined || versionOf(held) < versionOf(object))) {
      this.#set(object);
    }
  }

  /** Makes the content that of a list, but for what this process has written and deleted since. */
  #replace(objects: readonly T[], revision: number): void {
    // The store has been restored, or the kind is no longer served: nothing that is held is newer.
    const restarted = revision < this.#revision;
    const listed = new Map(objects.map((object) => [keyOf(object), object]));
    const uids = new Set(objects.map(({ metadata: { uid } }) => uid));
    for (const [uid, version] of [...this.#removed]) {
      // A list that is older than the object does not show its deletion: the watch will show both.
      if (restarted || (version <= revision && !uids.has(uid))) this.#removed.delete(uid);
    }
    for (const [key, held] of [...this.#objects]) {
      const isListed = listed.get(key)?.metadata.uid === held.metadata.uid;
      if (!isListed && (restarted || versionOf(held) <= revision)) this.#delete(held);
    }
    this.#revision = revision;
    for (const object of objects) {
      if (this.#removed.has(object.metadata.uid ?? '')) continue;
      const held = this.#objects.get(keyOf(object));
      if (held === undefined || restarted || versionOf(held) < versionOf(object)) this.#set(object);
    }
    this.#resolveSynced();
  }

  #set(object: T): void {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    // An object of the same name that was deleted and created again.
    if (old !== undefined && old.metadata.uid !== object.metadata.uid) {
      this.#delete(old);
      this.#set(object);
      return;
    }
    this.#objects.set(key, object);
    const { namespace = '' } = object.metadata;
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
    const { namespace = '' } = held.metadata;
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
    object.apiVersion ??= placeOf(this.kind, this.#options.names).apiVersion;
    return object as Named as T;
  }
}

export const versionOf = ({ metadata }: Named): number => Number(metadata.resourceVersion ?? 0);

/** Objects by values of theirs. */
export class Index<T extends Named> {
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

const keyOfInformer = ({ apiVersion, resource }: KindPlace, { labelSelector, fieldSelector }: Selection): string =>
  JSON.stringify([apiVersion, resource, labelSelector, fieldSelector]);

/** The informers of a process: one for each kind and selection, whoever asks for it. */
export class Informers {
  readonly #options: InformerOptions;
  readonly #informers = new Map<string, Informer<never>>();
  readonly #running: Promise<void>[] = [];

  constructor(options: InformerOptions) {
    this.#options = options;
  }

  /** Begins to list and watch on the first call. */
  of<T extends Named>(kind: Kind<T>, selection: Selection = {}): Informer<T> {
    const key = keyOfInformer(kind, selection);
    const found = this.#informers.get(key);
    // The key says which kind it is.
    if (found !== undefined) return found as unknown as Informer<T>;
    const informer = new Informer(kind, selection, this.#options);
    this.#informers.set(key, informer as unknown as Informer<never>);
    this.#running.push(informer.run());
    return informer;
  }

  /** The informer of all objects of the kind, if there is one: for the response of a write. */
  started<T extends Named>(kind: Kind<T>): Informer<T> | undefined {
    return this.#informers.get(keyOfInformer(kind, {})) as unknown as Informer<T> | undefined;
  }

  get all(): Iterable<Informer<never>> {
    return this.#informers.values();
  }

  /** Resolves when all have been synced that were asked for. */
  async synced(): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.synced));
  }

  /** Resolves when nothing runs any more, after the signal has been aborted. */
  async stopped(): Promise<void> {
    await Promise.all(this.#running);
  }
}
