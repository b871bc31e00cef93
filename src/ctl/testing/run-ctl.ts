import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathWithKubectl } from '../../../test/support/kubectl-path.ts';
import { createServer, type OrchServer, type ServerOptions } from '../../server/index.ts';
import { type ProgramIo, runCtl } from '../index.ts';

/** Timeout of a call of kubectl (ms). */
const kubectlMs = 60_000;

/** The output of a command line, and its exit status. */
export interface Transcript {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command line that runs. */
export interface Running {
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** As Ctrl-C. */
  readonly interrupt: () => void;
  readonly ended: Promise<Transcript>;
}

interface StartOptions {
  /** Added to the environment. */
  readonly env?: ProgramIo['env'];
  /** Makes standard input a terminal. */
  readonly setRawMode?: (raw: boolean) => unknown;
}

export interface CtlBench {
  readonly server: OrchServer;
  /** The URL of the server. */
  readonly url: string;
  /** A kubeconfig of an administrator. */
  readonly kubeconfig: string;
  /** The folder of the command lines. */
  readonly folder: string;
  /** Starts a command line, whose standard input is `input`. */
  readonly start: (line: readonly string[], input?: string, options?: StartOptions) => Running;
  readonly run: (...line: string[]) => Promise<Transcript>;
  /** Runs kubectl with the same kubeconfig and folder. */
  readonly kubectl: (...line: string[]) => Promise<Transcript>;
  readonly close: () => Promise<void>;
}

/** A server that listens, and command lines against it in this process. */
export async function ctlBench(options: ServerOptions = {}): Promise<CtlBench> {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-'));
  const server = await createServer({ store: 'memory', apiDomain: 'k8s.io', securePort: 0, ...options });
  const { url, kubeconfig: content } = await server.listen();
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, content, { mode: 0o600 });
  const start = (line: readonly string[], input = '', { env, setRawMode }: StartOptions = {}): Running => {
    const stop = new AbortController();
    const texts = { stdout: '', stderr: '' };
    const output = (name: 'stdout' | 'stderr') => ({
      write: (text: string | Uint8Array) => {
        texts[name] += typeof text === 'string' ? text : Buffer.from(text).toString();
      },
    });
    const io: ProgramIo = {
      stdout: output('stdout'),
      stderr: output('stderr'),
      stdin: {
        ...(setRawMode && { isTTY: true, setRawMode }),
        async *[Symbol.asyncIterator]() {
          if (input !== '') yield Buffer.from(input);
        },
      },
      env: { KUBECONFIG: kubeconfig, ...env },
      home: folder,
      folder,
      clock: { now: () => Date.now() },
      signal: stop.signal,
      version: '0.0.0',
      convert: async () => {},
    };
    return {
      stdout: () => texts.stdout,
      stderr: () => texts.stderr,
      interrupt: () => stop.abort(),
      ended: runCtl(line, io).then((status) => ({ status, ...texts })),
    };
  };
  return {
    server,
    url,
    kubeconfig,
    folder,
    start,
    run: (...line) => start(line).ended,
    kubectl: (...line) =>
      new Promise((resolve) => {
        const env = {
          ...process.env,
          HOME: folder,
          KUBECONFIG: kubeconfig,
          PATH: pathWithKubectl(process.env['PATH'] ?? ''),
        };
        execFile('kubectl', line, { env, cwd: folder, timeout: kubectlMs }, (error, stdout, stderr) => {
          const status = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
          resolve({ status, stdout, stderr });
        });
      }),
    close: async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
