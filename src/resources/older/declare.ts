import { type ApiObject, formatGroupVersion, type Names } from '../../meta/index.ts';
import type { Lifecycle, ResourceDefinition, ResourceVersion } from '../../registry/index.ts';
import type { StructSchema } from '../../schema/index.ts';
import { type Mark, toOlderBy, toStoredBy } from './conversion.ts';
import type { FieldChange } from './fields.ts';

/** The older versions of a kind in one group. */
export interface OlderKind {
  readonly group: string;
  readonly plural: string;
  /** The group of the resource that has the same objects, where it is another. */
  readonly storedIn?: string;
  /** The newest first. */
  readonly versions: readonly OlderVersion[];
}

/** An older version: what differs from the storage version of the kind. */
export interface OlderVersion {
  readonly version: string;
  readonly schema: StructSchema;
  /** Its replacement is the storage version where it names none. */
  readonly lifecycle: Lifecycle;
  /** Fields that have another place or form. Absent: the types are the same, and only their names differ. */
  readonly changes?: readonly FieldChange[];
  /** Sets those of its defaults that depend on other fields, in place. Others are in the declaration of its type. */
  readonly defaults?: (object: ApiObject, names: Names) => void;
  readonly marks?: readonly Mark[];
}

/** The definition with the older versions after its own ones. */
export function withVersions(
  definition: ResourceDefinition,
  { group, storedIn, versions }: OlderKind,
): ResourceDefinition {
  const older = versions.map((version) => versionOf(definition, group, version));
  return storedIn === undefined
    ? { ...definition, versions: [...definition.versions, ...older] }
    : { ...definition, group, versions: older };
}

function versionOf(
  { storage, versions, kind }: ResourceDefinition,
  group: string,
  { version, schema, lifecycle, changes, defaults, marks }: OlderVersion,
): ResourceVersion {
  const storedVersion = formatGroupVersion(storage);
  const declared: ResourceVersion = {
    version,
    schema,
    lifecycle: { replacement: `${storedVersion} ${kind}`, ...lifecycle },
  };
  const stored = versions.find((one) => one.version === storage.version);
  if (changes === undefined || stored === undefined) return declared;
  const rules = {
    older: { apiVersion: formatGroupVersion({ group, version }), schema },
    stored: { apiVersion: storedVersion, schema: stored.schema },
    changes,
    ...(defaults === undefined ? {} : { defaults }),
    ...(marks === undefined ? {} : { marks }),
  };
  return { ...declared, toStorage: toStoredBy(rules), fromStorage: toOlderBy(rules) };
}
