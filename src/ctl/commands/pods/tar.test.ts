import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { endOfArchive, type TarEntry, TarReader, writeEntry } from './tar.ts';

const folder = mkdtempSync(join(tmpdir(), 'tar-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const entries: TarEntry[] = [
  { name: 'top/', mode: 0o755, content: Buffer.alloc(0) },
  { name: 'top/empty', mode: 0o600, content: Buffer.alloc(0) },
  { name: 'top/block', mode: 0o644, content: Buffer.alloc(512, 'x') },
  { name: `top/${'deep/'.repeat(25)}file`, mode: 0o644, content: Buffer.from('found\n') },
];
const archive = () => Buffer.concat([...entries.map(writeEntry), endOfArchive()]);
const shown = ({ name, mode, content }: TarEntry) => ({ name, mode, content: Buffer.from(content).toString() });

describe('an archive', () => {
  it('is read back as written, in chunks of any size', () => {
    for (const size of [1, 511, 513, 1_000_000]) {
      const reader = new TarReader(1_000);
      const read: TarEntry[] = [];
      const bytes = archive();
      for (let at = 0; at < bytes.length; at += size) {
        for (const entry of reader.read(bytes.subarray(at, at + size)))
          read.push({ ...entry, content: Buffer.from(entry.content) });
      }
      expect(read.map(shown)).toEqual(entries.map(shown));
    }
  });

  it('is one for tar, and that of tar is read', () => {
    execFileSync('tar', ['xf', '-', '-C', folder], { input: archive() });
    expect(readFileSync(join(folder, entries[3]?.name ?? ''), 'utf8')).toBe('found\n');
    const long = join('names', 'n'.repeat(150));
    mkdirSync(join(folder, 'names'));
    writeFileSync(join(folder, long), 'long\n');
    const read = [...new TarReader(1_000).read(execFileSync('tar', ['cf', '-', '-C', folder, 'names']))];
    expect(read.map(({ name, content }) => [name, Buffer.from(content).toString()])).toEqual([
      ['names/', ''],
      [long, 'long\n'],
    ]);
  });

  it('has no links, which could lead out of a folder', () => {
    const link = Buffer.from(writeEntry({ name: 'link', mode: 0o777, content: Buffer.alloc(0) }));
    link.write('2', 156);
    link.write('        ', 148);
    const sum = link.subarray(0, 512).reduce((all, byte) => all + byte, 0);
    link.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    expect([...new TarReader(1_000).read(link)]).toEqual([]);
  });

  it('is refused when it is none, when a file is too large and when a name does not fit', () => {
    expect(() => [...new TarReader(1_000).read(Buffer.alloc(512, 'x'))]).toThrow(
      'the container did not send an archive',
    );
    expect(() => [...new TarReader(511).read(archive())]).toThrow('the archive has a file of 512 bytes, limit is 511');
    expect(() => writeEntry({ name: 'n'.repeat(101), mode: 0, content: Buffer.alloc(0) })).toThrow(
      'is too long for an archive',
    );
  });
});
