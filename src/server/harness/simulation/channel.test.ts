import { expect, it } from 'vitest';
import { Channel } from './channel.ts';
import { VirtualLoop } from './virtual-loop.ts';

it('Messages arrive in order, also when some are still under way while others are released', async () => {
  const loop = new VirtualLoop();
  const channel = new Channel(loop, () => 5);
  const arrived: number[] = [];
  await loop.run(async () => {
    channel.hold();
    channel.send(() => arrived.push(1));
    await loop.sleep(10);
    channel.send(() => arrived.push(2));
    channel.release();
    channel.send(() => arrived.push(3));
    await loop.sleep(20);
  }, 60_000);
  expect(arrived).toEqual([1, 2, 3]);
});
