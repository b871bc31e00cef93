import { describe, expect, it } from 'vitest';
import { type ApiObject, type JsonObject, namesFor, statusError, type User } from '../meta/index.ts';
import { type ReviewOptions, reviewHandlers } from './review-handlers.ts';
import { staticTokenAuthenticator } from './tokens/bearer.ts';
import { invalidToken } from './tokens/types.ts';
import type { Attributes, Authorizer, TokenAuthenticator } from './types.ts';

// The responses over HTTP are covered by the tests of the http room.
const requester: User = { name: 'jane', groups: ['dev'] };
const no: Authorizer = () => ({ allowed: false, reason: '' });

async function ask(kind: string, spec: JsonObject, options: Partial<ReviewOptions>): Promise<JsonObject> {
  const names = namesFor('example.org');
  const answers = reviewHandlers({
    authenticateToken: () => undefined,
    authorize: no,
    audiences: [],
    names,
    ...options,
  });
  const group = kind === 'tokenreviews' || kind === 'selfsubjectreviews' ? 'authentication' : 'authorization';
  const posted = { kind: '', apiVersion: '', metadata: {}, spec } as unknown as ApiObject;
  const call = { requester, namespace: 'ns', name: '', warn: () => {}, now: 0 };
  const answer = await answers.get(`${kind}.${group}.example.org`)?.(posted, call);
  return (answer as ApiObject)['status'] as JsonObject;
}

describe('access reviews', () => {
  it('pass the same attributes to the authorizer as a request', async () => {
    const asked: Attributes[] = [];
    const authorize: Authorizer = (attributes) => {
      asked.push(attributes);
      return { allowed: true, reason: 'role r' };
    };
    const resource = { group: 'g', version: 'v1', resource: 'pods', subresource: 'log', namespace: 'ns', name: 'p' };
    const resourceAttributes = { verb: 'get', ...resource };
    const subject = { user: 'x', uid: '7', groups: ['ops'], extra: { scopes: ['a'] } };
    expect(await ask('subjectaccessreviews', { ...subject, resourceAttributes }, { authorize })).toEqual({
      allowed: true,
      reason: 'role r',
    });
    await ask('selfsubjectaccessreviews', { nonResourceAttributes: { path: '/x', verb: 'put' } }, { authorize });
    expect(asked).toEqual([
      { user: { name: 'x', uid: '7', groups: ['ops'], extra: { scopes: ['a'] } }, verb: 'get', path: '', resource },
      { user: requester, verb: 'put', path: '/x', resource: undefined },
    ]);
  });
});

describe('selectors of access reviews', () => {
  /** The attributes that the authorizer gets, and the status. */
  async function reviewed(selectors: JsonObject) {
    const asked: Attributes[] = [];
    const authorize: Authorizer = (attributes) => {
      asked.push(attributes);
      return { allowed: false, reason: '' };
    };
    const resourceAttributes = { verb: 'list', resource: 'pods', ...selectors };
    const status = await ask('subjectaccessreviews', { user: 'x', resourceAttributes }, { authorize });
    const { fieldSelector, labelSelector } = asked[0] ?? {};
    return { fieldSelector, labelSelector, evaluationError: status['evaluationError'] };
  }
  const requirements = (...given: [key: string, operator: string, ...values: string[]][]) => ({
    requirements: given.map(([key, operator, ...values]) => ({ key, operator, values })),
  });

  it('are attributes like those of a list', async () => {
    const known = {
      fieldSelector: {
        requirements: [
          { field: 'a', value: '1', not: false },
          { field: 'b', value: '2', not: true },
        ],
      },
      labelSelector: {
        requirements: [
          { key: 'c', operator: 'in', values: ['x', 'y'] },
          { key: 'd', operator: '!', values: [] },
        ],
      },
      evaluationError: undefined,
    };
    const raw = { fieldSelector: { rawSelector: 'a=1,b!=2' }, labelSelector: { rawSelector: 'c in (y,x),!d' } };
    expect(await reviewed(raw)).toEqual(known);
    const listed = {
      fieldSelector: requirements(['a', 'In', '1'], ['b', 'NotIn', '2']),
      labelSelector: requirements(['c', 'In', 'y', 'x'], ['d', 'DoesNotExist']),
    };
    expect(await reviewed(listed)).toEqual(known);
  });

  const ignored = (field: string, how = '') => `spec.resourceAttributes.${field} ${how}ignored due to parse error`;

  it('are ignored where they cannot be parsed', async () => {
    const { fieldSelector, labelSelector, evaluationError } = await reviewed({
      fieldSelector: { rawSelector: 'a' },
      labelSelector: { rawSelector: 'a b' },
    });
    expect([fieldSelector?.requirements, labelSelector?.requirements]).toEqual([[], []]);
    expect(evaluationError).toBe(`${ignored('fieldSelector')}; ${ignored('labelSelector')}`);
  });

  // The reference server refuses labels that no object can have. Fields may have any name.
  it('must name valid labels', async () => {
    const labelSelector = requirements(['a b', 'In', 'c d']);
    const asked = ask('subjectaccessreviews', { user: 'x', resourceAttributes: { verb: 'list', labelSelector } }, {});
    const path = 'spec.resourceAttributes.labelSelector.requirements[0]';
    await expect(asked).rejects.toMatchObject({
      code: 422,
      details: { causes: [{ field: `${path}.key` }, { field: `${path}.values[0]` }] },
    });
    const { fieldSelector } = await reviewed({ fieldSelector: requirements(['a b', 'In', 'c d']) });
    expect(fieldSelector?.requirements).toEqual([{ field: 'a b', value: 'c d', not: false }]);
  });

  it.each<[string, JsonObject, string]>([
    ['fieldSelector', requirements(['a', 'In', '1', '2']), 'fieldSelectors do not yet support multiple values'],
    ['fieldSelector', requirements(['a', 'Exists']), 'fieldSelectors do not yet support Exists'],
    ['fieldSelector', requirements(['a', 'Gt', '1']), '"Gt" is not a valid field selector operator'],
    ['labelSelector', requirements(['a', 'Gt', '1']), '"Gt" is not a valid label selector operator'],
  ])('leave out requirements that are not known: %s %j', async (field, selector, error) => {
    const { evaluationError, ...alone } = await reviewed({ [field]: selector });
    expect(alone[field as 'fieldSelector']).toEqual({ requirements: [], error });
    expect(evaluationError).toBe(ignored(field));
    const [known] = requirements(['k', 'In', 'v']).requirements;
    const both = { requirements: [...(selector['requirements'] as JsonObject[]), known as JsonObject] };
    const mixed = await reviewed({ [field]: both });
    expect(mixed[field as 'fieldSelector']?.requirements).toHaveLength(1);
    expect(mixed.evaluationError).toBe(ignored(field, 'partially '));
  });
});

describe('access reviews of any version', () => {
  it('ask for all versions', async () => {
    const versions: unknown[] = [];
    const authorize: Authorizer = ({ resource }) => {
      versions.push(resource?.version);
      return { allowed: false, denied: true, reason: 'no' };
    };
    const spec = { resourceAttributes: { verb: 'get', resource: 'pods' } };
    expect(await ask('selfsubjectaccessreviews', spec, { authorize })).toEqual({
      allowed: false,
      denied: true,
      reason: 'no',
    });
    expect(versions).toEqual(['*']);
  });
});

describe('rules reviews', () => {
  it('are incomplete when an authorizer cannot enumerate its rules', async () => {
    expect(await ask('selfsubjectrulesreviews', { namespace: 'ns' }, { authorize: no })).toEqual({
      resourceRules: [],
      nonResourceRules: [],
      incomplete: true,
      evaluationError: 'not every authorizer can list its rules',
    });
  });
});

describe('token reviews', () => {
  const known = staticTokenAuthenticator([{ token: 'abc', user: { name: 'ada', uid: '7', groups: [] } }], ['here']);
  const review = (token: string, authenticateToken: TokenAuthenticator, audiences: string[] = []) =>
    ask('tokenreviews', { token, audiences }, { authenticateToken, audiences: ['here'] });

  it('return the whole user info and the audiences for which the token is valid', async () => {
    const status = {
      authenticated: true,
      user: { username: 'ada', uid: '7', groups: ['system:authenticated'] },
      audiences: ['here'],
    };
    expect(await review('abc', known)).toEqual(status);
    expect(await review('abc', known, ['there', 'here'])).toEqual(status);
  });

  it('return an error for a token that no authenticator recognises', async () => {
    for (const token of ['wrong', ' ', 'ab c']) {
      expect(await review(token, known)).toEqual({ user: {}, error: 'invalid bearer token' });
    }
    expect(await review('abc', known, ['there'])).toEqual({ user: {}, error: 'invalid bearer token' });
  });

  it('return why a token is invalid', async () => {
    expect(await review('abc', () => Promise.reject(invalidToken('it has expired')))).toEqual({
      user: {},
      error: '[invalid bearer token, it has expired]',
    });
  });

  it('pass on errors other than 401', async () => {
    await expect(review('abc', () => Promise.reject(statusError.unavailable('down')))).rejects.toThrow('down');
  });
});
