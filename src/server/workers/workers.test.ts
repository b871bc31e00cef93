import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { VirtualClock } from '../../meta/index.ts';
import { silentLog } from '../dependencies.ts';
import { Workers } from './workers.ts';

/** A worker that answers all calls, but only so many pings. */
const workerOf = (answeredPings: number) => `
let pings = 0;
process.on('message', ({ id, name }) => {
  if (name === 'ping' && ++pings > ${answeredPings}) return;
  process.send({ type: 'return', id });
});
process.on('disconnect', () => process.exit(0));
`;

/** A started worker, the errors that are logged with its pid, and rounds of pings, whose answers arrive. */
async function startWorker(script: string) {
  const folder = mkdtempSync(join(tmpdir(), 'orch-workers-'));
  const entry = join(folder, 'worker.mjs');
  writeFileSync(entry, script);
  const clock = new VirtualClock();
  const errors: string[] = [];
  const workers = new Workers({
    count: 1,
    start: {} as never,
    host: { attach: () => undefined },
    board: undefined,
    calls: {} as never,
    metrics: { all: [] },
    clock,
    log: { ...silentLog, error: (text) => void errors.push(text) },
    stopMs: 1000,
    entry: pathToFileURL(entry),
  });
  onTestFinished(async () => {
    await workers.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  await workers.start();
  const rounds = async (count: number) => {
    for (let i = 0; i < count; i++) {
      clock.set(clock.now() + 5_000);
      // A later call of the same channel: what the worker has answered before has arrived.
      await workers.metricLines();
    }
  };
  return { errors, rounds };
}

it('a worker that answers pings runs on', async () => {
  const { errors, rounds } = await startWorker(workerOf(Number.POSITIVE_INFINITY));
  await rounds(20);
  expect(errors).toEqual([]);
});

it('a worker that has not answered for half a minute is killed and replaced', async () => {
  const { errors, rounds } = await startWorker(workerOf(2));
  // It answers at 0 and 5 s.
  await rounds(7);
  expect(errors).toEqual([]);
  await rounds(1);
  await expect
    .poll(() => errors)
    .toEqual(['a worker does not answer and is killed', 'a worker has ended and is started again']);
});
