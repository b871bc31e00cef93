import type { Clock } from '../../meta/index.ts';
import { every } from '../timers.ts';
import { isOutOfRange } from './failure.ts';
import { bufferOf } from './key-space.ts';
import type { Members } from './members.ts';
import type { Rpc } from './rpc.ts';

/** The key shared by everything that compacts: that of the reference server, whatever the prefix of the store. */
const key = bufferOf('compact_rev_key');

export interface CompactionOptions {
  readonly members: Members;
  readonly rpc: Rpc;
  readonly clock: Clock;
  /** The interval of compactions, and the retention of history (ms). */
  readonly historyMs: number;
  /** Called after a compaction of this store with its revision. */
  readonly compacted: (revision: number) => Promise<void>;
  readonly failed: (error: unknown) => void;
}

/** Calls etcd to discard the history before `revision`, unless that is done already. Fails with the error of etcd. */
export async function compactTo(members: Members, rpc: Rpc, revision: number): Promise<void> {
  try {
    await members.read(rpc.compact, { revision });
  } catch (error) {
    if (!isOutOfRange(error)) throw error;
  }
}

/**
 * Compacts at an interval to the revision of one interval ago. Of all that do the same, the first one in each interval
 * does: it writes the key, whose version is the number of intervals. The others go on from there.
 */
export function compactRegularly({ members, rpc, clock, historyMs, compacted, failed }: CompactionOptions): () => void {
  // As of the last tick: the version of the key, and the revision.
  let version = 0;
  let revision = 0;
  const tick = async () => {
    const value = bufferOf(`${revision}`);
    const { succeeded, responses, header } = await members.read(rpc.txn, {
      compare: [{ key, target: 0, version }],
      success: [{ requestPut: { key, value } }],
      failure: [{ requestRange: { key } }],
    });
    const before = revision;
    revision = header.revision;
    version = succeeded ? version + 1 : (responses[0]?.responseRange?.kvs[0]?.version ?? 0);
    if (!succeeded || before === 0) return;
    await compactTo(members, rpc, before);
    await compacted(before);
  };
  return every(clock, historyMs, () => void tick().catch(failed));
}
