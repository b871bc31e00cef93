import { execFile, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningServer, startServer } from './server.ts';

/** Timeout of a call of kubectl (ms). */
const callMs = 100_000;

/** A real kubectl against the real command in the spelling that it knows. Calls start in a folder of their own. */
export interface Kubectl {
  readonly server: RunningServer;
  /** Its stdout. Rejects when it exits with an error. */
  run(...args: string[]): Promise<string>;
  /** Its stderr on success: warnings and logs. */
  warns(...args: string[]): Promise<string>;
  /** Its stderr on an error. Rejects when it succeeds. */
  fails(...args: string[]): Promise<string>;
  /** Its result, with any exit code. */
  ends(args: readonly string[], environment?: { [name: string]: string }): Promise<End>;
  /** The value of an object such as `cm/a` at a JSONPath, as text. */
  read(object: string, path: string, ...args: string[]): Promise<string>;
  /** Starts it, and streams its output. */
  start(...args: string[]): Started;
  /** Writes a file into its folder and returns its name. */
  file(name: string, content: string): string;
}

export interface End {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Started {
  /** Resolves once its stdout or stderr matches. */
  until(pattern: RegExp): Promise<void>;
  printed(): string;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
  stop(): void;
}

/** The most output of a command (bytes): the metrics of a server have more than a megabyte. */
const maxOutput = 16 * 1024 * 1024;

/** `flags`: flags of the server, in addition to its API domain. */
export async function startKubectl(flags: readonly string[] = []): Promise<Kubectl> {
  const server = await startServer(['--api-domain=k8s.io', ...flags]);
  const { folder, kubeconfig } = server;
  const env = { ...process.env, HOME: folder, KUBECONFIG: kubeconfig };

  const ends: Kubectl['ends'] = (args, environment = {}) =>
    new Promise((resolve) => {
      const how = {
        env: { ...env, ...environment },
        cwd: folder,
        timeout: callMs,
        killSignal: 'SIGKILL',
        maxBuffer: maxOutput,
      } as const;
      execFile('kubectl', [...args], how, (error, out, err) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, out, err });
      });
    });
  const succeeds = async (args: readonly string[]): Promise<End> => {
    const end = await ends(args);
    if (end.code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${end.code}\n${end.out}${end.err}`);
    return end;
  };
  const run = async (...args: string[]) => (await succeeds(args)).out;

  return {
    server,
    ends,
    run,
    warns: async (...args) => (await succeeds(args)).err,
    fails: async (...args) => {
      const { code, out, err } = await ends(args);
      if (code <= 0) throw new Error(`kubectl ${args.join(' ')}: ${code === 0 ? 'succeeded' : 'hangs'}\n${out}${err}`);
      return err;
    },
    read: (object, path, ...args) => run('get', object, '-o', `jsonpath=${path}`, ...args),
    start: (...args) => {
      const child = spawn('kubectl', args, { env, cwd: folder, timeout: callMs, killSignal: 'SIGKILL' });
      let seen = '';
      const take = (piece: Buffer) => {
        seen += piece.toString();
      };
      child.stdout.on('data', take);
      child.stderr.on('data', take);
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
      return {
        ended,
        printed: () => seen,
        stop: () => child.kill(),
        until: async (pattern) => {
          while (!pattern.test(seen)) {
            if (child.exitCode !== null || child.signalCode !== null) {
              throw new Error(`kubectl ${args.join(' ')} ended before it printed ${pattern}:\n${seen}`);
            }
            await sleep(10);
          }
        },
      };
    },
    file: (name, content) => {
      writeFileSync(join(folder, name), content);
      return name;
    },
  };
}

/** The manifest of a config map, with its data as YAML, and its labels if it has any. */
export const configMap = (name: string, data: string, labels?: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name}${labels === undefined ? '' : `, labels: ${labels}`} }\ndata: ${data}\n`;
