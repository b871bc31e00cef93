import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Item, Reached, Selection, WatchEvent, WatchSession } from '../../src/server/harness/checks/history.ts';
import type { Client } from './client.ts';
import type { Endpoint } from './endpoint.ts';
import { type Random, randomOf } from './random.ts';
import type { Recorder } from './recorder.ts';
import { listPath, randomSelection } from './target.ts';

/** How long to wait for a watch to be accepted (ms). */
const patience = 3_000;

interface Line {
  readonly type: WatchEvent['type'] | 'ERROR';
  readonly object: Item & { readonly code?: number; readonly message?: string };
}

type Ending = WatchSession['ending'];

/**
 * A client that watches a selection: it lists, or lets the watch begin with the state, and comes back after each end with
 * the version that it saw last, through any replica. When that version is too old, it starts again with a list.
 */
export class Watcher {
  readonly #name: string;
  readonly #selection: Selection;
  readonly #recorder: Recorder;
  readonly #replicas: readonly Endpoint[];
  readonly #random: Random;
  readonly #lists: Client;
  /** The last delivered version; undefined: it must list first. */
  #position: number | undefined;
  #stream: IncomingMessage | undefined;
  #phase: 'wandering' | 'staying' | 'leaving' = 'wandering';

  /** `lists` makes its lists. */
  constructor(seed: number, number: number, recorder: Recorder, replicas: readonly Endpoint[], lists: Client) {
    this.#name = `w${number}`;
    this.#recorder = recorder;
    this.#replicas = replicas;
    this.#random = randomOf(seed, 100 + number);
    this.#lists = lists;
    this.#selection = randomSelection(this.#random);
  }

  /** Its selection, and its position when everything up to the revision `due` has been told. */
  reached(due: number): Reached {
    return { watcher: this.#name, selection: this.#selection, position: this.#position ?? 0, due };
  }

  /** Watches until `leave` is called. */
  async run(): Promise<void> {
    while (this.#phase !== 'leaving') {
      const replica = this.#random.pick(this.#replicas);
      if (this.#position === undefined && this.#random.chance(2)) {
        this.#lists.use(replica);
        const outcome = await this.#lists.list({}, this.#selection);
        if (outcome?.type === 'list') this.#position = outcome.version;
        else continue;
      }
      await this.#watch(replica);
      // Now and then it stays away for so long that its version may become too old.
      const away = this.#random.chance(5) ? 4_000 : 200;
      await sleep(this.#phase === 'wandering' ? this.#random.integer(away) : 50);
    }
  }

  /** From now on it does not end watches by itself. */
  stay(): void {
    this.#phase = 'staying';
  }

  leave(): void {
    this.#phase = 'leaving';
    this.#stream?.destroy();
  }

  async #watch(replica: Endpoint): Promise<void> {
    const after = this.#position;
    const start = this.#recorder.now();
    const events: WatchEvent[] = [];
    const ending = await this.#follow(replica, events).catch((): Ending => 'broken');
    const end = this.#recorder.now();
    // Who has not seen all of the state at the start has nothing to come back with.
    if (ending === 'expired') this.#position = undefined;
    const session = { watcher: this.#name, replica: replica.name, selection: this.#selection, after, start, events };
    this.#recorder.watches.push({ ...session, end, ending });
  }

  async #follow(replica: Endpoint, events: WatchEvent[]): Promise<Ending> {
    const stream = await replica.stream(listPath(this.#selection, this.#query()), patience);
    this.#stream = stream;
    if (this.#phase === 'leaving') stream.destroy();
    const time = 200 + this.#random.integer(this.#random.pick([1_000, 8_000]));
    let isClosed = false;
    const timer = setTimeout(() => {
      isClosed = this.#phase === 'wandering';
      if (isClosed) stream.destroy();
    }, time);
    try {
      if (stream.statusCode !== 200) return endingOf(stream.statusCode);
      stream.setEncoding('utf8');
      let rest = '';
      for await (const piece of stream) {
        const lines = (rest + (piece as string)).split('\n');
        rest = lines.pop() as string;
        for (const line of lines) {
          const { type, object } = JSON.parse(line) as Line;
          if (type === 'ERROR') return endingOf(object.code);
          this.#take(type, object, events);
        }
      }
    } catch (error) {
      // Otherwise it broke off.
      if (error instanceof SyntaxError) return 'wrong';
    } finally {
      clearTimeout(timer);
      stream.destroy();
      this.#stream = undefined;
    }
    return isClosed || this.#phase === 'leaving' ? 'closed' : 'broken';
  }

  #take(type: WatchEvent['type'], object: Item, events: WatchEvent[]): void {
    const isBookmark = type === 'BOOKMARK';
    const version = Number(object.metadata.resourceVersion);
    const { annotations } = object.metadata as { annotations?: { [name: string]: string } };
    const endsInitial = isBookmark && annotations?.['k8s.io/initial-events-end'] === 'true';
    events.push({ time: this.#recorder.now(), type, version, object: isBookmark ? undefined : object, endsInitial });
    if (this.#position === undefined && !endsInitial) return;
    this.#position = version;
    this.#recorder.see(version);
  }

  #query(): { [name: string]: string } {
    return {
      watch: 'true',
      allowWatchBookmarks: 'true',
      ...(this.#position === undefined
        ? { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }
        : { resourceVersion: String(this.#position) }),
      ...(this.#random.chance(3) ? { timeoutSeconds: String(1 + this.#random.integer(5)) } : {}),
    };
  }
}

function endingOf(status = 0): Ending {
  if (status === 410) return 'expired';
  return status >= 400 && status < 500 && status !== 429 ? 'wrong' : 'broken';
}
