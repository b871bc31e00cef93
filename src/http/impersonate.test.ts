import { describe, expect, it } from 'vitest';
import type { Attributes } from '../auth/index.ts';
import { namesFor, StatusError } from '../meta/index.ts';
import { impersonate, impersonates } from './impersonate.ts';

// The headers and the rights they take: spec/access.md, impersonation.
const names = namesFor('orch.io');
const sender = { name: 'boss', groups: ['system:authenticated'] };
const refuse = ({ resource }: Attributes) => new StatusError(403, 'Forbidden', `not ${resource?.resource}`);

async function speak(headers: { [name: string]: string }, denied = '') {
  const asked: string[] = [];
  const user = await impersonate(
    sender,
    headers,
    ({ verb, resource }) => {
      asked.push(
        `${verb} ${resource?.group}/${resource?.resource}/${resource?.subresource} ${resource?.namespace}/${resource?.name}`,
      );
      return { allowed: resource?.resource !== denied, reason: '' };
    },
    names,
    refuse,
  );
  return { user, asked };
}

describe('impersonation', () => {
  it('is asked for by any of its headers', () => {
    expect(impersonates({ accept: '*/*' })).toBe(false);
    expect(impersonates({ 'impersonate-group': 'g' })).toBe(true);
  });

  it('makes the request the request of the named user, who is authenticated', async () => {
    const { user, asked } = await speak({ 'impersonate-user': 'ann' });
    expect(user).toEqual({ name: 'ann', groups: ['system:authenticated'], extra: {} });
    expect(asked).toEqual(['impersonate /users/ /ann']);
  });

  it('takes a right for each group, uid and extra value', async () => {
    const { user, asked } = await speak({
      'impersonate-user': 'ann',
      'impersonate-group': 'dev, ops',
      'impersonate-uid': 'u1',
      'impersonate-extra-example.com%2fscope': 'read',
    });
    expect(user).toEqual({
      name: 'ann',
      uid: 'u1',
      groups: ['dev', 'ops', 'system:authenticated'],
      extra: { 'example.com/scope': ['read'] },
    });
    expect(asked).toEqual([
      'impersonate /users/ /ann',
      'impersonate /groups/ /dev',
      'impersonate /groups/ /ops',
      'impersonate authentication.orch.io/uids/ /u1',
      'impersonate authentication.orch.io/userextras/example.com/scope /read',
    ]);
  });

  it('gives a service account its groups', async () => {
    const { user, asked } = await speak({ 'impersonate-user': 'system:serviceaccount:shop:worker' });
    expect(user.groups).toEqual(['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated']);
    expect(asked).toEqual(['impersonate /serviceaccounts/ shop/worker']);
  });

  it('leaves the anonymous user unauthenticated', async () => {
    expect((await speak({ 'impersonate-user': 'system:anonymous' })).user.groups).toEqual(['system:unauthenticated']);
  });

  it('is refused as a whole when one right is missing', async () => {
    await expect(speak({ 'impersonate-user': 'ann', 'impersonate-group': 'dev' }, 'groups')).rejects.toMatchObject({
      code: 403,
    });
  });

  it('names a user or is no request', async () => {
    // As recorded, and the rest as the platform prints it.
    await expect(speak({ 'impersonate-group': 'x' })).rejects.toMatchObject({
      code: 400,
      message:
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"x"}, Extra:map[string][]string(nil)} without impersonating a user name',
    });
    await expect(speak({ 'impersonate-uid': 'u', 'impersonate-extra-scope': 'a,b' })).rejects.toMatchObject({
      message:
        'requested &user.DefaultInfo{Name:"", UID:"u", Groups:[]string(nil), Extra:map[string][]string{"scope":[]string{"a", "b"}}} without impersonating a user name',
    });
  });
});
