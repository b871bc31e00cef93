import { describe, expect, it } from 'vitest';
import type { Informer } from '../../client/index.ts';
import { inTurns, type LabelSelector, type Steps } from '../../meta/index.ts';
import { EveryStep } from '../../meta/testing/every-step.ts';
import type { Named } from './kind.ts';
import { findSelecting, selected, selectorIn, selectorOfLabels, selectsAny } from './selection.ts';

const object = (name: string, labels: { [key: string]: string } = {}): Named => ({
  metadata: { name, namespace: 'ns', labels },
});
/** Selects all objects without these labels. */
const without = (count: number) => ({
  matchExpressions: Array.from({ length: count }, (_, i) => ({ key: `k${i}`, operator: 'DoesNotExist' })),
});

describe('selectors of objects', () => {
  it('are compiled once for each object', () => {
    const declared = { matchLabels: { a: 'b' } };
    expect(selectorIn(declared)).toBe(selectorIn(declared));
    expect(selectorIn(declared).text).toBe('a=b');
    const labels = { c: 'd' };
    expect(selectorOfLabels(labels)).toBe(selectorOfLabels(labels));
    expect(selectorOfLabels(labels).text).toBe('c=d');
  });

  it('select nothing when they are absent and everything when they are empty', () => {
    expect(selectorIn(undefined).matches({})).toBe(false);
    expect(selectorIn({}).matches({})).toBe(true);
    expect(selectorOfLabels(undefined).matches({})).toBe(true);
  });
});

describe('objects that a selector selects', () => {
  const objects = [object('a', { k0: '' }), object('b'), object('c')];

  it('are found without a pause by a small selector', async () => {
    const turns = new EveryStep();
    expect(await selected(objects, selectorIn(without(10)), turns)).toEqual(objects.slice(1));
    expect(turns.count).toBe(0);
  });

  it('are found with a pause after each large selector', async () => {
    const turns = new EveryStep();
    const selector = selectorIn(without(10_000));
    expect(await selected(objects, selector, turns)).toEqual(objects.slice(1));
    expect(turns.count).toBe(3);
    expect(await selectsAny(selector, objects, turns)).toBe(true);
    expect(turns.count).toBe(4);
  });
});

describe('owners that select a changed object', () => {
  function setUp(requirements: number) {
    const owners = ['x', 'y', 'z'].map((name) => ({ ...object(name), selector: without(requirements) }));
    const remainingSteps: Steps<void>[] = [];
    const selectedNames: string[] = [];
    const changed = findSelecting<(typeof owners)[number]>(
      {
        background: (steps) => {
          if (steps.next().done !== true) remainingSteps.push(steps);
        },
      },
      {
        owners: { list: () => owners } as unknown as Informer<(typeof owners)[number]>,
        selectorOf: ({ selector }): LabelSelector => selectorIn(selector),
        onMatch: (owner) => selectedNames.push(owner.metadata.name ?? ''),
      },
    );
    return { changed, remainingSteps, selectedNames };
  }

  it('are found at once when their selectors are small', () => {
    const { changed, remainingSteps, selectedNames } = setUp(10);
    changed(object('pod'));
    expect(selectedNames).toEqual(['x', 'y', 'z']);
    changed(object('pod', { k0: '' }));
    expect(selectedNames).toHaveLength(3);
    expect(remainingSteps).toEqual([]);
  });

  it('are found one at a time when their selectors are large', async () => {
    const { changed, remainingSteps, selectedNames } = setUp(10_000);
    changed(object('pod'));
    expect(selectedNames).toEqual(['x']);
    const turns = new EveryStep();
    for (const steps of remainingSteps) await inTurns(steps, turns);
    expect(selectedNames).toEqual(['x', 'y', 'z']);
    expect(turns.count).toBe(3);
  });

  it('are found for the first and the last of several states that come meanwhile', async () => {
    const { changed, remainingSteps, selectedNames } = setUp(10_000);
    changed(object('other', { k0: '' }));
    changed(object('pod'));
    changed(object('pod', { k0: '' }), object('pod'));
    changed(object('pod', { k1: '' }), object('pod', { k0: '' }));
    expect(remainingSteps).toHaveLength(1);
    for (const steps of remainingSteps) await inTurns(steps, new EveryStep());
    expect(selectedNames).toEqual(['x', 'y', 'z']);
  });
});
