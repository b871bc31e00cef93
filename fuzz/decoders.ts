import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChildFinding, Job } from './decoders-child.ts';
import { sayRun, tell } from './report.ts';
import { inputOf, type Target } from './target.ts';

/** How long a decoder may block its process before the process is killed (ms). */
const longestHold = 20_000;
const heapMb = 1_024;

/** Runs the decoders in a child process for a number of seconds, and reports findings. */
export async function fuzzDecoders(targets: readonly Target[], seed: number, seconds: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-fuzz-'));
  const until = Date.now() + seconds * 1000;
  let from = targets.map(() => 0);
  while (Date.now() < until) {
    const progress = join(folder, 'progress');
    const names = targets.map(({ name }) => name);
    const ending = await run({ seed, until, targets: names, from, progress });
    const [place = 0, ...indexes] = readProgress(progress);
    from = indexes;
    if (ending === undefined) continue;
    const target = targets[place] as Target;
    const index = from[place] ?? 0;
    from[place] = index + 1;
    tell({ where: target.name, what: ending, made: madeBy(seed, index), input: inputOf(target, seed, index) });
  }
  rmSync(folder, { recursive: true });
  for (const [place, { name }] of targets.entries()) sayRun(name, from[place] ?? 0, 'inputs');
}

const madeBy = (seed: number, index: number) => `--seed=${seed}, input ${index}`;

/** How the process ended, unless regularly. */
async function run(job: Job): Promise<string | undefined> {
  const child = spawn(
    process.execPath,
    ['--expose-gc', `--max-old-space-size=${heapMb}`, join('dist', 'fuzz', 'decoders-child.js'), JSON.stringify(job)],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let lines = '';
  let errors = '';
  child.stdout.on('data', (piece: Buffer) => {
    lines += piece.toString();
    const whole = lines.split('\n');
    lines = whole.pop() ?? '';
    for (const line of whole) tellOf(JSON.parse(line) as ChildFinding, job.seed);
  });
  child.stderr.on('data', (piece: Buffer) => {
    errors = (errors + piece.toString()).slice(0, 4_000);
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const held = await watchHold(child, job.progress, ended);
  if (held) return `holds its process for more than ${longestHold / 1000} s`;
  const code = await ended;
  return code === 0 ? undefined : `ends its process (${code ?? child.signalCode}):\n${errors}`;
}

function tellOf({ target, what, index, input }: ChildFinding, seed: number): void {
  const bytes = Buffer.from(input, 'base64');
  tell({ where: target, what, made: madeBy(seed, index), ...(bytes.length === 0 ? {} : { input: bytes }) });
}

/** Kills a process that hangs on one input; returns whether it did. */
async function watchHold(child: ChildProcess, progress: string, ended: Promise<unknown>): Promise<boolean> {
  let last = '';
  let since = Date.now();
  let over = false;
  void ended.then(() => {
    over = true;
  });
  for (;;) {
    await Promise.race([ended, sleep(500)]);
    if (over) return false;
    const now = String(readProgress(progress));
    if (now !== last) [last, since] = [now, Date.now()];
    else if (Date.now() - since > longestHold) return child.kill('SIGKILL');
  }
}

function readProgress(path: string): number[] {
  try {
    const bytes = readFileSync(path);
    return [...new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))];
  } catch {
    return [];
  }
}
