import { settled } from '../../src/meta/testing/settled.ts';
import {
  type Client,
  createServer,
  type OrchServer,
  openMemoryStore,
  type ServerOptions,
  type Status,
  type Store,
} from '../../src/server/index.ts';
import { type DrivenClock, drivenClock } from '../../src/store/testing/driven-clock.ts';
import { type HeldStore, heldStore } from '../../src/store/testing/held-store.ts';
import { seededRandom } from './seeded-random.ts';

/** A server in this process with a driven clock, over a store whose watches can be held back. */
export interface World {
  readonly server: OrchServer;
  readonly client: Client;
  readonly clock: DrivenClock;
  readonly store: HeldStore;
  /** Sends a request as a member of system:masters and reads the whole response. */
  readonly send: (method: string, url: string, body?: unknown, headers?: { [name: string]: string }) => Promise<Answer>;
  /** Opens a watch and reads it in the background; resolves once the initial events have been read. */
  readonly watch: (url: string, headers?: { [name: string]: string }) => Promise<Watching>;
  readonly close: () => Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire brought
  readonly body: any;
}

export async function startWorld(settings: ServerOptions = {}, seed = 1, under?: Store): Promise<World> {
  const clock = drivenClock();
  const store = heldStore(under ?? openMemoryStore({ clock }));
  const random = seededRandom(seed);
  const server = await createServer(
    { controllers: '-*', securePort: 0, apiDomain: 'k8s.io', ...settings },
    { clock, random, store },
  );
  const { client } = server;
  const open = (
    method: string,
    url: string,
    headers: { [name: string]: string },
    body?: unknown,
    signal?: AbortSignal,
  ) =>
    client.request({
      method,
      url,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
      ...(signal === undefined ? {} : { signal }),
    });
  return {
    server,
    client,
    clock,
    store,
    send: async (method, url, body, headers = {}) => {
      const response = await open(method, url, headers, body);
      return { status: response.status, headers: response.headers, body: JSON.parse(await textOf(response.body)) };
    },
    watch: async (url, headers = {}) => {
      const stop = new AbortController();
      const response = await open('GET', url, headers, undefined, stop.signal);
      const watching = new Watching(response, () => stop.abort());
      await settle();
      return watching;
    },
    close: async () => {
      store.release();
      // It waits for requests under way, for as long as the settings say.
      await inTime({ clock }, server.close(), 1_000);
    },
  };
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

export interface Event {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: an object, a Status, a Table
  readonly object: any;
}

/** A watch that is read without delay. */
export class Watching {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly events: Event[] = [];
  /** The response of a failed request. */
  refusal: Status | undefined;
  /** The stream has ended, or the request failed. */
  ended = false;
  readonly close: () => void;

  constructor(response: Awaited<ReturnType<Client['request']>>, close: () => void) {
    this.status = response.status;
    this.headers = response.headers;
    this.close = close;
    void this.#read(response.body);
  }

  /** Type and name of each event; `END` for the bookmark that ends the initial events. */
  get seen(): string[] {
    return this.events.map(({ type, object }) => {
      const { name, annotations } = object.metadata ?? {};
      if (annotations?.['k8s.io/initial-events-end'] === 'true') return 'END';
      return name === undefined ? type : `${type} ${name}`;
    });
  }

  async #read(body: AsyncIterable<Uint8Array>): Promise<void> {
    let rest = '';
    for await (const piece of body) {
      rest += Buffer.from(piece).toString();
      if (this.status !== 200) continue;
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.events.push(JSON.parse(line) as Event);
    }
    if (this.status !== 200) this.refusal = JSON.parse(rest) as Status;
    this.ended = true;
  }
}

/** Runs pending tasks of the event loop, however many turns they take. */
export const settle = (): Promise<void> => settled(12);

/** This many turns of the event loop. */
export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Whether the promise settles without the clock advancing. */
export async function isSettled(work: Promise<unknown>): Promise<boolean> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  await settle();
  return isOver;
}

/** The result of `work`, while the clock advances. */
export async function inTime<T>(world: Pick<World, 'clock'>, work: Promise<T>, ms = 10): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  for (let i = 0; !isOver; i++) {
    await settled();
    if (i > 2 && !isOver) world.clock.advance(ms);
    if (i > 100_000) throw new Error('it never ends');
  }
  return work;
}
