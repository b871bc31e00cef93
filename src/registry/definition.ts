import type { ApiObject, FieldError, Json, Names } from '../meta/index.ts';
import type { StructSchema } from '../schema/index.ts';

/** What may be asked of a resource; the names of authorization and discovery. */
export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';
export const allVerbs: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

/**
 * A resource as data: everything that the generic code needs to serve it. Texts may hold the placeholders of
 * `expandNames`; they are expanded once, when the registry is made.
 */
export interface ResourceDefinition {
  /** Empty for the core group. */
  readonly group: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  /** Best first. */
  readonly versions: readonly ResourceVersion[];
  /** An operation rather than an object, such as a review: it has no storage, and what is posted is answered, not kept. */
  readonly virtual?: boolean;
  /** Where the objects lie and in which version. Two definitions with the same group and resource share their objects. */
  readonly storage: { readonly group: string; readonly resource: string; readonly version: string };
  readonly subresources: readonly Subresource[];
  /** Columns of its tables: the whole row, Name included. Empty: Name and Created At. */
  readonly columns: readonly Column[];
  /** Field selector paths beyond `metadata.name` and `metadata.namespace`. */
  readonly selectableFields: readonly SelectableField[];
  readonly strategy: Strategy;
}

export interface ResourceVersion {
  readonly version: string;
  readonly schema: StructSchema;
  /** From this version to the storage version and back; absent in the storage version itself. Neither changes its argument. */
  readonly toStorage?: (object: ApiObject, names: Names) => ApiObject;
  readonly fromStorage?: (object: ApiObject, names: Names) => ApiObject;
  /** Release that deprecated it, release that removes it, what to use instead. */
  readonly deprecated?: { readonly since: string; readonly removed?: string; readonly replacement?: string };
}

export interface Subresource {
  readonly name: string;
  readonly verbs: readonly Verb[];
  /** The kind that is read or sent there; group and version when they are not those of the resource. */
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
}

/** One column of a table (spec/resource-api.md, "Table representation"). */
export interface Column<T = ApiObject> {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  /** `name` marks the column that identifies the row. */
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, more only in wide output. */
  readonly priority?: number;
  readonly cell: (object: T, context: CellContext) => Json;
}

export interface CellContext {
  /** Milliseconds since 1970, for ages. */
  readonly now: number;
  readonly names: Names;
}

export interface SelectableField<T = ApiObject> {
  readonly path: string;
  /** Read in the storage version. A missing value is ''. */
  readonly value: (object: T) => string;
  /** Watchers are found by it: for fields that many watchers select by one value each. */
  readonly indexed?: boolean;
}

export interface StrategyContext {
  readonly names: Names;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * The few things that are special to a kind. Every function gets objects in the storage version; those that prepare
 * change the first argument in place. All are pure otherwise.
 */
export interface Strategy<T = ApiObject> {
  /** Says what is wrong with a name: a list of messages, empty when nothing is. Default: DNS-1123 subdomain. */
  readonly nameRule?: (name: string) => string[];
  /** `metadata.generation` counts changes of everything but metadata and status. */
  readonly generation?: boolean;
  /** May be created by PUT to a name that does not exist. */
  readonly createOnUpdate?: boolean;
  /** PUT without a resourceVersion is taken as "the latest". Default true. */
  readonly unconditionalUpdate?: boolean;
  /** A new object may bring the status that its `status` subresource guards: such as a node, which reports itself. */
  readonly createsWithStatus?: boolean;
  /** Who deletes it gets the object back as it was, not a `Success` status. */
  readonly returnsDeleted?: boolean;
  /** Defaults that depend on other fields. */
  readonly defaults?: (object: T, context: StrategyContext) => void;
  readonly prepareCreate?: (object: T, context: StrategyContext) => void;
  readonly prepareUpdate?: (object: T, old: T, context: StrategyContext) => void;
  /** The same for a write to the `status` subresource, which by itself changes nothing but status and metadata. */
  readonly prepareStatusUpdate?: (object: T, old: T, context: StrategyContext) => void;
  readonly validate?: (object: T, context: StrategyContext) => FieldError[];
  readonly validateUpdate?: (object: T, old: T, context: StrategyContext) => FieldError[];
  /** Advice for the writer, sent as `Warning` headers. */
  readonly warnings?: (object: T, old: T | undefined, context: StrategyContext) => string[];
}
