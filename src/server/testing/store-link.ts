import { type Store, StoreError, type Watch, type WatchSink } from '../../store/index.ts';

/** How a server reaches the store: as usual; calls fail at once; nothing is answered, nor delivered. */
export type LinkState = 'up' | 'refused' | 'silent';

/** The connection of one server to a store that it shares with others. */
export interface StoreLink {
  /** To be handed to the server, which may close it. */
  readonly store: Store;
  /**
   * Changes the state of the link. When a silence is over, its calls fail as `unavailable`, commits as `uncertain`.
   * Watches end as `unavailable` when the link is refused, and when it is up again after a silence.
   */
  become(state: LinkState): void;
  /** Holds back what the watches below the prefix are told until the result is called. */
  holdWatches(prefix: string): () => void;
  /** How many calls reached the store. */
  readonly calls: number;
}

interface Options {
  /** How much later watches are told (ms of real time). Default: 0, at once. */
  readonly lateMs?: number;
}

const away = () => new StoreError('unavailable', 'the link is down');
const unknown = () => new StoreError('uncertain', 'the link went down');

/** A link to the store that is up. Closing it ends its own watches and leaves the store open. */
export function storeLink(under: Store, { lateMs = 0 }: Options = {}): StoreLink {
  let state: LinkState = 'up';
  let calls = 0;
  let closed = false;
  /** Ends the calls that were not answered. */
  const unanswered: (() => void)[] = [];
  const watches = new Set<(error: StoreError) => void>();
  const pausedWatches = new Map<string, (() => void)[]>();
  const unansweredCall = (failure: () => StoreError) =>
    new Promise<never>((_, reject) => {
      unanswered.push(() => reject(failure()));
    });
  const call = (make: () => Promise<unknown>, failure: () => StoreError): Promise<unknown> => {
    if (closed) return Promise.reject(new StoreError('closed', 'the link is closed'));
    if (state === 'refused') return Promise.reject(away());
    calls += 1;
    if (state === 'silent') return unansweredCall(failure);
    return make().then((answer) => (state === 'silent' ? unansweredCall(failure) : answer));
  };
  const notify = (prefix: string, deliver: () => void) => {
    const [, queue] = [...pausedWatches].find(([begin]) => prefix.startsWith(begin)) ?? [];
    if (queue !== undefined) queue.push(deliver);
    else if (lateMs > 0) setTimeout(deliver, lateMs);
    else deliver();
  };
  const watch = (prefix: string, after: number, sink: WatchSink, ...rest: unknown[]): Watch => {
    let open = true;
    const end = (error: StoreError | undefined) => {
      if (!open) return;
      open = false;
      watches.delete(end);
      inner?.close();
      if (error !== undefined) sink.error(error);
    };
    const listener: WatchSink = {
      batch: (revision, changes) => notify(prefix, () => open && state === 'up' && sink.batch(revision, changes)),
      error: (error) => notify(prefix, () => end(error)),
    };
    watches.add(end);
    const inner = state === 'up' && !closed ? under.watch(prefix, after, listener, ...(rest as [])) : undefined;
    if (closed) queueMicrotask(() => end(new StoreError('closed', 'the link is closed')));
    else if (state === 'refused') queueMicrotask(() => end(away()));
    return { progress: () => inner?.progress(), close: () => end(undefined) };
  };
  const close = () => {
    closed = true;
    for (const end of [...watches]) end(new StoreError('closed', 'the link is closed'));
    return Promise.resolve();
  };
  const store = new Proxy(under, {
    get(target, name): unknown {
      if (name === 'watch') return watch;
      if (name === 'close') return close;
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const failure = name === 'commit' ? unknown : away;
      return (...args: unknown[]) => call(() => Reflect.apply(value, target, args) as Promise<unknown>, failure);
    },
  });
  return {
    store,
    get calls() {
      return calls;
    },
    become(next) {
      state = next;
      if (next === 'silent') return;
      for (const fail of unanswered.splice(0)) fail();
      for (const end of [...watches]) end(away());
    },
    holdWatches(prefix) {
      pausedWatches.set(prefix, []);
      return () => {
        const queue = pausedWatches.get(prefix) ?? [];
        pausedWatches.delete(prefix);
        for (const deliver of queue) deliver();
      };
    },
  };
}
