import { describe, expect, it } from 'vitest';
import { type ApiObject, namesFor } from '../../meta/index.ts';
import { bootstrapAuthenticator } from './bootstrap.ts';

const now = Date.parse('2026-01-02T03:04:05Z');
const audiences = ['here'];

type Data = { readonly [key: string]: string | undefined };
const good: Data = {
  'token-id': 'abcdef',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
};

async function groupsOf(data: Data, more: object = {}, token = 'abcdef.0123456789abcdef') {
  const asked: string[] = [];
  const encoded = Object.entries({ ...good, ...data }).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, Buffer.from(value).toString('base64')]],
  );
  const secret = {
    metadata: {},
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(encoded),
    ...more,
  } as unknown as ApiObject;
  const authenticate = bootstrapAuthenticator({
    names: namesFor('k8s.io'),
    clock: { now: () => now },
    audiences,
    objects: {
      get: (...place) => {
        asked.push(place.join(' '));
        return place[2] === 'bootstrap-token-abcdef' ? secret : undefined;
      },
    },
  });
  const found = await authenticate(token, audiences);
  return { asked, user: found?.user };
}

describe('bootstrapAuthenticator', () => {
  it('authenticates by the secret of the token', async () => {
    expect(await groupsOf({ 'auth-extra-groups': 'system:bootstrappers:b,system:bootstrappers:a' })).toEqual({
      asked: ['secrets kube-system bootstrap-token-abcdef'],
      user: {
        name: 'system:bootstrap:abcdef',
        groups: ['system:bootstrappers', 'system:bootstrappers:a', 'system:bootstrappers:b'],
      },
    });
    expect((await groupsOf({ expiration: '2026-01-02T03:04:06Z' })).user).toBeDefined();
    expect((await groupsOf({ expiration: '2026-01-02T05:04:06+02:00' })).user).toBeDefined();
  });

  it.each<[string, Data, object?]>([
    ['another secret', { 'token-secret': '0123456789abcdee' }],
    ['a longer secret', { 'token-secret': '0123456789abcdef0' }],
    ['no secret', { 'token-secret': undefined }],
    ['another id', { 'token-id': 'abcdeg' }],
    ['another use', { 'usage-bootstrap-authentication': 'false' }],
    ['no use', { 'usage-bootstrap-authentication': undefined }],
    ['an expiration in the past', { expiration: '2026-01-02T03:04:05Z' }],
    ['an expiration that is not a time', { expiration: 'soon' }],
    ['an expiration without a zone', { expiration: '2027-01-02T03:04:05' }],
    ['a group of another kind', { 'auth-extra-groups': 'system:masters' }],
    ['a group with a blank', { 'auth-extra-groups': 'system:bootstrappers:a, system:bootstrappers:b' }],
    ['an empty group', { 'auth-extra-groups': 'system:bootstrappers:a,' }],
    ['another type', {}, { type: 'Opaque' }],
    ['no data', {}, { data: undefined }],
    ['a deletion that has begun', {}, { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } }],
  ])('does not authenticate by a secret with %s', async (_, data, more) => {
    expect((await groupsOf(data, more)).user).toBeUndefined();
  });

  it.each([
    'ABCDEF.0123456789abcdef',
    'abcdef.0123456789abcde',
    'abcdef.0123456789abcdef ',
    'abcdef',
    '../../x.0123456789abcdef',
  ])('looks up no secret for %j', async (token) => {
    expect(await groupsOf({}, {}, token)).toEqual({ asked: [], user: undefined });
  });
});
