import { bytesOf, decodeText, encodeText } from '../../meta/index.ts';
import { settled } from '../../meta/testing/settled.ts';
import type { Entry, Write } from '../../store/index.ts';
import { createWatchCache } from '../index.ts';
import type { CachedObject, CacheOptions, Subscription, WatchCache, WatchEvent } from '../types.ts';
import { WindowMemory } from '../window-memory.ts';
import { FakeStore } from './fake-store.ts';
import { ManualClock } from './manual-clock.ts';

export const prefix = '/things/';

interface Content {
  readonly labels?: { readonly [key: string]: string };
  readonly node?: string;
  /** Bytes of padding. */
  readonly padding?: number;
}

/** A write of an object, or its deletion without content. */
export function put(path: string, content?: Content): Write {
  const key = prefix + path;
  if (content === undefined) return { key };
  const { padding = 0, ...rest } = content;
  return { key, value: Buffer.from(JSON.stringify({ ...rest, padding: 'x'.repeat(padding) })) };
}

function describeEntry({ key, value, revision }: Entry): CachedObject {
  const content = JSON.parse(Buffer.from(value).toString()) as Content;
  const path = key.slice(prefix.length);
  const slash = path.indexOf('/');
  return {
    key,
    namespace: slash < 0 ? '' : path.slice(0, slash),
    name: path.slice(slash + 1),
    revision,
    bytes: encodeText(`{"rv":"${revision}",${decodeText(bytesOf(value)).slice(1)}`),
    labels: content.labels ?? {},
    fields: { 'spec.nodeName': content.node ?? '' },
  };
}

export function describeDeleted(last: CachedObject, revision: number): CachedObject {
  const bytes = encodeText(decodeText(last.bytes).replace(/^\{"rv":"\d+"/, `{"rv":"${revision}"`));
  return { ...last, revision, bytes };
}

export interface Setup {
  readonly store: FakeStore;
  readonly clock: ManualClock;
  readonly cache: WatchCache;
}

/** A cache over a fake store, not loaded yet. */
export function setup(options: Partial<CacheOptions> = {}): Setup {
  const store = new FakeStore();
  const clock = new ManualClock();
  const cache = createWatchCache({
    store,
    id: { group: '', resource: 'things' },
    prefix,
    clock,
    describe: describeEntry,
    describeDeleted,
    indexedFields: ['spec.nodeName'],
    windowMs: 300_000,
    windowBytes: 1 << 20,
    windowMemory: new WindowMemory(Number.POSITIVE_INFINITY),
    ...options,
  });
  return { store, clock, cache };
}

/** An event as text, such as `ADDED a/x 5`. */
export function format(event: WatchEvent): string {
  const { type, revision, object } = event;
  if (object === undefined) return `${type} ${revision}`;
  return `${type} ${object.key.slice(prefix.length)} ${revision}`;
}

/** Runs pending tasks of the event loop. */
export const settle = (turns = 3): Promise<void> => settled(turns);

/** Reads a subscription in the background. */
export class Reader {
  readonly events: WatchEvent[] = [];
  readonly batches: number[] = [];
  /** `done`, or the message of the error; undefined while it is open. */
  end: string | undefined;

  constructor(subscription: Subscription) {
    void this.#read(subscription);
  }

  get received(): string[] {
    return this.events.map(format);
  }

  async #read(subscription: Subscription): Promise<void> {
    try {
      for (;;) {
        const result = await subscription.next();
        if (result.done === true) break;
        this.events.push(...result.value);
        this.batches.push(result.value.length);
      }
      this.end = 'done';
    } catch (error) {
      this.end = (error as Error).message;
    }
  }
}
