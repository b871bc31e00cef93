import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/server/clock.ts';
import type { Item, JournalEntry } from '../../src/server/harness/checks/history.ts';
import { openLmdbStore } from '../../src/store/index.ts';
import type { Cluster, Cure, Lane } from './cluster.ts';
import { canRecord, Disk } from './disk.ts';
import { Endpoint } from './endpoint.ts';
import { freePorts } from './network.ts';
import { Processes } from './processes.ts';
import { type Random, randomOf } from './random.ts';
import { Replica } from './replica.ts';
import { Supervisor } from './supervisor.ts';
import { keyOf } from './target.ts';

const pageBytes = 4096;
/** Until a server that was started again must be ready (ms). */
const patience = 30_000;

/**
 * One server over the embedded store, which keeps all history. A write beyond the limit on the size of its files fails, as
 * on a full disk, and does not end the process.
 */
export async function startLmdbCluster(folder: string, seed: number): Promise<Cluster> {
  const processes = new Processes(folder);
  const own = join(folder, 'r0');
  mkdirSync(own);
  const [port] = (await freePorts(1)) as [number];
  const endpoint = new Endpoint('r0', own, port);
  const flags = ['--store=lmdb', '--etcd-compaction-interval=0', '--controllers=-*', '--api-domain=k8s.io'];
  const files = ['data.mdb', 'log'].map((name) => join(own, 'store', name));
  const disk = canRecord() ? new Disk(files, join(folder, 'disk.log')) : undefined;
  if (disk === undefined) console.warn('power is not lost in these trials: install strace');
  const runner = ['/bin/sh', '-c', 'trap "" XFSZ; exec "$@"', 'sh', ...(disk?.runner ?? [])];
  const server = new Replica(processes, endpoint, [...flags, '--feature-gates=WatchList=true'], runner);
  const supervisor = new Supervisor([server]);
  const journal: JournalEntry[] = [];
  let revision = 1;
  return {
    endpoints: [endpoint],
    lanes: [faultsOf(server, supervisor, folder, disk, randomOf(seed, 600))],
    journal,
    get revision() {
      return revision;
    },
    compact: async () => {},
    // Only a store that no server uses can be read with its history.
    sync: async () => {
      const start = await supervisor.end(server, 'SIGTERM');
      const store = await openLmdbStore({ path: join(own, 'store'), clock: systemClock, historyMs: 0 });
      const until = await store.revision();
      await new Promise<void>((resolve, reject) => {
        const watch = store.watch('', revision, {
          batch: (at, changes) => {
            if (changes.length === 0) resolve();
            for (const { key: stored, entry } of changes) {
              const key = keyOf(`/registry${stored}`);
              const object = entry && (JSON.parse(Buffer.from(entry.value).toString()) as Item);
              if (key !== undefined) journal.push({ revision: at, key, object });
            }
          },
          error: reject,
        });
        watch.progress();
      });
      revision = until;
      await store.close();
      await start();
      if (!(await endpoint.ready(patience))) supervisor.complaints.push('r0 is not ready after a stop');
    },
    complaints: () => supervisor.complaints,
    close: async () => {
      supervisor.stop();
      endpoint.close();
      await processes.close();
    },
  };
}

function faultsOf(
  server: Replica,
  supervisor: Supervisor,
  folder: string,
  disk: Disk | undefined,
  random: Random,
): Lane {
  const store = join(server.endpoint.folder, 'store');
  const end = async (signal: NodeJS.Signals) => {
    const { pid } = server;
    const start = await supervisor.end(server, signal);
    if (pid !== undefined) await disk?.ended(pid);
    return start;
  };
  return {
    rest: 1_500,
    length: 2_500,
    faults: {
      'kill server': () => end('SIGKILL'),
      'stop server': () => end('SIGTERM'),
      ...(disk && {
        'lose power': async () => {
          const start = await end('SIGKILL');
          disk.losePower(random);
          return start;
        },
      }),
      'pause server': () => {
        server.signal('SIGSTOP');
        return () => server.signal('SIGCONT');
      },
      'fill disk': () => {
        limitFiles(server, `${statSync(join(store, 'data.mdb')).size}`);
        return () => limitFiles(server, 'unlimited');
      },
      'damage a copy': async () => {
        const start = await end('SIGKILL');
        const copy = join(folder, 'copy');
        cpSync(store, join(copy, 'store'), { recursive: true });
        return () => examine(start, copy, supervisor, random);
      },
    },
  };
}

/**
 * Sets the limit (bytes) on the size of the files that a server writes. A process that has just begun is still `strace`,
 * whose own log must not be limited.
 */
function limitFiles({ pid }: Replica, limit: string): void {
  const name = `/proc/${pid}/comm`;
  if (existsSync(name) && readFileSync(name, 'utf8').startsWith('strace')) return;
  spawnSync('prlimit', [`--pid=${pid}`, `--fsize=${limit}:unlimited`]);
}

/** Damage of a store is found, or changes nothing that is read. */
async function examine(start: Cure, copy: string, { complaints }: Supervisor, random: Random): Promise<void> {
  await start();
  const file = join(copy, 'store', 'data.mdb');
  const whole = checked(copy);
  const bytes = readFileSync(file);
  const at = random.integer(bytes.length);
  const page = Math.floor(at / pageBytes) * pageBytes;
  if (random.chance(2)) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.integer(8));
  else bytes.fill(0, page, page + pageBytes);
  writeFileSync(file, bytes);
  const found = checked(copy);
  if (whole.status !== 0) complaints.push(`the store of a killed server is not whole: ${whole.text}`);
  if (found.status === null) complaints.push(`the check of a store with damage at ${at} has ended by ${found.signal}`);
  else if (found.status === 0 && found.digest !== whole.digest) complaints.push(`damage at ${at} changes what is read`);
  rmSync(copy, { recursive: true });
}

function checked(dataDir: string) {
  const args = ['dist/server/main.js', 'check', `--data-dir=${dataDir}`, '--json'];
  const { status, signal, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const digest = /"sha256":"(\w+)"/.exec(stdout)?.[1];
  return { status, signal, digest, text: stdout.slice(0, 1_000) };
}
