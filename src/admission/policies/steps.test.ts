import { expect, it } from 'vitest';
import { inTurns } from '../../meta/index.ts';
import { EveryStep } from '../../meta/testing/every-step.ts';
import { compileMatchConditions } from '../expressions/match-conditions.ts';
import { names } from '../testing/initializer.ts';
import { compilePolicy } from './evaluate.ts';
import { compileMutatingPolicy } from './mutations.ts';
import { typeOfCustomKind } from './schema-types.ts';
import { checkTypes } from './type-checking.ts';

const expression = 'true';
const types = {
  kindOf: () => ({ group: 'a.b', version: 'v1', kind: 'Thing' }),
  typeOf: () => typeOfCustomKind({ type: 'object' }, names, 'Thing'),
};
const matchConstraints = { resourceRules: [{ apiGroups: ['a.b'], apiVersions: ['v1'], resources: ['things'] }] };

// To parse an expression, to check its types and to compile it are steps of their own.
it.each([
  ['a match condition', () => compileMatchConditions([{ name: 'c', expression }])],
  ['a variable', () => compilePolicy({ variables: [{ name: 'v', expression }] })],
  ['a validation', () => compilePolicy({ validations: [{ expression }] })],
  ['an audit annotation', () => compilePolicy({ auditAnnotations: [{ key: 'k', valueExpression: "'a'" }] })],
  ['a variable of mutations', () => compileMutatingPolicy({ variables: [{ name: 'v', expression }] })],
  [
    'a mutation',
    () => compileMutatingPolicy({ mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[]' } }] }),
  ],
  ['a checked variable', () => checkTypes({ matchConstraints, variables: [{ name: 'v', expression }] }, types)],
  ['a checked validation', () => checkTypes({ matchConstraints, validations: [{ expression }] }, types)],
])('%s is compiled in steps', async (_, compile) => {
  const turns = new EveryStep();
  await inTurns<unknown>(compile(), turns);
  expect(turns.count).toBeGreaterThanOrEqual(4);
});

it('a message is compiled in steps', async () => {
  const [without, having] = [new EveryStep(), new EveryStep()];
  await inTurns(compilePolicy({ validations: [{ expression }] }), without);
  await inTurns(compilePolicy({ validations: [{ expression, messageExpression: "'a'" }] }), having);
  expect(having.count - without.count).toBeGreaterThanOrEqual(3);
});
