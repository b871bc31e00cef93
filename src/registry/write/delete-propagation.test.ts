import { describe, expect, it } from 'vitest';
import type { JsonObject, ObjectMeta } from '../../meta/index.ts';
import { bench, how, note, notes, remove } from '../testing/fixtures.ts';

const warning = 'dependents stay';
const orphaning = { garbageCollectionPolicy: 'OrphanDependents', noPolicyWarning: warning } as const;
const kinds = {
  ordinary: {},
  orphaning,
  ignored: { garbageCollectionPolicy: 'Unsupported' },
} as const;

/** The metadata of an object with these finalizers after its deletion; undefined when it is removed. */
async function deleted(
  kind: keyof typeof kinds,
  options: JsonObject,
  finalizers: string[] = [],
  garbageCollector = true,
): Promise<ObjectMeta | undefined> {
  const { create, write } = bench({ definitions: [{ ...notes, strategy: kinds[kind] }], garbageCollector });
  await create('configmaps', note('o', {}, { finalizers }));
  const { object } = await write('configmaps', { name: 'o' }, remove(options));
  return object === undefined ? undefined : (JSON.parse(object.bytes) as { metadata: ObjectMeta }).metadata;
}

const [orphan, foreground, own] = ['orphan', 'foregroundDeletion', 'example.com/own'];

describe('propagation finalizers', () => {
  const rows: [keyof typeof kinds, JsonObject, string[], string[] | undefined][] = [
    ['ordinary', {}, [], undefined],
    ['ordinary', {}, [orphan], [orphan]],
    ['ordinary', { propagationPolicy: 'Background' }, [orphan], undefined],
    ['orphaning', {}, [], [orphan]],
    ['orphaning', {}, [own], [own, orphan]],
    ['orphaning', {}, [foreground], [foreground]],
    ['orphaning', {}, [orphan], [orphan]],
    ['orphaning', { propagationPolicy: 'Background' }, [], undefined],
    ['orphaning', { propagationPolicy: 'Background' }, [orphan], undefined],
    ['orphaning', { propagationPolicy: 'Foreground' }, [], [foreground]],
    ['orphaning', { orphanDependents: false }, [], undefined],
    ['ignored', {}, [], undefined],
    ['ignored', { propagationPolicy: 'Orphan' }, [], undefined],
    ['ignored', { propagationPolicy: 'Foreground' }, [], undefined],
    ['ignored', { orphanDependents: true }, [], undefined],
    ['ignored', {}, [foreground], undefined],
    ['ignored', { propagationPolicy: 'Orphan' }, [orphan, own], [own]],
  ];
  it.each(rows)('%s kind, options %j, finalizers %j', async (kind, options, before, after) => {
    expect((await deleted(kind, options, before))?.finalizers).toEqual(after);
  });

  it('are not added by default without a garbage collector', async () => {
    expect(await deleted('orphaning', {}, [], false)).toBeUndefined();
    expect((await deleted('orphaning', { propagationPolicy: 'Orphan' }, [], false))?.finalizers).toEqual([orphan]);
    expect((await deleted('orphaning', {}, [orphan], false))?.finalizers).toEqual([orphan]);
    expect(await deleted('ignored', { propagationPolicy: 'Orphan' }, [], false)).toBeUndefined();
  });
});

describe('the warning for deletions without a propagation policy', () => {
  const rows: [JsonObject, string[]][] = [
    [{}, [warning]],
    [{ gracePeriodSeconds: 0 }, [warning]],
    [{ propagationPolicy: 'Orphan' }, []],
    [{ propagationPolicy: 'Background' }, []],
    [{ orphanDependents: true }, []],
    [{ orphanDependents: false }, []],
  ];
  it.each(rows)('with %j', async (options, expected) => {
    const { create, write, registry, target } = bench({ definitions: [{ ...notes, strategy: orphaning }] });
    await create('configmaps', note('o'));
    const one = new Set<string>();
    await write('configmaps', { name: 'o' }, remove(options), { warn: (text) => void one.add(text) });
    expect([...one]).toEqual(expected);
    const all = new Set<string>();
    await registry.deleteCollection(target('configmaps'), {}, options, { ...how, warn: (text) => void all.add(text) });
    expect([...all]).toEqual(expected);
  });
});

describe('a grace period that is shortened', () => {
  const left = async (seconds: number, asked: number) => {
    const { change, create, clock } = bench();
    await create('pings', { apiVersion: 'v1', kind: 'Ping', metadata: { name: 'p', finalizers: [own] } });
    await change('pings', 'p', remove({ gracePeriodSeconds: 30 }));
    const start = clock.now();
    clock.advance(seconds * 1000);
    const { metadata } = await change('pings', 'p', remove({ gracePeriodSeconds: asked }));
    const { deletionTimestamp = '', deletionGracePeriodSeconds } = metadata;
    return [(Date.parse(deletionTimestamp) - start) / 1000, deletionGracePeriodSeconds];
  };

  it.each([
    [10, 20, 20, 20],
    [10, 10, 10, 10],
    [10, 5, 10, 1],
    [10, 1, 10, 1],
    [10, 0, 10, 0],
  ])('after %d s to %d s ends at %d s', async (seconds, asked, end, grace) => {
    expect(await left(seconds, asked)).toEqual([end, grace]);
  });
});
