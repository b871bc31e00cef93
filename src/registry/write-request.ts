import type { ApiObject } from '../meta/index.ts';
import type { RegistryContext } from './context.ts';
import type { WriteContext } from './definition.ts';
import type { DeleteOptions } from './delete-options.ts';
import type { Change, Target, WriteOptions } from './types.ts';

/** A write as asked for: what does not depend on the object that is there. */
export interface WriteRequest {
  readonly registry: RegistryContext;
  readonly target: Target;
  readonly change: Change;
  readonly options: WriteOptions;
  readonly dryRun: boolean;
  readonly context: WriteContext;
  /** Set when the change is a deletion. */
  readonly deletion: DeleteOptions | undefined;
  /** How long the body was, in bytes. */
  readonly size: number;
}

/** What is to be stored, in the storage version. */
export interface PendingObject {
  object: ApiObject;
  /** What was sent to a view of the object: admission sees it instead, and only then is it written into the object. */
  readonly projection?: ApiObject;
  /** The object goes: `object` is its last state. */
  remove: boolean;
  /** The object is stored once more, marked as deleted, and goes right after. */
  readonly deleteAfterMark?: boolean;
  /** Its name was made up here. */
  readonly generated: boolean;
}

/** Reverts a write that an admission plugin made on the side. */
export type Undo = () => Promise<void>;

export const nameOf = ({ object }: PendingObject): string => object.metadata.name ?? '';
