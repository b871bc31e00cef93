import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CommitResult, Compare } from '../store.ts';
import { absent, bytes, put, type Tools, text } from './tools.ts';

/** Commits with compares. */
export function commitCases({ store, write, read, keys, watch }: Tools): void {
  describe('commit', () => {
    test('a compare with revision 0 allows one create and no second', async () => {
      const first = await store.commit([absent('a')], [put('a', 'one')]);
      expect(first.ok).toBe(true);
      const second = await store.commit([absent('a')], [put('a', 'two')]);
      expect(second).toMatchObject({ ok: false, revision: first.revision });
      expect(second.ok ? [] : second.found.map(text)).toEqual(['one']);
      expect(await read('a')).toBe('one');
    });
    test('a compare with the latest revision of the key holds, an older one does not', async () => {
      const one = await write(put('a', 'one'));
      const two = await store.commit([{ key: 'a', revision: one }], [put('a', 'two')]);
      expect(two.ok).toBe(true);
      const stale = await store.commit([{ key: 'a', revision: one }], [put('a', 'three')]);
      expect(stale).toMatchObject({ ok: false, found: [{ key: 'a', revision: two.revision }] });
    });
    test('a compare with a revision does not hold for an absent key', async () => {
      const revision = await write(put('a'));
      await write({ key: 'a' });
      const result = await store.commit([{ key: 'a', revision }], [put('a')]);
      expect(result).toMatchObject({ ok: false, found: [undefined] });
    });
    test('a compare with revision 0 holds after a deletion', async () => {
      await write(put('a'));
      await write({ key: 'a' });
      expect((await store.commit([absent('a')], [put('a')])).ok).toBe(true);
    });
    test('a failed commit returns the current entry of every compared key, in their order', async () => {
      const a = await write(put('a', 'A'));
      const c = await write(put('c', 'C'));
      const result = await store.commit([{ key: 'c', revision: c }, absent('b'), absent('a')], [put('d')]);
      expect(result.ok ? [] : result.found.map((e) => [text(e), e?.revision])).toEqual([
        ['C', c],
        [undefined, undefined],
        ['A', a],
      ]);
      expect(await read('d')).toBeUndefined();
    });
    test('a compare of a key that is not written', async () => {
      const revision = await write(put('lock'));
      expect((await store.commit([{ key: 'lock', revision }], [put('a')])).ok).toBe(true);
      await write({ key: 'lock' });
      expect((await store.commit([{ key: 'lock', revision }], [put('b')])).ok).toBe(false);
    });
    test('a commit of several keys is atomic and takes one revision', async () => {
      const revision = await write(put('a', '1'), put('b', '1'));
      expect((await store.list({ prefix: '' })).entries.map((e) => e.revision)).toEqual([revision, revision]);
      const refused = await store.commit([absent('c'), absent('b')], [put('a', '2'), { key: 'b' }, put('c', '2')]);
      expect(refused.ok).toBe(false);
      expect(await keys('')).toEqual(['a', 'b']);
      expect(await read('a')).toBe('1');
    });
    test('a compare below a prefix holds until a key there is written', async () => {
      const before = await write(put('a/1'), put('b'));
      const unwritten = (key: string, revision: number) => ({ key, revision, below: true });
      expect((await store.commit([unwritten('a/', before)], [put('c')])).ok).toBe(true);
      expect(await store.commit([unwritten('a/', before - 1)], [put('c')])).toMatchObject({
        ok: false,
        found: [undefined],
      });
      const after = await write(put('a/2'), put('a'));
      const refused = await store.commit([unwritten('a/', before), absent('x'), { key: 'a', revision: 1 }], [put('c')]);
      expect(refused).toMatchObject({ ok: false, revision: after, found: [undefined, undefined, { key: 'a' }] });
      expect((await store.commit([unwritten('a/', after)], [put('c')])).ok).toBe(true);
    });
    test('a compare below a prefix minds no deletion, and revision 0 allows no key there', async () => {
      const before = await write(put('a/1'));
      const unwritten = (revision: number) => [{ key: 'a/', revision, below: true }];
      await write(put('a/2'));
      await write({ key: 'a/2' });
      expect((await store.commit(unwritten(before), [put('c', '1')])).ok).toBe(true);
      expect((await store.commit(unwritten(0), [put('c', '2')])).ok).toBe(false);
      await write({ key: 'a/1' });
      expect((await store.commit(unwritten(0), [put('c', '3')])).ok).toBe(true);
    });
    test('of two concurrent commits, each of which writes what the other must not find, one holds', async () => {
      const latest = await store.revision();
      const results = await Promise.all(
        ['a/1', 'a/2'].map((key) => store.commit([{ key: 'a/', revision: latest, below: true }], [put(key)])),
      );
      expect(results.filter(({ ok }) => ok)).toHaveLength(1);
    });
    test('two writes of the same key are invalid', async () => {
      const before = await store.revision();
      await expect(store.commit([], [put('a'), put('b'), { key: 'a' }])).rejects.toMatchObject({ code: 'invalid' });
      expect(await store.revision()).toBe(before);
    });
    test.each([-1, 1.5, Number.NaN])('a compare with revision %s is invalid', async (revision) => {
      await expect(store.commit([{ key: 'a', revision }], [])).rejects.toMatchObject({ code: 'invalid' });
    });
    test('128 compares and 128 writes are valid, 129 are not', async () => {
      const writes = Array.from({ length: 129 }, (_, i) => put(`a/${i}`));
      const compares = writes.map(({ key }) => absent(key));
      await expect(store.commit([], writes)).rejects.toMatchObject({ code: 'invalid' });
      await expect(store.commit(compares, [])).rejects.toMatchObject({ code: 'invalid' });
      expect((await store.commit(compares.slice(1), writes.slice(1))).ok).toBe(true);
      expect((await store.list({ prefix: 'a/' })).entries).toHaveLength(128);
    });
    test('deleting an absent key takes no revision', async () => {
      const before = await write(put('a'));
      expect(await store.commit([], [{ key: 'b' }])).toEqual({ ok: true, revision: before });
      await write({ key: 'a' });
      const after = await store.revision();
      expect(await store.commit([], [{ key: 'a' }])).toEqual({ ok: true, revision: after });
      expect(await store.revision()).toBe(after);
    });
    test('deleting an absent key in a commit with a write is not delivered as a change', async () => {
      const before = await store.revision();
      const seen = watch('', before);
      const revision = await write({ key: 'a' }, put('b'));
      await seen.reached(revision);
      expect(seen.changes).toEqual([['b', 'x', undefined]]);
    });
    test('of 64 concurrent commits with the same compare exactly one succeeds', async () => {
      let revision = 0;
      for (let round = 0; round < 10; round++) {
        const results: CommitResult[] = await Promise.all(
          Array.from({ length: 64 }, (_, i) => store.commit([{ key: 'a', revision }], [put('a', `${round}/${i}`)])),
        );
        const winners = results.flatMap((result, i) => (result.ok ? [{ i, revision: result.revision }] : []));
        expect(winners).toHaveLength(1);
        const { entry } = await store.get('a');
        expect(text(entry)).toBe(`${round}/${winners[0]?.i}`);
        expect(entry?.revision).toBe(winners[0]?.revision);
        // Every failed commit returns the entry of the one that succeeded.
        for (const result of results) if (!result.ok) expect(result.found).toEqual([entry]);
        revision = entry?.revision ?? 0;
      }
    });
    test('concurrent read-modify-write loops lose no update', async () => {
      await write(put('n', '0'));
      const add = async () => {
        for (;;) {
          const { entry } = await store.get('n');
          const next = put('n', String(Number(text(entry)) + 1));
          if ((await store.commit([{ key: 'n', revision: entry?.revision ?? 0 }], [next])).ok) return;
        }
      };
      await Promise.all(Array.from({ length: 20 }, add));
      expect(await read('n')).toBe('20');
    });
    test('concurrent commits of different keys all succeed, each with its own revision', async () => {
      const before = await store.revision();
      const results = await Promise.all(
        Array.from({ length: 64 }, (_, i) => store.commit([absent(`a/${i}`)], [put(`a/${i}`, `${i}`)])),
      );
      expect(results.every(({ ok }) => ok)).toBe(true);
      expect(results.map(({ revision }) => revision).toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: 64 }, (_, i) => before + 1 + i),
      );
      for (const [i, { revision }] of results.entries()) {
        expect((await store.get(`a/${i}`)).entry).toMatchObject({ revision });
      }
    });
    test('create, update, delete and recreate of one key in flight at the same time', async () => {
      const results = await Promise.all([
        store.commit([], [put('a', '1')]),
        store.commit([], [put('a', '2')]),
        store.commit([], [{ key: 'a' }]),
        store.commit([], [put('a', '3')]),
      ]);
      const order = results.map(({ revision }, i) => ({ revision, i })).toSorted((x, y) => x.revision - y.revision);
      const shownAt = ['1', '2', undefined, '3'];
      for (const { revision, i } of order) expect(await read('a', revision)).toBe(shownAt[i]);
    });
    test('a read after a commit is answered sees its write', async () => {
      for (let i = 0; i < 20; i++) {
        const revision = await write(put('a', `${i}`));
        expect(await read('a')).toBe(`${i}`);
        expect(await read('a', revision)).toBe(`${i}`);
        expect((await store.list({ prefix: 'a' })).entries.map(text)).toEqual([`${i}`]);
      }
    });
    test('random commits, read at every revision, match a plain map', async () => {
      const key = fc.constantFrom('a', 'a/', 'a/b', 'a0', 'b', 'é', '\u{10000}', '\uE000');
      const operation = fc.record({
        key,
        value: fc.option(fc.nat(99)),
        compare: fc.constantFrom('none', 'right', 'absent', 'unwritten'),
      });
      const round = fc.uniqueArray(operation, { minLength: 1, maxLength: 4, selector: (each) => each.key });
      await fc.assert(
        fc.asyncProperty(fc.array(round, { maxLength: 20 }), async (rounds) => {
          const start = await store.revision();
          const model = new Map((await store.list({ prefix: '' })).entries.map((e) => [e.key, [text(e), e.revision]]));
          const states = [[...model]];
          for (const operations of rounds) {
            const revisionOf = (key: string) => Number(model.get(key)?.[1] ?? 0);
            const compares = operations.flatMap(({ key, compare }): Compare[] => {
              if (compare === 'none') return [];
              if (compare === 'unwritten') return [{ key, revision: revisionOf('a/b'), below: true }];
              return [{ key, revision: compare === 'absent' ? 0 : revisionOf(key) }];
            });
            const holds = compares.every(({ key, revision, below }) =>
              below
                ? [...model.keys()].every((one) => !one.startsWith(key) || revisionOf(one) <= revision)
                : revisionOf(key) === revision,
            );
            const writes = operations.map(({ key, value }) => (value === null ? { key } : put(key, `${value}`)));
            const result = await store.commit(compares, writes);
            expect(result.ok).toBe(holds);
            if (!holds || writes.every((each) => !('value' in each) && !model.has(each.key))) continue;
            for (const { key, value } of operations) {
              if (value === null) model.delete(key);
              else model.set(key, [`${value}`, result.revision]);
            }
            states.push([...model]);
          }
          expect(await store.revision()).toBe(start + states.length - 1);
          for (const [i, state] of states.entries()) {
            const { entries } = await store.list({ prefix: '', revision: start + i });
            const ordered = state.toSorted(([a], [b]) => Buffer.compare(bytes(a), bytes(b)));
            expect(entries.map((e) => [e.key, [text(e), e.revision]])).toEqual(ordered);
          }
        }),
        { numRuns: 40 },
      );
    });
  });
}
