import { at, bufferOf, type JsonObject, parseNetwork } from '../meta/index.ts';
import { consistentCache, type Resource } from '../registry/index.ts';
import type { Store } from '../store/index.ts';
import { type AddressRange, rangeOf } from './address-range.ts';
import { readStored } from './read-stored-object.ts';

/** `latest`: of every write that was answered before. @throws StatusError 504 when the cache does not catch up */
export type Ranges = (latest?: boolean) => Promise<readonly AddressRange[]>;

/** The ranges of the ServiceCIDRs that are ready and not being deleted. */
export function rangesOf(store: Store, resource: () => Resource): Ranges {
  let known: { readonly snapshot: unknown; readonly ranges: readonly AddressRange[] } | undefined;
  return async (latest = false) => {
    const { cache, keyPrefix } = resource();
    if (latest) await consistentCache({ store }, resource());
    else await cache.ready();
    const snapshot = cache.snapshot();
    if (known?.snapshot !== snapshot) {
      const objects = [...snapshot.range(keyPrefix)].map(({ bytes }) => readStored({ value: bufferOf(bytes) }));
      known = { snapshot, ranges: objects.flatMap((object) => (object !== undefined ? usable(object) : [])) };
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
