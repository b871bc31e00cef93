import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../meta/index.ts';
import { settled } from '../../meta/testing/settled.ts';
import { openMemoryStore } from '../../store/index.ts';
import { storeWith } from '../../store/testing/store-with.ts';
import { createServer } from '../server.ts';
import { StartProgress } from './start-progress.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

function told(isTTY: boolean, columns = 200) {
  const clock = new VirtualClock();
  const written: string[] = [];
  const lines: [string, object][] = [];
  const out = { isTTY, columns, write: (text: string) => written.push(text) };
  const starting = new StartProgress(out, clock, { info: (text, fields) => void lines.push([text, fields]) });
  return { clock, written, lines, starting };
}

/** Moves the time on until there is a result. */
async function during<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let over = false;
  const result = work.finally(() => {
    over = true;
  });
  while (!over) await clock.advance(500, settled);
  return result;
}

const objectsStep = 'reading what is followed, and creating what every cluster has';

describe('a start', () => {
  it('of less than a second says nothing', async () => {
    for (const isTTY of [false, true]) {
      const { clock, written, lines, starting } = told(isTTY);
      starting.begin('store', 'memory');
      await clock.advance(999, turn);
      starting.end();
      await clock.advance(60_000, turn);
      expect([written, lines]).toEqual([[], []]);
    }
  });

  it('of more is told of in the log where there is no terminal', async () => {
    const { clock, written, lines, starting } = told(false);
    starting.begin('store', 'etcd at http://127.0.0.1:2379');
    await clock.advance(6_000, turn);
    starting.begin('objects');
    starting.loaded(1_000);
    starting.loaded(234);
    await clock.advance(5_000, turn);
    starting.end();
    await clock.advance(60_000, turn);
    const store = 'opening the store: etcd at http://127.0.0.1:2379';
    expect(lines).toEqual([
      ['starting', { step: store, seconds: 1 }],
      ['starting', { step: store, seconds: 6 }],
      ['starting', { step: objectsStep, seconds: 6 }],
      ['starting', { step: objectsStep, seconds: 11, objects: 1_234 }],
    ]);
    expect(written).toEqual([]);
  });

  it('of more shows a bar on a terminal, which is gone in the end', async () => {
    const { clock, written, lines, starting } = told(true);
    starting.begin('objects');
    starting.loaded(12_345);
    await clock.advance(1_000, turn);
    expect(written).toEqual([`\u001b[K[${'#'.repeat(10)}${' '.repeat(10)}] 1 s, 12,345 objects: ${objectsStep}\r`]);
    await clock.advance(200, turn);
    expect(written).toHaveLength(2);
    starting.end();
    expect(written.slice(2)).toEqual(['\u001b[K']);
    expect(lines).toEqual([]);
  });

  it('does not draw beyond the end of a line', async () => {
    const { clock, written, starting } = told(true, 30);
    starting.begin('store', 'etcd at http://127.0.0.1:2379');
    await clock.advance(1_000, turn);
    expect(written).toEqual([`\u001b[K[#####${' '.repeat(15)}] 1 s: o\r`]);
  });

  it('over a store that answers late says how many objects it has read', async () => {
    const { clock, lines, starting } = told(false);
    const inner = openMemoryStore({ clock });
    const first = await createServer(
      { controllers: '-*' },
      { clock, store: storeWith(inner, { close: async () => {} }) },
    );
    await first.close();
    // One list after another, each of which takes 600 ms.
    let last = Promise.resolve();
    const late = () => new Promise<void>((resolve) => void clock.after(600, resolve));
    const store = storeWith(inner, {
      list: async (...given) => {
        last = last.then(late);
        await last;
        return inner.list(...given);
      },
    });
    const server = await during(clock, createServer({ controllers: '-*' }, { clock, store, starting }));
    starting.end();
    const steps = lines.map(([, fields]) => fields) as { step: string; seconds: number; objects?: number }[];
    expect(steps.at(-1)).toMatchObject({ step: objectsStep });
    // The default roles alone are more.
    expect(Math.max(...steps.map(({ objects = 0 }) => objects))).toBeGreaterThan(50);
    await during(clock, server.close());
  });
});
