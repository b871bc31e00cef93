import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Users of requests: an administrator, an unprivileged user, and an anonymous one. */
export const users = ['admin', 'bob', 'carol', 'nobody'] as const;
export type User = (typeof users)[number];

/** The Authorization header of a user. */
export function authorization(user: User): { readonly authorization?: string } {
  return user === 'nobody' ? {} : { authorization: `Bearer ${tokenOf(user)}` };
}

export const tokenOf = (user: User): string => `token-of-${user}`;

export interface ServerOptions {
  /** Heap limit (MB). */
  readonly heapMb?: number;
  readonly flags?: readonly string[];
  /** An existing data directory. Default: a temporary one, removed at the end. */
  readonly folder?: string;
}

/** The built server in a child process, with the watcher loaded. */
export interface TestedServer {
  readonly port: number;
  readonly pid: number;
  readonly folder: string;
  /** Its certificate authority, in PEM. */
  readonly ca: string;
  /** How it exited; undefined while it runs. */
  readonly ending: string | undefined;
  /** Warnings and errors in its log since the last call. */
  complaints(): string[];
  /** The longest turn of its event loop since the last call (ms). */
  longestTurn(): Promise<number>;
  /** Its heap and buffers after a garbage collection (bytes). */
  memory(): Promise<number>;
  /** Its resident memory (bytes). */
  resident(): Promise<number>;
  /** Blocks its event loop for a second, to check what watches it. */
  hold(): Promise<number>;
  stop(): Promise<void>;
}

/** Kills servers when this process exits. */
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Timeout of a response of the watcher (ms): the event loop is blocked for that time. */
const patience = 60_000;

export async function startServer({
  heapMb = 512,
  flags = [],
  folder: given,
}: ServerOptions = {}): Promise<TestedServer> {
  const folder = given ?? mkdtempSync(join(tmpdir(), 'orch-fuzz-'));
  const child = launch(folder, heapMb, flags);
  const watchers = new Watchers(child);
  const printed = new Printed(child);
  let ending: string | undefined;
  const ended = once(child, 'close').then((how) => {
    const [code, signal] = how as [number | null, string | null];
    ending = `the server ended with ${signal ?? code}: ${printed.lastWords}`;
    children.delete(child);
    watchers.fail(ending);
    if (given === undefined) rmSync(folder, { recursive: true, force: true });
  });
  const port = await Promise.race([printed.port, ended.then(() => Promise.reject(new Error(ending)))]);
  return {
    port,
    pid: child.pid as number,
    folder,
    ca: readFileSync(join(folder, 'ca.crt'), 'utf8'),
    get ending() {
      return ending;
    },
    complaints: () => printed.lines.splice(0).filter((line) => /"level":"(?:warn|error|fatal)"/.test(line)),
    longestTurn: () => watchers.ask('turn'),
    memory: () => watchers.ask('memory'),
    resident: () => watchers.ask('resident'),
    hold: () => watchers.ask('hold'),
    stop: async () => {
      // No graceful shutdown: requests in flight are cut off.
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function launch(folder: string, heapMb: number, flags: readonly string[]): ChildProcess {
  const tokens = join(folder, 'tokens.csv');
  writeFileSync(
    tokens,
    `${tokenOf('admin')},admin,1,"system:masters"\n${tokenOf('bob')},bob,2\n${tokenOf('carol')},carol,3,"system:masters"\n`,
    { mode: 0o600 },
  );
  const node = ['--expose-gc', `--max-old-space-size=${heapMb}`, '--import', './fuzz/watcher.mjs'];
  // The watches of controllers would be in flight.
  const command = ['dist/server/main.js', 'serve', '--secure-port=0', '--controllers=-*'];
  const files = [`--data-dir=${folder}`, `--token-auth-file=${tokens}`];
  const child = spawn(process.execPath, [...node, ...command, ...files, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  children.add(child);
  return child;
}

/** The output of a server. */
class Printed {
  /** Its log. */
  readonly lines: string[] = [];
  /** Its URL, once it listens. */
  readonly port: Promise<number>;
  #errors = '';
  #partial = '';

  constructor({ stdout, stderr }: ChildProcess) {
    stderr?.on('data', (piece: Buffer) => {
      this.#errors = (this.#errors + piece.toString()).slice(-4_000);
      const lines = (this.#partial + piece.toString()).split('\n');
      this.#partial = lines.pop() ?? '';
      this.lines.push(...lines);
    });
    this.port = new Promise((resolve) => {
      let text = '';
      stdout?.on('data', (piece: Buffer) => {
        text += piece.toString();
        const found = /is ready at https:\/\/127\.0\.0\.1:(\d+)/.exec(text);
        if (found !== null) resolve(Number(found[1]));
      });
    });
  }

  /** The message of a fatal error of the engine, else the end of standard error. */
  get lastWords(): string {
    return /^FATAL ERROR.*$/m.exec(this.#errors)?.[0] ?? this.#errors.slice(-2_000);
  }
}

interface Asked {
  readonly resolve: (value: number) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** The watcher in a server. */
class Watchers {
  readonly #child: ChildProcess;
  readonly #asked = new Map<number, Asked>();
  #next = 0;
  #ending: string | undefined;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', ({ id, answer }: { id: number; answer: number }) => this.#take(id)?.resolve(answer));
  }

  ask(what: 'turn' | 'memory' | 'resident' | 'hold'): Promise<number> {
    if (this.#ending !== undefined) return Promise.reject(new Error(this.#ending));
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      const late = () => this.#take(id)?.reject(new Error(`the event loop was held for ${patience / 1000} s`));
      this.#asked.set(id, { resolve, reject, timer: setTimeout(late, patience) });
      this.#child.send({ ask: what, id });
    });
  }

  /** Rejects all pending requests. */
  fail(ending: string): void {
    this.#ending = ending;
    for (const id of [...this.#asked.keys()]) this.#take(id)?.reject(new Error(ending));
  }

  #take(id: number): Asked | undefined {
    const found = this.#asked.get(id);
    clearTimeout(found?.timer);
    this.#asked.delete(id);
    return found;
  }
}
