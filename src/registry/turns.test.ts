import { describe, expect, it, vi } from 'vitest';
import { type ApiObject, fieldError, type JsonObject, scheduler } from '../meta/index.ts';
import { EveryStep } from '../meta/testing/every-step.ts';
import { largeBytes, turnsOf } from './context.ts';
import { type Change, representList, type Strategy } from './index.ts';
import { allPieces, apply, bench, failure, merge, note, notes, remove, strategic, update } from './testing/fixtures.ts';

it('a write is long work from 8 KiB on', () => {
  expect(turnsOf({}, largeBytes - 1, undefined)).toBeUndefined();
  const turns = new EveryStep();
  expect(turnsOf({ turns }, 0, largeBytes)).toBe(turns);
});

/** A body with so much data, and its size. */
function body(name: string, entries: number) {
  const data = Object.fromEntries(Array.from({ length: entries }, (_, i) => [`k${i}`, 'x'.repeat(100)]));
  const value = note(name, data);
  return { value, findings: [], size: JSON.stringify(value).length };
}

describe('a write', () => {
  const large = 4_000;

  it('of a small object gives no turns', async () => {
    const { change } = bench();
    const turns = new EveryStep();
    await change('configmaps', {}, { verb: 'create', object: body('small', 1) }, { turns });
    expect(turns.count).toBe(0);
  });

  it.each(['create', 'update', 'merge', 'strategic', 'apply', 'delete'])(
    'gives the event loop turns between the steps of a large %s',
    async (verb) => {
      const { write, create } = bench();
      const { value, size } = body('large', large);
      if (verb !== 'create') await create('configmaps', value);
      const labelled = { ...value, metadata: { ...(value['metadata'] as JsonObject), labels: { a: 'b' } } };
      const changes: { readonly [verb: string]: Change } = {
        create: { verb: 'create', object: { value, findings: [], size } },
        update: update(labelled),
        merge: merge({ metadata: { labels: { a: 'b' } } }),
        strategic: strategic({ metadata: { labels: { a: 'b' } } }),
        apply: apply(labelled),
        delete: remove(),
      };
      const place = verb === 'create' ? {} : { name: 'large' };
      const turns = new EveryStep();
      await write('configmaps', place, changes[verb] as Change, { fieldManager: 'm', force: verb === 'apply', turns });
      // A removal is read, prepared, admitted and compared; other writes are also tracked, completed, validated and encoded.
      expect(turns.count).toBeGreaterThanOrEqual(verb === 'delete' ? 4 : 8);
    },
  );

  it.each([1, large])(
    'by the server gives turns between steps only where its object is large: %s entries',
    async (entries) => {
      const { registry, create } = bench();
      await create('configmaps', body('own', entries).value);
      const looks = vi.spyOn(scheduler, 'over', 'get');
      const label = ({ metadata }: ApiObject) => {
        metadata.labels = { a: 'b' };
      };
      await registry.objects.guaranteedUpdate('configmaps', 'ns', 'own', label);
      const { metadata } = await registry.objects.read('configmaps', 'ns', 'own');
      expect(metadata.labels).toEqual({ a: 'b' });
      if (entries === 1) expect(looks).not.toHaveBeenCalled();
      else expect(looks.mock.calls.length).toBeGreaterThan(10);
    },
  );

  it('by the server reads a large object that it has written in steps', async () => {
    const { registry, create } = bench();
    await create('configmaps', body('own', 16_000).value);
    const object: ApiObject = await registry.objects.read('configmaps', 'ns', 'own');
    object.metadata.labels = { a: 'b' };
    const parsed = vi.spyOn(JSON, 'parse');
    try {
      const written: ApiObject = await registry.objects.update('configmaps', object);
      expect(written.metadata.labels).toEqual({ a: 'b' });
      expect(Math.max(0, ...parsed.mock.calls.map(([text]) => text.length))).toBeLessThan(64 * 1024);
    } finally {
      parsed.mockRestore();
    }
  });

  it('gives the event loop a turn after each step of a validation in steps', async () => {
    const seen: (number | undefined)[] = [];
    const strategy: Strategy = {
      validate: () => [fieldError.required('a')],
      *validateInSteps(_, old, { warn }, { found }) {
        seen.push(found.length, old === undefined ? 0 : 1);
        warn('slow');
        for (let i = 0; i < 5; i++) yield;
        return [fieldError.required('b')];
      },
    };
    const { change } = bench({ definitions: [{ ...notes, strategy }] });
    const turns = new EveryStep();
    const work = change('configmaps', {}, { verb: 'create', object: body('small', 1) }, { turns });
    expect(String(await failure(work))).toContain('[a: Required value, b: Required value]');
    expect(turns.count).toBeGreaterThanOrEqual(5);
    expect(seen).toEqual([1, 0]);
  });

  it('that conflicts in one of these turns is attempted again', async () => {
    const { change, create, target, registry } = bench();
    const { value } = body('large', large);
    await create('configmaps', value);
    const label = (name: string) =>
      change('configmaps', 'large', merge({ metadata: { labels: { [name]: 'yes' } } }), { turns: new EveryStep() });
    await Promise.all(['a', 'b', 'c'].map(label));
    const stored = await registry.get(target('configmaps', { name: 'large' }), {});
    expect(stored.labels).toEqual({ a: 'yes', b: 'yes', c: 'yes' });
  });

  it('that is too large to be stored is rejected before validation', async () => {
    const { change } = bench();
    const { value, size } = body('Not a name', 25_000);
    const refused = await failure(change('configmaps', {}, { verb: 'create', object: { value, findings: [], size } }));
    expect(refused).toMatchObject({ code: 413, reason: 'RequestEntityTooLarge' });
  });

  it('of a small object in a large body is not', async () => {
    const { change } = bench();
    const made = await change(
      'configmaps',
      {},
      {
        verb: 'create',
        object: { ...body('small', 1), size: 3 * 1024 * 1024 },
      },
    );
    expect(made['data']).toEqual({ k0: 'x'.repeat(100) });
  });
});

it('a table of large objects is sent in smaller pieces', async () => {
  const { create, registry, target } = bench();
  for (const name of ['a', 'b', 'c']) await create('configmaps', body(name, 3_000).value);
  const at = target('configmaps');
  const view = { as: 'table', version: 'v1', includeObject: 'None', now: 0 } as const;
  const pieces = allPieces(representList(at, await registry.list(at, {}), view));
  // Reading an object gives an empty piece for each step.
  expect(pieces.filter((piece) => piece !== '')).toHaveLength(4);
});
