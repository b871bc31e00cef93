import type { ByteString } from '../../meta/index.ts';
import { checkReached, checkReadable, type KeyRange } from '../check.ts';
import { type Entry, type GetResult, type ListResult, pageBytes } from '../store.ts';
import { isOutOfRange, isTooLarge } from './failure.ts';
import type { KeySpace } from './key-space.ts';
import type { Members } from './members.ts';
import type { RangeResponse, Rpc } from './rpc.ts';

/** The number of entries of the first request of a page; later requests are sized by the values so far. */
const firstChunk = 32;
const largestGrowth = 4;

/** The reads of a store. Fail with errors of etcd, or as the contract specifies for revisions. */
export class Reads {
  readonly #members: Members;
  readonly #keys: KeySpace;
  readonly #rpc: Rpc;
  /** The first readable revision at the last search. */
  #oldest = 1;

  constructor(members: Members, keys: KeySpace, rpc: Rpc) {
    this.#members = members;
    this.#keys = keys;
    this.#rpc = rpc;
  }

  async get(key: ByteString, revision: number | undefined): Promise<GetResult> {
    const { kvs, header } = await this.#at(revision, () =>
      this.#members.readShort(this.#rpc.range, { key: this.#keys.key(key), revision: revision ?? 0 }),
    );
    return { entry: kvs[0] && this.#keys.entry(kvs[0]), revision: revision ?? header.revision };
  }

  list(range: KeyRange, revision: number | undefined): Promise<ListResult> {
    return this.#at(revision, async () => {
      for (;;) {
        try {
          return await this.#page(range, revision);
        } catch (error) {
          // The revision of the first part has been compacted.
          if (revision !== undefined || !isOutOfRange(error)) throw error;
        }
      }
    });
  }

  /** Finds the first revision that is not compacted by search, since etcd does not report it. */
  async oldest(): Promise<number> {
    let low = this.#oldest;
    if (await this.#isReadable(low)) return low;
    for (let high = await this.#members.revision(); low + 1 < high; ) {
      const middle = Math.floor((low + high) / 2);
      if (await this.#isReadable(middle)) high = middle;
      else low = middle;
    }
    this.#oldest = Math.max(this.#oldest, low + 1);
    return this.#oldest;
  }

  async #isReadable(revision: number): Promise<boolean> {
    try {
      const { key } = this.#keys.range('' as ByteString);
      await this.#members.read(this.#rpc.range, { key, countOnly: true, revision });
      return true;
    } catch (error) {
      if (isOutOfRange(error)) return false;
      throw error;
    }
  }

  /** The result of `read`, which reads at this revision. */
  async #at<R>(revision: number | undefined, read: () => Promise<R>): Promise<R> {
    if (revision !== undefined) checkReached(revision, Number.MAX_SAFE_INTEGER);
    try {
      return await read();
    } catch (error) {
      if (revision === undefined || !isOutOfRange(error)) throw error;
      const latest = await this.#members.revision();
      checkReached(revision, latest);
      checkReadable(revision, { oldest: await this.oldest(), latest });
      throw error;
    }
  }

  async #page({ prefix, after, limit, count }: KeyRange, revision: number | undefined): Promise<ListResult> {
    const entries: Entry[] = [];
    let [at, from, bytes, chunk] = [revision, after, 0, firstChunk];
    for (;;) {
      const pageLimit = Math.min(limit - entries.length, chunk);
      const response = await this.#range(prefix, from, pageLimit, at);
      at ??= response.header.revision;
      let readCount = 0;
      for (const kv of response.kvs) {
        if (bytes >= pageBytes) break;
        entries.push(this.#keys.entry(kv));
        bytes += kv.value.length;
        readCount++;
      }
      const following = response.count - readCount;
      if (following === 0 || bytes >= pageBytes || entries.length >= limit) {
        return { entries, revision: at, more: following > 0, remaining: count ? following : undefined };
      }
      const last = response.kvs.at(-1);
      if (last !== undefined) from = this.#keys.bytes(last);
      const fitting = Math.ceil((pageBytes - bytes) / (1 + bytes / entries.length));
      chunk = Math.min(fitting, chunk * largestGrowth);
    }
  }

  /** Reads a part of a page: at most `pageLimit` entries, fewer when the response would be too large. */
  async #range(
    prefix: ByteString,
    from: ByteString | undefined,
    pageLimit: number,
    revision = 0,
  ): Promise<RangeResponse> {
    const range = this.#keys.range(prefix, from);
    for (let limit = pageLimit; ; limit = Math.ceil(limit / 2)) {
      try {
        // No limit is 0.
        return await this.#members.read(this.#rpc.range, { ...range, limit, countOnly: limit === 0, revision });
      } catch (error) {
        if (!isTooLarge(error) || limit <= 1) throw error;
      }
    }
  }
}
