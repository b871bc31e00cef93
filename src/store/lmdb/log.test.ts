import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Log } from './log.ts';
import { decodePayload, encodeGroup, groupsIn, logPageBytes, type Payload, tailOf } from './log-format.ts';
import { logFile } from './tail.ts';

const id = Buffer.alloc(16, 7);
const newId = () => Buffer.alloc(16, 8);
const pages = 32;

/** A payload that fills so many pages, with a part of the last one. */
const payloadOf = (size: number, n: number): Payload => ({
  state: Buffer.from(`state ${n}`),
  marks: n % 2 === 0 ? undefined : Buffer.from(`marks ${n}`),
  changes: [
    { table: 0, key: Buffer.from(`${n}`), value: Buffer.alloc(size * logPageBytes - 2000, n) },
    { table: 1, key: Buffer.from('gone'), value: undefined },
    { table: 2, key: Buffer.from('empty'), value: Buffer.alloc(0) },
  ],
});

let path: string;
let log: Log;
beforeEach(async () => {
  path = mkdtempSync(join(tmpdir(), 'store-log-'));
  log = await Log.create(path, pages * logPageBytes, id);
  log.release(log.mark);
});
afterEach(async () => {
  await log.close();
  rmSync(path, { recursive: true, force: true });
});

const read = () => readFileSync(join(path, logFile));

test('a group is read as it was written', async () => {
  for (let n = 0; n < 4; n++) expect(await log.write(payloadOf(2, n), newId)).toBe(n + 1);
  const groups = groupsIn(read(), id);
  expect(groups.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
  expect(groups.map(({ payload }) => decodePayload(payload))).toEqual([0, 1, 2, 3].map((n) => payloadOf(2, n)));
});

test('the groups of another log are not read, and what clients write is no group', async () => {
  const inside = encodeGroup(id, 9, payloadOf(1, 9));
  const before = encodeGroup(id, 1, { state: Buffer.of(), marks: undefined, changes: [] });
  // At the start of a page within the group.
  const value = Buffer.concat([Buffer.alloc(logPageBytes - 40 - 4 - 7 - 1), inside]);
  const group = encodeGroup(id, 2, {
    state: Buffer.of(),
    marks: undefined,
    changes: [{ table: 0, key: Buffer.of(1), value }],
  });
  expect(group.indexOf('storelog', 1) % logPageBytes).toBe(0);
  const file = Buffer.concat([before, group]);
  expect(groupsIn(file, id).map(({ sequence }) => sequence)).toEqual([1, 2]);
  expect(groupsIn(file, Buffer.alloc(16, 9))).toEqual([]);
});

test('no group of the log overwrites one that is not in the tree, and its size stays as it is', async () => {
  const live: number[] = [];
  let [released, written, full] = [0, 0, 0];
  for (let n = 0; n < 400; n++) {
    const payload = payloadOf(1 + ((n * 7) % 4), n % 200);
    expect(log.takes(payload)).toBe(true);
    while (!log.hasSpace(payload)) {
      full++;
      // Some of the oldest groups get into the tree.
      released = live.splice(0, 1 + (n % 3)).at(-1) ?? released;
      log.release({ id, sequence: released });
    }
    live.push(await log.write(payload, newId));
    written++;
    expect(tailOf(groupsIn(read(), id), released)?.map(({ sequence }) => sequence)).toEqual(live);
  }
  expect(full).toBeGreaterThan(20);
  expect(written).toBe(400);
  expect(statSync(join(path, logFile)).size).toBe(pages * logPageBytes);
});

test('a log that a process has left continues behind its last group', async () => {
  for (let n = 0; n < 30; n++) {
    await log.close();
    const tail = tailOf(groupsIn(read(), id), Math.max(0, n - 3));
    log = await Log.resume(path, { id, sequence: Math.max(0, n - 3) }, tail ?? []);
    expect(tail?.length).toBe(Math.min(n, 3));
    expect(await log.write(payloadOf(3, n), newId)).toBe(n + 1);
  }
});

test('a payload above an eighth of the log is too large for it', () => {
  expect(log.takes(payloadOf(4, 1))).toBe(true);
  expect(log.takes(payloadOf(5, 1))).toBe(false);
});

test('a missing group before a later one is found, a torn last group is not there', async () => {
  for (let n = 0; n < 5; n++) await log.write(payloadOf(2, n), newId);
  const file = read();
  for (let page = 0; page < 10; page++) {
    const damaged = Buffer.from(file);
    damaged[page * logPageBytes + 100]! ^= 1;
    const tail = tailOf(groupsIn(damaged, id), 0);
    if (page < 8) expect(tail).toBeUndefined();
    else expect(tail?.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
  }
});
