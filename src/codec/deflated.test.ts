import { crc32, gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { type Deflated, deflate, GzipEnd, gzipEndBytes, gzipHead, inflate } from './index.ts';

/** Text that compresses a little. */
const textOf = (length: number) =>
  Buffer.from(Array.from({ length }, (_, i) => (Math.imul(i, 2654435761) >>> 25) + 32));

function gzipOf(parts: readonly Deflated[]): Buffer {
  const end = new GzipEnd();
  for (const part of parts) end.add(part);
  return Buffer.concat([gzipHead, ...parts.map(({ bytes }) => bytes), end.bytes()]);
}

// gunzip verifies the checksum and the size.
it.each([[[]], [[0]], [[1]], [[1, 1, 1]], [[100, 64 * 1024, 7]], [[300_000, 0, 70_000]]])(
  'parts of texts of %j bytes, one after the other, are gzip',
  (lengths) => {
    const texts = lengths.map(textOf);
    const parts = texts.flatMap((text) => [...deflate(text)]);
    expect(gunzipSync(gzipOf(parts)).equals(Buffer.concat(texts))).toBe(true);
    expect(Buffer.concat(parts.map(inflate)).equals(Buffer.concat(texts))).toBe(true);
    for (const part of parts) expect(part.crc).toBe(crc32(inflate(part)));
  },
);

it('compresses at most 64 KiB at a time, and keeps no more than the result', () => {
  const parts = [...deflate(textOf(200_000))];
  expect(parts.map(({ size }) => size)).toEqual([65_536, 65_536, 65_536, 3_392]);
  for (const { bytes } of parts) expect(bytes.buffer.byteLength).toBe(bytes.length);
});

it('the end has a fixed length', () => {
  expect(new GzipEnd().bytes()).toHaveLength(gzipEndBytes);
});
