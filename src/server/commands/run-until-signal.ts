/** What the commands that run until a signal have in common. */
import { constants } from 'node:os';
import type { Log } from '../dependencies.ts';
import type { FlagTable } from '../settings/flag.ts';
import { readConfig } from '../settings/read-file.ts';
import { readSettings } from '../settings/settings.ts';
import { StartError } from '../start-error.ts';

/** The period of the timer that keeps a process alive (ms): any. */
const aliveMs = 3_600_000;

/** The settings of the process; undefined, with this exit status, when one is invalid, which is reported. */
export async function parseSettings<S extends object>(
  command: string,
  table: FlagTable<S>,
  args: readonly string[],
  invalid = 2,
): Promise<S | undefined> {
  let problems: readonly string[];
  try {
    const result = await readSettings(table, { argv: args, env: process.env, readConfig });
    if ('settings' in result) return result.settings;
    problems = result.problems;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    problems = [error.message];
  }
  process.stderr.write(`${problems.map((p) => `orch: ${p}\n`).join('')}"orch ${command} --help" lists the flags.\n`);
  process.exitCode = invalid;
  return undefined;
}

/** Runs a command to its end, with exit status 0, or 1 after a failure, which is reported. */
export async function runToEnd(command: () => Promise<void>): Promise<void> {
  try {
    await command();
    process.exit(0);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`orch: ${error.message}\n`);
    process.exit(1);
  }
}

/** Logs an unexpected failure, which ends the process. */
export function logFailures(log: Log): void {
  process.on('uncaughtException', (error) => {
    log.error('ended by an unexpected failure', { error });
    process.exit(1);
  });
  // The reader of standard output may be gone (EPIPE).
  process.stdout.on('error', () => {});
}

/** Resolves at the first signal to end; the second one exits the process. The process lives until then. */
export function firstSignal(): Promise<void> {
  // Neither the timers of the clock nor connections that are idle keep a process alive.
  const alive = setInterval(() => {}, aliveMs);
  return new Promise((resolve) => {
    let stopping = false;
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      process.on(name, () => {
        if (stopping) process.exit(128 + constants.signals[name]);
        stopping = true;
        clearInterval(alive);
        resolve();
      });
    }
  });
}
