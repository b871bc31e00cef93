import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A member of etcd that runs for tests, with an empty data directory. */
export interface TestMember {
  /** Its URL. */
  readonly url: string;
  readonly port: number;
  /** Stops and continues the process without a word to anybody. */
  pause(): void;
  resume(): void;
  kill(): Promise<void>;
  /** Starts it again after `kill`, with its data. */
  start(): Promise<void>;
}

export interface TestEtcd {
  readonly members: readonly TestMember[];
  /** The URLs of the members. */
  readonly servers: readonly string[];
  /** Ends the processes and removes their data. */
  stop(): Promise<void>;
}

export interface TestEtcdOptions {
  /** 1 when absent. */
  readonly members?: number;
  /** Further arguments of each. */
  readonly args?: readonly string[];
  /** `http` when absent. */
  readonly scheme?: 'http' | 'https';
}

/** Starts etcd on free ports of the loopback interface; `program` is its path. It does not sync its files. */
export async function startEtcd(
  program: string,
  { members: count = 1, args = [], scheme = 'http' }: TestEtcdOptions = {},
): Promise<TestEtcd> {
  const folder = mkdtempSync(join(tmpdir(), 'etcd-'));
  const ports = await freePorts(2 * count);
  const names = Array.from({ length: count }, (_, i) => `m${i}`);
  const peerOf = (i: number) => `http://127.0.0.1:${ports[count + i]}`;
  const cluster = names.map((name, i) => `${name}=${peerOf(i)}`).join(',');
  const members = names.map((name, i) => {
    const port = ports[i] as number;
    const url = `${scheme}://127.0.0.1:${port}`;
    const flags = [
      `--name=${name}`,
      `--data-dir=${join(folder, name)}`,
      `--listen-client-urls=${url}`,
      `--advertise-client-urls=${url}`,
      `--listen-peer-urls=${peerOf(i)}`,
      `--initial-advertise-peer-urls=${peerOf(i)}`,
      `--initial-cluster=${cluster}`,
      '--unsafe-no-fsync',
    ];
    return new Member(program, [...flags, ...args], url, port);
  });
  const stop = async () => {
    await Promise.all(members.map((member) => member.kill()));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await Promise.all(members.map((member) => member.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  return { members, servers: members.map(({ url }) => url), stop };
}

class Member implements TestMember {
  readonly #program: string;
  readonly #args: readonly string[];
  readonly url: string;
  readonly port: number;
  #process: ChildProcess | undefined;

  constructor(program: string, args: readonly string[], url: string, port: number) {
    this.#program = program;
    this.#args = args;
    this.url = url;
    this.port = port;
  }

  async start(): Promise<void> {
    const child = spawn(this.#program, this.#args, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#process = child;
    let log = '';
    let ready: () => void = () => undefined;
    const serving = new Promise<void>((resolve) => {
      ready = resolve;
    });
    child.stderr.on('data', (data: Buffer) => {
      log = (log + data).slice(-4_000);
      if (log.includes('serving client traffic')) ready();
    });
    const failed = once(child, 'exit').then(() => {
      throw new Error(`etcd has ended: ${log}`);
    });
    failed.catch(() => undefined);
    await Promise.race([serving, failed]);
  }

  pause(): void {
    this.#process?.kill('SIGSTOP');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  return servers.map((server) => {
    const { port } = server.address() as { port: number };
    server.close();
    return port;
  });
}
