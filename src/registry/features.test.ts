import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../meta/index.ts';
import { builtinResources } from '../resources/index.ts';
import { bench, merge, update } from './testing/fixtures.ts';

// A lease may name who should hold it next where leaders are elected together.
const gate = 'CoordinatedLeaderElection';
const lease = (spec: JsonObject = {}): JsonObject => ({
  metadata: { name: 'l' },
  spec: { strategy: 'OldestEmulationVersion', preferredHolder: 'b', ...spec },
});
const made = (on: boolean, store?: ReturnType<typeof bench>['store']) =>
  bench({ definitions: builtinResources, features: { [gate]: on }, ...(store === undefined ? {} : { store }) });

describe('a field whose feature is off', () => {
  it('is dropped from a new object, and from one that had no such field', async () => {
    const { create, change } = made(false);
    expect((await create('leases', lease({ holderIdentity: 'a' })))['spec']).toEqual({ holderIdentity: 'a' });
    const patched = await change('leases', 'l', merge({ spec: { preferredHolder: 'c', holderIdentity: 'b' } }));
    expect(patched['spec']).toEqual({ holderIdentity: 'b' });
  });

  it('is as if it had not been sent: nothing is written when nothing else changed', async () => {
    const { create, change } = made(false);
    const before = await create('leases', lease({ holderIdentity: 'a' }));
    const after = await change('leases', 'l', merge({ spec: { preferredHolder: 'c' } }));
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  it('can be changed and removed where it was set while the feature was on', async () => {
    const { create, store } = made(true);
    await create('leases', lease());
    const { change } = made(false, store);
    const changed = await change('leases', 'l', merge({ spec: { preferredHolder: 'c' } }));
    expect(changed['spec']).toEqual({ strategy: 'OldestEmulationVersion', preferredHolder: 'c' });
    const { metadata } = changed;
    const removed = await change('leases', 'l', update({ metadata, spec: { holderIdentity: 'a' } }));
    expect(removed['spec']).toEqual({ holderIdentity: 'a' });
    const again = await change('leases', 'l', merge({ spec: { preferredHolder: 'd' } }));
    expect(again['spec']).toEqual({ holderIdentity: 'a' });
  });
});
