import type { Compare, Write } from '../../store/index.ts';

/** Allocates values that one object at most can have, such as addresses. */
export interface Allocator {
  /** Allocates the value; returns why it cannot, undefined once it is allocated. */
  readonly allocate: (value: string) => Promise<string | undefined>;
  /** Allocates a free value; undefined when there is none. */
  readonly allocateNext: () => Promise<string | undefined>;
  /** Does nothing for a value that the object does not have. */
  readonly release: (value: string) => Promise<void>;
}

/** The object that values are allocated to. */
export interface Holder {
  /** Plural name and group: `services`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** The values that one attempt of a write allocates and releases, in effect once its commit has these compares and writes. */
export interface Allocations {
  /** By name, the preferred one first. */
  readonly allocators: ReadonlyMap<string, Allocator>;
  readonly changes: () => { readonly compares: readonly Compare[]; readonly writes: readonly Write[] };
  /**
   * Resolves once free values are chosen from a state at least as new as `revision`: called when another writer was first
   * with one, so that the next attempt does not choose from the same state. @throws StatusError 504
   */
  readonly catchUp: (revision: number) => Promise<unknown>;
}

/** Opens the allocators for one attempt. In a dry run nothing is allocated, and free values are made up. */
export type OpenAllocations = (holder: Holder, dryRun: boolean) => Allocations;
