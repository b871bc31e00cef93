import type { ByteString, Random } from '../../meta/index.ts';
import { afterPrefix } from '../keys.ts';
import { bufferOf } from './key-space.ts';
import type { Members } from './members.ts';
import type { RangeRequest, Rpc } from './rpc.ts';

/**
 * A key of etcd that identifies one commit at a time: every commit requires the version of its slot and
 * writes it. A commit that is sent twice is therefore carried out once, and the slot has its revision.
 */
export interface Slot {
  readonly key: Buffer;
  version: number;
}

const everySlot = 'commit_slots';
/** The number of slots that one request removes. */
const step = 100;

/** The slots of a store: as many as commits were ever in flight at the same time. */
export class Slots {
  readonly #all: ByteString;
  readonly #own: ByteString;
  readonly #free: Slot[] = [];
  #created = 0;

  /** `prefix` is the prefix of the keys of the store. */
  constructor(prefix: ByteString, random: Random) {
    this.#all = `${everySlot}/${prefix}//` as ByteString;
    this.#own = `${this.#all}${random.uuid()}/` as ByteString;
  }

  /** Returns a slot for one commit. A slot whose version is unknown afterwards must not be given back. */
  take(): Slot {
    return this.#free.pop() ?? { key: bufferOf(`${this.#own}${this.#created++}`), version: 0 };
  }

  giveBack(slot: Slot): void {
    this.#free.push(slot);
  }

  /** Removes the slots of this store. */
  async close(members: Members, rpc: Rpc, timeoutMs: number): Promise<void> {
    if (this.#created === 0) return;
    const requestDeleteRange = rangeOf(this.#own);
    await members.send(rpc.txn, { compare: [], success: [{ requestDeleteRange }], failure: [] }, timeoutMs);
  }

  /** Removes slots last used at `revision` or before, of this store and of stores that ended without removing them. */
  async sweep(members: Members, rpc: Rpc, revision: number): Promise<void> {
    const unused: RangeRequest = { ...rangeOf(this.#all), keysOnly: true, maxModRevision: revision, limit: step };
    for (;;) {
      const { kvs } = await members.read(rpc.range, unused);
      if (kvs.length === 0) return;
      const removals = kvs.map(({ key, modRevision }) => {
        const compare = [{ key, target: 2 as const, modRevision }];
        return { requestTxn: { compare, success: [{ requestDeleteRange: { key } }], failure: [] } };
      });
      await members.read(rpc.txn, { compare: [], success: removals, failure: [] });
    }
  }
}

const rangeOf = (prefix: ByteString) => ({ key: bufferOf(prefix), rangeEnd: bufferOf(afterPrefix(prefix) ?? '\0') });
