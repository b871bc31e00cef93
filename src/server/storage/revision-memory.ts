import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isJsonObject, type Json } from '../../meta/index.ts';
import type { Store } from '../../store/index.ts';
import type { Dependencies } from '../dependencies.ts';
import { ensureFolder, readIfExists, writePrivate } from '../private-files.ts';

interface Options extends Pick<Dependencies, 'log'> {
  readonly store: Pick<Store, 'revision'>;
  /** A secret that identifies the store. */
  readonly tokenKey: string;
  /** Undefined: the revision is lost on restart. */
  readonly dataDir: string | undefined;
}

/** Identifies the store of a revision. */
const storeOf = (tokenKey: string) => createHash('sha256').update(tokenKey).digest('hex').slice(0, 32);

/**
 * Returns a function that records the latest revision of the store, also in the data directory, and warns when it has
 * decreased: an older copy has replaced the store, which cannot tell so itself. It never rejects.
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
      log.info('failed to record the latest revision of the store', { error });
    }
  };
}

/** Parses a recorded revision; 0 when it is invalid or belongs to another store. */
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
