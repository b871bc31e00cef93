import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { issueCertificate, TrustPool } from '../pki/index.ts';
import { identityHeaders, requestHeaderAuthenticator } from './request-headers.ts';
import type { ClientCertificate, SentHeaders } from './types.ts';

const life = { notBefore: 0, notAfter: 10_000 };
const ca = { ...issueCertificate({ commonName: 'proxies', usage: 'authority', ...life }), name: 'proxies' };
const other = { ...issueCertificate({ commonName: 'clients', usage: 'authority', ...life }), name: 'clients' };
const unauthorized = expect.objectContaining({ code: 401 });
const names = {
  user: ['x-remote-user', 'x-user'],
  uid: ['x-remote-uid'],
  group: ['x-remote-group', 'x-group'],
  extraPrefix: ['x-remote-extra-', 'x-extra-'],
};

function certificate(commonName = 'proxy', issuer = ca): ClientCertificate {
  const { cert } = issueCertificate({ commonName, usage: 'client', ...life }, issuer);
  return { commonName, organizations: [], own: new X509Certificate(cert) };
}

type Sent = { readonly [name: string]: string | readonly string[] };
const sent = (headers: Sent): SentHeaders => ({
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')])),
  headerValues: (name) => [headers[name] ?? []].flat(),
});

function ask(headers: Sent, shown: ClientCertificate | undefined = certificate(), allowedNames = ['proxy']) {
  const pool = new TrustPool(ca.cert);
  const authenticate = requestHeaderAuthenticator({
    pool: () => pool,
    clock: { now: () => 5_000 },
    settings: () => ({ allowedNames, names }),
  });
  return authenticate({ authorization: undefined, certificate: shown, sent: sent(headers) });
}

describe('the headers of an authenticating proxy', () => {
  it('name the user, its uid, groups and extra attributes', () => {
    expect(
      ask({
        'x-remote-user': 'ann',
        'x-remote-uid': 'u1',
        'x-remote-group': ['dev, ops', '', 'qa'],
        'x-group': 'more',
        'x-remote-extra-example.com%2fscope': ['a', 'b'],
        'x-extra-example.com%2fscope': 'c',
        'x-remote-extra-bad%zz': 'd',
      }),
    ).toEqual({
      name: 'ann',
      uid: 'u1',
      groups: ['dev, ops', 'qa', 'more', 'system:authenticated'],
      extra: { 'example.com/scope': ['a', 'b', 'c'], 'bad%zz': ['d'] },
    });
  });

  it('count in their order: the first value of the first header that is not empty', () => {
    expect(ask({ 'x-user': 'bob', 'x-remote-user': ['ann', 'eve'] })).toMatchObject({ name: 'ann' });
    expect(ask({ 'x-user': 'bob', 'x-remote-user': '' })).toMatchObject({ name: 'bob' });
    expect(ask({ 'x-user': 'bob', 'x-remote-user': ['', 'eve'] })).toMatchObject({ name: 'bob' });
    expect(ask({ x_remote_user: 'eve', 'x-remote-group': 'system:masters' })).toBeUndefined();
  });

  it('are ignored without a certificate', () => {
    const none = { commonName: 'proxy', organizations: [] };
    expect(ask({ 'x-remote-user': 'ann' }, none)).toBeUndefined();
    const authenticate = requestHeaderAuthenticator({
      pool: () => undefined,
      clock: { now: () => 0 },
      settings: () => ({ allowedNames: [], names }),
    });
    const asked = { authorization: undefined, sent: sent({ 'x-remote-user': 'ann' }) };
    expect(authenticate({ ...asked, certificate: undefined })).toBeUndefined();
    expect(authenticate({ ...asked, certificate: certificate() })).toBeUndefined();
  });

  it('are a 401 with a certificate of another authority or another common name', () => {
    expect(() => ask({ 'x-remote-user': 'ann' }, certificate('proxy', other))).toThrow(unauthorized);
    expect(() => ask({ 'x-remote-user': 'ann' }, certificate('other'))).toThrow(unauthorized);
    expect(() => ask({ 'x-remote-user': 'ann' }, certificate('Proxy'))).toThrow(unauthorized);
    expect(ask({ 'x-remote-user': 'ann' }, certificate('other'), [])).toMatchObject({ name: 'ann' });
  });

  it('do not make an anonymous user authenticated', () => {
    expect(ask({ 'x-remote-user': 'system:anonymous' })).toEqual({ name: 'system:anonymous', groups: [] });
    expect(ask({ 'x-remote-user': 'ann', 'x-remote-group': 'system:unauthenticated' })).toMatchObject({
      groups: ['system:unauthenticated'],
    });
  });

  it('take any key as data', () => {
    const user = ask({ 'x-remote-user': 'ann', 'x-remote-extra-__proto__': 'a', 'x-remote-extra-constructor': 'b' });
    expect(Object.entries((user as { extra: object }).extra)).toEqual([
      ['__proto__', ['a']],
      ['constructor', ['b']],
    ]);
  });
});

it('hides the standard and the configured headers, also with underscores', () => {
  const settings = { allowedNames: [], names: { user: ['x-user'], uid: [], group: [], extraPrefix: ['x-more-'] } };
  const hidden = identityHeaders(() => settings);
  const all = [
    'x-remote-user',
    'x_remote_group',
    'x-remote-uid',
    'x-remote-extra-a',
    'x-user',
    'x_more_a',
    'impersonate-user',
  ];
  expect(all.filter((name) => !hidden(name))).toEqual([]);
  expect(['x-remote', 'x-users', 'accept'].filter(hidden)).toEqual([]);
});
