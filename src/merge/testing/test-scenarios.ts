import { describe, expect, it } from 'vitest';
import { conflictsOf, run, type Scenario } from './scenario.ts';

/** Checks each scenario: the final object, the field set of each manager, and the error of the last write. */
export function testScenarios(title: string, scenarios: readonly Scenario[]): void {
  describe(title, () => {
    it.each(scenarios.map((scenario) => [scenario.name, scenario] as const))('%s', (_, scenario) => {
      const outcome = run(scenario.steps);
      if (scenario.conflicts !== undefined) {
        expect(conflictsOf(outcome.error)).toEqual(scenario.conflicts);
        expect(outcome.error).toMatchObject({ code: 409, reason: 'Conflict' });
      } else if (scenario.error !== undefined) {
        expect(outcome.error?.message).toMatch(scenario.error);
      } else if (outcome.error !== undefined) throw outcome.error;
      // No write changes the identity of the object.
      if (outcome.fixture.live !== undefined) expect(outcome.fixture.live.metadata.name).toBe('t');
      if (scenario.object !== undefined) expect(outcome.object).toEqual(scenario.object);
      if (scenario.managers !== undefined) expect(outcome.managers).toEqual(scenario.managers);
    });
  });
}
