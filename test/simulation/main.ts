// npm run simulate [-- --seeds=1000 --first=1 --seed=N --jobs=N --world=NAME --twice --hour]: runs the project's own worlds from
// seeds, in parallel processes. Exits with status 1 when a run fails, which is then reduced and printed.
import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SimulationError } from '../../src/server/harness/index.ts';
import { runWorld, shrinkRun } from '../../src/server/harness/simulation/simulate.ts';
import { hourWorld } from './hour-world.ts';
import { type WorldName, worldOf } from './worlds.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    first: { type: 'string', default: '1' },
    /** One seed, with the end of its trace. */
    seed: { type: 'string' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    /** The world of all seeds. Default: the worlds take turns. */
    world: { type: 'string' },
    /** Runs each seed twice and compares the digests. */
    twice: { type: 'boolean', default: false },
    /** Measures a simulated hour of three servers with all controllers. */
    hour: { type: 'boolean', default: false },
    /** Prints the lowest seed that fails, and nothing else. */
    find: { type: 'boolean', default: false },
    worker: { type: 'boolean', default: false },
  },
});

/** The value of a flag that is a whole number from 1 on. */
function numberOf(name: 'seeds' | 'first' | 'jobs' | 'seed'): number {
  const number = Number(values[name]);
  if (Number.isSafeInteger(number) && number >= 1) return number;
  console.error(`--${name}=${values[name]} must be a whole number from 1 on`);
  process.exit(2);
}

/** Flags of V8 for workers, which run much code a few times: code is compiled at its first call, and garbage collected rarely. */
const execArgv = ['--always-sparkplug', '--max-semi-space-size=64'];

const makeWorld = (seed: number) => worldOf(seed, values.world as WorldName | undefined);

/** The report of a worker about a seed. */
interface Told {
  readonly seed: number;
  readonly requests: number;
  /** In one line; absent when everything held. */
  readonly failure?: string;
}

async function runSeed(seed: number): Promise<Told> {
  const run = await runWorld(seed, makeWorld(seed));
  const { requests, failures, digest } = run;
  const [first] = failures;
  if (first !== undefined) return { seed, requests, failure: `${first.rule}: ${first.message}` };
  if (!values.twice) return { seed, requests };
  const again = await runWorld(seed, makeWorld(seed));
  if (again.digest === digest) return { seed, requests };
  const line = run.trace.find((text, i) => text !== again.trace[i]);
  return { seed, requests, failure: `another run of the seed differs, first in: ${line}` };
}

/** Runs the seeds that the parent sends, one after the other. */
function work(): void {
  process.on('message', (seed: number) => {
    runSeed(seed).then(
      (told) => process.send?.(told),
      (error: Error) => process.send?.({ seed, requests: 0, failure: error.stack ?? error.message } satisfies Told),
    );
  });
}

/** Runs all seeds in several processes. Resolves to what failed; with `--find` only the lowest seed that fails matters. */
function runAll(first: number, seeds: number): Promise<readonly Told[]> {
  const began = performance.now();
  const failed: Told[] = [];
  let [next, done, requests] = [first, 0, 0];
  const workers: ChildProcess[] = [];
  const flags = [
    ...(values.twice ? ['--twice'] : []),
    ...(values.world === undefined ? [] : [`--world=${values.world}`]),
  ];
  return new Promise((resolve) => {
    const running = new Map<ChildProcess, number>();
    const end = () => {
      next = first + seeds;
      running.clear();
      for (const worker of workers) worker.kill();
      resolve(failed.sort((a, b) => a.seed - b.seed));
    };
    const count = (told: Told) => {
      done++;
      requests += told.requests;
      if (told.failure !== undefined) failed.push(told);
      if (!values.find) report(done, seeds, requests, failed, performance.now() - began);
      if (values.find && failed.length > 0) {
        // The lowest seed that fails is the first, whichever process is faster.
        next = first + seeds;
        const lowest = Math.min(...failed.map(({ seed }) => seed));
        if ([...running.values()].every((seed) => seed > lowest)) end();
      } else if (done === seeds) end();
    };
    const give = (worker: ChildProcess) => {
      if (next >= first + seeds) return;
      running.set(worker, next);
      worker.send(next++);
    };
    const start = () => {
      const worker = fork(fileURLToPath(import.meta.url), ['--worker', ...flags], { execArgv });
      workers.push(worker);
      worker.on('message', (told: Told) => {
        if (!running.delete(worker)) return;
        count(told);
        give(worker);
      });
      worker.on('exit', (status, signal) => {
        const seed = running.get(worker);
        if (seed === undefined) return;
        running.delete(worker);
        count({ seed, requests: 0, failure: `the process of the seed has ended with ${signal ?? status}` });
        if (next < first + seeds) start();
      });
      give(worker);
    };
    for (let i = 0; i < Math.min(numberOf('jobs'), seeds); i++) start();
  });
}

/** The progress: rewrites its line on a terminal, otherwise one line for each tenth. */
function report(done: number, all: number, requests: number, failed: readonly Told[], ms: number): void {
  const line = `${done} of ${all} seeds, ${requests} requests, ${failed.length} failed, ${(ms / 1_000).toFixed(0)} s`;
  if (process.stdout.isTTY) process.stdout.write(`\r${line}${done === all ? '\n' : ''}`);
  else if (done === all || Math.floor((10 * done) / all) > Math.floor((10 * (done - 1)) / all)) console.log(line);
}

if (values.worker) work();
else if (values.hour) await measureHour();
else if (values.seed === undefined) {
  const failed = await runAll(numberOf('first'), numberOf('seeds'));
  if (values.find)
    console.log(failed[0] === undefined ? 'none' : `${failed[0].seed} ${failed[0].failure?.slice(0, 160)}`);
  else for (const { seed, failure } of failed.slice(0, 10)) console.log(`seed ${seed}: ${failure}`);
  const [first] = failed;
  if (first !== undefined && !values.find) await show(first.seed);
  process.exitCode = failed.length > 0 ? 1 : 0;
} else await show(numberOf('seed'));

/** Runs an hour of three servers whose controllers carry out deployments that are scaled every ten seconds. */
async function measureHour(): Promise<void> {
  const began = performance.now();
  const { requests, revision, time, failures } = await runWorld(1, hourWorld);
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  console.log(`${Math.round(time / 1_000)} s of the world, ${requests} requests, ${revision} revisions: ${seconds} s`);
  for (const { rule, message } of failures) console.log(`${rule}: ${message}`);
}

/** Runs a seed, and when it fails reduces it and prints it. */
async function show(seed: number): Promise<void> {
  const run = await runWorld(seed, makeWorld(seed));
  console.log(`seed ${seed}: ${run.requests} requests, ${run.revision} revisions, digest ${run.digest}`);
  if (run.failures.length === 0) return;
  const smallest = await shrinkRun(run, () => makeWorld(seed));
  console.log(new SimulationError(smallest).message);
  for (const line of smallest.trace.slice(-60)) console.log(line.slice(0, 240));
  process.exitCode = 1;
}
