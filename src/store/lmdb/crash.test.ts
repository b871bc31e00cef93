import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Change, Entry, Store, WatchSink } from '../store.ts';
import { drivenClock } from '../testing/driven-clock.ts';
import { openLmdbStore } from './lmdb-store.ts';

const child = fileURLToPath(new URL('../testing/child.mjs', import.meta.url));
const door = new URL('../../../dist/server/store.js', import.meta.url).href;
const rounds = 15;

/** A commit that was answered: the `n`th of its writer. */
interface Answer {
  readonly revision: number;
  readonly writer: number;
  readonly n: number;
  readonly keys: readonly string[];
  readonly deletes: boolean;
  /** The revision of the first key before. */
  readonly before: number;
}

/** A deterministic generator of numbers from 0 to 1. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const ended = (process: ChildProcess) => new Promise((resolve) => process.once('exit', resolve));

/** Kills a writing process at a random moment; returns the commits that were answered. */
async function crash(path: string, output: string, n: number, random: () => number): Promise<Answer[]> {
  const out = openSync(output, 'w');
  const writer = spawn(process.execPath, [child, door, path, 'write', String(n)], {
    stdio: ['ignore', out, 'inherit'],
  });
  closeSync(out);
  const exit = ended(writer);
  // Sometimes it is killed before it has opened the store.
  if (random() > 0.15) while (statSync(output).size === 0) await sleep(2);
  await sleep(random() * 250);
  expect(writer.exitCode).toBeNull();
  writer.kill('SIGKILL');
  await exit;
  const lines = readFileSync(output, 'utf8').split('\n').slice(0, -1);
  const events = lines.map((line) => JSON.parse(line) as Answer | 'open' | { code: string });
  for (const event of events) expect(event).not.toHaveProperty('code');
  const answers = events.filter((event): event is Answer => typeof event === 'object' && 'revision' in event);
  // Deleting only an absent key takes no revision.
  return answers.filter(({ deletes, before, keys }) => !deletes || before > 0 || keys.length > 1);
}

/** The changes of every commit after revision `first`. */
async function history(store: Store, first: number): Promise<Map<number, readonly Change[]>> {
  const commits = new Map<number, readonly Change[]>();
  const latest = await store.revision();
  await new Promise<void>((resolve, reject) => {
    const sink: WatchSink = {
      batch(revision, changes) {
        if (changes.length === 0) resolve();
        else if (commits.has(revision)) reject(new Error(`revision ${revision} came twice`));
        else commits.set(revision, changes);
      },
      error: reject,
    };
    const watch = store.watch('', first, sink, { previous: true });
    watch.progress();
  });
  expect([...commits.keys()]).toEqual(Array.from({ length: latest - first }, (_, i) => first + 1 + i));
  return commits;
}

const count = (value: Uint8Array | undefined) => value && Number.parseInt(Buffer.from(value).toString('latin1'), 10);

const same = (a: Entry | undefined, b: Entry | undefined) =>
  a === undefined || b === undefined
    ? a === b
    : a.key === b.key && a.revision === b.revision && Buffer.compare(a.value, b.value) === 0;

/** The commit, when it differs from what was answered for it. */
function differences(answer: Answer, changes: readonly Change[]): unknown[] {
  // Deleting an absent key is not a change.
  const keys = answer.keys.filter((_, i) => i > 0 || !answer.deletes || answer.before > 0);
  const fine = changes.every(({ key, entry }) =>
    answer.deletes && key === answer.keys[0]
      ? entry === undefined
      : entry?.revision === answer.revision && count(entry.value) === answer.n,
  );
  const found = changes.map(({ key }) => key);
  return fine && keys.toSorted().join() === found.toSorted().join() ? [] : [{ answer, changes }];
}

/** Every answered commit is there, and the history is complete and consistent. */
async function check(store: Store, answers: readonly Answer[], last: ReadonlyMap<string, Answer>) {
  const first = await store.oldest();
  const latest = await store.revision();
  const commits = await history(store, first);
  expect(Math.max(0, ...answers.map(({ revision }) => revision))).toBeLessThanOrEqual(latest);
  const kept = answers.filter(({ revision }) => revision > first);
  expect(kept.flatMap((answer) => differences(answer, commits.get(answer.revision) ?? []))).toEqual([]);
  const state = new Map((await store.list({ prefix: '', revision: first })).entries.map((entry) => [entry.key, entry]));
  for (const change of [...commits.values()].flat()) {
    if (!same(change.previous, state.get(change.key))) expect(change.previous).toEqual(state.get(change.key));
    if (change.entry === undefined) state.delete(change.key);
    else state.set(change.key, change.entry);
  }
  const { entries } = await store.list({ prefix: '' });
  expect(entries.filter((entry) => !same(entry, state.get(entry.key)))).toEqual([]);
  expect(entries.length).toBe(state.size);
  for (const [key, answer] of last) {
    // The entry is not older than the answered commit; a newer one is of a commit in flight.
    const entry = state.get(key);
    if (entry === undefined) expect(answer.deletes || latest > answer.revision).toBe(true);
    else expect(entry.revision).toBeGreaterThanOrEqual(answer.revision);
  }
}

test('every answered commit survives a kill of the process at any moment', async () => {
  const seed = Number(process.env['STORE_CRASH_SEED'] ?? Date.now() % 2 ** 31);
  const random = generator(seed);
  const directory = mkdtempSync(join(tmpdir(), 'store-crash-'));
  const path = join(directory, 'data');
  const last = new Map<string, Answer>();
  let [n, total, latest] = [0, 0, 1];
  try {
    for (let round = 0; round < rounds; round++) {
      const answers = await crash(path, join(directory, 'answers'), n, random);
      for (const answer of answers) {
        n = Math.max(n, answer.n + 1);
        total++;
        for (const key of answer.keys) last.set(key, answer);
      }
      expect(new Set(answers.map(({ revision }) => revision)).size).toBe(answers.length);
      const store = await openLmdbStore({ path, clock: drivenClock() });
      expect(await store.revision()).toBeGreaterThanOrEqual(latest);
      await check(store, answers, last);
      latest = await store.revision();
      await store.close();
    }
    expect(total).toBeGreaterThan(rounds);
  } catch (error) {
    throw new Error(`failed with STORE_CRASH_SEED=${seed}`, { cause: error });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
