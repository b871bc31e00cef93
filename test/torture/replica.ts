import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import https, { type RequestOptions } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Processes } from './processes.ts';

const token = 'token-of-a-client';

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface Ask {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly type?: string;
}

/** One server, which may be killed, paused and started again; it keeps its folder and its port. */
export class Replica {
  readonly name: string;
  readonly #processes: Processes;
  readonly #folder: string;
  readonly #flags: readonly string[];
  #child: ChildProcess | undefined;
  #agent: https.Agent | undefined;

  /** `flags`: besides those of folder, port and tokens. Logs are kept in `logs`. */
  constructor(processes: Processes, name: string, folder: string, port: number, flags: readonly string[]) {
    this.name = name;
    this.#processes = processes;
    this.#folder = join(folder, name);
    this.port = port;
    mkdirSync(this.#folder, { recursive: true });
    const tokens = join(this.#folder, 'tokens.csv');
    writeFileSync(tokens, `${token},client,client,"system:masters"\n`, { mode: 0o600 });
    this.#flags = [`--secure-port=${port}`, `--data-dir=${this.#folder}`, `--token-auth-file=${tokens}`, ...flags];
  }

  readonly port: number;

  /** Starts the process; it is ready when `isReady` says so. */
  start(): void {
    const args = ['dist/server/main.js', 'serve', ...this.#flags];
    this.#child = this.#processes.start(this.name, process.execPath, args);
  }

  /** Whether the process runs, or is paused. */
  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** @returns the exit status, when the process has exited */
  async stop(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child as ChildProcess;
    const exited = once(child, 'exit');
    child.kill(signal);
    const [status] = (await exited) as [number | null];
    return status;
  }

  async isReady(): Promise<boolean> {
    const answer = await this.ask({ method: 'GET', path: '/readyz' }, 1_000).catch(() => undefined);
    return answer?.status === 200;
  }

  /** Resolves when the replica is ready, or false when it is not within the time (ms). */
  async ready(time: number): Promise<boolean> {
    const deadline = performance.now() + time;
    while (performance.now() < deadline) {
      if (await this.isReady()) return true;
      await sleep(20);
    }
    return false;
  }

  /** @throws Error without an answer within `patience` (ms) */
  ask(ask: Ask, patience: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => {
        clearTimeout(timer);
        reject(error);
      };
      const request = this.#request(ask, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => {
          text += piece;
        });
        response.on('error', fail);
        response.on('end', () => {
          clearTimeout(timer);
          resolve({ status: response.statusCode ?? 0, text });
        });
      });
      const timer = setTimeout(() => request.destroy(new Error(`no answer in ${patience} ms`)), patience);
      request.on('error', fail);
      request.end(ask.body === undefined ? undefined : JSON.stringify(ask.body));
    });
  }

  /** Opens a stream. @throws Error when there is no answer within `patience` (ms) */
  stream(path: string, patience: number): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = this.#request({ method: 'GET', path }, (response) => {
        clearTimeout(timer);
        resolve(response);
      });
      const timer = setTimeout(() => request.destroy(new Error(`no answer in ${patience} ms`)), patience);
      request.on('error', (error) => {
        clearTimeout(timer);
        reject(error);
      });
      request.end();
    });
  }

  /** Ends all connections. */
  close(): void {
    this.#agent?.destroy();
  }

  #request({ method, path, type, body }: Ask, answered: (response: IncomingMessage) => void) {
    const options: RequestOptions = {
      host: '127.0.0.1',
      port: this.port,
      agent: this.#connections(),
      method,
      path,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': type ?? 'application/json' }),
      },
    };
    return https.request(options, answered);
  }

  /** The authority of the server is there once it has started for the first time. */
  #connections(): https.Agent {
    this.#agent ??= new https.Agent({ keepAlive: true, ca: readFileSync(join(this.#folder, 'ca.crt')) });
    return this.#agent;
  }
}
