import { chmodSync, mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readPrivate, writePrivate, writePublic } from './files.ts';

const folder = mkdtempSync(join(tmpdir(), 'orch-'));
const path = join(folder, 'a');
const modeOf = (file: string) => statSync(file).mode & 0o777;

it('removes the permissions of others before it reads a private file', async () => {
  expect(await readPrivate(path)).toBeUndefined();
  writeFileSync(path, 'secret');
  chmodSync(path, 0o644);
  expect(await readPrivate(path)).toBe('secret');
  expect(modeOf(path)).toBe(0o600);
  chmodSync(path, 0o400);
  await readPrivate(path);
  expect(modeOf(path)).toBe(0o400);
});

it.each([
  [0, 0o600, 0o644],
  [0o077, 0o600, 0o644],
])('writes a file with its mode under the umask %o', async (umask, ofPrivate, ofPublic) => {
  const before = process.umask(umask);
  try {
    await writePrivate(path, 'x');
    expect(modeOf(path)).toBe(ofPrivate);
    await writePublic(path, 'y');
    expect(modeOf(path)).toBe(ofPublic);
  } finally {
    process.umask(before);
  }
});

it('does not write into an existing temporary file', async () => {
  const other = join(folder, 'other');
  writeFileSync(other, 'of another');
  symlinkSync(other, `${path}.${process.pid}.tmp`);
  await writePrivate(path, 'secret');
  expect(readFileSync(other, 'utf8')).toBe('of another');
  expect(readFileSync(path, 'utf8')).toBe('secret');
  expect(readdirSync(folder).sort()).toEqual(['a', 'other']);
});
