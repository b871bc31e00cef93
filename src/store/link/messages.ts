/** The messages of a link between the process that has the store and one that uses it. */
import type { Change, Store, StoreErrorCode } from '../store.ts';

/** Both ends must have the same version. */
export const linkVersion = 1;

/** The methods of a store that are called over the link. */
export const methods = ['revision', 'oldest', 'size', 'get', 'list', 'commit', 'compact'] as const;
export type Method = (typeof methods)[number];
export type Arguments<M extends Method> = Parameters<Store[M]>;
export type Result<M extends Method> = Awaited<ReturnType<Store[M]>>;

/** The identifier of the watch of all keys that every live watch shares. */
export const sharedWatch = 0;

export interface WireError {
  readonly code: StoreErrorCode;
  readonly message: string;
  readonly revision: number | undefined;
}

export type ClientMessage =
  | { readonly type: 'hello'; readonly version: number }
  | { readonly type: 'call'; readonly id: number; readonly method: Method; readonly args: readonly unknown[] }
  | {
      readonly type: 'watch';
      readonly id: number;
      readonly prefix: string;
      readonly after: number;
      readonly previous: boolean;
    }
  | { readonly type: 'progress'; readonly id: number }
  | { readonly type: 'unwatch'; readonly id: number };

export type HostMessage =
  /** `latest`: the revision after which the shared watch begins. */
  | { readonly type: 'welcome'; readonly version: number; readonly maxValueBytes: number; readonly latest: number }
  | { readonly type: 'result'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failure'; readonly id: number; readonly error: WireError }
  | { readonly type: 'batch'; readonly id: number; readonly revision: number; readonly changes: readonly Change[] }
  | { readonly type: 'ended'; readonly id: number; readonly error: WireError }
  /** After its end, the shared watch begins again after this revision. */
  | { readonly type: 'follows'; readonly revision: number };
