import { readFile } from 'node:fs/promises';
import type { Clock, Random } from '../../meta/index.ts';
import { checkCommit, checkKey, checkPrefix, checkRange, checkReached, closedError } from '../check.ts';
import { defaultHistoryMs } from '../history.ts';
import {
  type CommitResult,
  type Compare,
  type GetResult,
  type ListRange,
  type ListResult,
  type Store,
  StoreError,
  type Watch,
  type WatchOptions,
  type WatchSink,
  type Write,
} from '../store.ts';
import { Commits } from './commits.ts';
import { compactRegularly, compactTo } from './compaction.ts';
import { storeErrorOf } from './failure.ts';
import { KeySpace } from './key-space.ts';
import { Leases } from './leases.ts';
import { type EtcdTls, Members } from './members.ts';
import { Reads } from './reads.ts';
import { loadRpc, type Rpc } from './rpc.ts';
import { Slots } from './slots.ts';
import { checkVersions } from './versions.ts';
import { Watches } from './watches.ts';

export interface EtcdStoreOptions {
  /** The URLs of the members: `http` or `https`, host and port. */
  readonly servers: readonly string[];
  /** Files in PEM, read again for every new connection: the authorities of the members' certificates… */
  readonly cafile?: string;
  /** …the certificate of the client, and its key. */
  readonly certfile?: string;
  readonly keyfile?: string;
  /** The prefix of the keys of the store in etcd. After a prefix without a trailing slash, keys begin with a slash. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Retention of history (ms); 5 minutes when absent. With 0 the store does not compact. */
  readonly historyMs?: number;
  /** Called with failures of background work, which is retried. */
  readonly warn?: (text: string, fields: { readonly [name: string]: unknown }) => void;
  /** Called with the reason of each silent member when none has answered for a second after the call. */
  readonly late?: (reasons: { readonly [url: string]: string }) => void;
}

/** The time after which silent members are reported, and the time to wait for each of them then (ms). */
const lateMs = 1_000;
const reasonMs = 500;

/** Maximum size of a value (bytes): its request stays below the default of `--max-request-bytes`, 1.5 MiB. */
const maxValueBytes = 1_500 * 1_024;
/** The timeout of the status of a member (ms). */
const statusMs = 1_000;
/** The timeout of the final requests (ms). */
const closingMs = 1_000;

/**
 * A store over a cluster of etcd 3.5.8 or newer. Fails as `unavailable` when no member answers or a file cannot be read,
 * and as `invalid` when a member is older or an option is not as described.
 */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  const { members, keys, rpc } = await connectEtcd(options);
  try {
    return new EtcdStore(options, members, keys, rpc, await members.revision());
  } catch (error) {
    await members.close();
    throw storeErrorOf(error);
  }
}

/** The connections to a cluster, and the location of the keys of a store in it. */
export interface EtcdConnection {
  readonly members: Members;
  readonly keys: KeySpace;
  readonly rpc: Rpc;
}

/** Connects and fails like {@link openEtcdStore}. */
export async function connectEtcd(options: EtcdStoreOptions): Promise<EtcdConnection> {
  const { clock, servers, certfile, keyfile, late } = options;
  if ((certfile === undefined) !== (keyfile === undefined)) {
    throw new StoreError('invalid', 'a client certificate for etcd and its key are given both or not at all');
  }
  const rpc = await loadRpc();
  const keys = new KeySpace(checkPrefix(options.prefix));
  const { key: probe } = keys.range(checkPrefix(''));
  const members = await Members.open({
    endpoints: checkServers(servers),
    tls: () => readTls(options),
    probe,
    clock,
    rpc,
  }).catch(fail);
  const tell = async () => {
    const reasons = await reasonsOf(members, rpc);
    if (reasons.length === members.all.length && !members.closed) late?.(Object.fromEntries(reasons));
  };
  const cancel = clock.after(lateMs, () => void tell());
  try {
    await checkVersions(members, rpc);
    return { members, keys, rpc };
  } catch (error) {
    await members.close();
    throw storeErrorOf(error);
  } finally {
    cancel();
  }
}

/** Returns the URLs of silent members, with the reason of each. */
async function reasonsOf(members: Members, rpc: Rpc): Promise<[url: string, reason: string][]> {
  const reasons = members.all.map((member) =>
    members.sendTo(member, rpc.status, {}, reasonMs).then(
      () => [],
      (error: unknown): [string, string][] => [[member.endpoint, storeErrorOf(error).message]],
    ),
  );
  return (await Promise.all(reasons)).flat();
}

class EtcdStore implements Store {
  readonly maxValueBytes = maxValueBytes;
  readonly #members: Members;
  readonly #rpc: Rpc;
  readonly #slots: Slots;
  readonly #leases: Leases;
  readonly #commits: Commits;
  readonly #reads: Reads;
  readonly #watches: Watches;
  readonly #stopCompacting: () => void;
  readonly #inFlight = new Set<Promise<CommitResult>>();
  #closed: Promise<void> | undefined;

  constructor(options: EtcdStoreOptions, members: Members, keys: KeySpace, rpc: Rpc, latest: number) {
    const { clock, random, prefix, historyMs = defaultHistoryMs, warn } = options;
    this.#members = members;
    this.#rpc = rpc;
    this.#slots = new Slots(checkPrefix(prefix), random);
    this.#leases = new Leases(members, rpc, clock, random);
    this.#commits = new Commits({ members, keys, leases: this.#leases, slots: this.#slots, clock, rpc });
    this.#reads = new Reads(members, keys, rpc);
    this.#watches = new Watches(members, keys, clock, latest);
    const compaction = {
      members,
      rpc,
      clock,
      historyMs,
      compacted: (revision: number) => this.#slots.sweep(members, rpc, revision),
      failed: (error: unknown) => warn?.('etcd has not been compacted', { error: storeErrorOf(error).message }),
    };
    this.#stopCompacting = historyMs === 0 ? () => undefined : compactRegularly(compaction);
  }

  async revision(): Promise<number> {
    this.#checkOpen();
    return this.#members.revision().catch(fail);
  }

  async oldest(): Promise<number> {
    this.#checkOpen();
    return this.#reads.oldest().catch(fail);
  }

  async size(): Promise<number> {
    this.#checkOpen();
    return (await this.#members.send(this.#rpc.status, {}, statusMs).catch(fail)).dbSize;
  }

  async get(key: string, revision?: number): Promise<GetResult> {
    this.#checkOpen();
    return this.#reads.get(checkKey(key), revision).catch(fail);
  }

  async list(range: ListRange): Promise<ListResult> {
    this.#checkOpen();
    return this.#reads.list(checkRange(range), range.revision).catch(fail);
  }

  async commit(compares: readonly Compare[], writes: readonly Write[]): Promise<CommitResult> {
    this.#checkOpen();
    const checked = checkCommit(compares, writes, maxValueBytes);
    const commit = this.#commits.commit(checked.compares, checked.writes);
    this.#inFlight.add(commit);
    return commit.finally(() => this.#inFlight.delete(commit)).catch(fail);
  }

  watch(prefix: string, after: number, sink: WatchSink, options?: WatchOptions): Watch {
    return this.#watches.watch(prefix, after, sink, options);
  }

  async compact(revision: number): Promise<void> {
    this.#checkOpen();
    checkReached(revision, Number.MAX_SAFE_INTEGER);
    checkReached(revision, await this.revision());
    await compactTo(this.#members, this.#rpc, revision).catch(fail);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#stopCompacting();
    this.#watches.close();
    await Promise.allSettled(this.#inFlight);
    await Promise.allSettled([this.#leases.close(), this.#slots.close(this.#members, this.#rpc, closingMs)]);
    await this.#members.close();
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw closedError();
  }
}

function fail(error: unknown): never {
  throw storeErrorOf(error);
}

/** Reduces the URLs to host and port. */
function checkServers(servers: readonly string[]): readonly string[] {
  if (servers.length === 0) throw new StoreError('invalid', 'a store over etcd needs the URL of a member at least');
  for (const server of servers) {
    const url = URL.canParse(server) ? new URL(server) : undefined;
    const valid = url !== undefined && /^https?:$/.test(url.protocol) && /^https?:\/\/[^/@?#]+\/?$/.test(server);
    if (!valid)
      throw new StoreError('invalid', `"${server}" is not a URL of an etcd member, such as https://10.0.0.1:2379`);
  }
  return servers;
}

async function readTls({ cafile, certfile, keyfile }: EtcdStoreOptions): Promise<EtcdTls> {
  const read = async (file: string | undefined) => (file === undefined ? undefined : readFile(file));
  try {
    return { ca: await read(cafile), cert: await read(certfile), key: await read(keyfile) };
  } catch (cause) {
    throw new StoreError('unavailable', `a certificate file for etcd cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  }
}
