import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openMemoryStore } from '../memory/memory-store.ts';
import type { CommitResult, Compare, Write } from '../store.ts';
import { drivenClock } from '../testing/driven-clock.ts';
import { openLmdbStore } from './lmdb-store.ts';

interface Commit {
  readonly compares: readonly { readonly prefix: string; readonly back: number }[];
  readonly writes: readonly Write[];
}

const keys = ['a', '/a', '/a/b', '/a/b/c', '/a/bc', '/b/b', '/b/b/c', '/c/d/e', '/c/f'];
const prefixes = ['/', '/a', '/a/', '/a/b', '/a/b/', '/b/', '/c/d/', '/c/d/e', '/never/', '/never/written'];
const write: fc.Arbitrary<Write> = fc
  .record({ key: fc.constantFrom(...keys), deletes: fc.boolean() })
  .map(({ key, deletes }) => (deletes ? { key } : { key, value: new Uint8Array([1]) }));
const commit: fc.Arbitrary<Commit> = fc.record({
  compares: fc.array(fc.record({ prefix: fc.constantFrom(...prefixes), back: fc.nat(6) }), { maxLength: 2 }),
  writes: fc.uniqueArray(write, { minLength: 1, maxLength: 3, selector: ({ key }) => key }),
});

test('compares of prefixes are decided as by the memory store, in groups and after restarts', async () => {
  const groups = fc.array(fc.record({ restarts: fc.boolean(), commits: fc.array(commit, { maxLength: 5 }) }), {
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(groups, async (all) => {
      const clock = drivenClock();
      const path = mkdtempSync(join(tmpdir(), 'store-'));
      const model = openMemoryStore({ clock });
      let store = await openLmdbStore({ path, clock });
      try {
        for (const { restarts, commits } of all) {
          if (restarts) {
            await store.close();
            store = await openLmdbStore({ path, clock });
          }
          const latest = await model.revision();
          // Called in one turn, so that they share a group.
          const results = commits.map(({ compares, writes }) => {
            const checked = compares.map(
              ({ prefix, back }): Compare => ({ key: prefix, revision: Math.max(1, latest - back), below: true }),
            );
            return [store.commit(checked, writes), model.commit(checked, writes)] as const;
          });
          for (const [actual, expected] of results) expect(await actual).toEqual(await expected);
        }
      } finally {
        await Promise.all([store.close(), model.close()]);
        rmSync(path, { recursive: true, force: true });
      }
    }),
    { numRuns: 25 },
  );
});

test('a key that is written twice in a group counts with its last revision, whatever else is written', async () => {
  const path = mkdtempSync(join(tmpdir(), 'store-'));
  const store = await openLmdbStore({ path, clock: drivenClock() });
  const set = (key: string): Write => ({ key, value: new Uint8Array([1]) });
  // Called in one turn, so that they share a group.
  const group = [store.commit([], [set('/a/x'), set('/a/y')]), store.commit([], [set('/a/x')])];
  const [{ revision: first }, { revision: second }] = (await Promise.all(group)) as [CommitResult, CommitResult];
  const onlyUntil = (revision: number) => store.commit([{ key: '/a/', revision, below: true }], [set('/b/z')]);
  expect((await onlyUntil(first)).ok).toBe(false);
  expect((await onlyUntil(second)).ok).toBe(true);
  await store.close();
  rmSync(path, { recursive: true, force: true });
});
