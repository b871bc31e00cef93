// The child process that runs the decoders, so that crashes and hangs are found as well. Its argument is a Job; each
// line of its output is a ChildFinding. Needs `--expose-gc`.
import { openSync, writeSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { longestHold } from './limits.ts';
import { minimise } from './mutate.ts';
import { inputOf, signatureOf, type Target, violationOf } from './target.ts';
import { targets } from './targets/index.ts';

export interface Job {
  readonly seed: number;
  /** Deadline (milliseconds since 1970). */
  readonly until: number;
  readonly targets: readonly string[];
  /** The start index of each target. */
  readonly from: readonly number[];
  /** A file with the progress, written before each input: the position of the target, then the index of each target. */
  readonly progress: string;
}

export interface ChildFinding {
  readonly target: string;
  readonly what: string;
  readonly index: number;
  /** Base64. */
  readonly input: string;
}

/** Memory growth that is allowed per slice of a second, after a garbage collection (bytes). */
const mostLeft = 64 * 1024 * 1024;
const longestSlice = 1_000;

const job = JSON.parse(process.argv[2] ?? '{}') as Job;
const chosen = job.targets
  .map((name) => targets.find((target) => target.name === name))
  .filter((one) => one !== undefined);
const progress = new Uint32Array([0, ...job.from]);
const progressFile = openSync(job.progress, 'w');
const reported = new Set<string>();

/** The violation for an input, including its time. */
async function timedViolation(target: Target, input: Uint8Array): Promise<string | undefined> {
  let last = performance.now();
  let longest = 0;
  let immediate: NodeJS.Immediate;
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    immediate = setImmediate(turn);
  };
  immediate = setImmediate(turn);
  const fault = await violationOf(target, input);
  clearImmediate(immediate);
  longest = Math.max(longest, performance.now() - last);
  if (fault !== undefined || longest <= (target.threadMs ?? longestHold)) return fault;
  return `holds the event loop for ${Math.round(longest)} ms`;
}

/** The same, if it is reproducible in three runs. */
async function violationThrice(target: Target, input: Uint8Array): Promise<string | undefined> {
  for (let i = 0; i < 2; i++) if ((await timedViolation(target, input)) === undefined) return undefined;
  return timedViolation(target, input);
}

async function investigate(target: Target, index: number, input: Uint8Array): Promise<void> {
  const what = await violationThrice(target, input);
  if (what === undefined) return;
  const signature = `${target.name} ${signatureOf(what)}`;
  if (reported.has(signature)) return;
  reported.add(signature);
  const slow = what.startsWith('holds');
  const same = async (bytes: Uint8Array) => {
    const other = await (slow ? violationThrice : violationOf)(target, bytes);
    return other !== undefined && `${target.name} ${signatureOf(other)}` === signature;
  };
  const smaller = await minimise(input, same, slow ? 12 : 400);
  tellParent({ target: target.name, what, index, input: smaller.toString('base64') });
}

function tellParent(finding: ChildFinding): void {
  writeSync(1, `${JSON.stringify(finding)}\n`);
}

/** Memory after a garbage collection and its finalisers (bytes). */
async function memory(): Promise<number> {
  for (let i = 0; i < 2; i++) {
    globalThis.gc?.();
    await nextTurn();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Runs one target for a second at most, so that every target has its turn. */
async function slice(target: Target, place: number): Promise<void> {
  const before = await memory();
  const end = Date.now() + sliceMs;
  progress[0] = place;
  do {
    const index = progress[place + 1] as number;
    writeSync(progressFile, progress, 0, progress.byteLength, 0);
    const input = inputOf(target, job.seed, index);
    if ((await timedViolation(target, input)) !== undefined) await investigate(target, index, input);
    progress[place + 1] = index + 1;
  } while (Date.now() < end);
  const left = (await memory()) - before;
  if (left > mostLeft) {
    const what = `leaves ${Math.round(left / 1024 / 1024)} MB`;
    tellParent({ target: target.name, what, index: progress[place + 1] as number, input: '' });
  }
}

const sliceMs = Math.min(longestSlice, (job.until - Date.now()) / chosen.length);
do {
  for (const [place, target] of chosen.entries())
    if (Date.now() < job.until || progress[place + 1] === 0) await slice(target, place);
} while (Date.now() < job.until);
writeSync(progressFile, progress, 0, progress.byteLength, 0);
