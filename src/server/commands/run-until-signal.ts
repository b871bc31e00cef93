/** Shared by commands that run until a signal. */
import { constants } from 'node:os';
import { StatusError } from '../../meta/index.ts';
import type { Log } from '../dependencies.ts';
import type { FlagTable } from '../settings/flag.ts';
import { readConfig } from '../settings/read-file.ts';
import { readSettings } from '../settings/settings.ts';
import { StartError } from '../start-error.ts';

/** Arbitrary period of the timer that keeps the process alive (ms). */
const aliveMs = 3_600_000;

/** Parses the settings of the process. Reports invalid ones, sets the exit status and resolves with undefined. */
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

/** Runs a command and exits with status 0, or reports a failure and exits with status 1. */
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

/** Prints a text. Resolves once the text is written, after which the process ends. Ignores a closed pipe. */
export const printText = (text: string): Promise<void> => {
  process.stdout.on('error', () => {});
  return new Promise((resolve) => process.stdout.write(text, () => resolve()));
};

/**
 * Logs unexpected failures, which end the process. A rejection with a StatusError that nobody handles is the answer to a
 * request that nobody waits for any more: it is only logged, so that no client can end the process with one.
 */
export function logFailures(log: Log): void {
  process.on('unhandledRejection', (error) => {
    if (!(error instanceof StatusError)) throw error;
    log.error('nobody handled the failure of a request', { error });
  });
  process.on('uncaughtException', (error) => {
    log.error('the process ends after an unexpected failure', { error });
    process.exit(1);
  });
  // The reader of standard output may be gone (EPIPE).
  process.stdout.on('error', () => {});
}

/** Resolves at the first SIGINT or SIGTERM and keeps the process alive until then. A second signal exits. */
export function firstSignal(): Promise<void> {
  // Timers of the clock and idle connections do not keep the process alive.
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
