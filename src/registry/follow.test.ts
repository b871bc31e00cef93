import { describe, expect, it } from 'vitest';
import { bench, failure, note, remove, update } from './testing/fixtures.ts';

/** Follows the config maps of a registry; `state` is what it has been told. */
async function following(made: ReturnType<typeof bench>) {
  const state = new Map<string, string | undefined>();
  let told = 0;
  await made.registry.follow('configmaps', (namespace, name, object) => {
    told += 1;
    const key = `${namespace}/${name}`;
    if (object === undefined) state.delete(key);
    else state.set(key, JSON.stringify(object['data']));
  });
  return { state, told: () => told };
}

describe('follow', () => {
  it('tells all objects, then each change before its write is answered', async () => {
    const made = bench();
    for (let i = 0; i < 600; i++) await made.create('configmaps', note(`n${i}`));
    const { state, told } = await following(made);
    expect([state.size, told()]).toEqual([600, 600]);
    await made.create('configmaps', note('new', { a: '2' }));
    expect(state.get('ns/new')).toBe('{"a":"2"}');
    await made.write('configmaps', { name: 'new' }, update(note('new', { a: '3' })));
    expect(state.get('ns/new')).toBe('{"a":"3"}');
    await made.write('configmaps', { name: 'new' }, remove());
    expect([state.has('ns/new'), told()]).toEqual([false, 603]);
  });

  it('misses no change that is made while objects are told', async () => {
    const made = bench();
    for (let i = 0; i < 600; i++) await made.create('configmaps', note(`n${i}`));
    const done = following(made);
    for (let i = 0; i < 600; i += 7) await made.write('configmaps', { name: `n${i}` }, remove());
    for (let i = 0; i < 50; i++) await made.create('configmaps', note(`late${i}`));
    const { state } = await done;
    const { names } = await made.names('configmaps');
    expect([...state.keys()].sort()).toEqual(names.map((name) => `ns/${name}`).sort());
  });

  it.each(['{"kind":"Conf', '"n":'])('tells a corrupt object as deleted: %s', async (text) => {
    const made = bench();
    await made.create('configmaps', note('bad'));
    await made.create('configmaps', note('good'));
    const { state } = await following(made);
    const key = '/configmaps/ns/bad';
    const { entry } = await made.store.get(key);
    const whole = Buffer.from(entry?.value ?? []).toString();
    const value = Buffer.from(text.startsWith('{') ? text : whole.replace(/}$/, `,${text}}`));
    await made.store.commit([], [{ key, value }]);
    await made.create('configmaps', note('later'));
    expect([...state.keys()].sort()).toEqual(['ns/good', 'ns/later']);
  });

  it('fails when the registry is closed first, and for no resource of that name', async () => {
    const made = bench();
    const loading = made.registry.follow('configmaps', () => {});
    made.registry.close();
    expect(await failure(loading)).toMatchObject({ code: 503 });
    expect(await failure(made.registry.follow('absent', () => {}))).toMatchObject({ code: 404 });
  });
});
