import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { JsonObject } from '../meta/index.ts';
import { apply, conflictsOf, forceApply, run, type Step, set, update } from './testing/scenario.ts';
import { thing } from './testing/thing.ts';

// Random scenarios, one per line, with the results of structured-merge-diff 4.1.2, the merge library of the reference
// server, for every write to an object of the type below: the object, the field set of each manager (`A:` for apply,
// `U:` for update), and the conflicts of a failed write.

interface Recorded {
  readonly steps: readonly { readonly op: keyof typeof writes; readonly manager: string; readonly body: JsonObject }[];
  readonly results: readonly {
    readonly object: JsonObject;
    readonly managers: JsonObject;
    readonly conflicts?: readonly string[];
  }[];
}

const writes = { apply, forceApply, update };
/** The library sets no defaults. */
const noDefaults = set((fixture) => fixture.schemas.set('v1', thing({ replicas: undefined })));
const lines = readFileSync(new URL('testing/library-scenarios.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n');

it('the scenarios cover every operation', () => {
  expect(lines.length).toBeGreaterThan(40);
  for (const word of ['"apply"', '"forceApply"', '"update"', '"conflicts"']) expect(lines.join()).toContain(word);
});

it.each(lines.map((line, i) => [i + 1, JSON.parse(line) as Recorded] as const))(
  'scenario %i',
  (_, { steps, results }) => {
    const previous: Step[] = [noDefaults];
    for (const [i, { op, manager, body }] of steps.entries()) {
      const step = writes[op](manager, body);
      const { object, fixture, error } = run([...previous, step]);
      if (error === undefined) previous.push(step);
      const conflicts = conflictsOf(error).map((text) =>
        text.replace(
          /^"(\w+)"( using v1)?/,
          (_all, name: string, using) => `${using === undefined ? 'A' : 'U'}:${name}`,
        ),
      );
      const entries = (fixture.live?.metadata.managedFields ?? []) as JsonObject[];
      const managers = entries.map(({ manager: name, operation, fieldsV1 }) => [
        `${operation === 'Apply' ? 'A' : 'U'}:${name as string}`,
        fieldsV1,
      ]);
      expect({ object, managers: Object.fromEntries(managers) as JsonObject, conflicts: conflicts.sort() }).toEqual({
        conflicts: [],
        ...results[i],
      });
    }
  },
);
