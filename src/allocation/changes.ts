import type { Compare, Entry, Write } from '../store/index.ts';

/** Collects the guards and writes of a commit. */
export interface Changes {
  readonly compares: Compare[];
  readonly writes: Write[];
  /** Writes the key, or deletes it without a value, guarded by the entry that was read; undefined when it was absent. */
  put(key: string, entry: Entry | undefined, value: Uint8Array | undefined): void;
}

export function newChanges(): Changes {
  const compares: Compare[] = [];
  const writes: Write[] = [];
  return {
    compares,
    writes,
    put(key, entry, value) {
      compares.push({ key, revision: entry?.revision ?? 0 });
      writes.push(value === undefined ? { key } : { key, value });
    },
  };
}
