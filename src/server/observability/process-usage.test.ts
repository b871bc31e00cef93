import { closeSync, openSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { createUsageReader, type UsageReader } from './process-usage.ts';

const readers: UsageReader[] = [];
afterEach(() => {
  for (const reader of readers.splice(0)) reader.close();
});
const open = () => {
  const reader = createUsageReader();
  readers.push(reader);
  return reader;
};

it('reads what the process uses', async () => {
  const usage = await open().read();
  expect(usage.userSeconds + usage.systemSeconds).toBeGreaterThan(0);
  expect(usage.heapUsedBytes).toBeGreaterThan(1e6);
  expect(usage.heapBytes).toBeGreaterThan(usage.heapUsedBytes);
  expect(usage.residentBytes).toBeGreaterThan(usage.heapUsedBytes);
  expect(usage.heapSpaces.map(({ name }) => name)).toEqual(expect.arrayContaining(['new', 'old', 'large_object']));
});

it.runIf(process.platform === 'linux')('counts file descriptors', async () => {
  const reader = open();
  const before = await reader.read();
  expect(before.maxFiles).toBeGreaterThan(before.openFiles ?? 0);
  expect(before.virtualBytes).toBeGreaterThan(before.residentBytes);
  const files = Array.from({ length: 50 }, () => openSync('/dev/null', 'r'));
  const during = await reader.read();
  for (const file of files) closeSync(file);
  expect((during.openFiles ?? 0) - (before.openFiles ?? 0)).toBeGreaterThan(40);
});

it('measures the lag of the event loop since the last reading', async () => {
  const reader = open();
  const none = { min: 0, max: 0, mean: 0, stddev: 0, p50: 0, p90: 0, p99: 0 };
  expect((await reader.read()).lag).toEqual(none);
  const blocked = async () => {
    // A sample is the time since the one before, the first after a reading none.
    await pause(50);
    const end = Date.now() + 300;
    while (Date.now() < end);
    await pause(50);
    return (await reader.read()).lag;
  };
  await expect.poll(async () => (await blocked()).max).toBeGreaterThan(0.2);
  const { min, p50, max } = await blocked();
  expect(min).toBeLessThanOrEqual(p50);
  expect(p50).toBeLessThanOrEqual(max);
});

it('counts the pauses of the garbage collector by kind', async () => {
  const reader = open();
  const { collections } = await reader.read();
  expect([...collections.keys()]).toEqual(['minor', 'major', 'incremental', 'weakcb']);
  const waste = () => Array.from({ length: 100_000 }, (_, i) => ({ i }));
  await expect
    .poll(() => {
      waste();
      return [...collections.values()].reduce((sum, pauses) => sum + pauses.count, 0);
    })
    .toBeGreaterThan(0);
});
