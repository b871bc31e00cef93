import { describe, expect, it } from 'vitest';
import { type ApiObject, type JsonObject, namesFor, statusError, type User } from '../meta/index.ts';
import { type ReviewOptions, reviewHandlers } from './reviews.ts';
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
  const call = { requester, namespace: 'ns', name: '', warnings: new Set<string>(), now: 0 };
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

  it('pass on errors that are no 401', async () => {
    await expect(review('abc', () => Promise.reject(statusError.unavailable('down')))).rejects.toThrow('down');
  });
});
