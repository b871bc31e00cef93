import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { JsonObject } from '../meta/index.ts';
import { apply, conflictsOf, forceApply, play, type Step, set, update } from './testing/story.ts';
import { thing } from './testing/thing.ts';

// Stories made at random, a story on each line, with what the reference server's own merge library (version 4.1.2) made
// of every write to an object of the type below: what the object holds then, who owns what (`A:` by apply, `U:` by
// update), and where it refused the write, what conflicts with whom.

interface Recorded {
  readonly steps: readonly { readonly op: keyof typeof writes; readonly manager: string; readonly body: JsonObject }[];
  readonly results: readonly {
    readonly object: JsonObject;
    readonly owners: JsonObject;
    readonly conflicts?: readonly string[];
  }[];
}

const writes = { apply, forceApply, update };
/** The library knows of no defaults. */
const noDefaults = set((world) => world.schemas.set('v1', thing({ replicas: undefined })));
const lines = readFileSync(new URL('testing/library-stories.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n');

it('there are stories of every kind', () => {
  expect(lines.length).toBeGreaterThan(40);
  for (const word of ['"apply"', '"forceApply"', '"update"', '"conflicts"']) expect(lines.join()).toContain(word);
});

it.each(lines.map((line, i) => [i + 1, JSON.parse(line) as Recorded] as const))('story %i', (_, { steps, results }) => {
  const told: Step[] = [noDefaults];
  for (const [i, { op, manager, body }] of steps.entries()) {
    const step = writes[op](manager, body);
    const { object, world, error } = play([...told, step]);
    if (error === undefined) told.push(step);
    const conflicts = conflictsOf(error).map((text) =>
      text.replace(/^"(\w+)"( using v1)?/, (_all, name: string, using) => `${using === undefined ? 'A' : 'U'}:${name}`),
    );
    const entries = (world.live?.metadata.managedFields ?? []) as JsonObject[];
    const owners = entries.map(({ manager: name, operation, fieldsV1 }) => [
      `${operation === 'Apply' ? 'A' : 'U'}:${name as string}`,
      fieldsV1,
    ]);
    expect({ object, owners: Object.fromEntries(owners) as JsonObject, conflicts: conflicts.sort() }).toEqual({
      conflicts: [],
      ...results[i],
    });
  }
});
