import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { drivenClock } from '../testing/driven-clock.ts';
import { put, text } from '../testing/tools.ts';
import { openLmdbStore } from './lmdb-store.ts';
import { openLmdbSnapshot } from './snapshot.ts';

const child = fileURLToPath(new URL('../testing/child.mjs', import.meta.url));
const door = new URL('../../../dist/server/store.js', import.meta.url).href;

test('a snapshot stays as it is while another process writes, compacts and removes what it has', async () => {
  const path = mkdtempSync(join(tmpdir(), 'snapshot-'));
  const store = await openLmdbStore({ path, clock: drivenClock() });
  for (let i = 0; i < 2000; i += 100) {
    await store.commit(
      [],
      Array.from({ length: 100 }, (_, j) => put(`5/${i + j}`)),
    );
  }
  await store.close();
  const writer = spawn(process.execPath, [child, door, path, 'write'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(writer, 'exit');
  const lines = createInterface(writer.stdout)[Symbol.asyncIterator]();
  const written = async (count: number) => {
    for (let i = 0; i < count; i++) await lines.next();
  };
  try {
    await written(300);
    const snapshot = await openLmdbSnapshot(path);
    const read = async () => {
      const found: unknown[] = [];
      for await (const page of snapshot.pages()) {
        expect(page.every(({ revision }) => revision <= snapshot.revision)).toBe(true);
        found.push(...page.map((entry) => [entry.key, entry.revision, text(entry)]));
        // Several times as many as history is kept for.
        await written(400);
      }
      return found;
    };
    const first = await read();
    expect(first.length).toBeGreaterThan(2000);
    expect(await read()).toEqual(first);
    await snapshot.close();
    const later = await openLmdbSnapshot(path);
    expect(later.revision).toBeGreaterThan(snapshot.revision + 2000);
    await later.close();
  } finally {
    writer.kill('SIGKILL');
    await exit;
    rmSync(path, { recursive: true, force: true });
  }
});
