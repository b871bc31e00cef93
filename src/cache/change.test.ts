import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import type { ByteString } from '../meta/index.ts';
import { addedEvent, Change } from './change.ts';
import type { CachedObject, WatchEvent } from './types.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const megabyte = 1024 * 1024;
const object = { revision: 1, bytes: 'x'.repeat(megabyte / 10) as ByteString } as CachedObject;

/** How much of the heap the frames of events take once they have been read (bytes). */
function heldBy(events: readonly WatchEvent[]): number {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (const { frame } of events) Buffer.from(frame, 'latin1');
  collectGarbage();
  return process.memoryUsage().heapUsed - before;
}

it('an event of one watch does not hold its frame, so that slow watches do not each hold what they have sent', () => {
  const events = Array.from({ length: 200 }, () => addedEvent(object));
  expect(heldBy(events)).toBeLessThan(megabyte);
  const late = new Change(2, 0, object, undefined, () => object);
  late.unshare();
  const own = Array.from({ length: 200 }, () => late.eventFor({}) as WatchEvent);
  expect(heldBy(own)).toBeLessThan(megabyte);
  expect(events).toHaveLength(own.length);
});

it('an event that watches share holds its frame, which is made once', () => {
  const changes = Array.from({ length: 50 }, () => new Change(2, 0, object, undefined, () => object));
  const events = changes.map((change) => change.eventFor({}) as WatchEvent);
  expect(changes[0]?.eventFor({})).toBe(events[0]);
  expect(heldBy(events)).toBeGreaterThan(4 * megabyte);
  expect(changes).toHaveLength(events.length);
});
