import { setMaxListeners } from 'node:events';
import { type Clock, expandNames, type ObjectMeta } from '../../meta/index.ts';
import type { Client } from '../client.ts';
import type { KindReference, ObjectKey, TypedKind, TypedObject } from '../kinds/kind.ts';
import type { ObjectObserver } from '../kinds/kind-client.ts';
import { consoleLog, type Log } from '../runtime/log.ts';
import { systemClock } from '../runtime/system.ts';
import { Informer, type InformerOptions, type Selection } from './informer.ts';

export interface InformersOptions {
  readonly client: Client;
  /** Moves retries of lists and watches; the system clock by default. */
  readonly clock?: Clock;
  /** The console by default. */
  readonly log?: Log;
}

/**
 * The informers of a process: one for each kind and selection, whoever asks for it. What typed kinds of the same client
 * read and write is in those without a selection as soon as the call returns.
 */
export class Informers implements ObjectObserver {
  readonly #options: InformerOptions;
  readonly #stopping = new AbortController();
  readonly #unobserve: () => void;
  readonly #informers = new Map<string, Informer<never>>();
  readonly #running: Promise<void>[] = [];

  constructor({ client, clock = systemClock, log = consoleLog }: InformersOptions) {
    const { signal } = this.#stopping;
    // Every informer listens to it.
    setMaxListeners(0, signal);
    this.#options = { client, clock, log, signal };
    this.#unobserve = client.observe(this);
  }

  /** Begins to list and watch on the first call. */
  of<T extends TypedObject>(kind: TypedKind<T>, selection: Selection = {}): Informer<T> {
    const key = this.#keyOf(kind, selection);
    const found = this.#informers.get(key);
    // The key says which kind it is.
    if (found !== undefined) return found as unknown as Informer<T>;
    const informer = new Informer(kind, selection, this.#options);
    this.#informers.set(key, informer as unknown as Informer<never>);
    this.#running.push(informer.run());
    return informer;
  }

  /** The informer of all objects of the kind, if there is one: for the response of a write. */
  started<T extends TypedObject>(kind: TypedKind<T>): Informer<T> | undefined {
    return this.#informers.get(this.#keyOf(kind, {})) as unknown as Informer<T> | undefined;
  }

  get all(): Iterable<Informer<never>> {
    return this.#informers.values();
  }

  readonly observe = (kind: KindReference, object: TypedObject): void => {
    const informer = this.started(kind);
    // The object itself is the caller's.
    if (informer?.lacks(object) === true) informer.observe(copyOf(object));
  };

  readonly forget = (kind: KindReference, { namespace = '', name = '', uid }: ObjectKey & { uid: string }): void => {
    this.started(kind)?.forget(namespace, name, uid);
  };

  /** Resolves when all have been synced that were asked for. */
  async synced(): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.synced));
  }

  /** Resolves when all hold what the server had at the call; see `Informer.caughtUp`. @throws StatusError */
  async caughtUp(): Promise<void> {
    await Promise.all([...this.#informers.values()].map((informer) => informer.caughtUp()));
  }

  /** Ends all lists and watches; resolves when nothing runs any more. */
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
  const { managedFields: _, ...kept }: ObjectMeta = { ...(metadata as ObjectMeta) };
  return structuredClone({ ...object, metadata: kept as TypedObject['metadata'] });
}
