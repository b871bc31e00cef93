import { describe, expect, it } from 'vitest';
import { scenarios } from '../fuzz/abuse/index.ts';
import { play } from '../fuzz/abuse/play.ts';

// What was tried against a server, and what holds meanwhile and afterwards: it lives, another client is answered before the
// server has computed for 250 ms, no request counts as under way, and its memory returns. `npm run fuzz` does the same with
// more force, and by the clock.
describe.each(scenarios)('$name', (scenario) => {
  it(scenario.title, async () => {
    expect((await play(scenario, false)).faults).toEqual([]);
  }, 120_000);
});
