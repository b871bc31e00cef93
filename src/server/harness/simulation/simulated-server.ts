import type { Handler } from '../../../http/index.ts';
import type { Clock } from '../../../meta/index.ts';
import type { Log } from '../../dependencies.ts';
import { type OpenedServer, openServer } from '../../server.ts';
import type { ServerSettings } from '../../settings/flags.ts';
import type { LocalWebhooks } from '../webhooks.ts';
import { choicesOf } from './seeded-random.ts';
import { SimulatedProcess } from './simulated-process.ts';
import type { SimulatedStore } from './simulated-store.ts';
import type { StoreLink } from './store-link.ts';
import type { Trace } from './trace.ts';

export interface SimulatedServerOptions {
  readonly name: string;
  readonly seed: number;
  readonly settings: ServerSettings;
  /** The clock of the world. */
  readonly clock: Clock;
  readonly store: SimulatedStore;
  readonly trace: Trace;
  readonly interceptWebhooks: LocalWebhooks['intercept'] | undefined;
}

/** Delay after which a server that has failed to start is started again (ms). */
const restartMs = 1_000;

/** One server of a simulated world, over all its restarts. */
export class SimulatedServer {
  readonly name: string;
  readonly #options: SimulatedServerOptions;
  #starts = 0;
  #process: SimulatedProcess;
  #link: StoreLink;
  #opened: OpenedServer | undefined;
  #ready: Promise<void> = Promise.resolve();

  constructor(options: SimulatedServerOptions) {
    this.#options = options;
    this.name = options.name;
    this.#process = new SimulatedProcess(options.name, options.clock);
    this.#link = options.store.link(this.#process);
  }

  /** The current process. */
  get process(): SimulatedProcess {
    return this.#process;
  }

  /** The link of the current process to the store. */
  get link(): StoreLink {
    return this.#link;
  }

  /** The handler; undefined while the server does not serve. */
  get handler(): Handler | undefined {
    return this.#process.killed ? undefined : (this.#opened?.server.handler as Handler | undefined);
  }

  get opened(): OpenedServer | undefined {
    return this.#process.killed ? undefined : this.#opened;
  }

  /** Resolves once the server that was started last serves. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /** Starts the server in a new process; a failure is repeated until it serves or is killed. */
  start(): Promise<void> {
    const { name, seed, clock, store, settings, trace, interceptWebhooks } = this.#options;
    const process = new SimulatedProcess(name, clock);
    this.#process = process;
    this.#link = store.link(process);
    this.#opened = undefined;
    const random = choicesOf(seed, `${name}, start ${++this.#starts}`);
    trace.note(name, 'starts');
    const dependencies = { clock: process.clock, random, store: this.#link.store, identity: name };
    const log = logOf(name, process, trace);
    this.#ready = new Promise((resolve) => {
      openServer(settings, { ...dependencies, log }, { webhooks: interceptWebhooks }).then(
        (opened) => {
          if (this.#process !== process || process.killed) return;
          this.#opened = opened;
          trace.note(name, 'serves');
          resolve();
        },
        (error: Error) => {
          if (process.killed) return;
          trace.note(name, `cannot start: ${error.message}`);
          process.kill();
          clock.after(restartMs, () => void this.start().then(resolve));
        },
      );
    });
    return this.#ready;
  }

  /** Ends the process without a farewell. */
  crash(): void {
    this.#options.trace.note(this.name, 'crashes');
    this.#process.kill();
  }
}

/** Notes warnings, errors and information of a process that runs. */
function logOf(name: string, process: SimulatedProcess, trace: Trace): Log {
  const note =
    (level: string): Log['info'] =>
    (text, fields) => {
      if (!process.killed) trace.note(name, `${level}: ${text} ${JSON.stringify(fields, withErrors)}`);
    };
  return { info: note('info'), warn: note('warning'), error: note('error') };
}

const withErrors = (_: string, value: unknown): unknown => (value instanceof Error ? value.message : value);
