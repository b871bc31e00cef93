import type { AdmissionRequest } from '../../admission/index.ts';
import type { CachedObject } from '../../cache/index.ts';
import type { ApiObject, FieldError, Turns } from '../../meta/index.ts';
import type { WriteResult } from '../types.ts';
import type { Allocations } from './allocator.ts';
import type { Candidate, WriteRequest } from './write-request.ts';

/** The outcome of one attempt of a write. `revision`: that of the commit, or of the object that does not change. */
export type Outcome =
  | { readonly kind: 'stored'; readonly result: WriteResult; readonly revision: number }
  | { readonly kind: 'unchanged'; readonly result: WriteResult; readonly revision: number }
  /** Another writer was first; `current` is the object stored now. */
  | { readonly kind: 'conflict'; readonly candidate: Candidate; readonly current: CachedObject | undefined }
  /**
   * Something else that the attempt depends on has changed: an allocated value, or what a guard requires. This server has
   * seen the change.
   */
  | { readonly kind: 'outdated'; readonly candidate: Candidate };

/** Reverts a side effect of an admission plugin. */
export type Undo = () => Promise<void>;

/** One attempt of a write on one state of the object. The stages fill it in. */
export class Attempt {
  readonly request: WriteRequest;
  /** The object on which the attempt is made; undefined when there is none. */
  readonly current: CachedObject | undefined;
  /** The turns in which the attempt runs; undefined for a short one, which runs without a pause. */
  readonly turns: Turns | undefined;
  readonly undo: Undo[] = [];
  /** `current`, parsed. */
  old: ApiObject | undefined = undefined;
  candidate!: Candidate;
  attributes!: AdmissionRequest;
  /** Whether mutating admission may have changed the object without its defaults. */
  mutated = false;
  allocations: Allocations | undefined = undefined;
  errors: readonly FieldError[] = [];
  /** Whether the write leaves the object as it is. */
  unchanged = false;
  /** Ends the attempt. */
  outcome: Outcome | undefined = undefined;

  constructor(request: WriteRequest, current: CachedObject | undefined, turns: Turns | undefined) {
    this.request = request;
    this.current = current;
    this.turns = turns;
  }
}
