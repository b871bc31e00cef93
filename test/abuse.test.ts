import { describe, expect, it } from 'vitest';
import { scenarios } from '../fuzz/abuse/index.ts';
import { play } from '../fuzz/abuse/play.ts';

// What was tried against a server, and what holds meanwhile and afterwards: it lives, another client is answered before the
// server has computed for 250 ms, no request counts as under way, and its memory returns. `npm run fuzz` does the same with
// more force, and by the clock.
// Where several versions of Node run the tests, each has its share of the scenarios.
const [turn = 0, turns = 1] = (process.env['TEST_TURN'] ?? '0/1').split('/').map(Number);

const short = scenarios.filter(({ fullOnly }) => fullOnly !== true);

describe.each(short.filter((_, i) => i % turns === turn))('$name', (scenario) => {
  it(scenario.title, async () => {
    expect((await play(scenario, false)).faults).toEqual([]);
  }, 120_000);
});
