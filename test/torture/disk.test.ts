import { expect, it } from 'vitest';
import { Disk } from './disk.ts';
import { randomOf } from './random.ts';

const data = (byte: number, length: number) => `\\x${byte.toString(16).padStart(2, '0')}`.repeat(length);
const pwrite = (descriptor: number, byte: number, at: number, length = 1_024) =>
  `pwrite64(${descriptor}, "${data(byte, length)}", ${length}, ${at}) = ${length}`;
const opened = [
  'openat(AT_FDCWD, "\\x64", O_RDWR|O_CREAT, 0664) = 3',
  'openat(AT_FDCWD, "\\x64", O_WRONLY|O_DSYNC) = 4',
];

/** The contents that the file may have after a power loss at the end of some calls, in hexadecimal, a digit a sector. */
function contents(...calls: string[]): Set<string> {
  const found = new Set<string>();
  for (let seed = 0; seed < 100; seed++) {
    const disk = new Disk(['d'], '/none');
    for (const call of [...opened, ...calls]) disk.take(/^\d/.test(call) ? call : `7  ${call}`);
    const [image = Buffer.of()] = disk.images(randomOf(seed, 0));
    found.add(Array.from({ length: Math.ceil(image.length / 512) }, (_, i) => image[i * 512]).join(''));
  }
  return found;
}

it('keeps what was flushed, and any of the sectors that were not', () => {
  expect(contents(pwrite(3, 1, 0), 'fdatasync(3) = 0')).toEqual(new Set(['11']));
  expect(contents(pwrite(3, 1, 0))).toEqual(new Set(['', '1', '01', '11']));
  expect(contents(pwrite(3, 1, 0), 'fdatasync(3) = 0', pwrite(3, 2, 0))).toEqual(new Set(['11', '12', '21', '22']));
});

it('keeps files apart: a flush is for one of them', () => {
  const disk = new Disk(['d', 'e'], '/none');
  const other = 'openat(AT_FDCWD, "\\x65", O_RDWR|O_CREAT, 0664) = 5';
  for (const call of [...opened, other, pwrite(3, 1, 0), pwrite(5, 2, 0), 'fdatasync(5) = 0']) disk.take(`7  ${call}`);
  const lengths = new Set(
    Array.from({ length: 100 }, (_, seed) =>
      disk
        .images(randomOf(seed, 0))
        .map((each) => each.length)
        .join(),
    ),
  );
  expect(lengths).toEqual(new Set(['0,1024', '512,1024', '1024,1024']));
});

it('a failed flush keeps nothing, and a write that fails or is short is no more than what was written', () => {
  expect(contents(pwrite(3, 1, 0, 512), 'fdatasync(3) = -1 EIO (Input/output error)')).toEqual(new Set(['', '1']));
  const full = `pwrite64(3, "${data(1, 1_024)}", 1024, 0) = -1 EFBIG (File too large)`;
  const short = `pwrite64(3, "${data(1, 1_024)}", 1024, 0) = 512`;
  expect(contents(full, 'fdatasync(3) = 0')).toEqual(new Set(['']));
  expect(contents(short, 'fdatasync(3) = 0')).toEqual(new Set(['1']));
});

it('a write through a synchronous descriptor is there when it has returned, alone', () => {
  expect(contents(pwrite(3, 1, 512, 512), pwrite(4, 2, 0, 512))).toEqual(new Set(['2', '21']));
  const begun = `pwrite64(4, "${data(2, 512)}", 512, 0 <unfinished ...>`;
  expect(contents(begun)).toEqual(new Set(['', '2']));
  expect(contents(begun, '7  <... pwrite64 resumed>) = 512')).toEqual(new Set(['2']));
});

it('a flush covers what was written before it began, by any thread, and nothing when it does not return', () => {
  const begun = '7  fdatasync(3 <unfinished ...>';
  const late = `8  ${pwrite(3, 2, 512, 512)}`;
  const end = '7  <... fdatasync resumed>) = 0';
  expect(contents(`8  ${pwrite(3, 1, 0, 512)}`, begun, late, end)).toEqual(new Set(['1', '12']));
  expect(contents(pwrite(3, 1, 0, 512), begun)).toEqual(new Set(['', '1']));
});

it('writes several pieces where the descriptor is', () => {
  const pieces = `[{iov_base="${data(1, 512)}", iov_len=512}, {iov_base="${data(2, 512)}", iov_len=512}]`;
  const calls = ['lseek(3, 512, SEEK_SET) = 512', `writev(3, ${pieces}, 2) = 1024`, 'fdatasync(3) = 0'];
  expect(contents(...calls)).toEqual(new Set(['012']));
});
