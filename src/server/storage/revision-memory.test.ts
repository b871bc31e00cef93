import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openMemoryStore, type Store } from '../../store/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { storeWith } from '../../store/testing/store-with.ts';
import { type Log, silentLog } from '../dependencies.ts';
import { createServer } from '../server.ts';
import { createRevisionMemory } from './revision-memory.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'orch-revision-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const warnings: unknown[] = [];
const log: Log = {
  ...silentLog,
  warn: (message, fields) => {
    if (message.includes('gone back')) warnings.push(fields);
  },
};
beforeEach(() => warnings.splice(0));

const at = (revision: number) => ({ revision: async () => revision });
const restarted = (store: Pick<Store, 'revision'>, tokenKey = 'key') =>
  createRevisionMemory({ store, tokenKey, dataDir, log });

it('warns after a restart over a store whose revision is lower than before, once', async () => {
  await restarted(at(500))();
  await restarted(at(500))();
  await restarted(at(501))();
  expect(warnings).toEqual([]);
  const note = restarted(at(300));
  await note();
  await note();
  await restarted(at(310))();
  expect(warnings).toEqual([{ before: 501, revision: 300 }]);
});

it('warns while the server runs', async () => {
  let revision = 500;
  const note = createRevisionMemory({
    store: { revision: async () => revision },
    tokenKey: '',
    dataDir: undefined,
    log,
  });
  await note();
  revision = 499;
  await note();
  expect(warnings).toEqual([{ before: 500, revision: 499 }]);
});

it('takes a data directory to another store without a warning, and survives what it cannot read or write', async () => {
  await restarted(at(500))();
  await restarted(at(3), 'other')();
  expect(readdirSync(dataDir)).toEqual(['latest-revision']);
  expect(readFileSync(join(dataDir, 'latest-revision'), 'utf8')).not.toContain('other');
  for (const damage of ['', 'x', '[]', '{"store":"x"}', 'null']) {
    writeFileSync(join(dataDir, 'latest-revision'), damage);
    await restarted(at(4))();
  }
  await restarted({ revision: () => Promise.reject(new Error('away')) })();
  expect(warnings).toEqual([]);
});

it('is asked by a server at its start, and every ten seconds', async () => {
  const clock = drivenClock();
  const store = openMemoryStore({ clock });
  let back = 0;
  const revision = async () => (await store.revision()) - back;
  const server = await createServer(
    { apiDomain: 'k8s.io', controllers: '-*', dataDir },
    { clock, log, store: storeWith(store, { revision, close: async () => {} }) },
  );
  const noted = () => readFileSync(join(dataDir, 'latest-revision'), 'utf8');
  const first = noted();
  clock.advance(10_000);
  await expect.poll(noted).not.toBe(first);
  back = 20;
  await expect
    .poll(() => {
      clock.advance(10_000);
      return warnings;
    })
    .toHaveLength(1);
  await server.close();
  back = 60;
  const again = await createServer(
    { apiDomain: 'k8s.io', controllers: '-*', dataDir },
    { clock, log, store: storeWith(store, { revision }) },
  );
  expect(warnings).toHaveLength(2);
  await again.close();
});
