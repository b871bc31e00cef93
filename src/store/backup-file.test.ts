import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type BackupFile, openBackup, writeBackup } from './backup-file.ts';
import type { CopyObserver } from './copy.ts';
import { copyStore } from './copy.ts';
import { openLmdbStore } from './lmdb/lmdb-store.ts';
import { replaceLmdbStore } from './lmdb/replace.ts';
import { openLmdbSnapshot } from './lmdb/snapshot.ts';
import type { LeasedEntry, StoreSnapshot } from './snapshot.ts';
import { drivenClock } from './testing/driven-clock.ts';
import { bytes, put, text } from './testing/tools.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'backup-file-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const made = new Date('2030-01-02T03:04:05Z');
const quiet: CopyObserver = { progress: () => undefined, resumed: () => undefined, restarted: () => undefined };
const secret: BackupFile = { name: 'ca.key', content: bytes('a key') };

async function entriesOf(snapshot: StoreSnapshot): Promise<LeasedEntry[]> {
  const entries: LeasedEntry[] = [];
  for await (const page of snapshot.pages()) entries.push(...page);
  await snapshot.close();
  return entries.map((entry) => ({ ...entry, value: Uint8Array.from(entry.value) }));
}

const snapshotOf = (entries: readonly LeasedEntry[], revision = 7): StoreSnapshot => ({
  revision,
  size: entries.length,
  async *pages() {
    for (let i = 0; i < entries.length; i += 3) yield entries.slice(i, i + 3);
  },
  close: async () => undefined,
});

const write = (path: string, snapshot: StoreSnapshot, files = [secret]) =>
  writeBackup({ path, snapshot, files, made, progress: () => undefined });

const restore = async (file: string, to: string, overwrite = false) => {
  const { snapshot } = await openBackup(file);
  await replaceLmdbStore({
    path: to,
    overwrite,
    fill: async (target) => {
      await copyStore(async () => snapshot, target, quiet);
    },
  });
};

const entry = fc.record({
  key: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
  value: fc.uint8Array({ maxLength: 300 }),
  revision: fc.integer({ min: 1, max: 2 ** 48 - 1 }),
  expires: fc.option(fc.integer({ min: 1, max: 2 ** 48 - 1 }), { nil: undefined }),
});

test('what is read from a backup is what was written', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(entry), fc.integer({ min: 1, max: 2 ** 47 }), async (entries, revision) => {
      const path = join(folder, 'file');
      rmSync(path, { force: true });
      const { bytes: size } = await write(path, snapshotOf(entries, revision));
      const backup = await openBackup(path);
      expect(backup).toMatchObject({ made, entries: entries.length, bytes: size });
      expect(backup.files.map(({ name, content }) => [name, Buffer.compare(content, secret.content)])).toEqual([
        ['ca.key', 0],
      ]);
      expect(statSync(path)).toMatchObject({ size, mode: 0o100600 });
      expect(backup.snapshot.revision).toBe(revision);
      expect(await entriesOf(backup.snapshot)).toEqual(entries);
    }),
    { numRuns: 20 },
  );
});

test('a value that is larger than what is read at once', async () => {
  const value = Uint8Array.from({ length: 3_000_000 }, (_, i) => i % 251);
  const entries = ['a', 'b'].map((key) => ({ key, value, revision: 3, expires: undefined }));
  await write(join(folder, 'file'), snapshotOf(entries));
  const found = await entriesOf((await openBackup(join(folder, 'file'))).snapshot);
  expect(found.map(({ key }) => key)).toEqual(['a', 'b']);
  for (const each of found) expect(Buffer.compare(each.value, value)).toBe(0);
});

test('a backup that was cut off, or of which any bit has changed, is refused', async () => {
  const path = join(folder, 'file');
  await write(path, snapshotOf([{ key: 'a', value: bytes('b'), revision: 3, expires: 9 }]));
  const whole = readFileSync(path);
  const refused = { name: 'StoreError', message: expect.stringContaining(path) };
  for (let at = 0; at < whole.length; at += 3) {
    writeFileSync(path, whole.subarray(0, at));
    await expect(openBackup(path)).rejects.toMatchObject(refused);
    const changed = Buffer.from(whole);
    changed.writeUInt8(whole.readUInt8(at) ^ (1 << (at % 8)), at);
    writeFileSync(path, changed);
    await expect(openBackup(path)).rejects.toMatchObject(refused);
  }
  writeFileSync(path, Buffer.concat([whole, Buffer.alloc(1)]));
  await expect(openBackup(path)).rejects.toMatchObject({ ...refused, code: 'damaged' });
  writeFileSync(path, whole);
  await (await openBackup(path)).snapshot.close();
});

test('files that are not backups are refused with the reason', async () => {
  const path = join(folder, 'file');
  const message = async () => {
    const error = await openBackup(path).catch((reason: unknown) => reason);
    return (error as Error).message.replace(path, 'FILE');
  };
  expect(await message()).toBe('FILE cannot be read: there is no such file or folder');
  writeFileSync(path, '');
  expect(await message()).toBe('FILE is not a backup');
  writeFileSync(path, '{"format":"multi-version store backup","version":2}\n');
  expect(await message()).toBe('FILE has version 2, and this program reads version 1: use the one that wrote it');
});

/** A backup with a right checksum, whatever its content. */
function crafted(header: object, ...frames: readonly Uint8Array[]): string {
  const path = join(folder, 'crafted');
  const known = { format: 'multi-version store backup', version: 1, revision: 9, made: 1 };
  const content = Buffer.concat([bytes(`${JSON.stringify({ ...known, ...header })}\n`), ...frames]);
  writeFileSync(path, Buffer.concat([content, createHash('sha256').update(content).digest()]));
  return path;
}

test.each([
  [{ revision: 'x' }, 'revision'],
  [{ revision: 1.5 }, 'revision'],
  [{ revision: 0 }, 'revision'],
  [{ revision: 1e300 }, 'revision'],
  [{ made: 'never' }, 'when it was made'],
  [{ made: 1e300 }, 'when it was made'],
])('a crafted header is refused: %j', async (header, why) => {
  await expect(openBackup(crafted(header))).rejects.toMatchObject({
    code: 'damaged',
    message: expect.stringContaining(why),
  });
});

test('a crafted entry of any size is refused before it is read', async () => {
  const head = Buffer.alloc(21);
  head.write('E');
  head.writeUInt32BE(1, 1);
  head.writeUInt32BE(0xff_ff_ff_00, 5);
  await expect(openBackup(crafted({}, head, Buffer.alloc(100)))).rejects.toMatchObject({
    code: 'damaged',
    message: expect.stringContaining('an entry of 4294967062 bytes'),
  });
});

test('a failed backup leaves no file, and one that is there stays', async () => {
  const path = join(folder, 'file');
  const failing: StoreSnapshot = {
    ...snapshotOf([]),
    async *pages() {
      yield [{ key: 'a', value: bytes('b'), revision: 3, expires: undefined }];
      throw new Error('the disk fails');
    },
  };
  const refused = { name: 'StoreError', code: 'unavailable' };
  await expect(write(path, failing)).rejects.toMatchObject(refused);
  expect(readdirSync(folder)).toEqual([]);
  writeFileSync(path, 'something');
  const message = `${path} exists already: choose another name`;
  await expect(write(path, snapshotOf([]))).rejects.toMatchObject({ ...refused, message });
  expect(readdirSync(folder)).toEqual(['file']);
  expect(readFileSync(path, 'utf8')).toBe('something');
});

test('a store that was restored has the entries, their revisions and leases, and a history that begins later', async () => {
  const clock = drivenClock();
  const [from, to, file] = ['from', 'to', 'file'].map((name) => join(folder, name)) as [string, string, string];
  const store = await openLmdbStore({ path: from, clock });
  const long = 'k'.repeat(3000);
  for (const key of ['b', 'a', 'ü', long, 'gone', 'b']) await store.commit([], [put(key, `${key} of ${from}`)]);
  await store.commit([], [{ key: 'gone' }, { ...put('leased'), ttl: 10 }, { ...put('twin'), ttl: 20 }]);
  const before = await store.list({ prefix: '' });
  await store.close();
  clock.advance(4000);
  const snapshot = await openLmdbSnapshot(from);
  await write(file, snapshot);
  const entries = await entriesOf(snapshot);
  await restore(file, to);
  expect(readdirSync(folder).toSorted()).toEqual(['file', 'from', 'to']);
  expect(await entriesOf(await openLmdbSnapshot(to))).toEqual(entries);

  const restored = await openLmdbStore({ path: to, clock });
  expect((await restored.list({ prefix: '' })).entries).toEqual(before.entries);
  const latest = await restored.revision();
  expect(latest).toBe(before.revision + 1_000_000_000);
  expect(await restored.oldest()).toBe(latest);
  await expect(restored.get('a', before.revision)).rejects.toMatchObject({ code: 'compacted' });
  expect(await restored.commit([{ key: 'a', revision: 3 }], [put('a', 'new')])).toEqual({
    ok: true,
    revision: latest + 1,
  });
  const left = async () => (await restored.list({ prefix: '' })).entries.map(({ key }) => key.slice(0, 9));
  clock.advance(5999);
  expect(await left()).toContain('leased');
  clock.advance(1001);
  await expect.poll(left).toEqual(['a', 'b', long.slice(0, 9), 'twin', 'ü']);
  clock.advance(11_000);
  await expect.poll(left).not.toContain('twin');
  await restored.compact(await restored.revision());
  expect(text((await restored.get(long)).entry)).toBe(`${long} of ${from}`);
  await restored.close();
});

test('a store is replaced only when it is told so, is not in use, and the backup is whole', async () => {
  const clock = drivenClock();
  const [to, file, bad] = ['to', 'file', 'bad'].map((name) => join(folder, name)) as [string, string, string];
  await write(file, snapshotOf([{ key: 'new', value: bytes('x'), revision: 3, expires: undefined }]));
  const old = await openLmdbStore({ path: to, clock });
  await old.commit([], [put('old')]);
  await expect(restore(file, to, true)).rejects.toMatchObject({ message: expect.stringContaining('in use') });
  await old.close();
  await expect(restore(file, to)).rejects.toMatchObject({ message: expect.stringContaining('there is data in') });
  writeFileSync(bad, readFileSync(file).subarray(0, -1));
  await expect(restore(bad, to, true)).rejects.toMatchObject({ code: 'damaged' });
  const keys = async () => {
    const store = await openLmdbStore({ path: to, clock });
    const { entries } = await store.list({ prefix: '' });
    await store.close();
    return entries.map(({ key }) => key);
  };
  expect(await keys()).toEqual(['old']);
  const fill = () => Promise.reject(new Error('ended'));
  await expect(replaceLmdbStore({ path: to, overwrite: true, fill })).rejects.toMatchObject({ code: 'unavailable' });
  expect(await keys()).toEqual(['old']);
  // The remains of a restore that was killed.
  const killed = await openLmdbStore({ path: `${to}.new`, clock });
  await killed.commit([], [put('half')]);
  await killed.close();
  await restore(file, to, true);
  expect(await keys()).toEqual(['new']);
  expect(readdirSync(folder).toSorted()).toEqual(['bad', 'file', 'to']);
});
