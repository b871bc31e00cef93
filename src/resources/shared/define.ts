import type { ApiObject, FeatureName } from '../../meta/index.ts';
import {
  allVerbs,
  type Column,
  type Completion,
  type CreateHandler,
  type Lifecycle,
  type ResourceDefinition,
  type ResourceVersion,
  type SelectableField,
  type StatusSubresource,
  type Strategy,
  type Subresource,
  type Verb,
} from '../../registry/index.ts';
import type { ObjectOf, StructSchema } from '../../schema/index.ts';
import { describeColumn } from '../../types/descriptions.ts';
import { scale } from './scale.ts';

/** A column, or its title, cell and format (plain text by default). */
export type ColumnDeclaration<T> =
  | Column<T>
  | readonly [title: string, cell: Column<T>['cell'], form?: 'wide' | 'integer' | 'boolean'];

/** The declaration of a kind; omitted members have the usual value. */
export interface KindDeclaration<S extends StructSchema> {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly schema: S;
  readonly version?: string;
  /** Of the first version. */
  readonly lifecycle: Lifecycle;
  /** Versions after the first. */
  readonly versions?: readonly ResourceVersion[];
  /** The feature gate without which it is not served. */
  readonly gate?: FeatureName;
  /** Default: the kind in lower case. */
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Default true. */
  readonly namespaced?: boolean;
  /** Default: all. */
  readonly verbs?: readonly Verb[];
  readonly virtual?: boolean;
  readonly onCreate?: CreateHandler;
  /** Default: its own group and name, in the first version. */
  readonly storage?: ResourceDefinition['storage'];
  /** Has a `status` subresource, which by default resets `spec`. */
  readonly status?: true | Pick<StatusSubresource, 'resetFields' | 'metadataChecks'>;
  /** Has a `scale` subresource; a function formats the selector where it is not a LabelSelector. */
  readonly scale?: true | ((object: ObjectOf<S>) => string);
  readonly subresources?: readonly Subresource<ObjectOf<S>>[];
  readonly resetFields?: ResourceDefinition['resetFields'];
  readonly columns?: readonly ColumnDeclaration<ObjectOf<S>>[];
  readonly completion?: (object: ObjectOf<S>) => Completion | undefined;
  readonly selectableFields?: readonly SelectableField<ObjectOf<S>>[];
  readonly strategy?: Strategy<ObjectOf<S>>;
  readonly followed?: boolean;
}

const reading: readonly Verb[] = ['get', 'patch', 'update'];

/** The ResourceDefinition of a declared kind. Its functions get objects of the type that the schema gives. */
export function resource<S extends StructSchema>(declared: KindDeclaration<S>): ResourceDefinition {
  const { group, plural, kind, version = 'v1' } = declared;
  const subresources = [...((declared.subresources ?? []) as unknown as readonly Subresource[])];
  if (declared.status !== undefined) {
    const own = declared.status === true ? {} : declared.status;
    subresources.push({ name: 'status', type: 'status', verbs: reading, kind, resetFields: [['spec']], ...own });
  }
  if (declared.scale !== undefined) {
    const selector = declared.scale === true ? undefined : (declared.scale as unknown as (object: ApiObject) => string);
    subresources.push({ name: 'scale', verbs: reading, ...scale(selector) });
  }
  return {
    group,
    plural,
    kind,
    singular: declared.singular ?? kind.toLowerCase(),
    shortNames: declared.shortNames ?? [],
    categories: declared.categories ?? [],
    namespaced: declared.namespaced ?? true,
    verbs: declared.verbs ?? allVerbs,
    ...(declared.virtual === true ? { virtual: true } : {}),
    ...(declared.onCreate === undefined ? {} : { onCreate: declared.onCreate }),
    versions: [{ version, schema: declared.schema, lifecycle: declared.lifecycle }, ...(declared.versions ?? [])],
    ...(declared.gate === undefined ? {} : { gate: declared.gate }),
    storage: declared.storage ?? { group, resource: plural, version },
    subresources,
    ...(declared.resetFields === undefined ? {} : { resetFields: declared.resetFields }),
    // The casts hold because these functions only get objects that the schema has decoded.
    columns: ((declared.columns ?? []) as unknown as readonly ColumnDeclaration<never>[]).map((column) =>
      columnOf(column, declared),
    ) as unknown as readonly Column[],
    ...(declared.completion === undefined
      ? {}
      : { completion: declared.completion as unknown as (object: ApiObject) => Completion | undefined }),
    selectableFields: (declared.selectableFields ?? []) as unknown as readonly SelectableField[],
    strategy: (declared.strategy ?? {}) as unknown as Strategy<ApiObject>,
    ...(declared.followed === true ? { followed: true } : {}),
  };
}

function columnOf(
  declared: ColumnDeclaration<never>,
  { schema, plural }: Pick<KindDeclaration<StructSchema>, 'schema' | 'plural'>,
): Column<never> {
  const column = 'cell' in declared ? declared : plainColumn(declared);
  if (column.description !== undefined) return column;
  const [home = ''] = schema.name.split('/', 1);
  return {
    ...column,
    get description() {
      return describeColumn(home, plural, column.name) ?? '';
    },
  };
}

function plainColumn([name, cell, form]: Exclude<ColumnDeclaration<never>, Column<never>>): Column<never> {
  return {
    name,
    type: form === 'integer' || form === 'boolean' ? form : 'string',
    cell,
    ...(form === 'wide' ? { priority: 1 } : {}),
  };
}
