import type { ApiObject, Json } from '../../meta/index.ts';
import type { Compare } from '../../store/index.ts';
import type { RegistryContext } from '../context.ts';
import type { WriteContext } from '../resource/definition.ts';
import type { Resource } from '../resource/resource.ts';
import type { Change, Target, WriteOptions } from '../types.ts';
import type { Conversions } from './conversions.ts';
import type { DeleteOptions } from './delete-options.ts';

/** A write, as far as it does not depend on the stored object. */
export interface WriteRequest {
  readonly registry: RegistryContext;
  readonly target: Target;
  readonly change: Change;
  readonly options: WriteOptions;
  readonly dryRun: boolean;
  readonly context: WriteContext;
  /** Set when the change is a deletion. */
  readonly deletion: DeleteOptions | undefined;
  /** Size of the body in bytes. */
  readonly size: number;
  /** Of a custom resource that a webhook converts. */
  readonly conversions: Conversions | undefined;
}

/** What admission has read from the cache of another resource, and the commit requires to be unchanged. */
export interface Guard {
  readonly resource: Resource;
  readonly compare: Compare;
}

/** The object to commit, in the storage version. */
export interface PendingObject {
  object: ApiObject;
  /** The object sent to a projection: admission gets it in place of `object`, into which it is written afterwards. */
  readonly projection?: ApiObject;
  /** The object is removed: `object` is its last state. */
  remove: boolean;
  /** The object is committed marked as deleted, and removed right after. */
  readonly deleteAfterMark?: boolean;
  /** Its name was generated. */
  readonly generated: boolean;
  /** By key: the object is committed only if each of them holds. */
  guards?: Map<string, Guard>;
  /** Mutating admission is over. */
  admitted?: boolean;
  /** Set when mutating admission has replaced the object: what it had before. */
  rewritten?: { readonly managedFields: Json[] | undefined };
}

/** Reverts a side effect of an admission plugin. */
export type Undo = () => Promise<void>;

export const nameOf = ({ object }: PendingObject): string => object.metadata.name ?? '';
