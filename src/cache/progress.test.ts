import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openMemoryStore, type Store, StoreError } from '../store/index.ts';
import { isLate } from '../store/testing/late-store.ts';
import { storeWith } from '../store/testing/store-with.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { put, settle, setup } from './testing/objects.ts';

/** The deliveries and the calls that a watch still owes, in order. */
interface Line {
  readonly deliveries: (() => void)[];
  readonly requests: (() => void)[];
  cut(): void;
}

/** A store whose watches receive what they are told, and pass on requests for progress, one step at a time. */
class SteppedStore {
  readonly store: Store;
  #lines: Line[] = [];

  constructor(under: Store) {
    this.store = storeWith(under, {
      watch: (prefix, after, sink, options) => {
        const end = () => {
          this.#lines = this.#lines.filter((other) => other !== line);
          inner.close();
        };
        const fail = (error: StoreError) => {
          end();
          sink.error(error);
        };
        const told: typeof sink = {
          batch: (...batch) => void line.deliveries.push(() => sink.batch(...batch)),
          error: (error) => void line.deliveries.push(() => fail(error)),
        };
        const cut = () => fail(new StoreError('unavailable', 'the connection was lost'));
        const line: Line = { deliveries: [], requests: [], cut };
        const inner = under.watch(prefix, after, told, options);
        this.#lines.push(line);
        return { progress: () => void line.requests.push(() => inner.progress()), close: end };
      },
    });
  }

  deliver(): void {
    for (const { deliveries } of this.#lines) deliveries.shift()?.();
  }

  request(): void {
    for (const { requests } of this.#lines) requests.shift()?.();
  }

  cut(): void {
    for (const line of this.#lines) line.cut();
  }
}

const steps = ['change', 'other', 'read', 'request', 'deliver', 'cut', 'compact', 'wait', 'turn'] as const;

/** How many reads of the latest state wait for ever, and how many have waited. */
async function play(played: readonly (typeof steps)[number][]): Promise<{ stuck: number; waited: number }> {
  const clock = new ManualClock();
  const under = openMemoryStore({ clock, historyMs: 0 });
  const stepped = new SteppedStore(under);
  const { cache } = setup({ store: stepped.store, clock });
  const counts = { stuck: 0, waited: 0 };
  const read = async () => {
    counts.stuck++;
    const latest = await under.revision();
    await cache.loaded();
    if (cache.revision < latest) counts.waited++;
    expect(await cache.reach(latest, Number.MAX_SAFE_INTEGER)).toBe(true);
    expect(cache.revision).toBeGreaterThanOrEqual(latest);
    counts.stuck--;
  };
  const reads: Promise<void>[] = [];
  const act = {
    change: () => under.commit([], [put('a/x', {})]),
    // Commits of other resources are told by progress alone.
    other: () => under.commit([], [{ key: '/other/x', value: new Uint8Array() }]),
    read: () => void reads.push(read()),
    request: () => stepped.request(),
    deliver: () => stepped.deliver(),
    cut: () => stepped.cut(),
    compact: async () => under.compact(await under.revision()),
    wait: () => clock.advance(50),
    turn: () => settle(1),
  };
  await cache.ready();
  for (const step of played) await act[step]();
  // From now on everything is delivered, and nothing is committed.
  for (let round = 0; round < 20 && counts.stuck > 0; round++) {
    clock.advance(1_000);
    await settle(1);
    for (let i = 0; i < played.length; i++) {
      stepped.request();
      await Promise.resolve();
      stepped.deliver();
    }
  }
  if (counts.stuck === 0) await Promise.all(reads);
  cache.close();
  return counts;
}

// The steps decide what is late.
it.skipIf(isLate)(
  'every read of the latest state is answered, in whatever order commits, deliveries, requests and failures come',
  async () => {
    let allWaited = 0;
    const anySteps = fc.array(fc.constantFrom(...steps), { minLength: 10, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(anySteps, async (played) => {
        const { stuck, waited } = await play(played);
        allWaited += waited;
        expect(stuck).toBe(0);
      }),
      { numRuns: 500 },
    );
    expect(allWaited).toBeGreaterThan(500);
  },
);
