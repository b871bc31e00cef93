import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { apiRelease, featureList } from '../../meta/index.ts';
import { commands } from '../commands/commands.ts';
import { gateWarnings } from './feature-gates.ts';

/**
 * Rules 5 to 10 of the specification, "Deprecation rules". The rules about versions, fields and the life of gates are in
 * `resources/api-rules.test.ts`, rule 11 in the tests of metrics.
 *
 * - 5a, 5b: commands and flags that a release had are still there. A release adds a file of its own.
 * - 5c, 6, 8: no command or flag is deprecated. The first one needs a declaration of that, a warning, and a replacement that
 *   is not less stable.
 * - 7: no behavior is declared, so that no test can see a deprecated one go.
 * - 9: in `resources/api-rules.test.ts`.
 * - 10: a gate that is deprecated, or that will go because it is stable, warns when it is set, and so does one without effect.
 */
const recorded = JSON.parse(readFileSync(new URL('testing/flags-0.1.json', import.meta.url), 'utf8')) as {
  readonly [command: string]: readonly string[];
};

const loaded = await Promise.all(commands.map(async ({ name, load }) => [name, (await load()).flags] as const));
const flagsOf = new Map(loaded);

describe('commands', () => {
  it('of release 0.1 still have their flags (rules 5a and 5b)', () => {
    const lost = Object.entries(recorded).flatMap(([command, names]) => {
      const known = new Set(flagsOf.get(command)?.map(({ name }) => name));
      return names.filter((name) => !known.has(name)).map((name) => `orch ${command} --${name}`);
    });
    expect(Object.values(recorded).flat().length).toBeGreaterThan(100);
    expect(lost).toEqual([]);
  });

  it('have no deprecated flag (rules 5c, 6 and 8)', () => {
    const deprecated = [...flagsOf.values()].flat().filter(({ help }) => /\bdeprecated\b/i.test(help));
    expect(deprecated.map(({ name }) => name)).toEqual([]);
  });
});

describe('a feature gate', () => {
  const warningsOf = (name: string, on: boolean) =>
    gateWarnings({
      featureGates: new Map([[name, on]]),
      emulatedVersion: apiRelease,
      minCompatibilityVersion: undefined,
    });

  it('that a later release removes warns when it is set (rule 10)', () => {
    const ending = featureList.filter(([, { stage }]) => stage === 'stable' || stage === 'deprecated');
    expect(ending.length).toBeGreaterThan(30);
    expect(ending.filter(([name, { default: on }]) => warningsOf(name, on).length === 0)).toEqual([]);
  });
});
