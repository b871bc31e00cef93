import { chmodSync, mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readPrivate, writePrivate, writePublic } from './private-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'orch-'));
const path = join(folder, 'a');
const modeOf = (file: string) => statSync(file).mode & 0o777;

it('refuses to read a private file that others may read, and leaves it as it is', async () => {
  expect(await readPrivate(path)).toBeUndefined();
  writeFileSync(path, 'secret');
  for (const mode of [0o644, 0o640, 0o610, 0o602]) {
    chmodSync(path, mode);
    await expect(readPrivate(path)).rejects.toThrow(
      `${path} is secret, and open to others (mode 0${mode.toString(8)}): chmod 600 ${path}`,
    );
    expect(modeOf(path)).toBe(mode);
  }
  for (const mode of [0o600, 0o400]) {
    chmodSync(path, mode);
    expect(await readPrivate(path)).toBe('secret');
  }
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
