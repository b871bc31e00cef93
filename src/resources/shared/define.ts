import type { ApiObject, FeatureName, ObjectMeta } from '../../meta/index.ts';
import {
  allVerbs,
  type Column,
  type Completion,
  type CreateHandler,
  type ResourceDefinition,
  type ResourceVersion,
  type SelectableField,
  type Strategy,
  type Subresource,
  type Verb,
} from '../../registry/index.ts';
import type { Infer, StructSchema } from '../../schema/index.ts';
import { scale } from './scale.ts';

/** An object of a kind as its own code sees it: typed by the schema, with its metadata. */
export type ObjectOf<S extends StructSchema> = Omit<Infer<S>, 'metadata'> & { metadata: ObjectMeta };

/** A whole column, or its title, what it reads of an object and, where not plain text, how it is shown. */
export type ColumnDeclaration<T> =
  | Column<T>
  | readonly [title: string, cell: Column<T>['cell'], form?: 'wide' | 'integer' | 'boolean'];

/** A kind as its file declares it; what is left out is what most kinds have. */
export interface KindDeclaration<S extends StructSchema> {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly schema: S;
  readonly version?: string;
  /** Versions beyond the first. */
  readonly versions?: readonly ResourceVersion[];
  /** The feature without which it is not served. */
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
  readonly act?: CreateHandler;
  /** Default: its own group and name, in the first version. */
  readonly storage?: ResourceDefinition['storage'];
  /** Has a `status` of its own, written under `/status`; by default that keeps the spec. */
  readonly status?: true | Pick<Subresource, 'resetFields' | 'metadataChecks'>;
  /** Can be scaled under `/scale`; how its selector reads when it is not a LabelSelector. */
  readonly scale?: true | ((object: ObjectOf<S>) => string);
  readonly subresources?: readonly Subresource<ObjectOf<S>>[];
  readonly keeps?: ResourceDefinition['resetFields'];
  readonly columns?: readonly ColumnDeclaration<ObjectOf<S>>[];
  readonly completion?: (object: ObjectOf<S>) => Completion | undefined;
  readonly selectableFields?: readonly SelectableField<ObjectOf<S>>[];
  readonly strategy?: Strategy<ObjectOf<S>>;
  readonly notYet?: string;
}

const reading: readonly Verb[] = ['get', 'patch', 'update'];

/** The full definition of a kind. Its functions see every object in the type that the schema gives it. */
export function resource<S extends StructSchema>(declared: KindDeclaration<S>): ResourceDefinition {
  const { group, plural, kind, version = 'v1' } = declared;
  const subresources = [...((declared.subresources ?? []) as unknown as readonly Subresource[])];
  if (declared.status !== undefined) {
    const own = declared.status === true ? {} : declared.status;
    subresources.push({ name: 'status', verbs: reading, kind, resetFields: [['spec']], ...own });
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
    ...(declared.act === undefined ? {} : { onCreate: declared.act }),
    versions: [{ version, schema: declared.schema }, ...(declared.versions ?? [])],
    ...(declared.gate === undefined ? {} : { gate: declared.gate }),
    storage: declared.storage ?? { group, resource: plural, version },
    subresources,
    ...(declared.keeps === undefined ? {} : { resetFields: declared.keeps }),
    // What a kind's functions are handed has been decoded by its schema: that is what the type says.
    columns: ((declared.columns ?? []) as unknown as readonly ColumnDeclaration<never>[]).map(
      columnOf,
    ) as unknown as readonly Column[],
    ...(declared.completion === undefined
      ? {}
      : { completion: declared.completion as unknown as (object: ApiObject) => Completion | undefined }),
    selectableFields: (declared.selectableFields ?? []) as unknown as readonly SelectableField[],
    strategy: (declared.strategy ?? {}) as unknown as Strategy<ApiObject>,
    ...(declared.notYet === undefined ? {} : { notYet: declared.notYet }),
  };
}

function columnOf(declared: ColumnDeclaration<never>): Column<never> {
  if ('cell' in declared) return declared;
  const [name, cell, form] = declared;
  return {
    name,
    type: form === 'integer' || form === 'boolean' ? form : 'string',
    cell,
    ...(form === 'wide' ? { priority: 1 } : {}),
  };
}
