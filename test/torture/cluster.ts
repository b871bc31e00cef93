import type { JournalEntry } from '../../src/server/harness/checks/history.ts';
import type { Endpoint } from './endpoint.ts';

/** Ends a fault. */
export type Cure = () => Promise<void> | void;

/** Does something to a cluster. `choice`: a whole number that decides to whom, where there is a choice. */
export type Fault = (choice: number) => Promise<Cure> | Cure;

/** Faults of one sort, by what they are called: at any time there is at most one of them. */
export interface Lane {
  readonly faults: { readonly [name: string]: Fault };
  /** The longest time between two of them, and the longest that one lasts (ms). */
  readonly rest: number;
  readonly length: number;
}

/** Servers over one store, and the means to disturb them. */
export interface Cluster {
  readonly endpoints: readonly Endpoint[];
  readonly lanes: readonly Lane[];
  /** The changes of the objects of the trial so far, as the store itself tells them. */
  readonly journal: readonly JournalEntry[];
  /** The latest revision up to which the journal is complete. */
  readonly revision: number;
  /** Resolves when the history before a revision has been discarded. */
  compact(revision: number): Promise<void>;
  /** Resolves when everything is in the journal that was written before the call. @throws Error when it is incomplete */
  sync(): Promise<void>;
  /** Events that no server should cause, such as its own end. */
  complaints(): readonly string[];
  close(): Promise<void>;
}
