import type { ByteString } from '../../meta/index.ts';
import { firstSegment } from '../fan-out.ts';

/**
 * The latest revision of each resource, by the first segment of its keys. It answers without a read of the tree that nothing
 * below a prefix has been written after a revision: most commits compare prefixes of resources that hardly ever change.
 */
export class LastWrites {
  /** No key has a later revision, except those of recorded segments. */
  readonly #from: number;
  readonly #revisions = new Map<string, number>();

  /** `latest`: the revision of the store. Every later write must be recorded. */
  constructor(latest: number) {
    this.#from = latest;
  }

  /** Keys may be recorded in any order of their revisions. */
  record(key: ByteString, revision: number): void {
    const segment = firstSegment(key);
    if (revision > (this.#revisions.get(segment) ?? this.#from)) this.#revisions.set(segment, revision);
  }

  /** Whether certainly no key below the prefix has been written after the revision. */
  isUnwritten(prefix: ByteString, after: number): boolean {
    const segment = firstSegment(prefix);
    return segment !== '' && (this.#revisions.get(segment) ?? this.#from) <= after;
  }
}
