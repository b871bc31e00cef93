import { constants, homedir } from 'node:os';
import { interrupted, type ProgramIo, runCtl } from '../../ctl/index.ts';
import { systemClock } from '../clock.ts';

/**
 * Runs `orch ctl` with the standard streams of the process. Resolves to the exit status of the command, once its output is
 * written; after a signal to 128 and the number of the signal, once the command has cleaned up.
 */
export async function ctl(args: readonly string[], program: Pick<ProgramIo, 'version' | 'convert'>): Promise<number> {
  const stop = new AbortController();
  let stopped: NodeJS.Signals | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // A second signal ends the process.
    process.once(signal, () => {
      stopped ??= signal;
      stop.abort();
    });
  }
  // The reader of standard output may be gone (EPIPE).
  process.stdout.on('error', () => process.exit(0));
  const status = await runCtl(args, {
    ...program,
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    env: process.env,
    home: process.env['HOME'] ?? homedir(),
    folder: process.cwd(),
    clock: systemClock,
    signal: stop.signal,
  });
  await Promise.all([process.stdout, process.stderr].map(written));
  return stopped === undefined || status !== interrupted ? status : 128 + constants.signals[stopped];
}

/** Resolves once a stream has written its text. */
const written = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    stream.write('', () => resolve());
  });
