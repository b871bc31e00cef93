import { setMaxListeners } from 'node:events';
import { type Clock, expandNames, type ObjectMeta, systemClock } from '../../meta/index.ts';
import type { Client } from '../client.ts';
import type { KindReference, ObjectKey, TypedKind, TypedObject } from '../kinds/kind.ts';
import type { ObjectObserver } from '../kinds/kind-client.ts';
import { consoleLog, type Log } from '../runtime/log.ts';
import { Informer, type InformerOptions, type Selection } from './informer.ts';

export interface InformersOptions {
  readonly client: Client;
  /** The clock of retries; the system clock by default. */
  readonly clock?: Clock;
  /** Receives warnings and errors; the console by default. */
  readonly log?: Log;
}

/**
 * The informers of a process: one for each kind and selection, shared by all callers. What typed kinds of the same client
 * read and write is in the informers without a selection as soon as the call returns.
 */
export class Informers implements ObjectObserver {
  readonly #options: InformerOptions;
  readonly #stopping = new AbortController();
  readonly #unobserve: () => void;
  readonly #informers = new Map<string, Informer<never>>();
  readonly #running: Promise<void>[] = [];

  constructor({ client, clock = systemClock, log = consoleLog }: InformersOptions) {
    const { signal } = this.#stopping;
    // Every informer adds a listener.
    setMaxListeners(0, signal);
    this.#options = { client, clock, log, signal };
    this.#unobserve = client.observe(this);
  }

  /** Returns the informer of a kind, which starts to list and watch on the first call. */
  of<T extends TypedObject>(kind: TypedKind<T>, selection: Selection = {}): Informer<T> {
    const key = this.#keyOf(kind, selection);
    const existing = this.#informers.get(key);
    // The key identifies the kind.
    if (existing !== undefined) return existing as unknown as Informer<T>;
    const informer = new Informer(kind, selection, this.#options);
    this.#informers.set(key, informer as unknown as Informer<never>);
    this.#running.push(informer.run());
    return informer;
  }

  /** Returns the informer of all objects of the kind; undefined if none has been started. */
  started<T extends TypedObject>(kind: TypedKind<T>): Informer<T> | undefined {
    return this.#informers.get(this.#keyOf(kind, {})) as unknown as Informer<T> | undefined;
  }

  get all(): Iterable<Informer<never>> {
    return this.#informers.values();
  }

  readonly observe = (kind: KindReference, object: TypedObject): void => {
    const informer = this.started(kind);
    // The caller owns the object itself.
    if (informer?.lacks(object) === true) informer.observe(copyOf(object));
  };

  readonly forget = (kind: KindReference, { namespace = '', name = '', uid }: ObjectKey & { uid: string }): void => {
    this.started(kind)?.forget(namespace, name, uid);
  };

  /** Resolves when all started informers are synced. */
  async synced(): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.synced));
  }

  /** Resolves when all informers have what the server had at the call; see `Informer.caughtUp`. @throws StatusError */
  async caughtUp(): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.caughtUp()));
  }

  /** Ends all lists and watches. Resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.#unobserve();
    this.#stopping.abort();
    await Promise.all(this.#running);
  }

  #keyOf({ apiVersion, kind }: KindReference, { namespace, labelSelector, fieldSelector }: Selection): string {
    const version = expandNames(apiVersion, this.#options.client.names);
    return JSON.stringify([version, kind, namespace, labelSelector, fieldSelector]);
  }
}

function copyOf({ metadata, ...object }: TypedObject): TypedObject {
  const { managedFields: _, ...metadataWithoutFields }: ObjectMeta = { ...(metadata as ObjectMeta) };
  return structuredClone({ ...object, metadata: metadataWithoutFields as TypedObject['metadata'] });
}
