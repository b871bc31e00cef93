import { setTimeout } from 'node:timers/promises';
import type { RootDatabase } from 'lmdb';
import { checkReadable } from '../check.ts';
import type { StoreSnapshot } from '../snapshot.ts';
import { damaged, failure } from './failure.ts';
import { emptyState, markFrom, marksKey, stateKey, unsealedFrom } from './format.ts';
import { openReadOnly } from './read-only.ts';
import { Reader } from './reader.ts';
import { decodeState, type State } from './records.ts';
import { stageGroups, type Tables, tablesOf } from './tables.ts';
import { decodeGroups, lostGroup, readTail } from './tail.ts';

type Root = RootDatabase<Buffer, Buffer>;

/** How often the log is read while a store writes it, and the time between two attempts (ms). */
const maxAttempts = 20;
const pauseMs = 10;

/**
 * Opens the store in a directory, which another process may be writing, as it is now or was at `revision`. Nothing is
 * written. Until the snapshot is closed, the file grows by everything that others write. Fails as
 * `unavailable`, `damaged`, `compacted` or `future`.
 */
export async function openLmdbSnapshot(path: string, revision?: number): Promise<StoreSnapshot> {
  let root: Root | undefined;
  try {
    root = await openReadOnly(path);
    const unsealed = unsealedFrom(root);
    const tables = tablesOf(path, () => unsealed !== undefined);
    for (const table of tables.all) table.open(root);
    const { state, end } = await readIn(tables, root);
    const at = checkReadable(revision, state);
    const files = root;
    const reader = new Reader(tables, () => ({ oldest: at, latest: at }));
    return {
      revision: at,
      size: tables.heads.count() + tables.long.count(),
      pages: () => reader.pages(at),
      close: async () => {
        end();
        await files.close();
      },
    };
  } catch (error) {
    await root?.close();
    throw failure(path, error);
  }
}

/** Makes the tables read one state: that of the tree with the groups that are in the log alone. */
async function readIn(tables: Tables, root: Root): Promise<{ readonly state: State; readonly end: () => void }> {
  const { path } = tables;
  for (let attempt = 1; ; attempt++) {
    const transaction = root.useReadTransaction();
    const end = () => transaction.done();
    for (const table of tables.all) table.readIn(transaction);
    const state = stateOf(path, root, { transaction });
    const mark = markFrom(root, { transaction });
    if (mark === undefined) return { state, end };
    const logged = await readTail(path, mark);
    (root as unknown as { resetReadTxn(): void }).resetReadTxn();
    const now = markFrom(root);
    // While the tree has stayed as it is, no group that it lacks has been overwritten in the log.
    const isWhole = now?.sequence === mark.sequence && now.id.equals(mark.id);
    if (isWhole && logged !== undefined) {
      const groups = decodeGroups(path, logged, state);
      stageGroups(tables, groups);
      return { state: groups.at(-1)?.state ?? state, end };
    }
    end();
    if (attempt === maxAttempts) throw lostGroup(path, mark);
    await setTimeout(pauseMs);
  }
}

function stateOf(path: string, root: Root, reading: Parameters<Root['get']>[1] = {}): State {
  const found = root.get(stateKey, reading);
  const state = found === undefined ? emptyState : decodeState(found, root.get(marksKey, reading));
  if (state === undefined) throw damaged(path, 'its state does not match its checksum');
  return state;
}
