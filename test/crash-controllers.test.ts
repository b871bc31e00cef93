import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { env, execPath } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { collected, outcome, prepare, stateOf, steps, take, violations } from './support/disturbed-work.ts';
import { seededRandom } from './support/seeded-random.ts';
import { type RunningServer, startServer } from './support/server.ts';

/*
 * Controllers are killed at random moments, and go on with the work where they or others start again. The seed of a run is
 * in the titles; another one is given as CRASH_SEED.
 */

const seed = Number(env['CRASH_SEED'] ?? Date.now() % 2 ** 31);
const root = dirname(import.meta.dirname);
/** Kills after the last step, at least. */
const lastKills = 3;
/** How long the work may take (ms), and the test. They end a test whose work is never done: a busy machine takes long. */
const workTimeout = 240_000;
const timeout = 2 * workTimeout;

const leaderChanges = 2;
const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager';
const election = [
  '--leader-elect-lease-duration=6s',
  '--leader-elect-renew-deadline=5s',
  '--leader-elect-retry-period=200ms',
];

interface Manager {
  readonly process: ChildProcess;
  readonly exited: Promise<unknown>;
  /** Whether it says that it has acquired the lease under this identity. */
  readonly is: (holder: string) => boolean;
}

/** Controllers in a process of their own. */
function startManager({ kubeconfig }: RunningServer): Manager {
  const args = [join(root, 'dist/server/main.js'), 'controllers', `--kubeconfig=${kubeconfig}`, ...election];
  const process = spawn(execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let logged = '';
  process.stderr.on('data', (piece: Buffer) => {
    logged += piece.toString();
  });
  return { process, exited: once(process, 'exit'), is: (holder) => logged.includes(`"identity":"${holder}"`) };
}

/** Resolves when the work is done, and nothing changes any more. */
async function expectOutcome(server: RunningServer): Promise<void> {
  await expect.poll(() => stateOf(server), { timeout: workTimeout, interval: 200 }).toEqual(outcome);
  await collected(server);
  expect([await stateOf(server), await violations(server)]).toEqual([outcome, []]);
}

describe(`the work is done, with CRASH_SEED=${seed}`, () => {
  it('by a server that is killed at random moments', { timeout }, async () => {
    const random = seededRandom(seed);
    const folder = mkdtempSync(join(tmpdir(), 'orch-crash-'));
    const start = () => startServer(['--api-domain=k8s.io', '--controllers=*', '--fake-nodes=2'], folder);
    let server = await start();
    let [next, killsLeft] = [0, lastKills];
    try {
      await prepare(server);
      while (killsLeft > 0) {
        const { process } = server;
        const exited = once(process, 'exit');
        const killed = sleep(100 + random.integer(1_000)).then(() => process.kill('SIGKILL'));
        // A step whose answer is lost is taken again.
        for (; next < steps.length && !process.killed; next++) {
          const isTaken = await take(server, steps[next]!).then(
            () => true,
            (error) => {
              if (process.killed) return false;
              throw error;
            },
          );
          if (!isTaken) break;
          await sleep(random.integer(150));
        }
        await killed;
        await exited;
        if (next === steps.length) killsLeft -= 1;
        server = await start();
        expect(await violations(server)).toEqual([]);
      }
      await expectOutcome(server);
    } finally {
      await server.stop('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('by controllers that take over from others which are killed or halted', { timeout }, async () => {
    const random = seededRandom(seed);
    const flags = ['--controllers=-*', '--fake-nodes=2', '--leader-elect=false'];
    const server = await startServer(['--api-domain=k8s.io', ...flags]);
    const running: Manager[] = [];
    const leader = async (): Promise<Manager> => {
      for (;;) {
        const holder = (await server.request('GET', lease)).body.spec?.holderIdentity as string | undefined;
        const found = holder === undefined || holder === '' ? undefined : running.find(({ is }) => is(holder));
        if (found !== undefined) return found;
        await sleep(50);
      }
    };
    let isOver = false;
    /** Those that lose the lease on a busy machine are replaced, as a supervisor of processes does. */
    const another = () => {
      const manager = startManager(server);
      running.push(manager);
      manager.process.once('exit', (status) => {
        if (status !== null && !isOver) another();
      });
      return manager;
    };
    try {
      another();
      await leader();
      await prepare(server);
      const user = async () => {
        for (const step of steps) {
          await take(server, step);
          await sleep(random.integer(700));
        }
      };
      const changes = async () => {
        for (let change = 0; change < leaderChanges; change++) {
          another();
          await sleep(300 + random.integer(1_500));
          const old = await leader();
          old.process.kill(random.integer(2) === 0 ? 'SIGSTOP' : 'SIGKILL');
          while ((await leader()) === old) await sleep(50);
          // One that was halted still believes to be the leader.
          old.process.kill('SIGCONT');
          await old.exited;
          expect(await violations(server)).toEqual([]);
        }
      };
      await Promise.all([user(), changes()]);
      await expectOutcome(server);
    } finally {
      isOver = true;
      for (const { process } of running) process.kill('SIGKILL');
      await server.stop('SIGKILL');
    }
  });
});
