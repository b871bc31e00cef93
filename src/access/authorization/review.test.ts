import { describe, expect, it } from 'vitest';
import type { Attributes } from '../../auth/index.ts';
import { atOnce, namesFor, parseFieldSelector, parseLabelSelector } from '../../meta/index.ts';
import { reviewBody, reviewSpec, verdictOf } from './review.ts';

const names = namesFor('k8s.io');
const place = { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'a', name: '' };
const list: Attributes = {
  user: { name: 'jane', uid: 'u-1', groups: ['dev'], extra: { scopes: ['a', 'b'] } },
  verb: 'list',
  resource: place,
  path: '/api/v1/namespaces/a/pods',
};

describe('the review of a webhook', () => {
  it('has what is not empty of a request for a resource', () => {
    expect(reviewSpec(list)).toEqual({
      resourceAttributes: { verb: 'list', namespace: 'a', version: 'v1', resource: 'pods' },
      user: 'jane',
      uid: 'u-1',
      groups: ['dev'],
      extra: { scopes: ['a', 'b'] },
    });
  });

  it('has path and verb of another request', () => {
    expect(reviewSpec({ user: { name: 'u', groups: [] }, verb: 'get', resource: undefined, path: '/x' })).toEqual({
      nonResourceAttributes: { path: '/x', verb: 'get' },
      user: 'u',
    });
  });

  it('has the requirements of selectors, those of labels by key; greater and less are left out', () => {
    const fieldSelector = { requirements: parseFieldSelector('a=b,c!=d').terms };
    const labelSelector = { requirements: parseLabelSelector('z=1,y!=2,x in (4,3),w,!v,u notin (5),t>6').requirements };
    expect(reviewSpec({ ...list, fieldSelector, labelSelector })['resourceAttributes']).toMatchObject({
      fieldSelector: {
        requirements: [
          { key: 'a', operator: 'In', values: ['b'] },
          { key: 'c', operator: 'NotIn', values: ['d'] },
        ],
      },
      labelSelector: {
        requirements: [
          { key: 'u', operator: 'NotIn', values: ['5'] },
          { key: 'v', operator: 'DoesNotExist' },
          { key: 'w', operator: 'Exists' },
          { key: 'x', operator: 'In', values: ['3', '4'] },
          { key: 'y', operator: 'NotIn', values: ['2'] },
          { key: 'z', operator: 'In', values: ['1'] },
        ],
      },
    });
  });

  it('names groups by its version', () => {
    const spec = { user: 'u', groups: ['g'] };
    expect(JSON.parse(reviewBody(spec, 'v1', names))).toEqual({
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec,
      status: { allowed: false },
    });
    expect(JSON.parse(reviewBody(spec, 'v1beta1', names))).toMatchObject({
      apiVersion: 'authorization.k8s.io/v1beta1',
      spec: { user: 'u', group: ['g'] },
    });
  });

  const head = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' };
  const no = { allowed: false, denied: false, reason: '' };

  it.each<[string, object, object]>([
    ['nothing', {}, no],
    ['no status', head, no],
    ['null', { ...head, status: null }, no],
    ['nulls', { ...head, status: { allowed: null, reason: null } }, no],
    ['allowed', { ...head, status: { allowed: true, reason: 'r' } }, { ...no, allowed: true, reason: 'r' }],
    ['denied', { ...head, status: { denied: true, evaluationError: 'x' } }, { ...no, denied: true }],
    ['more', { ...head, status: { allowed: true, more: 1 }, x: 1 }, { ...no, allowed: true }],
  ])('may be answered by %s', (_, answer, verdict) => {
    expect(atOnce(verdictOf(JSON.stringify(answer), 'v1', names))).toEqual(verdict);
  });

  it.each([
    ['junk', 'no JSON', "couldn't get version/kind"],
    ['a list', '[]', "couldn't get version/kind"],
    ['deep JSON', '['.repeat(100_000), "couldn't get version/kind"],
    ['a text for a truth value', { ...head, status: { allowed: 'yes' } }, 'json: cannot unmarshal status.allowed'],
    ['a number for denied', { ...head, status: { denied: 1 } }, 'json: cannot unmarshal status.denied'],
    ['a reason that is none', { ...head, status: { reason: {} } }, 'json: cannot unmarshal status.reason'],
    ['a status that is none', { ...head, status: 'ok' }, 'json: cannot unmarshal status of'],
    [
      'another version',
      { ...head, apiVersion: 'authorization.k8s.io/v1beta1' },
      'converting (v1beta1.SubjectAccessReview) to (v1.SubjectAccessReview): unknown conversion',
    ],
    [
      'another kind',
      { ...head, kind: 'LocalSubjectAccessReview' },
      'converting (v1.LocalSubjectAccessReview) to (v1.SubjectAccessReview): unknown conversion',
    ],
    ['an unknown kind', { ...head, kind: 'Pod' }, 'no kind "Pod" is registered for version "authorization.k8s.io/v1"'],
    [
      'another group',
      { ...head, apiVersion: 'x/v1' },
      'no kind "SubjectAccessReview" is registered for version "x/v1"',
    ],
    ['a kind that is none', { ...head, kind: 1 }, 'json: cannot unmarshal apiVersion and kind'],
  ])('is not answered by %s', (_, answer, why) => {
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
    expect(atOnce(verdictOf(text, 'v1', names))).toEqual(expect.stringContaining(why));
  });

  it('keeps 4,096 characters of a reason', () => {
    const text = JSON.stringify({ ...head, status: { reason: 'x'.repeat(10_000) } });
    expect(atOnce(verdictOf(text, 'v1', names))).toMatchObject({ reason: `${'x'.repeat(4_096)}...` });
  });
});
