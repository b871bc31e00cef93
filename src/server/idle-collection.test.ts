import { constants, PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { VirtualClock } from '../meta/index.ts';
import { collectWhenIdle, youngGeneration } from './idle-collection.ts';

const megabyte = 1024 * 1024;

it('collects a large young generation while the thread is idle, until it is small', async () => {
  const clock = new VirtualClock();
  const state = { size: 32 * megabyte, utilization: 0.5, collections: 0 };
  const stop = collectWhenIdle(clock, {
    size: () => state.size,
    utilization: () => state.utilization,
    collect: () => {
      state.collections++;
    },
  });
  const pass = async () => {
    await clock.advance(2_000, nextTurn);
    return state.collections;
  };
  expect(await pass()).toBe(0);
  state.utilization = 0.01;
  expect(await pass()).toBe(1);
  expect(await pass()).toBe(2);
  state.size = megabyte;
  expect(await pass()).toBe(2);
  state.size = 32 * megabyte;
  stop();
  expect(await pass()).toBe(2);
});

it('collects the young generation, and adds no global function', async () => {
  const kinds: unknown[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) kinds.push((entry as { detail?: { kind?: number } }).detail?.kind);
  });
  observer.observe({ entryTypes: ['gc'] });
  const young = youngGeneration();
  expect(young.size()).toBeGreaterThan(0);
  young.collect();
  await expect.poll(() => kinds).toContain(constants.NODE_PERFORMANCE_GC_MINOR);
  observer.disconnect();
  expect('gc' in globalThis).toBe(false);
});
