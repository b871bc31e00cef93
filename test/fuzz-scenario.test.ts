import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { play } from '../fuzz/abuse/play.ts';
import type { Scenario } from '../fuzz/abuse/scenario.ts';
import { platformHas } from './support/requirements.ts';

/** A scenario that does this to a server. */
const scenario = (attack: Scenario['attack']): Scenario => ({ name: 'harm', title: 'harms a server', attack });

it('a scenario in which the server computes for a second in one turn fails by what another client waits', {
  timeout: 300_000,
}, async () => {
  const holds = scenario(async ({ server }) => {
    for (let i = 0; i < 3; i++) await server.hold();
  });
  // A wait without the delays of a busy machine may be too short to show: the scenario is played until it shows.
  const isSeen = async () => {
    const { faults } = await play(holds, false);
    return faults.some((fault) => /^meanwhile GET \/livez of another client waits for \d+ ms$/.test(fault));
  };
  while (!(await isSeen()));
});

const tellsComputed = platformHas(process.platform === 'linux', 'only Linux tells how long a thread has run');

it.skipIf(!tellsComputed)('a scenario in which the server gets no processor passes', async () => {
  const { faults } = await play(
    scenario(async ({ server: { pid } }) => {
      process.kill(pid, 'SIGSTOP');
      await sleep(1_000);
      process.kill(pid, 'SIGCONT');
      await sleep(100);
    }),
    false,
  );
  expect(faults).toEqual([]);
});
