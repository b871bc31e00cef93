import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { EveryStep } from '../meta/testing/every-step.ts';
import { bench, how, note, optionsOf } from './testing/fixtures.ts';

/** More objects than are looked at in one turn. */
const count = 5_000;

async function filled() {
  const made = bench();
  await Promise.all(
    Array.from({ length: count }, (_, i) => made.create('configmaps', note(`n${i}`, {}, { labels: { i: String(i) } }))),
  );
  return made;
}

/** How many turns the event loop had until the work was done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let over = false;
  const done = work.finally(() => {
    over = true;
  });
  let turns = 0;
  while (!over) {
    await turn();
    turns++;
  }
  await done;
  return turns;
}

it('gives the event loop turns while a list looks for matching objects', async () => {
  const made = await filled();
  const list = (labelSelector: string, limit?: string) =>
    made.names('configmaps', { labelSelector, ...(limit === undefined ? {} : { limit }) });
  expect(await turnsDuring(list('i=none'))).toBeGreaterThanOrEqual(2);
  expect(await turnsDuring(list('i=none', '10'))).toBeGreaterThanOrEqual(2);
  expect((await list('i in (7,4999)')).names).toEqual(['n4999', 'n7']);
  const { names, list: page } = await list('i in (7,4999)', '1');
  expect(names).toEqual(['n4999']);
  expect(page['metadata']).toHaveProperty('continue');
});

it('gives the event loop turns while a watch looks for initial events', async () => {
  const made = await filled();
  const stream = await made.registry.watch(made.target('configmaps'), optionsOf({ labelSelector: 'i=4321' }));
  const events = stream[Symbol.asyncIterator]();
  let names: string[] = [];
  const turns = await turnsDuring(
    events.next().then(({ value }) => {
      names = (value as { object?: { name: string } }[]).map(({ object }) => object?.name ?? '');
    }),
  );
  expect(names).toEqual(['n4321']);
  expect(turns).toBeGreaterThanOrEqual(1);
  stream.close();
});

it('gives the event loop turns while a collection is deleted', async () => {
  const made = await filled();
  const turns = new EveryStep();
  await made.registry.deleteCollection(made.target('configmaps'), {}, {}, { ...how, turns });
  expect(turns.count).toBeGreaterThan(100);
  expect((await made.names('configmaps', {})).names).toEqual([]);
});
