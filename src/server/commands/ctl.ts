import { once } from 'node:events';
import { homedir } from 'node:os';
import { type Io, type Output, runCtl } from '../../ctl/index.ts';
import { systemClock } from '../clock.ts';
import { version } from '../version.ts';

/** Runs `orch ctl` with the standard streams of the process, and exits with the status of the command. */
export async function ctl(args: readonly string[]): Promise<void> {
  const stop = new AbortController();
  // A second signal ends the process.
  process.once('SIGINT', () => stop.abort());
  // The reader of standard output may be gone (EPIPE).
  process.stdout.on('error', () => process.exit(0));
  const io: Io = {
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    env: process.env,
    home: process.env['HOME'] ?? homedir(),
    folder: process.cwd(),
    clock: systemClock,
    signal: stop.signal,
    version,
    convert: async (converted) => (await import('./convert.ts')).convertCommand.run(converted),
  };
  const status = await runCtl(args, io);
  await Promise.all([process.stdout, process.stderr].map(written));
  process.exit(status);
}

/** Resolves once a stream has written its text. */
async function written(stream: NodeJS.WriteStream & Output): Promise<void> {
  if (stream.writableLength > 0) await once(stream, 'drain');
}
