import { play } from './abuse/play.ts';
import type { Scenario } from './abuse/scenario.ts';
import { say, tell } from './report.ts';

/** Plays each scenario at full intensity and reports those that harm the server. */
export async function abuse(scenarios: readonly Scenario[]): Promise<void> {
  for (const scenario of scenarios) {
    const { faults, longestTurn, waits, left } = await play(scenario, true);
    for (const what of faults) tell({ where: scenario.name, what, made: `--only=abuse/${scenario.name}` });
    const figures = [
      `longest turn ${Math.round(longestTurn)} ms`,
      ...waits.map(({ method, path, longest }) => `longest wait for ${method} ${path} ${Math.round(longest)} ms`),
      `${Math.round(left / 1024 / 1024)} MB left`,
    ];
    say(`  ${scenario.name}: ${figures.join(', ')}`);
  }
}
