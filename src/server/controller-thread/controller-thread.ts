import { Worker } from 'node:worker_threads';
import { type InProcessHandler, inProcessTransport, type QueueObserver, type QueueState } from '../../client/index.ts';
import type { SecretToken } from '../../controllers/index.ts';
import { type Clock, StatusError } from '../../meta/index.ts';
import type { Log } from '../dependencies.ts';
import type { QueueEvent, ServerMessage, ThreadCertificates, ThreadMessage, ThreadStart } from './messages.ts';
import { packError, unpackError } from './thread-error.ts';

export interface ControllerThreadOptions {
  readonly start: Omit<ThreadStart, 'certificates'>;
  readonly handler: InProcessHandler;
  /** Whether requests may be sent. */
  readonly holds: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly certificates: () => ThreadCertificates;
  readonly signSecretToken: (token: SecretToken) => Promise<string>;
  readonly observe: (queue: QueueState) => QueueObserver;
  /** The script of the thread. */
  readonly entry?: URL;
}

/** The bundle of ./entry.ts is in the same folder as the bundle of this file. */
const bundledEntry = new URL('./controller-worker.js', import.meta.url);

/** Maximum number of unread chunks of a response. */
const maxUnread = 16;
/**
 * The least time between two chunks of a watch (ms). Passing a chunk to the thread costs more than an event: events that
 * arrive meanwhile share the next chunk.
 */
const watchPaceMs = 20;
/** Initial and maximum delay before a thread restarts (ms). A run longer than the maximum resets the delay. */
const firstRestartMs = 1_000;
const lastRestartMs = 60_000;
/** Timeout of the controllers' stop before their thread is terminated (ms). */
const stopMs = 5_000;
/** Size of the young generation of the thread (MiB): small, as memory matters more than collection time. */
const youngMb = 8;

interface ServedRequest {
  readonly stop: AbortController;
  unread: number;
  wake: () => void;
}

/** Runs controllers in a separate thread and restarts it when it ends. */
export class ControllerThread {
  readonly #options: ControllerThreadOptions;
  #worker: Worker | undefined;
  #stopped: Promise<void> | undefined;
  #restartMs = firstRestartMs;
  #startedAt = 0;
  #cancel = () => {};
  readonly #served = new Map<number, ServedRequest>();
  readonly #queues: ThreadQueues;
  readonly #settling = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  #lastSettle = 0;
  #certificates: ThreadCertificates;
  #resolveStopped = () => {};

  constructor(options: ControllerThreadOptions) {
    this.#options = options;
    this.#certificates = options.certificates();
    this.#queues = new ThreadQueues(options.clock, options.observe);
    this.#start();
  }

  /** Resolves once the controllers are idle until the clock moves. */
  settled(): Promise<void> {
    if (this.#worker === undefined) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const id = this.#lastSettle++;
      this.#settling.set(id, { resolve, reject });
      this.#post({ type: 'settle', id });
    });
  }

  /** Resolves once the thread has ended. Idempotent. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#cancel();
    const worker = this.#worker;
    if (worker === undefined) return;
    // Keeps the process alive until the thread has responded.
    worker.ref();
    await new Promise<void>((resolve) => {
      this.#resolveStopped = resolve;
      this.#cancel = this.#options.clock.after(stopMs, resolve);
      this.#post({ type: 'stop' });
    });
    this.#cancel();
    await worker.terminate();
  }

  #post(message: ServerMessage, transfer: ArrayBuffer[] = []): void {
    this.#worker?.postMessage(message, transfer);
  }

  #start(): void {
    const { start, clock } = this.#options;
    this.#startedAt = clock.monotonic();
    this.#certificates = this.#options.certificates();
    const workerData: ThreadStart = { ...start, certificates: this.#certificates };
    const worker = new Worker(this.#options.entry ?? bundledEntry, {
      workerData,
      execArgv: [],
      name: 'controllers',
      resourceLimits: { maxYoungGenerationSizeMb: youngMb },
    });
    this.#worker = worker;
    let failure: unknown;
    worker.on('message', (message: ThreadMessage) => this.#take(message));
    worker.on('error', (error) => {
      failure = error;
    });
    worker.on('exit', () => this.#ended(failure));
    // The thread does not keep the process alive.
    worker.unref();
  }

  #ended(error: unknown): void {
    this.#worker = undefined;
    for (const { stop, wake } of this.#served.values()) {
      stop.abort();
      wake();
    }
    this.#served.clear();
    this.#queues.clear();
    for (const { resolve } of this.#settling.values()) resolve();
    this.#settling.clear();
    this.#resolveStopped();
    if (this.#stopped !== undefined) return;
    const { clock, log } = this.#options;
    if (clock.monotonic() - this.#startedAt > lastRestartMs) this.#restartMs = firstRestartMs;
    log.error('the thread of the controllers has ended and is started again', { error, afterMs: this.#restartMs });
    this.#cancel = clock.after(this.#restartMs, () => this.#start());
    this.#restartMs = Math.min(2 * this.#restartMs, lastRestartMs);
  }

  #take(message: ThreadMessage): void {
    switch (message.type) {
      case 'request':
        void this.#serve(message);
        break;
      case 'read': {
        const served = this.#served.get(message.id);
        if (served !== undefined && served.unread-- === maxUnread) served.wake();
        break;
      }
      case 'cancel':
        this.#served.get(message.id)?.stop.abort();
        this.#served.get(message.id)?.wake();
        break;
      case 'sign':
        this.#options.signSecretToken(message.token).then(
          (token) => this.#post({ type: 'signed', id: message.id, token }),
          (error: unknown) => this.#post({ type: 'signed', id: message.id, error: packError(error) }),
        );
        break;
      case 'queues':
        this.#queues.take(message.events);
        break;
      case 'log':
        this.#options.log[message.level](message.text, message.fields);
        break;
      case 'settled': {
        const waiting = this.#settling.get(message.id);
        this.#settling.delete(message.id);
        if (message.error === undefined) waiting?.resolve();
        else waiting?.reject(unpackError(message.error));
        break;
      }
      case 'stopped':
        this.#resolveStopped();
    }
  }

  async #serve({ id, subject, ...request }: Extract<ThreadMessage, { type: 'request' }>): Promise<void> {
    const { handler, holds } = this.#options;
    const worker = this.#worker;
    const served: ServedRequest = { stop: new AbortController(), unread: 0, wake: () => {} };
    const { signal } = served.stop;
    this.#served.set(id, served);
    this.#sendCertificates();
    try {
      if (!holds()) throw new StatusError(503, 'ServiceUnavailable', 'the lease is not held');
      const transport = inProcessTransport(handler, { subject, background: true });
      const { body, ...head } = request;
      const response = await transport({ ...head, ...(body === undefined ? {} : { body }), signal });
      const paceMs = isWatch(request.url) ? watchPaceMs : 0;
      this.#post({ type: 'response', id, status: response.status, headers: response.headers });
      for await (const chunk of response.body) {
        if (signal.aborted || this.#worker !== worker) break;
        const bytes = new Uint8Array(chunk);
        this.#post({ type: 'chunk', id, bytes }, [bytes.buffer]);
        if (++served.unread >= maxUnread) {
          await new Promise<void>((resolve) => {
            served.wake = resolve;
          });
        }
        if (paceMs > 0) await this.#pause(served, paceMs);
      }
      if (this.#worker === worker) this.#post({ type: 'end', id });
    } catch (error) {
      if (this.#worker === worker) this.#post({ type: 'end', id, error: packError(error) });
    }
    if (this.#served.get(id) === served) this.#served.delete(id);
  }

  /** Resolves after the time, or once the request is cancelled. */
  #pause(served: ServedRequest, ms: number): Promise<void> {
    if (served.stop.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve);
      served.wake = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Sends replaced certificates to the thread, before the response to its request. */
  #sendCertificates(): void {
    const certificates = this.#options.certificates();
    const { rootCa, signing } = this.#certificates;
    if (certificates.rootCa === rootCa && certificates.signing === signing) return;
    this.#certificates = certificates;
    this.#post({ type: 'certificates', certificates });
  }
}

const isWatch = (url: string): boolean => /[?&]watch=true(?:&|$)/.test(url);

/** The metrics of the work queues in the thread. */
class ThreadQueues {
  readonly #clock: Clock;
  readonly #observe: ControllerThreadOptions['observe'];
  readonly #queues = new Map<string, { depth: number; readonly running: number[]; readonly observer: QueueObserver }>();

  constructor(clock: Clock, observe: ControllerThreadOptions['observe']) {
    this.#clock = clock;
    this.#observe = observe;
  }

  take(events: readonly QueueEvent[]): void {
    for (const [name, event, seconds] of events) {
      const queue = this.#queueOf(name);
      if (event === 'added') {
        queue.depth++;
        queue.observer.added();
      } else if (event === 'started') {
        queue.depth--;
        queue.running.push(this.#clock.monotonic());
        queue.observer.started(seconds);
      } else if (event === 'ended') {
        queue.running.shift();
        queue.observer.ended(seconds);
      } else if (event === 'retried') queue.observer.retried();
    }
  }

  /** Resets the queues after the thread has ended. */
  clear(): void {
    for (const queue of this.#queues.values()) {
      queue.depth = 0;
      queue.running.length = 0;
    }
  }

  #queueOf(name: string) {
    const existing = this.#queues.get(name);
    if (existing !== undefined) return existing;
    const running: number[] = [];
    const state: QueueState = {
      name,
      depth: () => queue.depth,
      runningSeconds: () => running.map((began) => (this.#clock.monotonic() - began) / 1000),
    };
    const queue = { depth: 0, running, observer: this.#observe(state) };
    this.#queues.set(name, queue);
    return queue;
  }
}
