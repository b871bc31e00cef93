import { homedir } from 'node:os';
import { type Io, runCtl } from '../../ctl/index.ts';
import { systemClock } from '../clock.ts';

/**
 * Runs `orch ctl` with the standard streams of the process. Resolves to the exit status of the command, once its output is
 * written.
 */
export async function ctl(args: readonly string[], program: Pick<Io, 'version' | 'convert'>): Promise<number> {
  const stop = new AbortController();
  // A second signal ends the process.
  process.once('SIGINT', () => stop.abort());
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
  return status;
}

/** Resolves once a stream has written its text. */
const written = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    stream.write('', () => resolve());
  });
