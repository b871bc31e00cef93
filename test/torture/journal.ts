import { setTimeout as sleep } from 'node:timers/promises';
import type { Item, JournalEntry } from '../../src/server/harness/checks/history.ts';
import { type Members, memberNames } from './members.ts';

interface EtcdEvent {
  readonly type?: 'DELETE';
  readonly kv: { readonly key: string; readonly mod_revision: string; readonly value?: string };
}

interface Put {
  readonly header: { readonly revision: string };
}

interface WatchAnswer {
  readonly result?: {
    readonly header: { readonly revision: string };
    readonly events?: readonly EtcdEvent[];
    readonly canceled?: boolean;
    readonly compact_revision?: string;
  };
}

const encode = (text: string): string => Buffer.from(text).toString('base64');
const decode = (text: string): string => Buffer.from(text, 'base64').toString();

/** How long a member may tell nothing before another one is asked (ms). */
const patience = 1_000;
const barrier = 'torture/barrier';

/**
 * Follows all changes of all keys as the members of etcd tell them, whatever becomes of single members. Every change takes
 * the next revision, so that nothing can be missed unnoticed.
 */
export class Journal {
  readonly entries: JournalEntry[] = [];
  readonly #members: Members;
  readonly #keyOf: (key: string) => string | undefined;
  readonly #stop = new AbortController();
  #revision = 1;
  #failure: Error | undefined;

  /** `keyOf`: what the journal calls a key of etcd; undefined: it is not of interest. */
  constructor(members: Members, keyOf: (key: string) => string | undefined) {
    this.#members = members;
    this.#keyOf = keyOf;
    // Whoever waits for it is told.
    this.#follow().catch((error: Error) => {
      this.#failure = error;
    });
  }

  /** Everything up to it is in the journal. */
  get revision(): number {
    return this.#revision;
  }

  /** Resolves when everything is in the journal that was written before the call. @throws Error when it is incomplete */
  async sync(): Promise<void> {
    const put = { key: encode(barrier), value: '' };
    let done: Put | undefined;
    while (done === undefined) {
      done = (await this.#members.ask('/v3/kv/put', put)) as Put | undefined;
      if (done === undefined) await sleep(50);
    }
    while (this.#revision < Number(done.header.revision)) {
      if (this.#failure !== undefined) throw this.#failure;
      await sleep(10);
    }
  }

  close(): void {
    this.#stop.abort();
  }

  async #follow(): Promise<void> {
    for (let i = 0; !this.#stop.signal.aborted; i++) {
      const turn = new AbortController();
      const signal = AbortSignal.any([turn.signal, this.#stop.signal]);
      await this.#read(memberNames[i % memberNames.length] as string, signal).catch((error) => {
        if (error instanceof IncompleteError) throw error;
      });
      turn.abort();
      await sleep(20);
    }
  }

  /** Reads what a member tells until it is silent. */
  async #read(name: string, signal: AbortSignal): Promise<void> {
    const request = { key: encode('\0'), range_end: encode('\0'), start_revision: String(this.#revision + 1) };
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), patience);
    try {
      const both = AbortSignal.any([signal, stop.signal]);
      const stream = await this.#members.stream(name, '/v3/watch', { create_request: request }, both);
      let rest = '';
      for await (const piece of stream) {
        timer.refresh();
        const lines = (rest + Buffer.from(piece).toString()).split('\n');
        rest = lines.pop() as string;
        for (const line of lines) this.#take(JSON.parse(line) as WatchAnswer);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  #take({ result }: WatchAnswer): void {
    if (result?.compact_revision !== undefined) {
      throw new IncompleteError(`the journal has read to ${this.#revision}; ${result.compact_revision} is compacted`);
    }
    for (const { type, kv } of result?.events ?? []) {
      const revision = Number(kv.mod_revision);
      if (revision > this.#revision + 1) throw new IncompleteError(`${revision} comes after ${this.#revision}`);
      this.#revision = revision;
      const name = decode(kv.key);
      const key = this.#keyOf(name);
      if (key === undefined) continue;
      const object = type === 'DELETE' ? undefined : (JSON.parse(decode(kv.value ?? '')) as Item);
      this.entries.push({ revision, key, object });
    }
  }
}

/** The journal does not have all changes: a history cannot be checked by it. */
class IncompleteError extends Error {}
