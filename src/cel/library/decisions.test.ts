import { describe, expect, it } from 'vitest';
import { CelError, CostLimitError } from '../values.ts';
import {
  type AccessAttributes,
  type AccessDecision,
  type Decide,
  evaluateWithDecisions,
  type KnownDecisions,
  PendingDecision,
} from './decisions.ts';

const attributes = (path: string, name = 'jane'): AccessAttributes => ({
  user: { name, groups: [] },
  verb: 'get',
  resource: undefined,
  path,
  selectors: {},
});

function check(decide: Decide, asked: AccessAttributes): AccessDecision {
  const decision = decide(asked);
  if (decision === undefined) throw new PendingDecision(asked);
  return decision;
}

const allowOnly = (path: string) => (asked: AccessAttributes) =>
  Promise.resolve({ allowed: asked.path === path, reason: '' });

describe('evaluation with decisions', () => {
  it('is repeated until all decisions are known, each of which is asked for once', async () => {
    const asked: string[] = [];
    let evaluations = 0;
    const result = await evaluateWithDecisions(
      (decide) => {
        evaluations++;
        return ['/a', '/b', '/a'].map((path) => check(decide, attributes(path)).allowed);
      },
      (request) => {
        asked.push(request.path);
        return allowOnly('/a')(request);
      },
    );
    expect(result).toEqual([true, false, true]);
    expect(asked).toEqual(['/a', '/b']);
    expect(evaluations).toBe(3);
  });

  it('distinguishes users, verbs, resources and selectors', async () => {
    const place = { group: '', version: '*', resource: 'pods', subresource: '', namespace: '', name: '' };
    const selector = { fieldSelector: { text: 'a=b', selector: undefined as never } };
    const all: AccessAttributes[] = [
      attributes('/a'),
      attributes('/a', 'john'),
      { ...attributes('/a'), verb: 'put' },
      { ...attributes('/a'), user: { name: 'jane', groups: ['admins'] } },
      { ...attributes('/a'), user: { name: 'jane', groups: [], extra: { scopes: ['x'] } } },
      { ...attributes(''), resource: place },
      { ...attributes(''), resource: { ...place, subresource: 'log' } },
      { ...attributes(''), resource: { ...place, name: 'log' } },
      { ...attributes(''), resource: { ...place, namespace: 'log' } },
      { ...attributes(''), resource: place, selectors: selector },
      {
        ...attributes(''),
        resource: place,
        selectors: { labelSelector: { text: 'a=b', selector: undefined as never } },
      },
    ];
    let count = 0;
    const authorize = () => ({ allowed: true, reason: String(count++) });
    const reasons = await evaluateWithDecisions((decide) => all.map((each) => check(decide, each).reason), authorize);
    expect(reasons).toEqual(all.map((_, i) => String(i)));
  });

  it('counts the cost of the last evaluation only', async () => {
    const budget = { remaining: 1000 };
    await evaluateWithDecisions(
      (decide) => {
        budget.remaining -= 100;
        check(decide, attributes('/a'));
        budget.remaining -= 200;
        check(decide, attributes('/b'));
      },
      allowOnly('/a'),
      { budget },
    );
    expect(budget.remaining).toBe(700);
  });

  it('uses what another evaluation has asked for', async () => {
    const known: KnownDecisions = new Map();
    let asked = 0;
    const authorize = () => ({ allowed: asked++ === 0, reason: '' });
    const evaluate = (decide: Decide) => check(decide, attributes('/a')).allowed;
    expect(await evaluateWithDecisions(evaluate, authorize, { known })).toBe(true);
    expect(await evaluateWithDecisions(evaluate, authorize, { known })).toBe(true);
    expect(asked).toBe(1);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('no answer'))],
    [
      'throws at once',
      () => {
        throw new Error('no answer');
      },
    ],
  ])('has a decision with an error when the authorizer %s', async (_, authorize) => {
    const decision = await evaluateWithDecisions((decide) => check(decide, attributes('/a')), authorize);
    expect(decision).toEqual({ allowed: false, reason: '', error: 'no answer' });
  });

  it('throws what the evaluation throws', async () => {
    const failing = evaluateWithDecisions((decide) => {
      check(decide, attributes('/a'));
      throw new CelError('failed');
    }, allowOnly('/a'));
    await expect(failing).rejects.toThrow(new CelError('failed'));
  });

  it('asks for a bounded number of decisions', async () => {
    let evaluations = 0;
    let asked = 0;
    const endless = evaluateWithDecisions(
      (decide) => {
        evaluations++;
        for (let i = 0; ; i++) check(decide, attributes(`/${i}`));
      },
      () => {
        asked++;
        return { allowed: true, reason: '' };
      },
    );
    await expect(endless).rejects.toThrow(CostLimitError);
    expect(asked).toBe(64);
    expect(evaluations).toBe(65);
  });
});
