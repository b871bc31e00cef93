import { expect, it } from 'vitest';
import { runWorld } from '../../src/server/harness/simulation/simulate.ts';
import { soakWorld } from './soak-world.ts';

const real = performance.now.bind(performance);
it('probe', async () => {
  for (const seed of (process.env['SEEDS'] ?? '1,2,3').split(',').map(Number)) {
    const begin = real();
    const a = await runWorld(seed, soakWorld());
    const middle = real();
    const b = await runWorld(seed, soakWorld());
    console.log(
      seed,
      a.digest.slice(0, 12),
      a.digest === b.digest,
      a.requests,
      a.revision,
      Math.round(a.time),
      a.plan.faults.length,
      a.failures.slice(0, 3),
      Math.round(middle - begin),
      Math.round(real() - middle),
    );
    if (a.digest !== b.digest) {
      const at = a.trace.findIndex((line, i) => line !== b.trace[i]);
      console.log(a.trace.slice(at - 3, at + 3).join('\n'), '\n----\n', b.trace.slice(at - 3, at + 3).join('\n'));
    }
    if (a.failures.length > 0)
      console.log(
        a.trace
          .slice(-Number(process.env['TRACE'] ?? 15))
          .map((l) => l.slice(0, 300))
          .join('\n'),
      );
  }
  expect(1).toBe(1);
});
