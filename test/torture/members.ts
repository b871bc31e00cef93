import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts, type Identify, type Network } from './network.ts';
import type { Processes } from './processes.ts';

export const memberNames = ['m0', 'm1', 'm2'] as const;

interface Ports {
  readonly client: number;
  readonly peer: number;
}

interface Status {
  readonly header: { readonly member_id: string; readonly raft_term?: string };
  readonly leader?: string;
}

/** How long a member may take to answer (ms). */
const patience = 1_000;

/**
 * Three members of etcd. They reach each other through the network; so do replicas, each by a port of its own for each
 * member. What this class asks of them itself goes to them directly.
 */
export class Members {
  readonly #processes: Processes;
  readonly #command: string;
  readonly #folder: string;
  readonly #network: Network;
  readonly #ports = new Map<string, Ports>();
  readonly #ids = new Map<string, string>();
  readonly #children = new Map<string, ChildProcess>();
  #cluster: readonly [name: string, url: string][] = [];

  private constructor(processes: Processes, network: Network, folder: string, command: string) {
    this.#processes = processes;
    this.#network = network;
    this.#folder = folder;
    this.#command = command;
  }

  /** @returns when there is a leader. `command`: the program etcd; data and logs are kept in the folder */
  static async start(processes: Processes, network: Network, folder: string, command: string): Promise<Members> {
    const members = new Members(processes, network, folder, command);
    await members.#begin();
    return members;
  }

  async #begin(): Promise<void> {
    const ports = await freePorts(2 * memberNames.length);
    for (const name of memberNames) {
      this.#ports.set(name, { client: ports.pop() as number, peer: ports.pop() as number });
    }
    // A member says in its requests to another one who it is; those without a name belong to nobody.
    const identify: Identify = (head) => {
      const id = /\r\nx-server-from: ([0-9a-f]+)\r\n/i.exec(head)?.[1];
      return (id === undefined ? undefined : this.#ids.get(id)) ?? (head.includes('\r\n\r\n') ? '?' : undefined);
    };
    this.#cluster = await Promise.all(
      memberNames.map(async (name) => {
        const port = await this.#network.proxy(identify, name, this.#portsOf(name).peer);
        return [name, `http://127.0.0.1:${port}`] as [string, string];
      }),
    );
    for (const name of memberNames) this.start(name);
    await this.#learnIds();
    // Connections of the time before their names were known.
    for (const name of memberNames) this.#network.set('?', name, 'reset');
    this.#network.heal();
    while ((await this.leader()) === undefined) await sleep(50);
  }

  /** The addresses of all members, as a replica sees them. */
  async addressesFor(replica: string): Promise<string[]> {
    const ports = memberNames.map((name) => this.#network.proxy(replica, name, this.#portsOf(name).client));
    return (await Promise.all(ports)).map((port) => `http://127.0.0.1:${port}`);
  }

  start(name: string): void {
    const [client, peer] = [this.#portsOf(name).client, this.#portsOf(name).peer].map(
      (port) => `http://127.0.0.1:${port}`,
    );
    const options = {
      name,
      'data-dir': join(this.#folder, name),
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': this.#cluster.find(([other]) => other === name)?.[1],
      'initial-cluster': this.#cluster.map(([other, url]) => `${other}=${url}`).join(','),
      'log-level': 'warn',
      'heartbeat-interval': 50,
      'election-timeout': 500,
    };
    const flags = Object.entries(options).map(([option, value]) => `--${option}=${value}`);
    // The machine itself does not fail: what is written is there for the next process.
    this.#children.set(name, this.#processes.start(name, this.#command, [...flags, '--unsafe-no-fsync']));
  }

  /** @returns when the process has exited */
  async kill(name: string): Promise<void> {
    const child = this.#childOf(name);
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  pause(name: string): void {
    this.#childOf(name).kill('SIGSTOP');
  }

  resume(name: string): void {
    this.#childOf(name).kill('SIGCONT');
  }

  /** Has etcd refuse whatever takes space, as when its quota is reached. Resolves when it does, or no longer. */
  async refuseSpace(refused: boolean): Promise<void> {
    const [id = ''] = this.#ids.keys();
    const memberID = BigInt(`0x${id}`).toString();
    const request = { action: refused ? 'ACTIVATE' : 'DEACTIVATE', memberID, alarm: 'NOSPACE' };
    while ((await this.ask('/v3/maintenance/alarm', request)) === undefined) await sleep(50);
  }

  /** Discards the history before a revision; resolves when that has been done, whatever becomes of single members. */
  async compact(revision: number): Promise<void> {
    for (;;) {
      for (const name of memberNames) {
        const isDone = await this.#post(name, '/v3/kv/compaction', { revision: String(revision) }).then(
          () => true,
          // An earlier request may have done it.
          (error: Error) => error.message.includes('has been compacted'),
        );
        if (isDone) return;
      }
      await sleep(50);
    }
  }

  /** The leader of the latest term that a member knows of. */
  async leader(): Promise<string | undefined> {
    const statuses = await Promise.all(memberNames.map((name) => this.#status(name)));
    const known = statuses.filter((status) => status !== undefined && (status.leader ?? '0') !== '0') as Status[];
    const latest = known.sort((a, b) => Number(b.header.raft_term) - Number(a.header.raft_term))[0];
    return latest?.leader === undefined ? undefined : this.#ids.get(hex(latest.leader));
  }

  /** The answer of the first member that gives one, or undefined. `path` is that of the gateway of etcd. */
  async ask(path: string, body: object): Promise<unknown> {
    for (const name of memberNames) {
      const answer = await this.#post(name, path, body).catch(() => undefined);
      if (answer !== undefined) return answer;
    }
    return undefined;
  }

  /** Opens a stream of answers of a member. `path` as in `ask`. @throws Error when the member cannot be reached */
  async stream(name: string, path: string, body: object, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const url = `http://127.0.0.1:${this.#portsOf(name).client}${path}`;
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(body), signal });
    if (response.body === null) throw new Error(`${name} answers ${response.status}`);
    return response.body;
  }

  async #learnIds(): Promise<void> {
    while (this.#ids.size < memberNames.length) {
      for (const name of memberNames) {
        const status = await this.#status(name);
        if (status !== undefined) this.#ids.set(hex(status.header.member_id), name);
      }
      await sleep(50);
    }
  }

  async #status(name: string): Promise<Status | undefined> {
    return (await this.#post(name, '/v3/maintenance/status', {}).catch(() => undefined)) as Status | undefined;
  }

  async #post(name: string, path: string, body: object): Promise<unknown> {
    const url = `http://127.0.0.1:${this.#portsOf(name).client}${path}`;
    const signal = AbortSignal.timeout(patience);
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(body), signal });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${name} answers ${JSON.stringify(answer)}`);
    return answer;
  }

  #portsOf(name: string): Ports {
    return this.#ports.get(name) as Ports;
  }

  #childOf(name: string): ChildProcess {
    return this.#children.get(name) as ChildProcess;
  }
}

/** An id as etcd writes it in headers. */
function hex(decimal: string): string {
  return BigInt(decimal).toString(16);
}
