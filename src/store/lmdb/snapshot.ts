import type { RootDatabase } from 'lmdb';
import { checkReadable } from '../check.ts';
import type { StoreSnapshot } from '../snapshot.ts';
import { emptyState, marksKey, stateKey, tablesOf, unsealedFrom } from './environment.ts';
import { damaged, failure } from './failure.ts';
import { openReadOnly } from './read-only.ts';
import { Reader } from './reader.ts';
import { decodeState, type State } from './records.ts';

type Root = RootDatabase<Buffer, Buffer>;

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
    const opened = [tables.records, tables.heads, tables.long];
    for (const table of opened) table.open(root);
    const transaction = root.useReadTransaction();
    for (const table of opened) table.readIn(transaction);
    const state = stateOf(path, root, { transaction });
    const at = checkReadable(revision, state);
    const files = root;
    const reader = new Reader(tables, () => ({ oldest: at, latest: at }));
    return {
      revision: at,
      size: tables.heads.count() + tables.long.count(),
      pages: () => reader.pages(at),
      close: async () => {
        transaction.done();
        await files.close();
      },
    };
  } catch (error) {
    await root?.close();
    throw failure(path, error);
  }
}

function stateOf(path: string, root: Root, reading: Parameters<Root['get']>[1] = {}): State {
  const found = root.get(stateKey, reading);
  const state = found === undefined ? emptyState : decodeState(found, root.get(marksKey, reading));
  if (state === undefined) throw damaged(path, 'its state does not match its checksum');
  return state;
}
