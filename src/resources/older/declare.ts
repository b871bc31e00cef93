import { type ApiObject, type FieldError, formatGroupVersion, type Names } from '../../meta/index.ts';
import type { Lifecycle, ResourceDefinition, ResourceVersion, Strategy, Subresource } from '../../registry/index.ts';
import type { StructSchema } from '../../schema/index.ts';
import { type Conversions, conversionsInSteps } from '../shared/conversions.ts';
import type { AnnotatedField } from './annotated-fields.ts';
import { type Mark, toOlderBy, toStoredBy } from './conversion.ts';
import type { FieldChange } from './fields.ts';

/** The older versions of a kind in one group. */
export interface OlderKind {
  readonly group: string;
  readonly plural: string;
  /** The kind, without versions, where none of its versions is a current one. */
  readonly definition?: ResourceDefinition;
  /** The group of the resource that has the same objects, where it is another. */
  readonly storedIn?: string;
  /** The newest first. */
  readonly versions: readonly OlderVersion[];
}

/** An older version: what differs from the storage version of the kind. */
export interface OlderVersion {
  readonly version: string;
  readonly schema: StructSchema;
  /** Its replacement is the preferred version of the kind where it names none. */
  readonly lifecycle: Lifecycle;
  /** Releases that have it serve it by default, although it is a beta version. */
  readonly onByDefault?: boolean;
  /** Fields that have another place or form. Absent: the type is that of the preferred version under another name. */
  readonly changes?: readonly FieldChange[];
  /** Sets those of its defaults that depend on other fields, in place. Others are in the declaration of its type. */
  readonly defaults?: (object: ApiObject, names: Names) => void;
  readonly marks?: readonly Mark[];
  /** Fields that are annotations of the stored object. */
  readonly annotated?: readonly AnnotatedField[];
  /** The errors of fields that only this version has; the others are validated in the storage version. */
  readonly check?: (object: ApiObject) => readonly FieldError[];
  /** The rules of its writes, from those of the kind. */
  readonly strategy?: (ofKind: Strategy) => Strategy;
  /** Subresources in place of those of the same name, or in addition to those of the kind. */
  readonly subresources?: readonly Subresource[];
}

/**
 * The definition with the older versions after its own ones, then a definition of its own for each older version that has
 * subresources of its own. The first is undefined where an older group has nothing but the latter.
 */
export function withVersions(
  definition: ResourceDefinition,
  { group, storedIn, versions }: OlderKind,
): readonly [ResourceDefinition | undefined, ...ResourceDefinition[]] {
  const older = versions
    .filter(({ subresources }) => subresources === undefined)
    .map((version) => versionOf(definition, group, version));
  const apart = versions.flatMap((version) =>
    version.subresources === undefined
      ? []
      : [
          {
            ...definition,
            group,
            versions: [versionOf(definition, group, version)],
            subresources: withSubresources(definition.subresources, version.subresources),
          },
        ],
  );
  if (storedIn === undefined) return [{ ...definition, versions: [...definition.versions, ...older] }, ...apart];
  return [older.length === 0 ? undefined : { ...definition, group, versions: older }, ...apart];
}

function withSubresources(ofKind: readonly Subresource[], own: readonly Subresource[]): readonly Subresource[] {
  const replaced = new Set(own.map(({ name }) => name));
  return [...ofKind.filter(({ name }) => !replaced.has(name)), ...own];
}

function versionOf(definition: ResourceDefinition, group: string, older: OlderVersion): ResourceVersion {
  const { versions, kind } = definition;
  const { version, schema, lifecycle, strategy } = older;
  const [preferred] = versions;
  return {
    ...converted(definition, group, older),
    version,
    schema,
    lifecycle: {
      ...(preferred && { replacement: `${formatGroupVersion({ ...definition, version: preferred.version })} ${kind}` }),
      ...lifecycle,
    },
    ...(strategy === undefined ? {} : { strategy: strategy(definition.strategy) }),
  };
}

function converted(
  { storage, versions }: ResourceDefinition,
  group: string,
  { version, schema, changes, defaults, check, marks, annotated }: OlderVersion,
): Conversions {
  const [preferred] = versions;
  if (changes === undefined) {
    const { toStorage, fromStorage } = preferred ?? {};
    return { ...(toStorage && { toStorage }), ...(fromStorage && { fromStorage }) };
  }
  const stored = versions.find((one) => one.version === storage.version);
  if (stored === undefined) throw new Error(`${group}/${version} is not stored in a version of its kind`);
  const rules = {
    older: { apiVersion: formatGroupVersion({ group, version }), schema },
    stored: { apiVersion: formatGroupVersion(storage), schema: stored.schema },
    changes,
    ...(defaults === undefined ? {} : { defaults }),
    ...(check === undefined ? {} : { check }),
    ...(marks === undefined ? {} : { marks }),
    ...(annotated === undefined ? {} : { annotated }),
  };
  return conversionsInSteps(toStoredBy(rules), toOlderBy(rules));
}
