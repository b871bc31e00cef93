import { expect, test } from 'vitest';
import { type ApiObject, inTurns } from '../../../meta/index.ts';
import { EveryStep } from '../../../meta/testing/every-step.ts';
import { dedupeOwnerReferences } from './metadata.ts';

test('very many owner references of one uid are compared in steps', async () => {
  const turnsFor = async (count: number) => {
    const turns = new EveryStep();
    const ownerReferences = Array.from({ length: count }, (_, i) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      uid: 'u',
      name: `n${i % (count / 2)}`,
    }));
    const object = { metadata: { ownerReferences } } as unknown as ApiObject;
    const warnings = new Set<string>();
    await inTurns(dedupeOwnerReferences(object, { warn: (text: string) => void warnings.add(text) }, 'writer'), turns);
    expect(object.metadata.ownerReferences).toHaveLength(count / 2);
    expect(warnings.size).toBe(1);
    return turns.count;
  };
  const [one, two] = [await turnsFor(10_000), await turnsFor(20_000)];
  expect(one).toBeGreaterThan(10);
  expect(two).toBeGreaterThanOrEqual(1.9 * one);
});
