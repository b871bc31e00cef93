import type { LeasedEntry, StoreSnapshot } from '../../store/index.ts';

/** A snapshot whose entries are replaced by `renew`, which returns the same entry where nothing changes. */
export function rewrittenSnapshot(
  snapshot: StoreSnapshot,
  renew: (entry: LeasedEntry) => LeasedEntry | Promise<LeasedEntry>,
): StoreSnapshot {
  return {
    ...snapshot,
    async *pages() {
      for await (const page of snapshot.pages()) {
        const renewed: LeasedEntry[] = [];
        // Sequential: a KMS plugin limits concurrent decryptions.
        for (const entry of page) renewed.push(await renew(entry));
        yield renewed;
      }
    },
  };
}
