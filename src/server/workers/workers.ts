import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { addLines, type MetricLines, type Metrics } from '../../http/index.ts';
import type { Clock } from '../../meta/index.ts';
import type { StoreHost } from '../../store/index.ts';
import type { Log } from '../dependencies.ts';
import { CallChannel } from './call-channel.ts';
import {
  connectionMessage,
  type OwnerCalls,
  type Publication,
  storeDescriptor,
  type WorkerCalls,
  type WorkerStart,
} from './messages.ts';

export interface WorkersOptions {
  /** The number of processes besides this one. */
  readonly count: number;
  readonly start: WorkerStart;
  readonly host: StoreHost;
  /** The descriptor of the board with the latest revision. */
  readonly board: number | undefined;
  readonly calls: Omit<OwnerCalls, 'closed'>;
  readonly metrics: Pick<Metrics, 'all'>;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a worker may take to stop before it is killed (ms). */
  readonly stopMs: number;
  /** The script of a worker. */
  readonly entry?: URL;
}

/** The bundle of ./worker.ts is in the same folder as the bundle of this file. */
const bundledEntry = new URL('./worker.js', import.meta.url);

/** Initial and maximum delay before a worker is replaced (ms). A run longer than the maximum resets the delay. */
const firstRestartMs = 100;
const lastRestartMs = 60_000;
/** Timeout of a worker that is asked for its metrics (ms). */
const metricsMs = 5_000;
/** How often a worker must show that its event loop runs (ms), and how many times in a row it may miss this before it is killed. */
const pingMs = 5_000;
const maxMissedPings = 6;

/** The other processes of a server. They are replaced when they end, and each gets a part of the connections. */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #workers: Worker[];
  /** The open connections that this process serves itself. */
  #ownConnections = 0;
  #publication: Publication | undefined;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#workers = Array.from({ length: options.count }, () => new Worker(options, () => this.#publication));
  }

  /** Starts the processes. Resolves when each is ready, or has failed for the first time. */
  async start(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.start()));
  }

  /** Tells the workers how clients reach the server. */
  async publish(publication: Publication): Promise<void> {
    this.#publication = publication;
    await Promise.all(this.#workers.map((worker) => worker.publish(publication)));
  }

  /** Gives a new connection to the process with the fewest; false when it is this one. */
  readonly assign = (socket: Socket): boolean => {
    let chosen: Worker | undefined;
    for (const worker of this.#workers) {
      if (worker.isServing && worker.connections <= (chosen?.connections ?? this.#ownConnections)) chosen = worker;
    }
    if (chosen !== undefined) {
      chosen.take(socket);
      return true;
    }
    this.#ownConnections++;
    socket.once('close', () => void this.#ownConnections--);
    return false;
  };

  /** The metrics of all workers, with the counts of those that have ended. */
  async metricLines(): Promise<readonly MetricLines[]> {
    return (await Promise.all(this.#workers.map((worker) => worker.metricLines()))).flat();
  }

  async resetMetrics(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.resetMetrics()));
  }

  setLogLevels(text: string): void {
    for (const worker of this.#workers) worker.setLogLevels(text);
  }

  /** Lets the workers finish their requests. Resolves when all processes have ended. */
  async stop(): Promise<void> {
    this.#options.log.debug?.('the workers stop', { count: this.#workers.length });
    await Promise.all(this.#workers.map((worker) => worker.stop()));
  }
}

/** One place for a process, which is replaced when it ends. */
class Worker {
  readonly #options: WorkersOptions;
  readonly #publication: () => Publication | undefined;
  #process: ChildProcess | undefined;
  #channel: CallChannel<OwnerCalls, WorkerCalls> | undefined;
  #restartMs = firstRestartMs;
  #startedAt = 0;
  #cancelRestart = () => {};
  #stopping = false;
  #exited: Promise<void> = Promise.resolve();
  /** The latest metrics of the process, and the counts of those that it has replaced. */
  #lines: MetricLines = new Map();
  #past: MetricLines = new Map();
  /** Whether the process has all that it needs to serve connections. */
  isServing = false;
  /** Open connections that the process has been given. */
  connections = 0;

  constructor(options: WorkersOptions, publication: () => Publication | undefined) {
    this.#options = options;
    this.#publication = publication;
  }

  /** Resolves when the process is ready or has failed. */
  async start(): Promise<void> {
    const { clock, log, host, board, calls, entry = bundledEntry } = this.#options;
    this.#startedAt = clock.monotonic();
    const started = fork(entry, [], {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe', board ?? 'ignore'],
      execArgv: process.execArgv.filter((argument) => !argument.startsWith('--inspect')),
    });
    if (started.pid === undefined) {
      started.once('error', (error) => log.error('a worker cannot be started', { error }));
      this.#ended({ pid: undefined, code: null, signal: null });
      return;
    }
    const channel = new CallChannel<OwnerCalls, WorkerCalls>(
      { ...calls, closed: (count) => this.#closed(count) },
      (message) => void send(started, message).catch(() => undefined),
    );
    this.#process = started;
    this.#channel = channel;
    started.on('message', (message) => void channel.take(message as Parameters<typeof channel.take>[0]));
    started.on('error', (error) => log.error('a worker has failed', { error }));
    this.#exited = new Promise((resolve) => {
      started.once('exit', (code, signal) => {
        channel.end();
        this.#ended({ pid: started.pid, code, signal });
        resolve();
      });
    });
    host.attach(started.stdio[storeDescriptor] as Duplex);
    try {
      await channel.call('start', this.#options.start);
      const publication = this.#publication();
      if (publication !== undefined) await this.publish(publication);
      this.#watchOver(started, channel);
    } catch (error) {
      log.error('a worker cannot start', { error });
      started.kill();
    }
  }

  /**
   * Kills a process that has not answered for half a minute. The owner counts its own rounds, not time: when the owner itself
   * was stopped, it reads the answers that have arrived meanwhile before the next round.
   */
  #watchOver(watched: ChildProcess, channel: CallChannel<OwnerCalls, WorkerCalls>): void {
    const { clock, log } = this.#options;
    let missed = 0;
    const answered = () => {
      missed = 0;
    };
    const round = () => {
      if (channel !== this.#channel || this.#stopping) return;
      if (missed++ >= maxMissedPings) {
        log.error('a worker does not answer and is killed', { pid: watched.pid, afterMs: maxMissedPings * pingMs });
        watched.kill('SIGKILL');
        return;
      }
      channel.call('ping').then(answered, () => undefined);
      clock.after(pingMs, round);
    };
    round();
  }

  async publish(publication: Publication): Promise<void> {
    const channel = this.#channel;
    try {
      await channel?.call('publish', publication);
      this.isServing = channel !== undefined && channel === this.#channel;
    } catch {
      // It has ended, and its successor is told.
    }
  }

  take(socket: Socket): void {
    const { remoteAddress } = socket;
    this.connections++;
    void send(this.#process, connectionMessage, socket).catch((error: unknown) => {
      this.#options.log.debug?.('a connection was lost with its worker', { remoteAddress, error });
      socket.destroy();
    });
  }

  #closed(connections: number): void {
    this.connections -= connections;
  }

  async metricLines(): Promise<MetricLines[]> {
    const channel = this.#channel;
    let cancel = () => {};
    const timeout = new Promise<undefined>((resolve) => {
      cancel = this.#options.clock.after(metricsMs, () => resolve(undefined));
    });
    const lines = await Promise.race([channel?.call('metricLines').catch(() => undefined), timeout]);
    cancel();
    if (lines !== undefined && channel === this.#channel) this.#lines = lines;
    return [this.#lines, this.#past];
  }

  async resetMetrics(): Promise<void> {
    this.#past = new Map();
    await this.#channel?.call('resetMetrics').catch(() => undefined);
  }

  setLogLevels(text: string): void {
    void this.#channel?.call('setLogLevels', text).catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.isServing = false;
    this.#cancelRestart();
    const stopped = this.#channel?.call('stop').catch(() => undefined);
    const cancel = this.#options.clock.after(this.#options.stopMs, () => this.#process?.kill('SIGKILL'));
    await stopped;
    if (this.#process?.connected) this.#process.disconnect();
    await this.#exited;
    cancel();
  }

  #ended(how: {
    readonly pid: number | undefined;
    readonly code: number | null;
    readonly signal: string | null;
  }): void {
    const { clock, log } = this.#options;
    this.isServing = false;
    this.connections = 0;
    this.#process = undefined;
    this.#channel = undefined;
    this.#past = this.#counts();
    this.#lines = new Map();
    if (this.#stopping) return;
    if (clock.monotonic() - this.#startedAt > lastRestartMs) this.#restartMs = firstRestartMs;
    log.error('a worker has ended and is started again', { ...how, afterMs: this.#restartMs });
    this.#cancelRestart = clock.after(this.#restartMs, () => void this.start());
    this.#restartMs = Math.min(2 * this.#restartMs, lastRestartMs);
  }

  /** The counts of all processes in this place, so that those of the server do not go back. */
  #counts(): MetricLines {
    const counters = this.#options.metrics.all.filter(({ type }) => type !== 'gauge');
    return new Map(
      counters.map((metric) => {
        const { name } = metric.declaration;
        return [name, addLines(metric, [this.#past.get(name) ?? [], this.#lines.get(name) ?? []])];
      }),
    );
  }
}

/** Rejects when the process has ended. */
function send(process: ChildProcess | undefined, message: object, handle?: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null) => (error === null ? resolve() : reject(error));
    if (process?.connected !== true) reject(new Error('the worker has ended'));
    else process.send(message, handle, {}, done);
  });
}
