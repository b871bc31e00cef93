import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterEach, expect, test, vi } from 'vitest';
import type { Change, Store } from '../store.ts';
import { drivenClock } from '../testing/driven-clock.ts';
import { openLmdbStore } from './lmdb-store.ts';
import { Log } from './log.ts';
import { decodePayload, groupsIn, tailOf } from './log-format.ts';
import { decodeState } from './records.ts';
import { decodeMark, type LogMark, logFile } from './tail.ts';

const sectorBytes = 512;
const logBytes = 64 * 1024;
const writes = 250;
const cutsAWrite = 8;

/** A tree that was on the disk. */
interface TreeImage {
  readonly path: string;
  readonly bytes: Buffer;
  readonly mark: LogMark;
  readonly latest: number;
}
/** A write to the log during which power may be lost. */
interface Write {
  readonly tree: TreeImage;
  /** The latest revision that had been answered when it began, and the one that it makes durable. */
  readonly answered: number;
  readonly next: number;
  readonly before: Buffer;
  readonly after: Buffer;
}

/** A deterministic generator of numbers from 0 to 1. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The log after a loss of power: of what the write changes, any sectors may be on the disk. */
function cut({ before, after }: Write, random: () => number): Buffer {
  const isThere = [() => true, () => false, () => random() < 0.5, () => random() < 0.9][Math.floor(random() * 4)]!;
  const left = Buffer.from(before);
  for (let at = 0; at < left.length; at += sectorBytes) {
    const sector = after.subarray(at, at + sectorBytes);
    if (!sector.equals(before.subarray(at, at + sectorBytes)) && isThere()) sector.copy(left, at);
  }
  return left;
}

afterEach(() => {
  vi.restoreAllMocks();
});

/** The content of a data file, in a directory of its own. */
async function imageOf(path: string, bytes: Buffer): Promise<TreeImage> {
  mkdirSync(path);
  writeFileSync(join(path, 'data.mdb'), bytes);
  const root = open<Buffer, Buffer>({ path, noSubdir: false, encoding: 'binary', keyEncoding: 'binary' });
  const mark = decodeMark(root.get(Buffer.from('log')) ?? Buffer.of());
  const latest = decodeState(root.get(Buffer.from('state')) ?? Buffer.of(), undefined)?.latest ?? 0;
  await root.close();
  return { path, bytes, mark, latest };
}

interface Recording {
  readonly writes: readonly Write[];
  /** The keys that each revision wrote, or deleted. */
  readonly commits: readonly { readonly revision: number; readonly changes: readonly Change[] }[];
}

/** Writes to a store, and returns what its disk had and got. Between two writes to the log the tree is on the disk. */
async function record(directory: string, random: () => number): Promise<Recording> {
  const path = join(directory, 'data');
  const recorded: Write[] = [];
  let image: TreeImage | undefined;
  let [answered, trees] = [1, 0];
  const write = Object.getOwnPropertyDescriptor(Log.prototype, 'write')?.value as Log['write'];
  vi.spyOn(Log.prototype, 'write').mockImplementation(async function (this: Log, payload, newId) {
    const bytes = readFileSync(join(path, 'data.mdb'));
    if (image === undefined || !image.bytes.equals(bytes))
      image = await imageOf(join(directory, `tree-${trees++}`), bytes);
    const before = readFileSync(join(path, logFile));
    const sequence = await write.call(this, payload, newId);
    const next = decodeState(payload.state, undefined)?.latest ?? 0;
    recorded.push({ tree: image, answered, next, before, after: readFileSync(join(path, logFile)) });
    return sequence;
  });
  const store = await openLmdbStore({ path, clock: drivenClock(), logBytes });
  const commits: { revision: number; changes: readonly Change[] }[] = [];
  store.watch('', 1, { batch: (revision, changes) => commits.push({ revision, changes }), error: () => undefined });
  for (let n = 0; recorded.length < writes; n++) {
    // Groups of one to four commits, of one or two pages.
    const group = Array.from({ length: 1 + (n % 4) }, (_, i) => {
      const key = `k${(n * 5 + i) % 40}`;
      return store.commit([], [n % 9 === 8 ? { key } : { key, value: Buffer.alloc(Math.floor(random() * 1500), n) }]);
    });
    for (const { revision } of await Promise.all(group)) answered = Math.max(answered, revision);
  }
  await store.close();
  return { writes: recorded, commits };
}

/** The keys at a revision with the revision of each. */
function expectedAt(commits: Recording['commits'], at: number): string[] {
  const state = new Map<string, number>();
  for (const { revision, changes } of commits) {
    if (revision > at) break;
    for (const { key, entry } of changes) {
      if (entry === undefined) state.delete(key);
      else state.set(key, revision);
    }
  }
  return [...state].map(([key, revision]) => `${key} ${revision}`).toSorted();
}

const revisions = async (store: Store) =>
  (await store.list({ prefix: '' })).entries.map(({ key, revision }) => `${key} ${revision}`).toSorted();

test('no answered commit is lost, and none is there in part, wherever power is cut', async () => {
  const seed = Number(process.env['STORE_CRASH_SEED'] ?? Date.now() % 2 ** 31);
  const random = generator(seed);
  const directory = mkdtempSync(join(tmpdir(), 'store-power-'));
  try {
    const { writes: recorded, commits } = await record(directory, random);
    let [points, torn] = [0, 0];
    for (const write of recorded) {
      const { tree, answered, next } = write;
      for (let i = 0; i < cutsAWrite; i++, points++) {
        const left = cut(write, random);
        const tail = tailOf(groupsIn(left, tree.mark.id), tree.mark.sequence);
        // Undefined would be a hole.
        expect(tail, `seed ${seed}, point ${points}`).toBeDefined();
        const last = tail?.at(-1);
        const reached = last && decodeState(decodePayload(last.payload).state, undefined)?.latest;
        expect([answered, next], `seed ${seed}, point ${points}`).toContain(reached ?? tree.latest);
        if ((reached ?? tree.latest) === answered) torn++;
        if (points % 50 === 0) await checkOpened(directory, write, left, expectedAt(commits, reached ?? tree.latest));
      }
    }
    expect(points).toBeGreaterThanOrEqual(writes * cutsAWrite);
    expect(torn).toBeGreaterThan(points / 8);
    // The log went round several times, with the tree behind it.
    expect(new Set(recorded.map(({ tree }) => tree)).size).toBeGreaterThan(10);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

/** A store with these files has the expected keys, and takes commits. */
async function checkOpened(
  directory: string,
  { tree }: Write,
  log: Buffer,
  expected: readonly string[],
): Promise<void> {
  const path = join(directory, 'left');
  rmSync(path, { recursive: true, force: true });
  cpSync(tree.path, path, { recursive: true });
  writeFileSync(join(path, logFile), log);
  const store = await openLmdbStore({ path, clock: drivenClock(), logBytes });
  expect(await revisions(store)).toEqual(expected);
  const { revision } = await store.commit([], [{ key: 'more', value: Buffer.of(1) }]);
  await store.close();
  const again = await openLmdbStore({ path, clock: drivenClock(), logBytes });
  expect(await revisions(again)).toEqual([...expected, `more ${revision}`]);
  await again.close();
}
