import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openMemoryStore } from '../memory/memory-store.ts';
import { StoreError } from '../store.ts';
import { storeContract } from '../testing/contract.ts';
import { drivenClock } from '../testing/driven-clock.ts';
import { heldStore } from '../testing/held-store.ts';
import { storeWith } from '../testing/store-with.ts';
import { put, Recorder } from '../testing/tools.ts';
import { encodeFrame, FrameReader, maxFrameBytes } from './frames.ts';
import { createStoreHost } from './host.ts';
import { openLinkedStore } from './linked-store.ts';
import { RevisionBoard } from './revision-board.ts';

/** The two ends of a connection. While it is held, nothing arrives. */
function connection() {
  let held: (() => void)[] | undefined;
  const make = (other: () => Duplex): Duplex =>
    new Duplex({
      read() {},
      write(chunk, _, done) {
        const arrive = () => {
          other().push(chunk);
          done();
        };
        setImmediate(() => (held === undefined ? arrive() : held.push(arrive)));
      },
      final(done) {
        other().push(null);
        done();
      },
    });
  const near: Duplex = make(() => far);
  const far: Duplex = make(() => near);
  return {
    near,
    far,
    hold: () => {
      held = [];
    },
    release: () => {
      const arrivals = held ?? [];
      held = undefined;
      for (const arrive of arrivals) arrive();
    },
  };
}

function createBoard(): RevisionBoard {
  const folder = mkdtempSync(join(tmpdir(), 'board-'));
  const board = RevisionBoard.create(folder);
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
  return board;
}

storeContract('link', async () => {
  const clock = drivenClock();
  const under = openMemoryStore({ clock });
  const board = createBoard();
  const { near, far } = connection();
  createStoreHost(under, clock, board).attach(far);
  const store = await openLinkedStore(near, board);
  return {
    store,
    advance: async (ms) => clock.advance(ms),
    async cleanup() {
      await store.close();
      await under.close();
    },
  };
});

/** A store over a link, with the ends of the link and the store below. */
async function setUp(under = openMemoryStore({ clock: drivenClock() }), board?: RevisionBoard) {
  const link = connection();
  const clock = drivenClock();
  createStoreHost(under, clock, board).attach(link.far);
  const store = await openLinkedStore(link.near, board);
  onTestFinished(async () => {
    link.near.destroy();
    link.far.destroy();
    await under.close();
  });
  return { ...link, store, under, clock };
}

describe('a linked store', () => {
  test('whose other end is lost cannot tell whether commits in flight took place, and fails everything else', async () => {
    const { store, near, hold } = await setUp();
    const seen = new Recorder();
    store.watch('', await store.revision(), seen);
    hold();
    const [commit, read] = [store.commit([], [put('a')]), store.get('a')];
    near.destroy();
    await expect(commit).rejects.toMatchObject({ name: 'StoreError', code: 'uncertain' });
    await expect(read).rejects.toMatchObject({ name: 'StoreError', code: 'unavailable' });
    await expect(store.revision()).rejects.toMatchObject({ code: 'unavailable' });
    expect((await seen.failed()).code).toBe('unavailable');
  });

  test('receives errors of the store with their code, message and revision', async () => {
    const full = new StoreError('full', 'no space is left', { revision: 7 });
    const { store } = await setUp(
      storeWith(openMemoryStore({ clock: drivenClock() }), { commit: () => Promise.reject(full) }),
    );
    await expect(store.commit([], [put('a')])).rejects.toEqual(full);
  });

  test('continues its watches after the shared one has failed', async () => {
    const under = heldStore(openMemoryStore({ clock: drivenClock() }));
    const { store } = await setUp(under);
    const first = new Recorder();
    store.watch('', await store.revision(), first);
    under.cut();
    expect((await first.failed()).code).toBe('unavailable');
    const start = await store.revision();
    const second = new Recorder();
    store.watch('', start, second);
    await store.commit([], [put('a')]);
    await second.reached(start + 1);
    expect(second.changes).toEqual([['a', 'x', undefined]]);
  });

  test('that reads slowly is served from the history: the other end holds little, and no change is lost', async () => {
    const { store, under, far, hold, release } = await setUp();
    const seen = new Recorder();
    const start = await store.revision();
    store.watch('', start, seen);
    hold();
    const value = new Uint8Array(1024 * 1024);
    for (let i = 0; i < 40; i++) await under.commit([], [{ key: `a/${i}`, value }]);
    expect(far.writableLength).toBeLessThan(20 * 1024 * 1024);
    release();
    await seen.reached(start + 40);
    expect(seen.revisions).toEqual(Array.from({ length: 40 }, (_, i) => start + 1 + i));
  });

  test('with a board knows the latest revision, and that a watch has reached it, without a message', async () => {
    const { store, under, hold, release } = await setUp(undefined, createBoard());
    const { revision } = await store.commit([], [put('a')]);
    const seen = new Recorder();
    store.watch('b/', revision, seen).progress();
    hold();
    expect(await store.revision()).toBe(revision);
    await seen.reached(revision);
    await under.commit([], [put('a')]);
    expect(await store.revision()).toBe(revision + 1);
    release();
  });

  test('with a board tells progress only once the changes before it have arrived', async () => {
    const { store, under, hold, release } = await setUp(undefined, createBoard());
    const start = await store.revision();
    const seen = new Recorder();
    const watch = store.watch('', start, seen);
    hold();
    await under.commit([], [put('a', 'late')]);
    watch.progress();
    await new Promise(setImmediate);
    expect(seen.batches).toEqual([]);
    release();
    await seen.until(() => seen.notifications.length > 0);
    expect([seen.changes, seen.notifications]).toEqual([[['a', 'late', undefined]], [start + 1]]);
  });

  test('asks for the latest revision while the board cannot be kept up to date', async () => {
    const under = heldStore(openMemoryStore({ clock: drivenClock() }));
    const board = createBoard();
    const { store } = await setUp(under, board);
    await store.commit([], [put('a')]);
    const known = board.read();
    expect(known).toBe(await under.revision());
    under.cut();
    expect(board.read()).toBeUndefined();
    await under.under.commit([], [put('a')]);
    expect(await store.revision()).toBe(Number(known) + 1);
  });

  test('without a board asks for the latest revision, and for progress as often as watches do', async () => {
    const { store } = await setUp();
    const { revision } = await store.commit([], [put('a')]);
    const seen = [new Recorder(), new Recorder()];
    const watches = seen.map((sink) => store.watch('b/', revision, sink));
    for (let i = 1; i < 4; i++) {
      const { revision: latest } = await store.commit([], [put('a')]);
      for (const watch of watches) watch.progress();
      for (const sink of seen) await sink.reached(latest);
      expect(await store.revision()).toBe(latest);
    }
  });

  test('is not opened by an end of another version', async () => {
    const { near, far } = connection();
    const under = openMemoryStore({ clock: drivenClock() });
    createStoreHost(under, drivenClock()).attach(far);
    near.write(encodeFrame({ type: 'hello', version: 0 }));
    await expect(openLinkedStore(near)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('frames', () => {
  test('arrive whole, however their bytes are cut', () => {
    const messages = [{ a: 'ü', b: new Uint8Array([1, 2]), c: undefined }, 'text', { n: 2 ** 40 }];
    const bytes = Buffer.concat(messages.map(encodeFrame));
    for (const size of [1, 3, 7, bytes.length]) {
      const received: unknown[] = [];
      const reader = new FrameReader((message) => received.push(message));
      for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
      expect(received).toEqual(messages);
    }
  });

  test('that are too long or malformed are refused', () => {
    const header = Buffer.alloc(4);
    header.writeUInt32BE(maxFrameBytes + 1);
    expect(() => new FrameReader(() => undefined).push(header)).toThrow(RangeError);
    expect(() => new FrameReader(() => undefined).push(Buffer.from([0, 0, 0, 2, 1, 2]))).toThrow();
  });

  test('that are malformed end the link', async () => {
    const { near, far } = await setUp();
    far.write(Buffer.from([0, 0, 0, 2, 1, 2]));
    await new Promise((resolve) => near.once('close', resolve));
  });
});
