import { expect, it } from 'vitest';
import { SimulatedProcess } from './simulated-process.ts';
import { VirtualLoop } from './virtual-loop.ts';

it('A clock that drifts gains or loses time by percent, and keeps the difference when the drift ends', async () => {
  const loop = new VirtualLoop();
  const process = new SimulatedProcess('server-1', loop);
  const { clock } = process;
  const ahead = () => [clock.monotonic() - loop.monotonic(), clock.now() - loop.now()];
  const measured = await loop.run(async () => {
    process.drift(10);
    await loop.sleep(1_000);
    const fast = ahead();
    process.drift(-50);
    await loop.sleep(1_000);
    const slow = ahead();
    process.drift(0);
    await loop.sleep(1_000);
    return { fast, slow, after: ahead() };
  }, 60_000);
  expect(measured).toEqual({ fast: [100, 100], slow: [-400, -400], after: [-400, -400] });
});

it('A timer of a fast clock ends early, and that of a slow one late', async () => {
  const loop = new VirtualLoop();
  const process = new SimulatedProcess('server-1', loop);
  const timer = () => new Promise<number>((resolve) => void process.clock.after(1_000, () => resolve(loop.time)));
  process.drift(25);
  expect(await loop.run(timer, 60_000)).toBe(800);
  process.drift(-50);
  expect(await loop.run(timer, 60_000)).toBe(2_800);
});
