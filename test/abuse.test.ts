import { afterAll, describe, expect, it } from 'vitest';
import { scenarios } from '../fuzz/abuse/index.ts';
import { type Outcome, play, playAgainst, startTarget, type Target } from '../fuzz/abuse/play.ts';
import type { Scenario } from '../fuzz/abuse/scenario.ts';
import { isMine } from '../scripts/test-turns.mjs';

// Attacks on a server, and the promises that hold during and after them: it lives, another client gets an answer before the
// server has computed for 250 ms, no request counts as under way, and its memory returns. `npm run fuzz` does the same with
// more force, by the clock, and against a server for each scenario. Where several versions of Node run the tests, each has
// its share of the scenarios.
const short = scenarios.filter(({ fullOnly }) => fullOnly !== true);

let shared: Target | undefined;
afterAll(() => shared?.stop());

/** How often a scenario is played whose only faults are times: a busy machine makes computing longer, and never shorter. */
const mostPlays = 3;
/** How long all plays of a scenario may take (ms). */
const patience = 400_000;

/** Plays a scenario and returns the faults of the best play. */
async function faultsOf(scenario: Scenario): Promise<readonly string[]> {
  let outcome = await playShort(scenario);
  for (let plays = 1; outcome.isSlow && plays < mostPlays; plays++) outcome = await playShort(scenario);
  return outcome.faults;
}

/** Plays a scenario; after a fault the next ones get another server. */
async function playShort(scenario: Scenario): Promise<Outcome> {
  if (scenario.sharesServer !== true) return play(scenario, false);
  shared ??= await startTarget();
  const outcome = await playAgainst(shared, scenario, false);
  if (outcome.faults.length > 0) {
    await shared.stop();
    shared = undefined;
  }
  return outcome;
}

describe.each(short.filter((_, i) => isMine(i)))('$name', (scenario) => {
  it(
    scenario.title,
    async () => {
      expect(await faultsOf(scenario)).toEqual([]);
    },
    patience,
  );
});
