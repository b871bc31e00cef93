import { describe, expect, it } from 'vitest';
import type { PodSpec } from '../../types/core-v1.ts';
import { type NodeObject, namedNodes, selectsNode, tolerates } from './node-selection.ts';

const node: NodeObject = { metadata: { name: 'one', labels: { zone: 'a', cores: '8' } } };

type Requirement = { key: string; operator: string; values?: string[] };
const required = (...terms: { matchExpressions?: Requirement[]; matchFields?: Requirement[] }[]): PodSpec => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
});
const labelled = (key: string, operator: string, ...values: string[]) =>
  required({ matchExpressions: [{ key, operator, values }] });
const nameRequirement = (operator: string, ...values: string[]) => ({ key: 'metadata.name', operator, values });

describe('the nodes that a pod selects', () => {
  it.each<[string, PodSpec, boolean]>([
    ['no selector', {}, true],
    ['a label that it has', { nodeSelector: { zone: 'a' } }, true],
    ['a label with another value', { nodeSelector: { zone: 'b' } }, false],
    ['a label that objects have by nature', { nodeSelector: { constructor: 'a' } }, false],
    ['In', labelled('zone', 'In', 'b', 'a'), true],
    ['In, of others', labelled('zone', 'In', 'b'), false],
    ['NotIn', labelled('zone', 'NotIn', 'a'), false],
    ['NotIn, of an absent label', labelled('disk', 'NotIn', 'a'), true],
    ['Exists', labelled('zone', 'Exists'), true],
    ['Exists, of an absent label', labelled('toString', 'Exists'), false],
    ['DoesNotExist', labelled('disk', 'DoesNotExist'), true],
    ['Gt', labelled('cores', 'Gt', '7'), true],
    ['Gt, of the same number', labelled('cores', 'Gt', '8'), false],
    ['Lt', labelled('cores', 'Lt', '10'), true],
    ['Lt, of a number with zeros before it', labelled('cores', 'Lt', `${'0'.repeat(100_000)}9`), true],
    ['Lt, of a number that is too long', labelled('cores', 'Lt', '9'.repeat(100_000)), false],
    ['Lt, of a label that is not a number', labelled('zone', 'Lt', '10'), false],
    ['a term without requirements', required({}), false],
    ['no term', required(), false],
    ['its name', required({ matchFields: [nameRequirement('In', 'one')] }), true],
    ['another name', required({ matchFields: [nameRequirement('NotIn', 'one')] }), false],
    [
      'one of two terms',
      required(
        { matchFields: [nameRequirement('In', 'two')] },
        { matchExpressions: [{ key: 'zone', operator: 'Exists' }] },
      ),
      true,
    ],
  ])('by %s', (_, spec, selected) => {
    expect(selectsNode(spec, node)).toBe(selected);
  });

  it('are named when every term names some', () => {
    expect(namedNodes({})).toBeUndefined();
    expect(namedNodes(labelled('zone', 'Exists'))).toBeUndefined();
    expect(
      namedNodes(
        required({ matchFields: [nameRequirement('In', 'one')] }, { matchFields: [nameRequirement('In', 'two')] }),
      ),
    ).toEqual(new Set(['one', 'two']));
    const both = { matchFields: [nameRequirement('In', 'one', 'two'), nameRequirement('In', 'two')] };
    expect(namedNodes(required(both))).toEqual(new Set(['two']));
    expect(namedNodes(required({ matchFields: [nameRequirement('In', 'one'), nameRequirement('In', 'two')] }))).toEqual(
      new Set(),
    );
    expect(namedNodes(required(both, {}))).toBeUndefined();
  });
});

it.each([
  [{ key: 'use', operator: 'Exists' }, true],
  [{ operator: 'Exists' }, true],
  [{ operator: 'Exists', effect: 'NoExecute' }, false],
  [{ key: 'use', operator: 'Equal', value: 'gpu', effect: 'NoSchedule' }, true],
  [{ key: 'use', value: 'gpu' }, true],
  [{ key: 'use', value: 'cpu' }, false],
  [{ key: 'other', operator: 'Exists' }, false],
])('the toleration %j tolerates use=gpu:NoSchedule: %s', (toleration, tolerated) => {
  expect(tolerates([toleration], { key: 'use', value: 'gpu', effect: 'NoSchedule' })).toBe(tolerated);
});
