import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Endpoint } from './endpoint.ts';
import type { Processes } from './processes.ts';

/** The process of one server, which may be killed, paused and started again. */
export class Replica {
  readonly endpoint: Endpoint;
  readonly #processes: Processes;
  readonly #flags: readonly string[];
  readonly #runner: readonly string[];
  #child: ChildProcess | undefined;

  /** `flags`: besides those of folder, port and tokens. `runner`: a command that runs another one in its own process. */
  constructor(processes: Processes, endpoint: Endpoint, flags: readonly string[], runner: readonly string[] = []) {
    this.endpoint = endpoint;
    this.#processes = processes;
    this.#runner = runner;
    const { port, folder, tokens } = endpoint;
    this.#flags = [`--secure-port=${port}`, `--data-dir=${folder}`, `--token-auth-file=${tokens}`, ...flags];
  }

  /** Starts the process; the server is ready when its endpoint says so. */
  start(): void {
    this.endpoint.begin();
    const server = [process.execPath, 'dist/server/main.js', 'serve', ...this.#flags];
    const [command, ...args] = [...this.#runner, ...server] as [string, ...string[]];
    this.#child = this.#processes.start(this.endpoint.name, command, args);
  }

  /** Whether the process runs, or is paused. */
  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** @returns when the process has exited */
  async stop(signal: NodeJS.Signals): Promise<void> {
    if (!this.isRunning) return;
    const child = this.#child as ChildProcess;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }
}
