import { expect, it } from 'vitest';
import { EveryStep } from '../../meta/testing/every-step.ts';
import { bench, how, note, optionsOf, type QueryTexts } from '../testing/fixtures.ts';

/** More objects than are looked at in one turn. */
const count = 5_000;

async function filled() {
  const made = bench();
  await Promise.all(
    Array.from({ length: count }, (_, i) => made.create('configmaps', note(`n${i}`, {}, { labels: { i: String(i) } }))),
  );
  return made;
}

/** The most objects that are looked at between two looks at the clock. */
const stride = 64;

it('a list looks for matching objects in turns', async () => {
  const made = await filled();
  const list = async (labelSelector: string, options: QueryTexts = {}) => {
    const turns = new EveryStep();
    const found = await made.registry.list(made.target('configmaps'), optionsOf({ labelSelector, ...options, turns }));
    return { names: [...found.items].map(({ name }) => name), token: found.continue(), turns: turns.count };
  };
  expect((await list('i=none')).turns).toBeGreaterThanOrEqual(count / stride);
  expect((await list('i=none', { limit: '10' })).turns).toBeGreaterThanOrEqual(count / stride);
  expect((await list('i in (7,4999)')).names).toEqual(['n4999', 'n7']);
  const page = await list('i in (7,4999)', { limit: '1' });
  expect(page.names).toEqual(['n4999']);
  expect(page.token).not.toBe('');
});

it('a list with many requirements looks at fewer objects between two looks at the clock', async () => {
  const made = await filled();
  const labelSelector = Array.from({ length: 100 }, (_, i) => `none${i}!=x`).join(',');
  const turns = new EveryStep();
  await made.registry.list(made.target('configmaps'), optionsOf({ labelSelector, turns }));
  expect(turns.count).toBeGreaterThanOrEqual(count);
});

it('a watch looks for initial events in turns', async () => {
  const made = await filled();
  const turns = new EveryStep();
  const stream = await made.registry.watch(made.target('configmaps'), optionsOf({ labelSelector: 'i=4321', turns }));
  const { value } = await stream[Symbol.asyncIterator]().next();
  expect((value as { object?: { name: string } }[]).map(({ object }) => object?.name)).toEqual(['n4321']);
  expect(turns.count).toBeGreaterThanOrEqual(1);
  stream.close();
});

it('gives the event loop turns while a collection is deleted', async () => {
  const made = await filled();
  const turns = new EveryStep();
  await made.registry.deleteCollection(made.target('configmaps'), {}, {}, { ...how, turns });
  expect(turns.count).toBeGreaterThan(100);
  expect((await made.names('configmaps', {})).names).toEqual([]);
});
