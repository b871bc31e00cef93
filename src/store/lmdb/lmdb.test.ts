import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { open } from 'lmdb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { platformHas } from '../../../test/support/requirements.ts';
import { scheduler } from '../../meta/index.ts';
import { pagesOf } from '../pages.ts';
import type { Store } from '../store.ts';
import { storeContract } from '../testing/contract.ts';
import { drivenClock } from '../testing/driven-clock.ts';
import { type LmdbObserver, openLmdbStore } from './lmdb-store.ts';

const newDirectory = () => mkdtempSync(join(tmpdir(), 'store-'));

storeContract('lmdb', async () => {
  const clock = drivenClock();
  const path = newDirectory();
  const store = await openLmdbStore({ path, clock });
  return {
    store,
    advance: async (ms) => clock.advance(ms),
    async cleanup() {
      await store.close();
      rmSync(path, { recursive: true, force: true });
    },
  };
});

const value = new Uint8Array([1]);
// The superuser can write read-only files.
const unprivileged = { env: { ...process.env, ...(process.getuid?.() === 0 ? { STORE_USER: '65534' } : {}) } };
const child = fileURLToPath(new URL('../testing/child.mjs', import.meta.url));
const door = new URL('../../../dist/server/store.js', import.meta.url).href;

describe('lmdb', () => {
  let path: string;
  const opened: Store[] = [];
  const clock = drivenClock();
  async function reopen(
    options: { historyMs?: number; mapSize?: number; observer?: LmdbObserver } = {},
  ): Promise<Store> {
    const store = await openLmdbStore({ path, clock, ...options });
    opened.push(store);
    return store;
  }
  beforeEach(() => {
    path = newDirectory();
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
    rmSync(path, { recursive: true, force: true });
  });
  /** The numbers of heads, records and leases in the file. */
  async function stored(): Promise<number[]> {
    const root = open({ path, noSubdir: false });
    const counts = ['heads', 'records', 'leases'].map((name) =>
      root.openDB({ name, keyEncoding: 'binary' }).getKeysCount(),
    );
    await root.close();
    return counts;
  }

  test('a version of a key with many later ones is found in turns, while it is compacted', async () => {
    const store = await reopen({ historyMs: 0 });
    const { revision: first } = await store.commit([], [{ key: 'a', value }]);
    const later = Array.from({ length: 1_000 }, () => store.commit([], [{ key: 'a', value: new Uint8Array(2) }]));
    const { revision: last } = (await Promise.all(later)).at(-1) as { revision: number };
    const over = vi.spyOn(scheduler, 'over', 'get').mockReturnValue(true);
    const wait = vi.spyOn(scheduler, 'wait');
    const found = store.get('a', first);
    await store.compact(last);
    expect((await found).entry?.value).toHaveLength(value.length);
    expect(wait.mock.calls.length).toBeGreaterThanOrEqual(Math.floor((last - first) / 256));
    over.mockRestore();
    wait.mockRestore();
    await expect(store.get('a', first)).rejects.toMatchObject({ code: 'compacted' });
  });

  test('an empty store is at revision 1', async () => {
    expect(await (await reopen()).revision()).toBe(1);
  });

  test('a missing directory is created', async () => {
    path = join(path, 'deep', 'er');
    await (await reopen()).commit([], [{ key: 'a', value }]);
    expect(existsSync(path)).toBe(true);
  });

  test('the size is that of the data file', async () => {
    const store = await reopen();
    await store.commit([], [{ key: 'a', value: new Uint8Array(1024 * 1024) }]);
    const size = await store.size();
    expect(size).toBe(statSync(join(path, 'data.mdb')).size);
    expect(size).toBeGreaterThan(1024 * 1024);
  });

  test('a restart keeps revision, data, history and long keys', async () => {
    const long = 'k'.repeat(5000);
    const before = await reopen();
    const first = await before.commit(
      [],
      [
        { key: 'a', value },
        { key: long, value },
      ],
    );
    const second = await before.commit([], [{ key: 'a' }, { key: `${long}x`, value }]);
    await before.close();
    const store = await reopen();
    expect(await store.revision()).toBe(second.revision);
    expect((await store.list({ prefix: '' })).entries.map(({ key }) => key)).toEqual([long, `${long}x`]);
    expect((await store.get('a', first.revision)).entry?.revision).toBe(first.revision);
    expect((await store.commit([{ key: long, revision: first.revision }], [{ key: long }])).ok).toBe(true);
    expect(await store.revision()).toBe(second.revision + 1);
  });

  test('a restart keeps the compacted revision', async () => {
    const before = await reopen();
    await before.commit([], [{ key: 'a', value }]);
    const { revision } = await before.commit([], [{ key: 'a', value }]);
    await before.compact(revision);
    await before.close();
    const store = await reopen();
    await expect(store.get('a', revision - 1)).rejects.toMatchObject({ code: 'compacted', revision });
    expect((await store.get('a')).entry?.revision).toBe(revision);
  });

  test('a lease expires after a restart, immediately when its time has passed', async () => {
    const before = await reopen();
    await before.commit([], [{ key: 'a', value, ttl: 10 }]);
    await before.commit([], [{ key: 'b', value, ttl: 100 }]);
    await before.close();
    clock.advance(20_000);
    const store = await reopen();
    const gone: string[] = [];
    const expired = new Promise<void>((resolve) => {
      store.watch('', 3, {
        batch(_, changes) {
          gone.push(...changes.map(({ key }) => key));
          if (gone.length === 2) resolve();
        },
        error: () => undefined,
      });
    });
    clock.advance(0);
    for (let i = 0; i < 100 && gone.length === 0; i++) await new Promise(setImmediate);
    while (gone.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    expect((await store.list({ prefix: '' })).entries.map(({ key }) => key)).toEqual(['b']);
    clock.advance(80_000);
    await expired;
    expect(gone).toEqual(['a', 'b']);
    expect(await store.revision()).toBe(5);
    await store.close();
    expect((await stored())[2]).toBe(0);
  });

  test('compacted history is removed from the file', async () => {
    const store = await reopen();
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 100 }, (_, i) => store.commit([], [{ key: `a/${i}`, value }])));
    }
    await Promise.all(Array.from({ length: 90 }, (_, i) => store.commit([], [{ key: `a/${i}` }])));
    await store.compact(await store.revision());
    // History is removed in steps, with or without other commits.
    for (let i = 0; i < 10; i++) await store.commit([], [{ key: 'other', value }]);
    await store.compact(await store.revision());
    for (let i = 0; i < 10; i++) await store.commit([{ key: 'other', revision: 0 }], []);
    await store.close();
    // The 10 keys that are left and `other`.
    expect(await stored()).toEqual([11, 11, 0]);
  });

  test('the file grows beyond the initial map size', async () => {
    const store = await reopen({ mapSize: 1 << 20 });
    const big = new Uint8Array(1_000_000).fill(7);
    for (let i = 0; i < 12; i++) await store.commit([], [{ key: `big/${i}`, value: big }]);
    await store.close();
    const sizes: number[] = [];
    for await (const { entries } of pagesOf(await reopen({ mapSize: 1 << 20 }), { prefix: 'big/' })) {
      sizes.push(...entries.map((entry) => entry.value.length));
    }
    expect(sizes).toEqual(Array.from({ length: 12 }, () => 1_000_000));
  });

  describe('a store that cannot be opened fails with the cause and what to do', () => {
    const refused = (message: RegExp) => ({
      name: 'StoreError',
      code: 'unavailable',
      message: expect.stringMatching(message) as string,
    });

    test('twice in one process', async () => {
      const first = await reopen();
      await expect(reopen()).rejects.toMatchObject(refused(/in use by another process: stop/));
      expect((await first.commit([], [{ key: 'a', value }])).ok).toBe(true);
      await first.close();
      expect((await (await reopen()).get('a')).entry).toBeDefined();
    });

    test('in use by another process, until that is killed', async () => {
      const other = run('hold');
      expect(await other.next()).toBe('open');
      const named = new RegExp(`in use by another process \\(pid ${other.pid}\\): stop`);
      await expect(reopen()).rejects.toMatchObject(refused(named));
      await other.kill();
      const store = await reopen();
      expect((await store.commit([], [{ key: 'a', value }])).ok).toBe(true);
      const late = run('hold');
      expect(await late.next()).toMatchObject({ code: 'unavailable', message: expect.stringContaining('in use') });
      await late.kill();
      expect((await store.commit([], [{ key: 'a', value }])).ok).toBe(true);
    });

    test('of several processes that open it at once at most one succeeds', async () => {
      const others = Array.from({ length: 5 }, () => run('hold'));
      const events = await Promise.all(others.map((other) => other.next()));
      expect(events.filter((event) => event === 'open').length).toBeLessThanOrEqual(1);
      await Promise.all(others.map((other) => other.kill()));
      await reopen();
    });

    test('a file that is not a database', async () => {
      writeFileSync(join(path, 'data.mdb'), 'some text that somebody wrote '.repeat(1000));
      await expect(reopen()).rejects.toMatchObject(refused(/not written by this store: choose another directory/));
      expect(readFileSync(join(path, 'data.mdb'), 'utf8')).toContain('somebody wrote');
    });

    test('a database of another program', async () => {
      const root = open({ path, noSubdir: false });
      await root.put('theirs', 1);
      await root.close();
      await expect(reopen()).rejects.toMatchObject(refused(/not written by this store/));
    });

    test('another format version', async () => {
      await (await reopen()).close();
      const root = open({ path, noSubdir: false, encoding: 'binary', keyEncoding: 'binary' });
      await root.put(Buffer.from('format'), Buffer.from('multi-version store 4'));
      await root.close();
      await expect(reopen()).rejects.toMatchObject(
        refused(/has format 4, and this program reads format 3: use the version/),
      );
    });

    test('a path that is a file, or leads through one', async () => {
      const file = join(path, 'file');
      writeFileSync(file, '');
      for (const place of [file, join(file, 'below')]) {
        await expect(openLmdbStore({ path: place, clock })).rejects.toMatchObject(
          refused(/is not a directory: choose/),
        );
      }
    });

    test.each(['directory', 'file'])('a read-only %s', async (what) => {
      await (await reopen()).close();
      chmodSync(join(path, 'data.mdb'), what === 'file' ? 0o444 : 0o666);
      if (what === 'directory') for (const name of ['data.mdb', 'lock.mdb', 'created']) rmSync(join(path, name));
      chmodSync(path, what === 'file' ? 0o777 : 0o555);
      const other = run('open', unprivileged);
      const event = await other.next();
      chmodSync(path, 0o777);
      expect(event).toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(/cannot be written: make it/),
      });
      await other.kill();
    });

    test.skipIf(!platformHas(process.getuid?.() === 0, 'run as root, who can give a file to another user'))(
      'a directory of another user that everyone may use',
      async () => {
        await (await reopen()).close();
        for (const name of ['data.mdb', 'lock.mdb', 'log']) chmodSync(join(path, name), 0o666);
        chmodSync(path, 0o777);
        const other = run('open', unprivileged);
        expect(await other.next()).toMatchObject({
          code: 'unavailable',
          message: expect.stringMatching(/is open to others and belongs to another user: make this user its owner/),
        });
        await other.kill();
      },
    );

    test('a directory that cannot be created', async () => {
      mkdirSync(join(path, 'locked'), { mode: 0o555 });
      path = join(path, 'locked');
      const other = run('open', unprivileged, join(path, 'data'));
      expect(await other.next()).toMatchObject({ code: 'unavailable' });
      await other.kill();
    });
  });

  test('its files are accessible to their owner only, whatever their mode and the umask were', async () => {
    const names = ['', 'data.mdb', 'lock.mdb', 'created', 'log'];
    const modes = () => names.map((name) => statSync(join(path, name)).mode & 0o777);
    const umask = process.umask(0);
    try {
      path = join(path, 'below', 'new');
      await (await reopen()).close();
      expect(modes()).toEqual([0o700, 0o600, 0o600, 0o600, 0o600]);
      expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
      for (const name of names) chmodSync(join(path, name), 0o777);
      const store = await reopen();
      expect(modes()).toEqual([0o700, 0o600, 0o600, 0o600, 0o600]);
      await store.close();
      for (const name of ['data.mdb', 'lock.mdb', 'created', 'log']) rmSync(join(path, name));
      chmodSync(path, 0o755);
      await (await reopen()).close();
      expect(modes()).toEqual([0o700, 0o600, 0o600, 0o600, 0o600]);
    } finally {
      process.umask(umask);
    }
  });

  test('when the disk is full commits fail, and every answered commit is kept', async () => {
    // Simulated with a limit on the file size: 8,000 blocks of 512 or 1,024 bytes.
    const limited = 'trap "" XFSZ; ulimit -f 8000; exec "$@"';
    const full = run('fill', {}, path, ['/bin/sh', '-c', limited, 'sh', process.execPath]);
    expect(await full.next()).toBe('open');
    const event = (await full.next()) as { committed: number; code: string; message: string };
    // The library does not get to write: its failures may end the process.
    expect(event).toMatchObject({
      code: 'full',
      message: 'no space left on the disk of the store: free some',
      last: 100_000,
    });
    expect(event.committed).toBeGreaterThan(5);
    // A small commit may still succeed.
    expect(await full.next()).toHaveProperty('again', expect.stringMatching(/^(worked|full)$/));
    expect(await full.next()).toBe('closed');
    await full.kill();
    const store = await reopen();
    const { remaining } = await store.list({ prefix: 'fill/', limit: 0, count: true });
    expect(remaining).toBe(event.committed);
    expect((await store.commit([], [{ key: 'a', value }])).ok).toBe(true);
  });

  /** Starts a process that opens the store; `next` returns its events one by one. */
  function run(task: string, options: object = {}, place = path, shell: string[] = []) {
    const [program = process.execPath, ...before] = shell;
    const running = spawn(program, [...before, child, door, place, task], {
      stdio: ['ignore', 'pipe', 'ignore'],
      ...options,
    });
    const exit = new Promise((resolve) => running.once('exit', resolve));
    const lines = (async function* () {
      let rest = '';
      for await (const chunk of running.stdout ?? []) {
        const parts = `${rest}${String(chunk)}`.split('\n');
        rest = parts.pop() ?? '';
        yield* parts.map((line) => JSON.parse(line) as unknown);
      }
    })();
    return {
      pid: running.pid,
      next: async () => (await lines.next()).value,
      async kill() {
        running.kill('SIGKILL');
        await exit;
      },
    };
  }

  test('tells how long commits and flushes take', async () => {
    const [commits, flushes]: [number[], number[]] = [[], []];
    const observer = {
      committed: (seconds: number) => void commits.push(seconds),
      flushed: (seconds: number) => void flushes.push(seconds),
      damaged: () => undefined,
    };
    const store = await reopen({ observer });
    const write = (key: string) => store.commit([], [{ key, value }]);
    const first = write('a');
    const others = [write('b'), write('c')];
    await Promise.all([first, ...others]);
    // They share a transaction.
    expect([commits.length, flushes.length]).toEqual([3, 1]);
    const slow = write('d');
    clock.advance(2_000);
    await slow;
    expect([commits.length, commits.at(-1), flushes.length]).toEqual([4, 2, 2]);
  });
});
