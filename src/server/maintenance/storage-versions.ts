import { formatGroupResource, type Names } from '../../meta/index.ts';
import { toStorageVersion } from '../../registry/index.ts';
import type { StoreSnapshot } from '../../store/index.ts';
import { prefixOf } from './check-store.ts';
import { openOfflineRegistry } from './offline-registry.ts';
import { rewrittenSnapshot } from './rewritten-snapshot.ts';
import { VersionCounts } from './version-counts.ts';

/** Converts the objects of built-in kinds to their storage versions, unless they are encrypted. */
export interface StorageVersions {
  /** The snapshot with converted objects. */
  readonly convert: (snapshot: StoreSnapshot) => StoreSnapshot;
  /** The objects of the last snapshot that were in another version, as far as it has been read. */
  readonly converted: VersionCounts;
  readonly close: () => Promise<void>;
}

export async function openStorageVersions(names: Names): Promise<StorageVersions> {
  const { registry, close } = await openOfflineRegistry(names);
  // The first of the resources that share their objects is the one that owns them.
  const resources = new Map(registry.resources.toReversed().map((resource) => [resource.keyPrefix, resource]));
  const converted = new VersionCounts();
  return {
    converted,
    close,
    convert: (snapshot) => {
      converted.clear();
      return rewrittenSnapshot(snapshot, (entry) => {
        const resource = resources.get(prefixOf(entry.key, resources));
        const result = resource && toStorageVersion(resource, entry.value);
        if (resource === undefined || result === undefined) return entry;
        converted.add(formatGroupResource(resource.id), result.from);
        return { ...entry, value: result.value };
      });
    },
  };
}
