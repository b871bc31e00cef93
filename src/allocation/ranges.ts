import { at, bufferOf, inTurns, type JsonObject, parseNetwork, type Steps, serverTurns } from '../meta/index.ts';
import { type CachedObject, consistentCache, type Resource } from '../registry/index.ts';
import type { Store } from '../store/index.ts';
import { type AddressRange, rangeOf } from './address-range.ts';
import { readStored } from './read-stored-object.ts';

/** `latest`: of every write that was answered before. @throws StatusError 504 when the cache does not catch up */
export type Ranges = (latest?: boolean) => Promise<readonly AddressRange[]>;

/** The ranges of the ServiceCIDRs that are ready and not being deleted. */
export function rangesOf(store: Store, resource: () => Resource): Ranges {
  /** Those of each object of the last state. */
  let ofObjects: ReadonlyMap<CachedObject, readonly AddressRange[]> = new Map();
  let known: { readonly snapshot: unknown; readonly ranges: Promise<readonly AddressRange[]> } | undefined;
  function* read(objects: Iterable<CachedObject>): Steps<readonly AddressRange[]> {
    const next = new Map<CachedObject, readonly AddressRange[]>();
    for (const object of objects) {
      yield;
      let ranges = ofObjects.get(object);
      if (ranges === undefined) {
        const stored = readStored({ value: bufferOf(object.bytes) });
        ranges = stored === undefined ? [] : usable(stored);
      }
      next.set(object, ranges);
    }
    ofObjects = next;
    return [...next.values()].flat();
  }
  return async (latest = false) => {
    const { storage, keyPrefix } = resource();
    if (latest) await consistentCache({ store }, resource());
    else await storage.cache.ready();
    const snapshot = storage.cache.snapshot();
    // An object is decoded once: a user may create large ones.
    if (known?.snapshot !== snapshot) {
      known = { snapshot, ranges: inTurns(read(snapshot.range(keyPrefix)), serverTurns()) };
    }
    return known.ranges;
  };
}

/** A ServiceCIDR without a Ready condition counts as ready. */
function usable(object: JsonObject): AddressRange[] {
  if (at(object, 'metadata', 'deletionTimestamp') !== undefined || readiness(object) === 'False') return [];
  const blocks = at(object, 'spec', 'cidrs');
  return (Array.isArray(blocks) ? blocks : []).flatMap((block) => {
    const cidr = typeof block === 'string' ? parseNetwork(block) : undefined;
    return (cidr && rangeOf(cidr)) ?? [];
  });
}

function readiness(object: JsonObject): unknown {
  const conditions = at(object, 'status', 'conditions');
  const ready = (Array.isArray(conditions) ? conditions : []).find((condition) => at(condition, 'type') === 'Ready');
  return at(ready, 'status');
}
