import { readDuration } from '../duration.ts';
import { readTestOptions } from '../options.ts';
import { drawPlan, faultNames, type SimulationPlan } from './plan.ts';
import { withReplacedGlobals } from './replaced-globals.ts';
import { choicesOf } from './seeded-random.ts';
import { programOf, shrink } from './shrink.ts';
import { Trace } from './trace.ts';
import { VirtualLoop } from './virtual-loop.ts';
import type { OwnWorld, SimulatedWorld, SimulationFailure, SimulationRun } from './world.ts';
import { WorldRun } from './world-run.ts';

/** Ends a run that has failed. */
class FailedRun extends Error {}

/** The most failures of a run that are reported. */
const maxFailures = 20;

/** Runs a world from a seed, and returns what happened. @throws Error when the world itself is wrong */
export async function runWorld(seed: number, world: OwnWorld): Promise<SimulationRun> {
  const parts = partsOf(world);
  const plan = world.plan ?? planOf(seed, world, parts);
  const several = parts.servers.length > 1;
  const settings = await readTestOptions({ leaderElect: several, ...world.options });
  const loop = new VirtualLoop();
  const trace = new Trace(loop);
  const failures: SimulationFailure[] = [];
  const fail = (rule: string, message: string) => {
    trace.note('failure', `${rule}: ${message}`);
    if (failures.length < maxFailures) failures.push({ rule, message });
    loop.fail(new FailedRun());
  };
  const refused = ({ message }: Error) => fail('refused', message);
  let run: WorldRun | undefined;
  const begin = () => {
    run = new WorldRun({
      seed,
      world,
      settings,
      plan,
      durationMs: readDuration('duration', world.duration ?? '20s'),
      settleMs: readDuration('settle', world.settle ?? '2m'),
      loop,
      trace,
      parts,
      fail,
    });
    return run.run();
  };
  const realMs = readDuration('limit', world.limit ?? '10m');
  try {
    await withReplacedGlobals({ loop, random: choicesOf(seed, 'globals'), refused }, () => loop.run(begin, realMs));
  } catch (error) {
    if (!(error instanceof FailedRun)) throw error;
  }
  const { requests = 0, revision = 0 } = run ?? {};
  return { seed, digest: trace.digest(), plan, failures, trace: trace.lines, time: loop.time, requests, revision };
}

const numbered = (name: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${name}-${i + 1}`);

const partsOf = ({ servers = 3, clients = 3, processes = {} }: SimulatedWorld) => ({
  servers: numbered('server', servers),
  clients: numbered('client', clients),
  processes: Object.keys(processes),
});

function planOf(seed: number, world: SimulatedWorld, parts: ReturnType<typeof partsOf>): SimulationPlan {
  return drawPlan(seed, {
    parts,
    operations: Object.keys(world.operations ?? {}),
    faults: world.faults ?? faultNames,
    durationMs: readDuration('duration', world.duration ?? '20s'),
    operationEveryMs: readDuration('operationEvery', world.operationEvery ?? 200),
    faultEveryMs: readDuration('faultEvery', world.faultEvery ?? '2s'),
  });
}

/** A run of a world has failed. */
export class SimulationError extends Error {
  /** The run, or after a search the smallest one that fails in the same way. */
  readonly run: SimulationRun;
  /** A program that repeats the run, to be pasted into a test. */
  readonly program: string;

  constructor(run: SimulationRun) {
    const [first] = run.failures;
    const program = programOf(run);
    super(
      `seed ${run.seed}, after ${Math.round(run.time)} ms: ${first?.rule}: ${first?.message}\n\nTo repeat it:\n\n${program}`,
    );
    this.name = 'SimulationError';
    this.run = run;
    this.program = program;
  }
}

/** A world, or a function that makes one for each run, for worlds that write to variables of their own. */
export type WorldSource = SimulatedWorld | (() => SimulatedWorld);

const worldOf = (source: WorldSource): SimulatedWorld => (typeof source === 'function' ? source() : source);

/**
 * Runs a world from a seed: servers over one simulated store, clients and processes, all in this process, on one virtual clock
 * and one source of random numbers. The same seed and world give the same run on the same version of Node.
 * @throws SimulationError when a property does not hold; Error when the world is wrong, or another simulation runs
 */
export async function simulate(seed: number, world: WorldSource): Promise<SimulationRun> {
  const run = await runWorld(seed, worldOf(world));
  if (run.failures.length > 0) throw new SimulationError(run);
  return run;
}

export interface ExploreOptions {
  /** The number of seeds. Default: 100. */
  readonly seeds?: number;
  /** The first seed. Default: 1. */
  readonly first?: number;
}

/**
 * Runs a world from one seed after the other. A failing run is reduced to the fewest faults and operations that fail in the
 * same way.
 * @throws SimulationError of the smallest failing run; Error as `simulate`
 */
export async function explore(world: WorldSource, { seeds = 100, first = 1 }: ExploreOptions = {}): Promise<void> {
  for (let seed = first; seed < first + seeds; seed++) {
    const run = await runWorld(seed, worldOf(world));
    if (run.failures.length > 0) throw new SimulationError(await shrinkRun(run, world));
  }
}

/** Reduces a failed run of a world. */
export const shrinkRun = (run: SimulationRun, world: WorldSource): Promise<SimulationRun> =>
  shrink(run, (plan) => runWorld(run.seed, { ...worldOf(world), plan }));
