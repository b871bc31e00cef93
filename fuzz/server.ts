import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Who makes requests: an administrator, one who may do nothing but ask about himself, and nobody. */
export const users = ['admin', 'bob', 'nobody'] as const;
export type User = (typeof users)[number];

/** The header that makes a request that of a user. */
export function authorization(user: User): { readonly authorization?: string } {
  return user === 'nobody' ? {} : { authorization: `Bearer token-of-${user}` };
}

export interface ServerOptions {
  /** The most that its heap may take (MB). */
  readonly heapMb?: number;
  readonly flags?: readonly string[];
  /** A data directory that is there before; one is made otherwise, and removed at the end. */
  readonly folder?: string;
}

/** The built server in a process of its own, with watchers inside. */
export interface TestedServer {
  readonly port: number;
  readonly folder: string;
  /** Its own authority, in PEM. */
  readonly ca: string;
  /** How it ended; undefined while it lives. */
  readonly ending: string | undefined;
  /** What it has logged as a warning or an error since this was asked last. */
  complaints(): string[];
  /** The longest turn of its event loop since this was asked last (ms). */
  longestTurn(): Promise<number>;
  /** What it holds after a collection (bytes). */
  memory(): Promise<number>;
  /** What it takes of the machine's memory, whatever for (bytes). */
  resident(): Promise<number>;
  stop(): Promise<void>;
}

/** Servers end with the process that has started them. */
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** How long a server may give no answer to a watcher (ms): its event loop is held all that time. */
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
    folder,
    ca: readFileSync(join(folder, 'ca.crt'), 'utf8'),
    get ending() {
      return ending;
    },
    complaints: () => printed.lines.splice(0).filter((line) => /"level":"(?:warn|error|fatal)"/.test(line)),
    longestTurn: () => watchers.ask('turn'),
    memory: () => watchers.ask('memory'),
    resident: () => watchers.ask('resident'),
    stop: async () => {
      // Whatever is under way is cut off: nobody waits for a server that was attacked.
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function launch(folder: string, heapMb: number, flags: readonly string[]): ChildProcess {
  const tokens = join(folder, 'tokens.csv');
  writeFileSync(tokens, 'token-of-admin,admin,1,"system:masters"\ntoken-of-bob,bob,2\n', { mode: 0o600 });
  const node = ['--expose-gc', `--max-old-space-size=${heapMb}`, '--import', './fuzz/watcher.mjs'];
  const command = ['dist/server/main.js', 'serve', '--secure-port=0'];
  const files = [`--data-dir=${folder}`, `--token-auth-file=${tokens}`];
  const child = spawn(process.execPath, [...node, ...command, ...files, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  children.add(child);
  return child;
}

/** What a server has printed. */
class Printed {
  /** Its log. */
  readonly lines: string[] = [];
  /** Where it listens, once it does. */
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

  /** What the engine says of a fatal error, else the end of all errors. */
  get lastWords(): string {
    return /^FATAL ERROR.*$/m.exec(this.#errors)?.[0] ?? this.#errors.slice(-2_000);
  }
}

interface Asked {
  readonly resolve: (value: number) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** The watchers inside a server. */
class Watchers {
  readonly #child: ChildProcess;
  readonly #asked = new Map<number, Asked>();
  #next = 0;
  #ending: string | undefined;

  constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', ({ id, answer }: { id: number; answer: number }) => this.#take(id)?.resolve(answer));
  }

  ask(what: 'turn' | 'memory' | 'resident'): Promise<number> {
    if (this.#ending !== undefined) return Promise.reject(new Error(this.#ending));
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      const late = () => this.#take(id)?.reject(new Error(`the event loop was held for ${patience / 1000} s`));
      this.#asked.set(id, { resolve, reject, timer: setTimeout(late, patience) });
      this.#child.send({ ask: what, id });
    });
  }

  /** Nothing more will be answered. */
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
