import type { User } from './access.ts';
import type { ApiObject } from './object.ts';

/** A create or update that the server is about to store. */
export interface CheckedWrite {
  readonly requester: User;
  /** Empty at cluster scope. */
  readonly namespace: string;
  /** The name in the URL; empty for a create. */
  readonly requestName: string;
  /** After mutating admission, before validation. */
  readonly object: ApiObject;
  /** The stored object; undefined when there is none. */
  readonly oldObject: ApiObject | undefined;
}

/** Refuses a write by throwing a StatusError. */
export type WriteCheck = (write: CheckedWrite) => void | Promise<void>;
