import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { fieldError, type JsonObject } from '../meta/index.ts';
import { type Change, representList, type Strategy } from './index.ts';
import { apply, bench, failure, merge, note, notes, remove, strategic, update } from './testing/fixtures.ts';
import { inTurns, largeBytes, pauseFor } from './turns.ts';

describe('inTurns', () => {
  it('pauses between two steps', async () => {
    const seen: string[] = [];
    function* steps() {
      for (const step of ['a', 'b']) {
        seen.push(step);
        yield undefined;
      }
      return 'c';
    }
    expect(await inTurns(steps(), async () => void seen.push('pause'))).toBe('c');
    expect(seen).toEqual(['a', 'pause', 'b', 'pause']);
  });

  it('is for large texts', () => {
    expect(pauseFor(largeBytes - 1, undefined)).toBeUndefined();
    expect(pauseFor(0, largeBytes)).toBeDefined();
  });
});

/** A body with so much data, and its size. */
function body(name: string, entries: number) {
  const data = Object.fromEntries(Array.from({ length: entries }, (_, i) => [`k${i}`, 'x'.repeat(100)]));
  const value = note(name, data);
  return { value, findings: [], size: JSON.stringify(value).length };
}

/** How many turns the event loop had until the work was done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let over = false;
  const end = () => {
    over = true;
  };
  work.then(end, end);
  let turns = 0;
  for (; !over; turns++) await turn();
  return turns;
}

describe('a write', () => {
  const large = 4_000;

  it('of a small object gives no turns', async () => {
    const { change } = bench();
    const few = await turnsDuring(change('configmaps', {}, { verb: 'create', object: body('small', 1) }));
    expect(few).toBeLessThanOrEqual(2);
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
      const work = write('configmaps', place, changes[verb] as Change, { fieldManager: 'm', force: verb === 'apply' });
      // A removal is read, prepared, admitted and compared; other writes are also tracked, completed, validated and encoded.
      expect(await turnsDuring(work)).toBeGreaterThanOrEqual(verb === 'delete' ? 4 : 8);
      await work;
    },
  );

  it('gives the event loop a turn after each step of a validation in steps', async () => {
    const seen: (number | undefined)[] = [];
    const strategy: Strategy = {
      validate: () => [fieldError.required('a')],
      *validateInSteps(_, old, { warnings }, found) {
        seen.push(found.length, old === undefined ? 0 : 1);
        warnings.add('slow');
        for (let i = 0; i < 5; i++) yield;
        return [fieldError.required('b')];
      },
    };
    const { change } = bench({ definitions: [{ ...notes, strategy }] });
    const work = change('configmaps', {}, { verb: 'create', object: body('small', 1) });
    expect(await turnsDuring(work)).toBeGreaterThanOrEqual(5);
    expect(String(await failure(work))).toContain('[a: Required value, b: Required value]');
    expect(seen).toEqual([1, 0]);
  });

  it('that conflicts in one of these turns is attempted again', async () => {
    const { change, create, target, registry } = bench();
    const { value } = body('large', large);
    await create('configmaps', value);
    const label = (name: string) => change('configmaps', 'large', merge({ metadata: { labels: { [name]: 'yes' } } }));
    await Promise.all(['a', 'b', 'c'].map(label));
    const stored = await registry.get(target('configmaps', { name: 'large' }), {});
    expect(stored.labels).toEqual({ a: 'yes', b: 'yes', c: 'yes' });
  });

  it('that conflicts in every turn succeeds in the end', async () => {
    const { change, create, store } = bench();
    await create('configmaps', body('large', large).value);
    let written = 0;
    let over = false;
    const overtake = async () => {
      while (!over) {
        await turn();
        const [entry] = (await store.list({ prefix: '/configmaps/' })).entries;
        if (entry === undefined) throw new Error('it is gone');
        const { key, revision, value } = entry;
        await store.commit([{ key, revision }], [{ key, value }]);
        written++;
      }
    };
    const overtaking = overtake();
    const made = await change('configmaps', 'large', merge({ metadata: { labels: { mine: 'yes' } } }));
    over = true;
    await overtaking;
    expect(made.metadata.labels).toEqual({ mine: 'yes' });
    expect(written).toBeGreaterThan(10);
    expect(written).toBeLessThan(100);
  });

  it('of more than can be stored is refused before validation', async () => {
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
  const pieces = [...representList(at, await registry.list(at, {}), view)];
  expect(pieces).toHaveLength(4);
});
