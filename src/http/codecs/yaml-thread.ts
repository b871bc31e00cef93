import { Worker } from 'node:worker_threads';
import { type ParsedBody, readOwnJsonInSteps } from '../../codec/index.ts';
import { type Clock, inTurns, type StatusError, serverTurns, statusError, type Turns } from '../../meta/index.ts';
import { FairQueue } from './fair-queue.ts';

/** The result of a worker: the document as JSON, or its error. */
export type YamlAnswer = JsonText | { readonly fault: string };

interface JsonText {
  readonly json: string;
  readonly findings: readonly string[];
}

export interface YamlThreadOptions {
  readonly clock: Clock;
  /** The script of the worker. */
  readonly entry?: URL;
  readonly limits?: Partial<YamlLimits>;
}

export interface YamlLimits {
  /** Heap limit of the worker (MiB), three times what the largest reasonable document needs. */
  readonly heapMb: number;
  /** The limit of what waits in all, and the least that one document counts of it (bytes). */
  readonly waitingBytes: number;
  readonly leastBytes: number;
  /**
   * Timeout of a document, and what each MiB adds to it (ms): ten times what decoding takes, because the clock also runs
   * while the thread is not scheduled.
   */
  readonly baseMs: number;
  readonly msPerMib: number;
  /** Timeout for the start of the worker, and how long an idle one is kept (ms). */
  readonly startMs: number;
  readonly idleMs: number;
}

const defaults: YamlLimits = {
  heapMb: 256,
  waitingBytes: 8 * 1024 * 1024,
  leastBytes: 40 * 1024,
  baseMs: 5_000,
  msPerMib: 2_000,
  startMs: 30_000,
  idleMs: 20_000,
};

interface Job {
  /** The user whose document it is. */
  readonly owner: string;
  /** The size of the document in the queue (bytes). */
  readonly size: number;
  readonly bytes: Uint8Array;
  readonly resolve: (text: JsonText) => void;
  readonly reject: (error: StatusError) => void;
}

/** The bundle of ./yaml-worker.ts is in the same folder as the bundle of this file. */
const bundledEntry = new URL('./yaml-worker.js', import.meta.url);

/**
 * Decodes YAML documents in a worker thread, one at a time: the next one is the oldest of the user who has used the
 * thread least. The thread starts with the first document, ends when idle, and keeps the process alive only while it
 * decodes.
 */
export class YamlThread {
  readonly #clock: Clock;
  readonly #entry: URL;
  readonly #limits: YamlLimits;
  readonly #queue: FairQueue<Job>;
  #worker: Worker | undefined;
  /** The worker is loaded. */
  #ready = false;
  #current: Job | undefined;
  /** When the worker was sent the current document (ms). */
  #sentAt = 0;
  /** Cancels the timeout of the current document, or the idle timer. */
  #cancel = () => {};

  constructor({ clock, entry = bundledEntry, limits }: YamlThreadOptions) {
    this.#clock = clock;
    this.#entry = entry;
    this.#limits = { ...defaults, ...limits };
    this.#queue = new FairQueue(this.#limits.waitingBytes);
  }

  /**
   * As `parseYaml`; what the thread answers is read in the turns.
   * @throws StatusError 400, also on timeout; 429 when the queue is full and the user holds most of it
   */
  async parse(bytes: Uint8Array, user: string, turns: Turns = serverTurns()): Promise<ParsedBody> {
    const { json, findings } = await this.#asJson(bytes, user);
    return { value: await inTurns(readOwnJsonInSteps(json), turns), findings };
  }

  #asJson(bytes: Uint8Array, user: string): Promise<JsonText> {
    return new Promise((resolve, reject) => {
      const size = Math.max(bytes.length, this.#limits.leastBytes);
      for (const displaced of this.#queue.add({ owner: user, size, bytes, resolve, reject })) {
        displaced.reject(statusError.tooManyRequests('too many YAML documents are waiting to be read', 1));
      }
      this.#next();
    });
  }

  /** Ends the thread; pending documents fail. */
  close(): void {
    const left = this.#queue.clear();
    if (this.#current !== undefined) left.unshift(this.#current);
    for (const { reject } of left) reject(statusError.unavailable('the server is shutting down'));
    this.#end();
  }

  /** Sends the next document to an idle worker. */
  #next(): void {
    if (this.#current !== undefined) return;
    if (this.#worker === undefined && this.#queue.waiting > 0) this.#start();
    const worker = this.#worker;
    if (worker === undefined || !this.#ready) return;
    this.#cancel();
    const job = this.#queue.take();
    if (job === undefined) {
      worker.unref();
      this.#cancel = this.#clock.after(this.#limits.idleMs, () => this.#end());
      return;
    }
    this.#current = job;
    this.#sentAt = this.#clock.monotonic();
    worker.ref();
    const copy = new Uint8Array(job.bytes);
    worker.postMessage(copy, [copy.buffer]);
    const { baseMs, msPerMib } = this.#limits;
    this.#cancel = this.#clock.after(baseMs + (msPerMib * job.bytes.length) / 2 ** 20, () =>
      this.#fail(refusal('document takes too long to read')),
    );
  }

  #start(): void {
    const { heapMb, startMs } = this.#limits;
    this.#cancel();
    this.#cancel = this.#clock.after(startMs, () => this.#fail(failure(new Error('the thread does not start'))));
    try {
      const worker = new Worker(this.#entry, {
        env: {},
        execArgv: [],
        resourceLimits: { maxOldGenerationSizeMb: heapMb },
      });
      this.#worker = worker;
      const ofThis =
        <T>(handle: (event: T) => void) =>
        (event: T) => {
          if (this.#worker === worker) handle(event);
        };
      worker.on(
        'message',
        ofThis((said: YamlAnswer | 'ready') => this.#answered(said)),
      );
      worker.on(
        'error',
        ofThis((error: Error) => this.#fail(failure(error))),
      );
      worker.on(
        'exit',
        ofThis(() => this.#fail(failure(new Error('the thread ended')))),
      );
    } catch (error) {
      this.#fail(failure(error));
    }
  }

  #answered(said: YamlAnswer | 'ready'): void {
    const job = this.#finish();
    this.#ready = true;
    this.#next();
    if (job === undefined || said === 'ready') return;
    if ('fault' in said) job.reject(statusError.badRequest(said.fault));
    else job.resolve(said);
  }

  /** Terminates a worker that failed; the remaining documents go to a new one. */
  #fail(error: StatusError): void {
    const job = this.#finish() ?? this.#queue.take();
    this.#end();
    job?.reject(error);
    this.#next();
  }

  /** The current document, whose time is counted; undefined when there is none. */
  #finish(): Job | undefined {
    const job = this.#current;
    this.#current = undefined;
    if (job !== undefined) this.#queue.charge(job.owner, this.#clock.monotonic() - this.#sentAt);
    return job;
  }

  #end(): void {
    this.#cancel();
    void this.#worker?.terminate();
    this.#worker = undefined;
    this.#ready = false;
    this.#current = undefined;
  }
}

const refusal = (why: string): StatusError => statusError.badRequest(`error converting YAML to JSON: yaml: ${why}`);

function failure(error: unknown): StatusError {
  if ((error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return refusal('document takes too much memory to read');
  }
  return statusError.internal('YAML cannot be read', error);
}
