import { describe, expect, it } from 'vitest';
import { fieldError } from '../../meta/index.ts';
import type { Strategy } from '../resource/definition.ts';
import { bench, merge, note, remove } from '../testing/fixtures.ts';
import type { OpenAllocations } from './allocator.ts';

// Allocated values are written in the commit of the object. A note allocates the seat that it names, or any.
const seat = (number: string) => `/seats/${number}`;

interface Note {
  data?: { [key: string]: string };
}
const strategy = {
  allocate: async (object: Note | undefined, old: Note | undefined, pools) => {
    const [pool, wanted, had] = [pools.get('seats'), object?.data?.['seat'], old?.data?.['seat']];
    if (wanted === had || pool === undefined) return [];
    if (had !== undefined) await pool.release(had);
    if (object?.data === undefined || wanted === undefined) return [];
    const given = wanted === 'any' ? await pool.allocateNext() : wanted;
    const why = given === undefined ? 'none is free' : await pool.allocate(given);
    if (given !== undefined) object.data['seat'] = given;
    return why === undefined ? [] : [fieldError.invalid('data.seat', wanted, why)];
  },
  cascadeDelete: ['deployments.apps'],
} satisfies Strategy<Note> as unknown as Strategy;

/** A registry of such notes; `disturb` is called before each attempt, with its number. */
function seats(disturb: (attempt: number) => number = () => 0) {
  const all = bench().registry.resources.map(({ definition }) =>
    definition.plural === 'configmaps' ? { ...definition, strategy } : definition,
  );
  const opened: boolean[] = [];
  const openAllocations: OpenAllocations = (_, dryRun) => {
    opened.push(dryRun);
    const revision = disturb(opened.length);
    const compares: { key: string; revision: number }[] = [];
    const writes: { key: string; value?: Uint8Array }[] = [];
    const pool = {
      allocate: async (value: string) => {
        if ((await made.store.get(seat(value))).entry !== undefined) return 'taken';
        if (dryRun) return undefined;
        compares.push({ key: seat(value), revision });
        writes.push({ key: seat(value), value: Buffer.from('x') });
        return undefined;
      },
      allocateNext: async () => '7',
      release: async (value: string) => void writes.push({ key: seat(value) }),
    };
    return { allocators: new Map([['seats', pool]]), changes: () => ({ compares, writes }), catchUp: async () => {} };
  };
  const made = bench({ definitions: all, openAllocations });
  const taken = async () => (await made.store.list({ prefix: '/seats/' })).entries.map(({ key }) => key);
  return { ...made, opened, taken };
}

describe('allocations', () => {
  it('are written in the commit of the object, and released in that of its removal', async () => {
    const { create, change, write, taken, store } = seats();
    const { metadata, data } = (await create('configmaps', note('a', { seat: 'any' }))) as ReturnType<typeof note> & {
      metadata: { resourceVersion: string };
    };
    expect(data).toEqual({ seat: '7' });
    const { entry } = await store.get(seat('7'));
    expect(entry?.revision).toBe(Number(metadata.resourceVersion));
    await change('configmaps', 'a', merge({ data: { seat: '8' } }));
    expect(await taken()).toEqual([seat('8')]);
    await write('configmaps', { name: 'a' }, remove());
    expect(await taken()).toEqual([]);
  });

  it('are not written when the object is invalid, exists already, or in a dry run', async () => {
    const { create, taken, opened } = seats();
    await create('configmaps', note('a', { seat: '1' }));
    await expect(create('configmaps', note('b', { seat: '1' }))).rejects.toMatchObject({
      code: 422,
      message: 'ConfigMap "b" is invalid: data.seat: Invalid value: "1": taken',
    });
    await expect(create('configmaps', note('a', { seat: '2' }))).rejects.toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
    });
    await create('configmaps', note('c', { seat: '3' }), { dryRun: true });
    expect(opened).toEqual([false, false, false, true]);
    expect(await taken()).toEqual([seat('1')]);
  });

  it('are attempted again when another writer was first', async () => {
    const { create, opened } = seats((attempt) => (attempt < 20 ? 5 : 0));
    // More often than a name is generated: the name is not what conflicts.
    const { metadata } = await create('configmaps', {
      metadata: { generateName: 'n-' },
      data: { seat: 'any' },
    });
    expect(metadata.name).toMatch(/^n-/);
    expect(opened).toHaveLength(20);
  });

  it('fail after too many conflicts', async () => {
    const { create } = seats(() => 5);
    await expect(create('configmaps', note('a', { seat: '1' }))).rejects.toMatchObject({
      code: 409,
      reason: 'Conflict',
    });
  });
});

it('deletes dependents of the same name in the commit', async () => {
  const { create, write, names } = seats();
  for (const name of ['a', 'b']) await create('deployments', { metadata: { name } });
  await create('configmaps', note('a'));
  await write('configmaps', { name: 'a' }, remove());
  expect((await names('deployments')).names).toEqual(['b']);
});
