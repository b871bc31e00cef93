import type { ClientRequest, ClientResponse, Transport } from '../../../client/index.ts';
import type { ApiResponse, Chunk } from '../../../http/index.ts';
import { bufferOf, type Clock, statusError } from '../../../meta/index.ts';
import { Channel } from './channel.ts';
import type { Choices } from './seeded-random.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import type { SimulatedServer } from './simulated-server.ts';
import type { Trace } from './trace.ts';

export interface ClientLinkOptions {
  readonly process: SimulatedProcess;
  /** The clock of the world. */
  readonly clock: Clock;
  readonly random: Choices;
  readonly servers: readonly SimulatedServer[];
  readonly trace: Trace;
  /** The user of the requests. */
  readonly user: { readonly commonName: string; readonly organizations: readonly string[] };
}

/** The longest way of a request or of a piece of a response (ms). */
const distanceMs = 5;
/** Time after which a connection over which nothing arrives is lost (ms). */
const silenceMs = 5_000;

/** Why a server stops working on a request. Shared, because each DOMException of its own records a stack. */
const gone = new DOMException('This operation was aborted', 'AbortError');

type Loss = 'refused' | 'lost';

/** An error like those of sockets. */
const connectionError = (loss: Loss): Error => {
  const [syscall, code] = loss === 'refused' ? ['connect', 'ECONNREFUSED'] : ['read', 'ECONNRESET'];
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
};

/**
 * How one process reaches the servers: through one of them until a connection fails, then through any. Requests and responses take
 * time; those of one request arrive in order.
 */
export class ClientLink {
  readonly #options: ClientLinkOptions;
  readonly #connections = new Set<Connection>();
  readonly #cutFrom = new Set<string>();
  #server: SimulatedServer | undefined;
  #requests = 0;
  #losing = false;
  #duplicating = false;

  constructor(options: ClientLinkOptions) {
    this.#options = options;
  }

  readonly transport: Transport = (request) =>
    new Promise((resolve, reject) => {
      const { process, servers, random, trace } = this.#options;
      this.#server ??= random.pick(servers);
      const server = this.#server;
      const name = `${process.name}#${++this.#requests}`;
      trace.note(name, `→ ${server.name} ${request.method} ${request.url}`, request.body);
      const connection = new Connection(this.#options, server, name, {
        losesResponse: this.#losing,
        isDuplicated: this.#duplicating && isRepeatable(request),
        ended: () => this.#connections.delete(connection),
        lost: () => {
          this.#server = undefined;
        },
      });
      this.#connections.add(connection);
      if (this.#cutFrom.has(server.name)) connection.cut();
      connection.send(request, resolve, reject);
    });

  /** Cuts the process off a server: connections are lost after some seconds, or go on when they are healed before. */
  cut(server: string): void {
    this.#cutFrom.add(server);
    for (const connection of this.#connections) if (connection.server.name === server) connection.cut();
  }

  heal(server: string): void {
    this.#cutFrom.delete(server);
    for (const connection of this.#connections) if (connection.server.name === server) connection.heal();
  }

  /** Whether the responses to requests that are sent from now on are lost once they have been served. */
  loseResponses(losing: boolean): void {
    this.#losing = losing;
  }

  /** Whether requests that are sent from now on are served twice where a repetition changes nothing. */
  duplicateRequests(duplicating: boolean): void {
    this.#duplicating = duplicating;
  }

  /** Loses the connections of watches. */
  dropWatches(): void {
    for (const connection of this.#connections) if (connection.streams) connection.fail('lost');
  }
}

/** Whether a request that is served twice has the effect of one: a read or a replacement. */
const isRepeatable = ({ method }: ClientRequest): boolean => ['GET', 'PUT'].includes(method);

interface ConnectionOptions {
  readonly losesResponse: boolean;
  readonly isDuplicated: boolean;
  readonly ended: () => void;
  readonly lost: () => void;
}

/** The connection of one request and its response. */
class Connection {
  readonly server: SimulatedServer;
  /** Whether the response is a stream that goes on. */
  streams = false;
  readonly #link: ClientLinkOptions;
  readonly #name: string;
  readonly #options: ConnectionOptions;
  readonly #up: Channel;
  readonly #down: Channel;
  readonly #aborting = new AbortController();
  readonly #body = new Body(() => this.#leave());
  readonly #forgetKill: readonly (() => void)[];
  #stopWaiting: (() => void) | undefined;
  #reject: ((error: Error) => void) | undefined;
  #open = true;

  constructor(link: ClientLinkOptions, server: SimulatedServer, name: string, options: ConnectionOptions) {
    const { clock, random, process } = link;
    this.#link = link;
    this.server = server;
    this.#name = name;
    this.#options = options;
    const delay = () => (random.integer(1_000) / 1_000) * distanceMs;
    this.#up = new Channel(clock, delay);
    this.#down = new Channel(clock, delay);
    this.#forgetKill = [server.process.whenKilled(() => this.fail('lost')), process.whenKilled(() => this.#leave())];
  }

  send(request: ClientRequest, resolve: (response: ClientResponse) => void, reject: (error: Error) => void): void {
    const { process } = this.server;
    this.#reject = reject;
    // The signal of the browser's types is Node's here.
    const signal = request.signal as AbortSignal | undefined;
    const aborted = () => {
      const error = Object.assign(new Error('This operation was aborted'), { name: 'AbortError' });
      this.#leave();
      reject(error);
      this.#body.fail(error);
    };
    if (signal?.aborted === true) {
      aborted();
      return;
    }
    signal?.addEventListener('abort', aborted, { once: true });
    this.#up.send(() => {
      if (this.server.process !== process || this.server.handler === undefined) this.fail('refused');
      else process.enter(() => void this.#serve(request, resolve));
    });
  }

  /** Loses the connection on both sides. */
  fail(loss: Loss): void {
    if (!this.#open) return;
    const { clock, process, trace } = this.#link;
    this.#end();
    this.#options.lost();
    // A closed connection is noticed at once, and by no one who has been killed.
    clock.after(distanceMs, () =>
      process.enter(() => {
        trace.note(this.#name, `connection ${loss}`);
        const error = connectionError(loss);
        this.#reject?.(error);
        this.#body.fail(error);
      }),
    );
  }

  cut(): void {
    this.#up.hold();
    this.#down.hold();
    this.#stopWaiting ??= this.#link.clock.after(silenceMs, () => this.fail('lost'));
  }

  heal(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
    this.#up.release();
    this.#down.release();
  }

  /** The client needs nothing more. */
  #leave(): void {
    if (!this.#open) return;
    this.#end();
  }

  #end(): void {
    this.#open = false;
    this.#stopWaiting?.();
    for (const forget of this.#forgetKill) forget();
    this.#options.ended();
    this.#up.send(() => this.server.process.enter(() => this.#aborting.abort(gone)));
  }

  async #serve(request: ClientRequest, resolve: (response: ClientResponse) => void): Promise<void> {
    const { user } = this.#link;
    const bytes = request.body ?? new Uint8Array();
    const call = () =>
      this.server.handler?.({
        method: request.method,
        url: request.url,
        headers: request.headers,
        peer: { address: '', network: '', certificate: user },
        body: (limit) => (bytes.length > limit ? Promise.reject(statusError.tooLarge(limit)) : Promise.resolve(bytes)),
        stream: () => (bytes.length === 0 ? undefined : once(bytes)),
        upgrades: false,
        signal: this.#aborting.signal,
      });
    try {
      const response = await call();
      if (response === undefined) return this.fail('lost');
      if (this.#options.isDuplicated) await discard(await call());
      if (this.#options.losesResponse) {
        await discard(response);
        return this.fail('lost');
      }
      await this.#respond(response, resolve);
    } catch {
      this.fail('lost');
    }
  }

  async #respond(response: ApiResponse, resolve: (response: ClientResponse) => void): Promise<void> {
    const { process, trace } = this.#link;
    const { status, body } = response;
    const headers: { [name: string]: string } = {};
    for (const [name, value] of Object.entries(response.headers)) {
      headers[name.toLowerCase()] = typeof value === 'string' ? value : value.join(', ');
    }
    const receive = (run: () => void) => this.#down.send(() => process.enter(() => this.#open && run()));
    receive(() => {
      trace.note(this.#name, `← ${status}`);
      resolve({ status, headers, body: this.#body });
    });
    const chunk = (piece: Chunk) => {
      const bytes = typeof piece === 'string' ? bufferOf(piece) : piece.slice();
      receive(() => {
        trace.note(this.#name, `← ${bytes.length} bytes`, bytes);
        this.#body.add(bytes);
      });
    };
    if (typeof body === 'string' || body instanceof Uint8Array) chunk(body);
    else {
      this.streams = true;
      const iterator = body[Symbol.asyncIterator]();
      const stop = () => void iterator.return?.();
      this.#aborting.signal.addEventListener('abort', stop, { once: true });
      for (let next = await iterator.next(); next.done !== true && this.#open; next = await iterator.next()) {
        chunk(next.value);
      }
    }
    receive(() => {
      this.#body.end();
      this.#leave();
    });
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function discard(response: ApiResponse | undefined): Promise<void> {
  const body = response?.body;
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return;
  await body[Symbol.asyncIterator]().return?.();
}

/** The body of a response as it arrives. */
class Body implements AsyncIterableIterator<Uint8Array> {
  readonly #left: () => void;
  readonly #chunks: Uint8Array[] = [];
  #outcome: (() => Promise<IteratorResult<Uint8Array>>) | undefined;
  #wake: (() => void) | undefined;

  /** `left` is called when the reader stops early. */
  constructor(left: () => void) {
    this.#left = left;
  }

  add(bytes: Uint8Array): void {
    this.#chunks.push(bytes);
    this.#wake?.();
  }

  end(): void {
    this.#settle(() => Promise.resolve({ done: true, value: undefined }));
  }

  fail(error: Error): void {
    this.#settle(() => Promise.reject(error));
  }

  #settle(outcome: () => Promise<IteratorResult<Uint8Array>>): void {
    this.#outcome ??= outcome;
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    for (;;) {
      const value = this.#chunks.shift();
      if (value !== undefined) return { done: false, value };
      if (this.#outcome !== undefined) return this.#outcome();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.end();
    this.#left();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
