import { type Client, type Log, metadataOnly, reflect } from '../../client/index.ts';
import { type Clock, type Names, type ObjectMeta, scheduler } from '../../meta/index.ts';
import { placeOf } from '../shared/kind.ts';
import { Discovery, type ServedResource, type ServedResources } from './discovery.ts';

/** Receives the metadata of all objects. Must not throw. */
export interface MetadataHandler {
  /** The objects of a list are ADDED, also those that were there before. `metadata` has no managed fields. */
  readonly changed: (type: 'ADDED' | 'MODIFIED' | 'DELETED', metadata: ObjectMeta, resource: ServedResource) => void;
  /** A list of a resource begins: the first, or another one because changes were missed. */
  readonly listing?: (resource: ServedResource) => void;
  /** It is complete: objects that were not in it have been deleted, or were created later and follow. */
  readonly listed?: (resource: ServedResource) => void;
  /** The resource is not served any more, in any version. */
  readonly dropped?: (resource: ServedResource) => void;
  /** Other kinds are served than before. */
  readonly discovered?: () => void;
}

interface Monitor {
  readonly resource: ServedResource;
  readonly stop: () => void;
  /** The first list is complete or has failed. */
  tried: boolean;
}

export interface MetadataFeedOptions {
  readonly client: Client;
  readonly names: Names;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** How many resources are listed at a time. */
const maxLists = 8;
/**
 * How long until discovery is read again (ms): after a failure or a changed definition, whose resources another server may
 * not serve yet; then ever longer, up to the last.
 */
const firstRefreshMs = 1_000;
const refreshFactor = 5;
const lastRefreshMs = 300_000;

/**
 * The metadata of all objects that can be listed, watched and deleted, of all resources that the server serves, as they
 * come and go. Holds no objects. Begins with the first subscriber; all subscribe in the turn in which controllers start.
 */
export class MetadataFeed {
  readonly #options: MetadataFeedOptions;
  readonly #discovery: Discovery;
  readonly #handlers: MetadataHandler[] = [];
  /** By group and plural name. */
  readonly #monitors = new Map<string, Monitor>();
  readonly #running = new Set<Promise<void>>();
  readonly #lists = new Places(maxLists);
  /** Those who wait for the first lists. */
  readonly #waiting: (() => void)[] = [];
  /** The resources that the monitors follow. */
  #followed: ServedResources | undefined;
  #refreshing: Promise<void> | undefined;
  #again = false;
  #nextMs = firstRefreshMs;
  #cancelTimer = () => {};

  constructor(options: MetadataFeedOptions) {
    this.#options = options;
    this.#discovery = new Discovery(options.client, options.names);
    options.signal.addEventListener('abort', () => {
      this.#cancelTimer();
      this.#resolve();
    });
  }

  subscribe(handler: MetadataHandler): void {
    this.#handlers.push(handler);
    if (this.#handlers.length === 1) this.refresh();
  }

  /** The resources that the server serves, as far as they are known. */
  get served(): ServedResources {
    return this.#discovery.served;
  }

  /** Whether changes of the resource are reported. */
  watches({ group, resource }: ServedResource): boolean {
    return this.#monitors.has(`${group}/${resource}`);
  }

  /** Reads the resources that the server serves now. @throws StatusError */
  async discover(): Promise<ServedResources> {
    const served = await this.#discovery.read(this.#options.signal);
    if (served !== this.#followed) this.refresh();
    return served;
  }

  /** Reads discovery again, soon. */
  refresh(): void {
    if (this.#options.signal.aborted || this.#handlers.length === 0) return;
    this.#nextMs = firstRefreshMs;
    this.#again = true;
    this.#refreshing ??= this.#refresh();
  }

  /** Nothing is being discovered or listed for the first time. */
  get isIdle(): boolean {
    if (this.#refreshing !== undefined) return false;
    for (const { tried } of this.#monitors.values()) if (!tried) return false;
    return true;
  }

  /** Resolves when every resource has been listed, or the attempt has failed; at once without subscribers. */
  synced(): Promise<void> {
    if (this.#handlers.length === 0 || this.#options.signal.aborted || this.#isSynced) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Resolves when nothing runs any more, after the signal has been aborted. */
  async stopped(): Promise<void> {
    await this.#refreshing;
    await Promise.all(this.#running);
  }

  get #isSynced(): boolean {
    return this.isIdle && this.#monitors.size > 0;
  }

  #resolve(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #refresh(): Promise<void> {
    const { clock, log, signal } = this.#options;
    this.#cancelTimer();
    while (this.#again && !signal.aborted) {
      this.#again = false;
      try {
        const served = await this.#discovery.read(signal);
        if (served !== this.#followed && !signal.aborted) this.#follow(served);
      } catch (error) {
        if (!signal.aborted) log.error('the resources of the server cannot be discovered', { error });
      }
    }
    this.#refreshing = undefined;
    if (signal.aborted) return;
    const ms = this.#nextMs;
    this.#cancelTimer = clock.after(ms, () => {
      this.refresh();
      this.#nextMs = Math.min(ms * refreshFactor, lastRefreshMs);
    });
    if (this.#isSynced) this.#resolve();
  }

  /** Starts and stops monitors to match the resources in discovery. */
  #follow(followed: ServedResources): void {
    const { preferred, stale } = followed;
    const served = new Map<string, ServedResource>();
    for (const resource of preferred) {
      if (isFollowed(resource)) served.set(`${resource.group}/${resource.resource}`, resource);
    }
    for (const [key, { resource, stop }] of this.#monitors) {
      const now = served.get(key);
      if (now === undefined ? stale.includes(resource.apiVersion) : isSame(now, resource)) continue;
      stop();
      this.#monitors.delete(key);
      if (now === undefined) for (const { dropped } of this.#handlers) dropped?.(resource);
    }
    for (const [key, resource] of served) {
      if (!this.#monitors.has(key)) this.#monitors.set(key, this.#start(resource));
    }
    this.#followed = followed;
    for (const { discovered } of this.#handlers) discovered?.();
  }

  #start(resource: ServedResource): Monitor {
    const { client, names, clock, log, signal: all } = this.#options;
    const stopping = new AbortController();
    const signal = AbortSignal.any([all, stopping.signal]);
    const monitor = { resource, stop: () => stopping.abort(), tried: false };
    const handlers = this.#handlers;
    const turns = scheduler.turns(`metadata of ${resource.resource}`);
    const tell = (type: 'ADDED' | 'MODIFIED' | 'DELETED', metadata: ObjectMeta) => {
      if (signal.aborted) return;
      delete metadata.managedFields;
      for (const { changed } of handlers) changed(type, metadata, resource);
    };
    const tried = () => {
      monitor.tried = true;
      if (this.#isSynced) this.#resolve();
    };
    const running = reflect(
      {
        client,
        clock,
        log,
        signal,
        name: resource.resource,
        place: async () => placeOf(resource, names),
        accept: metadataOnly(names),
        turn: (list) => this.#lists.take(list),
      },
      {
        listing: () => {
          for (const { listing } of handlers) listing?.(resource);
        },
        page: async (objects) => {
          for (const { metadata } of objects) {
            if (turns.over) await turns.next();
            tell('ADDED', metadata);
          }
        },
        listed: () => {
          if (!signal.aborted) for (const { listed } of handlers) listed?.(resource);
          tried();
          if (definesResources.has(resource.resource)) this.refresh();
        },
        event: ({ type, object }) => {
          if (type === 'BOOKMARK') return;
          tell(type, object.metadata);
          // The set of served resources may be about to change.
          if (definesResources.has(resource.resource)) this.refresh();
        },
        failed: (code) => {
          if (code === 404) this.refresh();
          tried();
        },
      },
    ).then(() => {
      this.#running.delete(running);
    });
    this.#running.add(running);
    return monitor;
  }
}

const definesResources = new Set(['customresourcedefinitions', 'apiservices']);

/** Events are written too often, and nobody owns them. */
const isFollowed = ({ resource, verbs }: ServedResource): boolean =>
  resource !== 'events' && ['list', 'watch', 'delete'].every((verb) => verbs.includes(verb));

const isSame = (a: ServedResource, b: ServedResource): boolean =>
  a.apiVersion === b.apiVersion && a.kind === b.kind && a.namespaced === b.namespaced;

/** Lets a number of tasks run at a time. */
class Places {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(free: number) {
    this.#free = free;
  }

  async take(task: () => Promise<void>): Promise<void> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free--;
    try {
      await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
