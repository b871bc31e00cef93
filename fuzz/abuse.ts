import { play } from './abuse/play.ts';
import type { Scenario } from './abuse/scenario.ts';
import { say, tell } from './report.ts';
import { longestTurn as most } from './requests.ts';

/** Plays each scenario at full intensity and reports those that harm the server. */
export async function abuse(scenarios: readonly Scenario[]): Promise<void> {
  for (const scenario of scenarios) {
    const { faults, longestTurn, longestWait, left } = await play(scenario, true);
    const slow = longestTurn > most ? [`holds the event loop for ${Math.round(longestTurn)} ms`] : [];
    const made = `--only=abuse/${scenario.name}`;
    for (const what of [...faults, ...slow]) tell({ where: scenario.name, what, made });
    const figures = [
      `longest turn ${Math.round(longestTurn)} ms`,
      `another client waited ${longestWait} ms at the most`,
      `${Math.round(left / 1024 / 1024)} MB left`,
    ];
    say(`  ${scenario.name}: ${figures.join(', ')}`);
  }
}
