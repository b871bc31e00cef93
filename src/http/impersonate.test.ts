import type http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Attributes } from '../auth/index.ts';
import { namesFor, StatusError } from '../meta/index.ts';
import { impersonate } from './impersonate.ts';
import { type Listener, listen } from './listener/listener.ts';
import { hasImpersonation } from './request-info.ts';
import {
  type Fixture,
  makeCertificates,
  makeFixture,
  realClock,
  requestOf,
  type SendOptions,
} from './testing/fixture.ts';

// The headers and the rights they take: spec/access.md, impersonation.
const names = namesFor('orch.io');
const sender = { name: 'boss', groups: ['system:authenticated'] };
const refuse = ({ resource }: Attributes) => new StatusError(403, 'Forbidden', `not ${resource?.resource}`);

type Sent = NonNullable<SendOptions['headers']>;

async function speak(headers: Sent, denied = '') {
  const asked: string[] = [];
  const user = await impersonate(
    sender,
    requestOf('GET', '/', { headers }),
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
  it('is requested by any of its headers', () => {
    expect(hasImpersonation({ accept: '*/*' })).toBe(false);
    expect(hasImpersonation({ 'impersonate-group': 'g' })).toBe(true);
  });

  it('replaces the user of the request, and adds the group system:authenticated', async () => {
    const { user, asked } = await speak({ 'impersonate-user': 'ann' });
    expect(user).toEqual({ name: 'ann', groups: ['system:authenticated'], extra: {} });
    expect(asked).toEqual(['impersonate /users/ /ann']);
  });

  it('is authorized for the user and each group, uid and extra value', async () => {
    const { user, asked } = await speak({
      'impersonate-user': 'ann',
      'impersonate-group': ['dev', 'ops'],
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

  it('adds the groups of a service account', async () => {
    const { user, asked } = await speak({ 'impersonate-user': 'system:serviceaccount:shop:worker' });
    expect(user.groups).toEqual(['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated']);
    expect(asked).toEqual(['impersonate /serviceaccounts/ shop/worker']);
  });

  it('leaves the anonymous user unauthenticated', async () => {
    expect((await speak({ 'impersonate-user': 'system:anonymous' })).user.groups).toEqual(['system:unauthenticated']);
  });

  // As the reference server does (apiserver/pkg/endpoints/filters/impersonation).
  it('uses the first user and uid, and every group and extra value unchanged', async () => {
    const { user, asked } = await speak({
      'impersonate-user': ['ann', 'root'],
      'impersonate-uid': ['u1', 'u2'],
      'impersonate-group': ['a,b', 'c, d', 'a,b', ''],
      'impersonate-extra-scope': ['x,y', ''],
      'impersonate-extra-%73cope': ['z'],
      'impersonate-extra-50%': ['w'],
      'impersonate-extra-': ['v'],
      'impersonate-extra-__proto__': ['p'],
    });
    expect(user).toEqual({
      name: 'ann',
      uid: 'u1',
      groups: ['a,b', 'c, d', 'a,b', '', 'system:authenticated'],
      extra: { scope: ['x,y', '', 'z'], '50%': ['w'], '': ['v'], ['__proto__']: ['p'] },
    });
    expect(asked).toEqual([
      'impersonate /users/ /ann',
      'impersonate /groups/ /a,b',
      'impersonate /groups/ /c, d',
      'impersonate /groups/ /a,b',
      'impersonate /groups/ /',
      'impersonate authentication.orch.io/uids/ /u1',
      ...['x,y', '', 'z'].map((value) => `impersonate authentication.orch.io/userextras/scope /${value}`),
      'impersonate authentication.orch.io/userextras/50% /w',
      'impersonate authentication.orch.io/userextras/ /v',
      'impersonate authentication.orch.io/userextras/__proto__ /p',
    ]);
  });

  it.each<Sent>([
    { 'impersonate-user': '' },
    { 'impersonate-uid': '' },
    { 'impersonate-user': ['', 'root'] },
    { 'impersonate-role': 'root' },
    { 'impersonate-groups': 'system:masters', 'impersonate-extra': 'x' },
  ])('is not requested by %j', async (headers) => {
    expect(await speak(headers)).toEqual({ user: sender, asked: [] });
  });

  it.each([
    ['ann', ['system:unauthenticated'], ['system:unauthenticated']],
    ['ann', ['system:authenticated', 'dev'], ['system:authenticated', 'dev']],
    ['system:anonymous', ['system:authenticated'], ['system:authenticated', 'system:unauthenticated']],
    ['system:anonymous', ['system:unauthenticated'], ['system:unauthenticated']],
    ['system:serviceaccount:shop:worker', ['dev'], ['dev', 'system:authenticated']],
  ])(
    'of %s in %j adds system:authenticated or system:unauthenticated where it is missing',
    async (name, asked, groups) => {
      const { user } = await speak({ 'impersonate-user': name, 'impersonate-group': asked });
      expect(user.groups).toEqual(groups);
    },
  );

  it.each(['shop', 'shop:', ':worker', 'Shop:worker', 'shop:wor_ker', 'shop:worker:more', `${'s'.repeat(64)}:worker`])(
    'treats system:serviceaccount:%s as an ordinary user',
    async (rest) => {
      const name = `system:serviceaccount:${rest}`;
      const { user, asked } = await speak({ 'impersonate-user': name });
      expect(user).toEqual({ name, groups: ['system:authenticated'], extra: {} });
      expect(asked).toEqual([`impersonate /users/ /${name}`]);
    },
  );

  it('is 403 when one of the checks is denied', async () => {
    await expect(speak({ 'impersonate-user': 'ann', 'impersonate-group': 'dev' }, 'groups')).rejects.toMatchObject({
      code: 403,
    });
  });

  it('without a user name is 400', async () => {
    // The first messages are recorded; the others have the format of Go.
    await expect(speak({ 'impersonate-group': '' })).rejects.toMatchObject({ code: 400 });
    await expect(speak({ 'impersonate-extra-': 'x' })).rejects.toMatchObject({ code: 400 });
    await expect(speak({ 'impersonate-group': 'x' })).rejects.toMatchObject({
      code: 400,
      message:
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"x"}, Extra:map[string][]string(nil)} without impersonating a user name',
    });
    await expect(speak({ 'impersonate-uid': 'u', 'impersonate-extra-scope': ['a', 'b'] })).rejects.toMatchObject({
      message:
        'requested &user.DefaultInfo{Name:"", UID:"u", Groups:[]string(nil), Extra:map[string][]string{"scope":[]string{"a", "b"}}} without impersonating a user name',
    });
  });
});

describe('impersonation over sockets', () => {
  const { ca, cert, key } = makeCertificates();
  let fixture: Fixture;
  let listener: Listener;
  beforeAll(async () => {
    fixture = await makeFixture();
    const tls = { cert, key };
    const log = { error: () => {} };
    listener = await listen({ handler: fixture.handler, address: '127.0.0.1', port: 0, tls, clock: realClock, log });
  });
  afterAll(async () => {
    await listener.close(100);
    await fixture.close();
  });

  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
  const sent = {
    authorization: 'Bearer admin',
    'content-type': 'application/json',
    // UTF-8 bytes, as they are sent.
    'impersonate-user': [Buffer.from('jörg').toString('latin1'), 'root'],
    'impersonate-group': ['a,b', 'c'],
    'impersonate-extra-scope': ['x,y', 'z'],
    'impersonate-other': 'w',
  };
  const over1 = () =>
    new Promise<http.IncomingMessage>((resolve, reject) => {
      const headers = { ...sent, 'content-length': body.length };
      const options = { host: '127.0.0.1', port: listener.port, ca, method: 'POST', path, headers };
      https.request(options, resolve).on('error', reject).end(Buffer.from(body));
    });
  const over2 = async () => {
    const session = http2.connect(`https://127.0.0.1:${listener.port}`, { ca });
    const stream = session.request({ ':method': 'POST', ':path': path, ...sent });
    stream.once('close', () => session.close());
    stream.end(body);
    return stream;
  };

  it.each([
    ['HTTP/1.1', over1],
    ['HTTP/2', over2],
  ])('does not split header values at commas over %s', async (_, send) => {
    const { status } = JSON.parse(await text(await send()));
    expect(status.userInfo).toEqual({
      username: 'jörg',
      groups: ['a,b', 'c', 'system:authenticated'],
      extra: { scope: ['x,y', 'z'] },
    });
  });
});
