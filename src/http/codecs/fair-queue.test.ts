import { describe, expect, it } from 'vitest';
import { FairQueue } from './fair-queue.ts';

const piece = (owner: string, name: string, size = 1) => ({ owner, name, size });
type Piece = ReturnType<typeof piece>;
const namesOf = (pieces: readonly { readonly name: string }[]) => pieces.map(({ name }) => name);

describe('a fair queue', () => {
  it('serves one of two owners with a hundred pieces each as often as the other, whose pieces take as long', () => {
    const queue = new FairQueue<Piece>(1000);
    for (let i = 0; i < 100; i++) queue.add(piece('many', `m${i}`));
    for (let i = 0; i < 100; i++) queue.add(piece('late', `l${i}`));
    const served = { many: 0, late: 0 };
    for (let i = 0; i < 60; i++) {
      const owner = queue.take()?.owner as 'many' | 'late';
      served[owner]++;
      queue.charge(owner, 1);
    }
    expect(served).toEqual({ many: 30, late: 30 });
  });

  it('serves an owner whose pieces take ten times as long a tenth as often', () => {
    const queue = new FairQueue<Piece>(1000);
    for (let i = 0; i < 100; i++) queue.add(piece('slow', `s${i}`));
    for (let i = 0; i < 100; i++) queue.add(piece('fast', `f${i}`));
    const served = { slow: 0, fast: 0 };
    for (let i = 0; i < 55; i++) {
      const owner = queue.take()?.owner as 'slow' | 'fast';
      served[owner]++;
      queue.charge(owner, owner === 'slow' ? 10 : 1);
    }
    expect(served).toEqual({ slow: 5, fast: 50 });
  });

  it('gives no credit for the time in which an owner wanted nothing', () => {
    const queue = new FairQueue<Piece>(1000);
    for (let i = 0; i < 20; i++) queue.add(piece('a', `a${i}`));
    for (let i = 0; i < 10; i++) queue.charge(queue.take()?.owner as string, 1);
    for (let i = 0; i < 5; i++) queue.add(piece('b', `b${i}`));
    const next: (string | undefined)[] = [];
    for (let i = 0; i < 6; i++) {
      const { owner, name } = queue.take() as Piece;
      next.push(name);
      queue.charge(owner, 1);
    }
    expect(next).toEqual(['b0', 'a10', 'b1', 'a11', 'b2', 'a12']);
  });

  it('displaces the newest pieces of the owner who holds most, and the one that comes when all hold the same', () => {
    const queue = new FairQueue<Piece>(10);
    for (let i = 0; i < 10; i++) queue.add(piece('a', `a${i}`));
    expect(namesOf(queue.add(piece('b', 'b0', 3)))).toEqual(['a9', 'a8', 'a7']);
    expect(namesOf(queue.add(piece('b', 'b1', 2)))).toEqual(['a6', 'a5']);
    expect(namesOf(queue.clear())).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'b0', 'b1']);
    expect([queue.waiting, queue.take()]).toEqual([0, undefined]);
    const full = new FairQueue<Piece>(2);
    for (const owner of ['a', 'b']) expect(full.add(piece(owner, owner))).toEqual([]);
    expect(namesOf(full.add(piece('c', 'c')))).toEqual(['c']);
  });
});
