import { type ApiRequest, type ApiResponse, type Chunk, type Handler, identify } from '../../http/index.ts';
import { type Clock, encodeText, type StatusError } from '../../meta/index.ts';
import { type CheckedRule, checkRule, type FaultRequest, type FaultRule } from './fault-rule.ts';

/** A fault that was added. */
export interface FaultHandle {
  /** How many requests have met it. */
  readonly hits: number;
  /** No more requests meet it. Idempotent. */
  remove(): void;
}

/** Faults of the server, for requests in process and over sockets; its own controllers meet none. */
export interface Faults {
  /**
   * From now on the requests that match the rule meet its fault. Of several that match, a request meets the one that was
   * added first. @throws Error when the rule makes no sense
   */
  add(rule: FaultRule): FaultHandle;
  /** Removes all. */
  clear(): void;
  /** Cuts the connections of all watches that are open. The result is how many there were. */
  dropWatches(): number;
}

interface ActiveFault {
  readonly rule: CheckedRule;
  hits: number;
}

/** The faults of one server: `intercept` makes its handler. */
export class FaultInjector implements Faults {
  readonly #clock: Clock;
  readonly #active = new Set<ActiveFault>();
  readonly #watches = new Set<CutBody>();
  /** Ends the delays under way. */
  readonly #delays = new Set<() => void>();
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(rule: FaultRule): FaultHandle {
    const active: ActiveFault = { rule: checkRule(rule), hits: 0 };
    this.#active.add(active);
    return {
      get hits() {
        return active.hits;
      },
      remove: () => void this.#active.delete(active),
    };
  }

  clear(): void {
    this.#active.clear();
  }

  dropWatches(): number {
    const open = [...this.#watches];
    for (const body of open) body.cut();
    return open.length;
  }

  /** Requests that are delayed fail, and no request is delayed any more. */
  close(): void {
    this.#closed = true;
    this.clear();
    for (const end of this.#delays) end();
  }

  readonly intercept =
    (handler: Handler): Handler =>
    async (request) => {
      const faultRequest = requestOf(request);
      if (faultRequest === undefined) return handler(request);
      const fault = this.#take(faultRequest);
      if (typeof fault === 'function') return refusal(fault(faultRequest));
      if (fault === 'refuse') throw connectionError('connect', 'ECONNREFUSED');
      if (typeof fault === 'object') await this.#delay(fault.delayMs, request.signal);
      const response = await handler(request);
      if (fault === 'drop-after-write') {
        await discard(response);
        throw connectionError('read', 'ECONNRESET');
      }
      return faultRequest.info.verb === 'watch' ? this.#follow(response) : response;
    };

  #take(request: FaultRequest): CheckedRule['fault'] | undefined {
    for (const active of this.#active) {
      if (active.hits >= active.rule.times || !active.rule.matches(request)) continue;
      active.hits += 1;
      return active.rule.fault;
    }
    return undefined;
  }

  /** Waits, and keeps the process alive meanwhile, as a socket does. @throws Error when the server is closed before */
  async #delay(ms: number, signal: AbortSignal): Promise<void> {
    const alive = setInterval(() => {}, longestMs);
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(ms, resolve);
      const end = () => {
        cancel();
        resolve();
      };
      this.#delays.add(end);
      signal.addEventListener('abort', end, { once: true });
      if (signal.aborted || this.#closed) end();
    });
    clearInterval(alive);
    if (this.#closed) throw connectionError('read', 'ECONNRESET');
  }

  #follow(response: ApiResponse): ApiResponse {
    const { body } = response;
    if (typeof body === 'string' || body instanceof Uint8Array) return response;
    const watch = new CutBody(body[Symbol.asyncIterator](), () => this.#watches.delete(watch));
    this.#watches.add(watch);
    return { ...response, body: watch };
  }
}

/** The longest interval of a timer (ms). */
const longestMs = 2 ** 31 - 1;

/** Undefined for a URL that cannot be parsed. */
function requestOf({ method, url, peer }: ApiRequest): FaultRequest | undefined {
  try {
    return { info: identify(method, url), user: peer.certificate?.commonName };
  } catch {
    return undefined;
  }
}

/** An error as those of sockets. */
const connectionError = (syscall: string, code: string): Error =>
  Object.assign(new Error(`${syscall} ${code}`), { code, syscall });

function refusal(error: StatusError): ApiResponse {
  const seconds = error.details?.retryAfterSeconds;
  return {
    status: error.code,
    headers: {
      'content-type': 'application/json',
      ...(seconds === undefined ? {} : { 'retry-after': String(seconds) }),
    },
    body: encodeText(JSON.stringify(error.toStatus())),
  };
}

/** Ends a response that nobody will read. */
async function discard({ body, tunnel }: ApiResponse): Promise<void> {
  tunnel?.destroy();
  if (typeof body === 'string' || body instanceof Uint8Array) return;
  await body[Symbol.asyncIterator]().return?.();
}

/** A body that can be cut: the reader then sees a lost connection. */
class CutBody implements AsyncIterableIterator<Chunk> {
  readonly #chunks: AsyncIterator<Chunk>;
  readonly #ended: () => void;
  #cut: Error | undefined;
  #fail: ((error: Error) => void) | undefined;

  constructor(chunks: AsyncIterator<Chunk>, ended: () => void) {
    this.#chunks = chunks;
    this.#ended = ended;
  }

  next(): Promise<IteratorResult<Chunk>> {
    if (this.#cut !== undefined) return Promise.reject(this.#cut);
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      this.#chunks.next().then((result) => {
        if (result.done === true) this.#ended();
        resolve(result);
      }, reject);
    });
  }

  async return(): Promise<IteratorResult<Chunk>> {
    this.#ended();
    await this.#chunks.return?.();
    return { done: true, value: undefined };
  }

  cut(): void {
    this.#cut = connectionError('read', 'ECONNRESET');
    this.#fail?.(this.#cut);
    void this.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
