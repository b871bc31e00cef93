import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { testCluster } from '../testing/cluster.ts';
import type { Controller } from '../types.ts';

const withQueue = (reconcile: (key: string) => Promise<{ requeueAfterMs: number } | undefined>): Controller => ({
  name: 'a',
  start: ({ queue }) => queue('work', reconcile).add('default/x'),
});

it('waits for a reconcile, however many turns of the event loop it takes', async () => {
  let ended = false;
  const cluster = await testCluster([
    withQueue(async () => {
      await pause(500);
      ended = true;
      return undefined;
    }),
  ]);
  expect(ended).toBe(true);
  await cluster.close();
});

it('fails with the key that keeps being reconciled', async () => {
  let rests = true;
  let add = () => {};
  const cluster = await testCluster([
    {
      name: 'a',
      start({ queue }) {
        const work = queue('work', async () => (rests ? undefined : { requeueAfterMs: 0 }));
        add = () => work.add('default/x');
      },
    },
  ]);
  rests = false;
  add();
  await expect(cluster.settle()).rejects.toThrow('default/x of the queue work keeps being reconciled');
  rests = true;
  await cluster.settle();
  await cluster.close();
});
