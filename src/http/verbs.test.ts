import { describe, expect, it } from 'vitest';
import type { Target } from '../registry/index.ts';
import { bench } from '../registry/testing/fixtures.ts';
import { checkVerb } from './verbs.ts';

describe('the check of a verb', () => {
  const { target } = bench();
  const check = (verb: string, at: Target) => () => checkVerb(at, verb);
  const notAllowed = {
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
    details: {},
  };
  const notFound = { code: 404, message: 'the server could not find the requested resource', details: {} };
  const status = { name: 'd', subresource: 'status' };

  it('accepts a verb that is served at the path', () => {
    expect(check('get', target('deployments', status))).not.toThrow();
    expect(check('create', target('configmaps'))).not.toThrow();
  });

  it('throws 405 where only other verbs are served', () => {
    expect(check('list', target('reviews'))).toThrow(expect.objectContaining(notAllowed));
    expect(check('list', target('deployments', status))).toThrow(expect.objectContaining(notAllowed));
    expect(check('create', target('configmaps', { namespace: '' }))).toThrow(expect.objectContaining(notAllowed));
  });

  it('throws 404 where no verb is served, and for the watch of a subresource', () => {
    expect(check('get', target('reviews', { name: 'x' }))).toThrow(expect.objectContaining(notFound));
    expect(check('get', target('configmaps', status))).toThrow(expect.objectContaining(notFound));
    expect(check('watch', target('deployments', status))).toThrow(expect.objectContaining(notFound));
  });
});
