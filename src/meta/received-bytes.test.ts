import { expect, it } from 'vitest';
import { ReceivedBytes } from './received-bytes.ts';

const gather = (pieces: readonly Buffer[]) => {
  const received = new ReceivedBytes();
  for (const piece of pieces) received.add(piece);
  return received;
};

const numbered = (length: number, from = 0) => Buffer.from(Array.from({ length }, (_, i) => (from + i) % 251));

it('pieces of any sizes are put together in their order', () => {
  const sizes = [1, 1, 5_000, 3, 4_095, 4_096, 0, 1, 20_000, 4_000, 4_000, 4_000, 4_000, 4_000, 2];
  let from = 0;
  const pieces = sizes.map((size) => {
    const piece = numbered(size, from);
    from += size;
    return piece;
  });
  const received = gather(pieces);
  expect(received.size).toBe(from);
  expect(received.whole().equals(numbered(from))).toBe(true);
  expect(received.whole().equals(numbered(from))).toBe(true);
});

it('a single piece is not copied, and no piece is an empty buffer', () => {
  const piece = numbered(10);
  expect(gather([piece]).whole()).toBe(piece);
  expect(gather([]).whole()).toEqual(Buffer.alloc(0));
});

it('a small piece is not kept', () => {
  const pieces = Array.from({ length: 100 }, (_, i) => Buffer.from([i]));
  const received = gather(pieces);
  for (const piece of pieces.slice(1)) piece[0] = 255;
  expect([...received.whole()]).toEqual(Array.from({ length: 100 }, (_, i) => i));
});
