import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** A server as a user starts it: the built command in its own process, with its own data directory. */
export interface RunningServer {
  readonly url: string;
  readonly folder: string;
  readonly kubeconfig: string;
  /** Token of a member of `system:masters`. */
  readonly token: string;
  readonly process: ChildProcess;
  /** Its output so far. */
  output(): string;
  request(method: string, path: string, body?: unknown, headers?: { [name: string]: string }): Promise<Answer>;
  /** Sends a signal, waits for the exit, and removes the data directory. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface Answer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire brought
  readonly body: any;
}

/** No controllers run unless the flags name some: their thread would cost as much as a third of the start. */
export async function startServer(
  flags: readonly string[] = [],
  folder = mkdtempSync(join(tmpdir(), 'orch-test-')),
): Promise<RunningServer> {
  const token = 'token-of-a-test-administrator';
  writeFileSync(join(folder, 'tokens.csv'), `${token},tester,tester,"system:masters"\n`, { mode: 0o600 });
  const child = spawn(
    process.execPath,
    [
      join(root, 'dist/server/main.js'),
      'serve',
      '--secure-port=0',
      `--data-dir=${folder}`,
      `--token-auth-file=${join(folder, 'tokens.csv')}`,
      ...(flags.some((flag) => flag.startsWith('--controllers')) ? [] : ['--controllers=-*']),
      ...flags,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let printed = '';
  const port = await new Promise<number>((resolve, reject) => {
    const read = (piece: Buffer) => {
      printed += piece.toString();
      const found = /is ready at https:\/\/127\.0\.0\.1:(\d+)/.exec(printed);
      if (found !== null) resolve(Number(found[1]));
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}:\n${printed}`)));
  });
  const agent = new https.Agent({
    keepAlive: true,
    rejectUnauthorized: true,
    ca: readFileSync(join(folder, 'ca.crt')),
  });
  return {
    url: `https://127.0.0.1:${port}`,
    folder,
    kubeconfig: join(folder, 'admin.kubeconfig'),
    token,
    process: child,
    output: () => printed,
    request: (method, path, body, headers = {}) =>
      new Promise((resolve, reject) => {
        const request = https.request(
          {
            host: '127.0.0.1',
            port,
            method,
            path,
            agent,
            headers: {
              authorization: `Bearer ${token}`,
              accept: 'application/json',
              ...(body === undefined ? {} : { 'content-type': 'application/json' }),
              ...headers,
            },
          },
          (response) => {
            let text = '';
            response.setEncoding('utf8');
            response.on('data', (piece: string) => {
              text += piece;
            });
            response.on('end', () => {
              // A watch is a sequence of documents, which the caller parses.
              const json = response.headers['content-type']?.includes('json') === true && !/[?&]watch=/.test(path);
              resolve({
                status: response.statusCode ?? 0,
                headers: response.headers,
                text,
                body: json ? JSON.parse(text) : text,
              });
            });
            response.on('error', reject);
          },
        );
        request.on('error', reject);
        request.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
      }),
    stop: (signal = 'SIGTERM') =>
      new Promise((resolve) => {
        agent.destroy();
        const done = (code: number | null) => {
          rmSync(folder, { recursive: true, force: true });
          resolve(code);
        };
        if (child.exitCode !== null || child.signalCode !== null) return done(child.exitCode);
        child.once('exit', done);
        child.kill(signal);
      }),
  };
}
