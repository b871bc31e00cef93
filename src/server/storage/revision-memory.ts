import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isJsonObject, type Json } from '../../meta/index.ts';
import type { Store } from '../../store/index.ts';
import type { Dependencies } from '../dependencies.ts';
import { ensureFolder, readIfExists, writePrivate } from '../private-files.ts';

interface Options extends Pick<Dependencies, 'log'> {
  readonly store: Pick<Store, 'revision'>;
  /** A secret that this store alone has. */
  readonly tokenKey: string;
  /** Undefined: nothing is remembered over a restart. */
  readonly dataDir: string | undefined;
}

/** Says which store a revision is of. */
const storeOf = (tokenKey: string) => createHash('sha256').update(tokenKey).digest('hex').slice(0, 32);

/**
 * Each call notes the latest revision of the store, in the data directory too, and warns when it is lower than noted
 * before: an older copy of the store has taken its place. What is in the store itself is as old as that copy. Never rejects.
 */
export function createRevisionMemory({ store, tokenKey, dataDir, log }: Options): () => Promise<void> {
  const file = dataDir === undefined ? undefined : join(dataDir, 'latest-revision');
  const id = storeOf(tokenKey);
  let lastRevision: number | undefined;
  return async () => {
    try {
      const previous = lastRevision ?? (file === undefined ? 0 : readNote(await readIfExists(file), id));
      const revision = await store.revision();
      if (revision < previous) {
        log.warn(
          'the store has gone back to an earlier revision: clients that know later ones may miss changes until they are restarted. Restore snapshots of etcd with --bump-revision and --mark-compacted (docs/backup.md)',
          { before: previous, revision },
        );
      }
      lastRevision = revision;
      if (dataDir === undefined || file === undefined || revision === previous) return;
      await ensureFolder(dataDir);
      await writePrivate(file, JSON.stringify({ store: id, revision }));
    } catch (error) {
      log.info('the latest revision of the store could not be noted', { error });
    }
  };
}

/** The revision in a note; 0 when it is of another store, or none. */
function readNote(text: string | undefined, id: string): number {
  let note: Json | undefined;
  try {
    note = JSON.parse(text ?? '') as Json;
  } catch {
    return 0;
  }
  const { store, revision } = isJsonObject(note) ? note : {};
  return store === id && typeof revision === 'number' ? revision : 0;
}
