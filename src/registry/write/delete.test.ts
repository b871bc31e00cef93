import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import { bench, failure, how, merge, note, optionsOf, type QueryTexts, remove } from '../testing/fixtures.ts';

const finalizers = (...names: string[]) => ({ finalizers: names.map((name) => `example.com/${name}`) });

describe('delete', () => {
  it('removes the object and returns its name and uid', async () => {
    const { create, write, read } = bench();
    const { metadata } = await create('configmaps', note('one'));
    const result = await write('configmaps', { name: 'one' }, remove());
    expect(result.deleted).toEqual({ name: 'one', uid: metadata.uid });
    expect(result.object).toBeUndefined();
    expect(await failure(read('configmaps', 'one'))).toMatchObject({ code: 404 });
    expect(await failure(write('configmaps', { name: 'one' }, remove()))).toMatchObject({
      code: 404,
      message: 'configmaps "one" not found',
    });
  });

  it('returns the object for a kind that does so', async () => {
    const { create, change } = bench();
    const made = await create('namespaces', { metadata: { name: 'n' } });
    expect(await change('namespaces', 'n', remove())).toEqual({
      ...made,
      metadata: { ...made.metadata, resourceVersion: '3' },
    });
  });

  it('marks an object with finalizers; the removal of the last one removes it', async () => {
    const { create, change, read, store } = bench();
    const made = await create('configmaps', note('f', {}, finalizers('one', 'two')));
    const marked = await change('configmaps', 'f', remove());
    const time = expect.stringMatching(/^\d{4}-.*Z$/) as string;
    expect(marked.metadata).toEqual({
      ...made.metadata,
      resourceVersion: '3',
      deletionTimestamp: time,
      deletionGracePeriodSeconds: 0,
    });
    expect(await change('configmaps', 'f', remove())).toEqual(marked);
    expect(
      await failure(change('configmaps', 'f', merge({ metadata: finalizers('one', 'three', 'two') }))),
    ).toMatchObject({
      code: 422,
      message:
        'ConfigMap "f" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/three"}',
    });
    await change('configmaps', 'f', merge({ metadata: finalizers('two') }));
    const kept = await change('configmaps', 'f', merge({ metadata: { deletionTimestamp: null } }));
    expect(kept.metadata.deletionTimestamp).toBe(marked.metadata.deletionTimestamp);
    const last = await change('configmaps', 'f', merge({ metadata: { finalizers: null } }));
    expect(last.metadata).toMatchObject({ name: 'f', resourceVersion: '5', deletionTimestamp: time });
    expect(last.metadata.finalizers).toBeUndefined();
    expect(await failure(read('configmaps', 'f'))).toMatchObject({ code: 404 });
    expect(await store.revision()).toBe(5);
  });

  it('increments the generation with the mark', async () => {
    const { create, change } = bench();
    await create('deployments', { metadata: { name: 'd', ...finalizers('one') } });
    expect((await change('deployments', 'd', remove())).metadata.generation).toBe(2);
    expect((await change('deployments', 'd', remove())).metadata.generation).toBe(2);
  });

  const policies: [JsonObject, string[] | undefined][] = [
    [{ propagationPolicy: 'Orphan' }, ['orphan']],
    [{ propagationPolicy: 'Foreground' }, ['foregroundDeletion']],
    [{ propagationPolicy: 'Background' }, undefined],
    [{ orphanDependents: true }, ['orphan']],
    [{ orphanDependents: false }, undefined],
    [{ gracePeriodSeconds: -5 }, undefined],
  ];
  it.each(policies)('with %j', async (options, kept) => {
    const { create, write } = bench();
    await create('configmaps', note('o'));
    const { object } = await write('configmaps', { name: 'o' }, remove(options));
    const metadata = object === undefined ? {} : (JSON.parse(object.bytes) as { metadata: JsonObject }).metadata;
    expect(metadata['finalizers']).toEqual(kept);
  });

  it('replaces the propagation finalizer by that of a later policy', async () => {
    const { create, change, write } = bench();
    await create('configmaps', note('o'));
    await change('configmaps', 'o', remove({ propagationPolicy: 'Orphan' }));
    const changed = await change('configmaps', 'o', remove({ propagationPolicy: 'Foreground' }));
    expect(changed.metadata.finalizers).toEqual(['foregroundDeletion']);
    // Without a policy the earlier one holds.
    expect((await change('configmaps', 'o', remove())).metadata.finalizers).toEqual(['foregroundDeletion']);
    expect(
      (await write('configmaps', { name: 'o' }, remove({ propagationPolicy: 'Background' }))).deleted,
    ).toBeDefined();
  });

  const rejections: [string, JsonObject, number, string][] = [
    [
      'an unknown policy',
      { propagationPolicy: 'Sideways' },
      422,
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
    ],
    [
      'both policies',
      { propagationPolicy: 'Background', orphanDependents: true },
      422,
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Background": orphanDependents and deletionPropagation cannot be both set',
    ],
    [
      'a body of another kind',
      { kind: 'ConfigMap', apiVersion: 'v1' },
      400,
      'no kind "ConfigMap" is registered for version "v1" in scheme "pkg/apis/meta/internalversion/scheme/register.go:27"',
    ],
    [
      'an unknown dry run value',
      { dryRun: ['Some'] },
      422,
      'DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
    ],
    [
      'another uid',
      { preconditions: { uid: 'other' } },
      409,
      expect.stringMatching(
        /^Operation cannot be fulfilled on ConfigMap "p": the UID in the precondition \(other\) does not match the UID in record \([0-9a-f-]{36}\)\. The object might have been deleted and then recreated$/,
      ) as string,
    ],
    [
      'another resourceVersion',
      { preconditions: { resourceVersion: '1' } },
      409,
      'Operation cannot be fulfilled on ConfigMap "p": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (2). The object might have been modified',
    ],
  ];
  it.each(rejections)('rejects %s', async (_, options, code, message) => {
    const { create, write } = bench();
    await create('configmaps', note('p'));
    expect(await failure(write('configmaps', { name: 'p' }, remove(options)))).toMatchObject({ code, message });
  });

  it('deletes when the preconditions hold', async () => {
    const { create, write } = bench();
    const { metadata } = await create('configmaps', note('p'));
    const preconditions = { uid: metadata.uid ?? '', resourceVersion: metadata.resourceVersion ?? '' };
    expect((await write('configmaps', { name: 'p' }, remove({ preconditions }))).deleted?.name).toBe('p');
  });
});

describe('deletecollection', () => {
  const drop = async (
    { registry, target }: ReturnType<typeof bench>,
    options: QueryTexts,
    deleteOptions: JsonObject = {},
  ) => {
    const list = await registry.deleteCollection(target('configmaps'), optionsOf(options), deleteOptions, how);
    return [...list.items].map(({ name }) => name);
  };

  it('deletes the matching objects and returns them', async () => {
    const made = bench();
    for (const name of ['a', 'b', 'c', 'd']) {
      await made.create('configmaps', note(name, {}, { labels: { odd: String(name === 'a' || name === 'c') } }));
    }
    expect(await drop(made, { labelSelector: 'odd=true' })).toEqual(['a', 'c']);
    expect((await made.names('configmaps')).names).toEqual(['b', 'd']);
    expect(await drop(made, { fieldSelector: 'metadata.name=b' }, { dryRun: ['All'] })).toEqual(['b']);
    expect(await drop(made, { fieldSelector: 'metadata.name=b' })).toEqual(['b']);
    expect(await drop(made, {})).toEqual(['d']);
    expect(await drop(made, {})).toEqual([]);
  });

  it('takes a bounded number of steps for any number of objects', async () => {
    const made = bench();
    await Promise.all(Array.from({ length: 100 }, (_, i) => made.create('configmaps', note(`n${i}`))));
    expect(await drop(made, {})).toHaveLength(100);
    expect((await made.names('configmaps')).names).toEqual([]);
  });

  it('rejects invalid options before it deletes anything', async () => {
    const made = bench();
    await made.create('configmaps', note('a'));
    expect(await failure(drop(made, {}, { propagationPolicy: 'Sideways' }))).toMatchObject({ code: 422 });
    expect((await made.names('configmaps')).names).toEqual(['a']);
  });
});

describe('the unsafe deletion of a corrupt object', () => {
  const unsafe = { ignoreStoreReadErrorWithClusterBreakingPotential: true };
  const holding = async (unsafe: boolean) => {
    const made = bench({ features: { AllowUnsafeMalformedObjectDeletion: unsafe } });
    await made.create('configmaps', note('good'));
    await made.store.commit([], [{ key: '/configmaps/ns/bad', value: Buffer.from('{"kind":') }]);
    return made;
  };

  it('removes it with the option and its feature gate', async () => {
    const { names, write } = await holding(true);
    expect(await failure(names('configmaps'))).toMatchObject({ code: 500 });
    expect(await failure(write('configmaps', { name: 'bad' }, remove()))).toMatchObject({ code: 500 });
    expect((await write('configmaps', { name: 'bad' }, remove(unsafe))).deleted).toEqual({ name: 'bad', uid: '' });
    expect((await names('configmaps')).names).toEqual(['good']);
    expect(await failure(write('configmaps', { name: 'bad' }, remove(unsafe)))).toMatchObject({ code: 404 });
  });

  it('is ignored without the feature gate', async () => {
    const { store, write } = await holding(false);
    expect(await failure(write('configmaps', { name: 'bad' }, remove(unsafe)))).toMatchObject({ code: 500 });
    expect((await write('configmaps', { name: 'good' }, remove({ ...unsafe, dryRun: ['All'] }))).deleted).toBeDefined();
    expect((await store.get('/configmaps/ns/bad')).entry).toBeDefined();
  });

  it('is rejected for an object that is not corrupt', async () => {
    const { write } = await holding(true);
    expect(await failure(write('configmaps', { name: 'good' }, remove(unsafe)))).toMatchObject({
      code: 422,
      message:
        'configmaps "good" is invalid: ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: is exclusively used to delete corrupt object(s), try again by removing this option',
    });
  });

  it.each([
    ['dryRun', ['All']],
    ['gracePeriodSeconds', 0],
    ['orphanDependents', false],
    ['preconditions', {}],
    ['propagationPolicy', 'Background'],
  ])('cannot be combined with the option %s', async (name, value) => {
    const { write } = await holding(true);
    expect(await failure(write('configmaps', { name: 'bad' }, remove({ ...unsafe, [name]: value })))).toMatchObject({
      code: 422,
      message: `DeleteOptions.meta.k8s.io "" is invalid: ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: cannot be set together with .${name}`,
    });
  });

  it('is rejected for a collection', async () => {
    const { registry, target } = await holding(true);
    expect(await failure(registry.deleteCollection(target('configmaps'), {}, unsafe, how))).toMatchObject({
      code: 422,
      message: expect.stringContaining('is not allowed with DELETECOLLECTION') as string,
    });
  });
});

describe('an object with a TTL', () => {
  it('expires that long after its last write', async () => {
    const { create, change, clock, names } = bench();
    await create('configmaps', note('stays'));
    await create('pings', { metadata: { name: 'p' } });
    clock.advance(50_000);
    await change('pings', 'p', merge({ metadata: { labels: { a: 'b' } } }));
    clock.advance(50_000);
    expect((await names('pings')).names).toEqual(['p']);
    clock.advance(20_000);
    await create('configmaps', note('later'));
    expect((await names('pings')).names).toEqual([]);
    expect((await names('configmaps')).names).toEqual(['later', 'stays']);
  });
});

describe('graceful deletion', () => {
  it('shows watches the marked object before its removal', async () => {
    const { create, registry, target, write } = bench();
    const { metadata } = await create('pings', { metadata: { name: 'p' } });
    const stream = await registry.watch(target('pings'), { resourceVersion: metadata.resourceVersion ?? '' });
    await write('pings', { name: 'p' }, remove({ gracePeriodSeconds: 0 }));
    const seen: string[] = [];
    for await (const events of stream) {
      for (const { type, object } of events) {
        seen.push(`${type} ${/"deletionGracePeriodSeconds":(\d+)/.exec(object?.bytes ?? '')?.[1]}`);
      }
      if (seen.length === 2) break;
    }
    expect(seen).toEqual(['MODIFIED 0', 'DELETED 0']);
  });

  it('never ends after the year 9999', async () => {
    const { create, change } = bench();
    await create('pings', { metadata: { name: 'p' } });
    const marked = await change('pings', 'p', remove({ gracePeriodSeconds: Number.MAX_SAFE_INTEGER }));
    expect(marked.metadata.deletionTimestamp).toBe('9999-12-31T23:59:59Z');
  });
});
