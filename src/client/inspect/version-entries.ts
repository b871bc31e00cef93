import { at, type JsonObject } from '../../meta/index.ts';
import { changesOf, type FieldChange } from './changes.ts';
import type { Version, Versions } from './versions.ts';
import { writerOf } from './writers.ts';

/** One version of an object and its change. */
export interface VersionEntry {
  readonly version: number;
  readonly object: JsonObject;
  /** In RFC 3339. Undefined: the object does not tell, as for the following. */
  readonly time: string | undefined;
  readonly manager: string | undefined;
  /** `Create`, `Delete`, or the operation of the field manager: `Apply`, `Update/status`. */
  readonly operation: string | undefined;
  /** Compared with the version before; undefined for the creation, for a deletion, and where that version is not known. */
  readonly changes: readonly FieldChange[] | undefined;
}

/** Who made each version of an object, when, and what changed. */
export const versionEntries = ({ versions, end }: Versions): VersionEntry[] =>
  versions.map((version, i) => entryOf(version, versions[i + 1]?.object, end));

function entryOf(
  { version, object, deleted }: Version,
  before: JsonObject | undefined,
  end: Versions['end'],
): VersionEntry {
  const changes = undefined;
  if (deleted) return { version, object, time: undefined, manager: undefined, operation: 'Delete', changes };
  const writer = writerOf(object, before);
  const manager = writer?.manager;
  if (before !== undefined || end !== 'created') {
    const { time, operation } = writer ?? {};
    return { version, object, time, manager, operation, changes: before && changesOf(before, object) };
  }
  const created = at(object, 'metadata', 'creationTimestamp');
  const time = typeof created === 'string' ? created : undefined;
  return { version, object, time, manager, operation: 'Create', changes };
}
