import type { Clock } from '../meta/index.ts';
import type { Change, Store, StoreError } from './store.ts';

interface HistoryLimitOptions {
  readonly clock: Clock;
  /** Maximum size of the retained changes: their keys and values (bytes). */
  readonly maxBytes: number;
  /** Called when the store could not be compacted. It is tried again with the next changes. */
  readonly failed: (error: unknown) => void;
}

/** Consecutive commits, which are compacted together. */
interface Section {
  /** The last revision. */
  revision: number;
  bytes: number;
}

/** The number of sections in a full history: it is compacted in steps of this part of the limit. */
const sectionsKept = 64;
/** The pause before the store is watched again after a failure (ms). */
const retryMs = 1_000;

/**
 * Compacts a store whenever the changes since its oldest readable revision exceed a size, until the store is closed. Changes
 * from before the call count as well: they are read again. Several processes may limit the same store.
 */
export function limitHistory(store: Store, { clock, maxBytes, failed }: HistoryLimitOptions): void {
  const sections: Section[] = [];
  let total = 0;
  let position = 0;

  const add = (revision: number, bytes: number) => {
    const last = sections.at(-1);
    if (last === undefined || last.bytes >= maxBytes / sectionsKept) sections.push({ revision, bytes });
    else Object.assign(last, { revision, bytes: last.bytes + bytes });
    total += bytes;
  };

  const trim = () => {
    let oldest = 0;
    while (total > maxBytes && sections.length > 0) {
      const { revision, bytes } = sections.shift() as Section;
      total -= bytes;
      oldest = revision;
    }
    if (oldest > 0) store.compact(oldest).catch(failed);
  };

  const follow = async () => {
    try {
      position = Math.max(position, await store.oldest());
      store.watch('', position, {
        batch: (revision, changes) => {
          position = revision;
          if (changes.length === 0) return;
          add(revision, sizeOf(changes));
          trim();
        },
        error: retry,
      });
    } catch (error) {
      retry(error as StoreError);
    }
  };
  const retry = ({ code }: StoreError) => {
    if (code !== 'closed') clock.after(retryMs, () => void follow());
  };
  void follow();
}

const sizeOf = (changes: readonly Change[]): number =>
  changes.reduce((sum, { key, entry }) => sum + key.length + (entry?.value.length ?? 0), 0);
