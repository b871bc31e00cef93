import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { scheduler } from '../meta/index.ts';
import { Deliveries } from './deliveries.ts';

it('the requests of a user do not wait for all events of the watches of that user', async () => {
  const deliveries = new Deliveries();
  const count = 64;
  let served = 0;
  let servedBefore = count;
  const flush = () => {
    if (served++ === 0) {
      const request = scheduler.turns('ann');
      void request.next().then(() => {
        servedBefore = served;
      });
    }
    // A stretch of recipients takes longer than a slice.
    for (const end = performance.now() + 2; performance.now() < end; );
  };
  for (let i = 0; i < count; i++) deliveries.add({ flush }, 'ann');
  while (served < count) await setImmediate();
  expect(servedBefore).toBeLessThan(count / 2);
});

it('a recipient that is added while others are served waits for the next round', async () => {
  const deliveries = new Deliveries();
  const order: string[] = [];
  const again = { flush: () => void order.push('again') };
  const first = {
    flush() {
      order.push('first');
      deliveries.add(again);
    },
  };
  deliveries.add(first);
  deliveries.add({ flush: () => void order.push('second') });
  while (order.length < 3) await setImmediate();
  expect(order).toEqual(['first', 'second', 'again']);
});
