import { afterAll, describe, expect, it } from 'vitest';
import { kept, keptTargets } from '../fuzz/corpus.ts';
import { generators } from '../fuzz/requests/index.ts';
import { Arena, caseOf, judgeCase } from '../fuzz/requests.ts';
import { inputOf, violationOf } from '../fuzz/target.ts';
import { targets } from '../fuzz/targets/index.ts';

// A short run of `npm run fuzz` with fixed seeds. Inputs are judged by their outcome, not by time.
const seed = 1;
const inputs = 150;
const cases = 80;

describe.each(targets)('$name', (target) => {
  it('accepts or rejects every input', async () => {
    for (let index = 0; index < inputs; index++) {
      const fault = await violationOf(target, inputOf(target, seed, index));
      expect(fault, `input ${index}`).toBeUndefined();
    }
  }, 120_000);

  it('accepts or rejects every input of the corpus', async () => {
    for (const [name, input] of kept(target.name)) expect(await violationOf(target, input), name).toBeUndefined();
  }, 120_000);
});

const arena = new Arena();
afterAll(() => arena.leave());

describe.each(generators)('$name', (generator) => {
  it('leaves the server healthy', async () => {
    for (let index = 0; index < cases; index++) {
      const fault = await judgeCase(arena, generator, caseOf(generator, seed, index), false);
      expect(fault, `case ${index}`).toBeUndefined();
    }
  }, 120_000);

  it('leaves the server healthy with every input of the corpus', async () => {
    for (const [name, input] of kept(generator.name)) {
      expect(await judgeCase(arena, generator, JSON.parse(input.toString()), false), name).toBeUndefined();
    }
  }, 120_000);
});

it('every input of the corpus has a target', () => {
  const known = [...targets, ...generators].map(({ name }) => name);
  expect(keptTargets().filter((name) => !known.includes(name))).toEqual([]);
});
