import { describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../meta/index.ts';
import { builtinResources } from '../resources/index.ts';
import { bench, failure, merge, update } from './testing/fixtures.ts';

// A lease has a preferred holder with coordinated leader election.
const gate = 'CoordinatedLeaderElection';
const lease = (spec: JsonObject = {}): JsonObject => ({
  metadata: { name: 'l' },
  spec: { strategy: 'OldestEmulationVersion', preferredHolder: 'b', ...spec },
});
const made = (on: boolean, store?: ReturnType<typeof bench>['store']) =>
  bench({ definitions: builtinResources, features: { [gate]: on }, ...(store === undefined ? {} : { store }) });

describe('a field whose feature gate is off', () => {
  it('is dropped from a new object, and from one without it', async () => {
    const { create, change } = made(false);
    expect((await create('leases', lease({ holderIdentity: 'a' })))['spec']).toEqual({ holderIdentity: 'a' });
    const patched = await change('leases', 'l', merge({ spec: { preferredHolder: 'c', holderIdentity: 'b' } }));
    expect(patched['spec']).toEqual({ holderIdentity: 'b' });
  });

  it('is ignored: an update of nothing else changes nothing', async () => {
    const { create, change } = made(false);
    const before = await create('leases', lease({ holderIdentity: 'a' }));
    const after = await change('leases', 'l', merge({ spec: { preferredHolder: 'c' } }));
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  it('can be changed and removed where it was set while the gate was on', async () => {
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

describe('a declarative rule that throws', () => {
  const controller = {
    metadata: { name: 'r' },
    spec: {
      replicas: 1,
      selector: { a: 'b' },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  };
  const failing = (takesOver: boolean) => {
    const failures: unknown[] = [];
    const nothing = () => {};
    const bed = bench({
      definitions: builtinResources,
      features: { DeclarativeValidationTakeover: takesOver },
      observer: {
        admission: () => nothing,
        mismatch: nothing,
        corrupt: () => undefined,
        ruleFailure: (...told) => void failures.push(told),
      },
    });
    const { declarative } = bed.target('replicationcontrollers').resource.writeRules;
    if (declarative === undefined) throw new Error('no declared rules');
    const error = new Error('broken');
    vi.spyOn(declarative, 'validate').mockImplementation(() => {
      throw error;
    });
    return { ...bed, failures, told: [['ReplicationController', error]] };
  };

  it('is reported, and the write succeeds', async () => {
    const { create, failures, told } = failing(false);
    await create('replicationcontrollers', controller);
    expect(failures).toEqual(told);
  });

  it('fails the write where it has taken over', async () => {
    const { create, failures, told } = failing(true);
    const refused = await failure(create('replicationcontrollers', controller));
    expect(refused).toMatchObject({ code: 422, details: { causes: [{ reason: 'InternalError' }] } });
    expect(failures).toEqual(told);
  });
});

describe('a version that is not served', () => {
  it('still has managed fields', async () => {
    const before = bench();
    const widget = { apiVersion: 'example.com/v2', kind: 'Widget', metadata: { name: 'w' }, spec: { size: 1 } };
    const sent = { verb: 'create', object: { value: widget, findings: [] } } as const;
    await before.write('widgets', { version: 'v2' }, sent, { fieldManager: 'maker' });
    const { change, registry } = bench({ store: before.store, serves: (_, version) => version === 'v1' });
    const { metadata } = await change('widgets', 'w', merge({ metadata: { labels: { a: 'b' } } }));
    // Of the same time, so ordered by name.
    const owners = (metadata.managedFields ?? []) as { manager?: string; apiVersion?: string }[];
    expect(owners.map(({ manager, apiVersion }) => [manager, apiVersion])).toEqual([
      ['', 'example.com/v1'],
      ['maker', 'example.com/v2'],
    ]);
    expect(registry.find('example.com', 'v2', 'widgets')).toBeUndefined();
  });
});
