import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Programs that this process starts. All of them are killed when it ends, however it ends: by itself, or by a guard that
 * sees the end of a pipe.
 */
export class Processes {
  readonly #folder: string;
  readonly #guard: ChildProcess;
  readonly #running = new Set<ChildProcess>();
  readonly #killAll = () => {
    for (const child of this.#running) child.kill('SIGKILL');
  };

  /** Each program writes to `<folder>/<name>.log`. */
  constructor(folder: string) {
    this.#folder = folder;
    // Detached: an interrupt from the terminal does not reach it.
    this.#guard = spawn(process.execPath, ['test/torture/guard.mjs'], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#guard.stdin?.on('error', () => {});
    process.on('exit', this.#killAll);
  }

  start(name: string, command: string, args: readonly string[]): ChildProcess {
    const log = openSync(join(this.#folder, `${name}.log`), 'a');
    const child = spawn(command, args, { stdio: ['ignore', log, log] });
    closeSync(log);
    this.#running.add(child);
    this.#guard.stdin?.write(`+${child.pid}\n`);
    child.once('exit', () => {
      this.#running.delete(child);
      this.#guard.stdin?.write(`-${child.pid}\n`);
    });
    return child;
  }

  /** Kills all, and waits until they have exited. */
  async close(): Promise<void> {
    const exits = [...this.#running].map((child) => once(child, 'exit'));
    this.#killAll();
    await Promise.all(exits);
    this.#guard.stdin?.end();
    process.off('exit', this.#killAll);
  }
}
