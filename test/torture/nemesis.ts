import { setTimeout as sleep } from 'node:timers/promises';
import type { Lane } from './cluster.ts';
import { type Random, randomOf } from './random.ts';

/** An event at a time (ms since the start of the schedule), its duration (ms), and its target. */
export interface Step {
  readonly at: number;
  readonly fault: string;
  readonly choice: number;
  readonly length: number;
}

/** The faults of a lane within a time (ms), all cured by its end, each kind as often as any other. */
export function scheduleOf({ faults, rest, length }: Lane, random: Random, time: number): Step[] {
  const steps: Step[] = [];
  let names: string[] = [];
  for (let at = random.integer(300); at < time; ) {
    if (names.length === 0) names = random.shuffled(Object.keys(faults));
    // Now and then it is over at once. The first one takes long enough to be noticed.
    const wanted = random.chance(6) && steps.length > 0 ? 0 : length / 4 + random.integer(0.75 * length);
    const step = {
      at,
      fault: names.pop() as string,
      // Even at first: the leader.
      choice: steps.length === 0 ? 2 * random.integer(30) : random.integer(60),
      length: Math.round(Math.min(wanted, time - at)),
    };
    steps.push(step);
    at += step.length + 100 + random.integer(rest);
  }
  return steps;
}

/** Disturbs the lanes, one independently of the other. */
export class Nemesis {
  readonly #lanes: readonly { readonly lane: Lane; readonly steps: readonly Step[] }[];
  /** The events, in the order of time. */
  readonly deeds: string[] = [];

  constructor(seed: number, lanes: readonly Lane[], time: number) {
    this.#lanes = lanes.map((lane, i) => ({ lane, steps: scheduleOf(lane, randomOf(seed, 200 + i), time) }));
  }

  /** @returns when all faults have been cured */
  async run(): Promise<void> {
    const start = performance.now();
    await Promise.all(this.#lanes.map(({ lane, steps }) => this.#disturb(lane, steps, start)));
  }

  async #disturb({ faults }: Lane, steps: readonly Step[], start: number): Promise<void> {
    for (const { at, fault, choice, length } of steps) {
      await sleep(Math.max(0, at - (performance.now() - start)));
      const since = ((performance.now() - start) / 1_000).toFixed(2);
      const cure = await faults[fault]?.(choice);
      this.deeds.push(`${since} s: ${fault} (${choice}) for ${length} ms`);
      await sleep(length);
      await cure?.();
    }
  }
}
