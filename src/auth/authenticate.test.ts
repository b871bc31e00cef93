import { describe, expect, it } from 'vitest';
import { namesFor } from '../meta/index.ts';
import { anonymous, certificateAuthenticator, tokenAuthenticator, unionAuthenticator } from './authenticate.ts';
import type { Credentials } from './types.ts';

const names = namesFor('k8s.io');
const nothing: Credentials = { authorization: undefined, certificate: undefined };
const bearer = (authorization: string): Credentials => ({ authorization, certificate: undefined });
const ada = { token: 'abc', user: { name: 'ada', uid: '7', groups: ['ops'] } };

describe('certificateAuthenticator', () => {
  const authenticate = certificateAuthenticator(names);

  it('takes the user from the common name and the groups from the organizations', async () => {
    const certificate = { commonName: 'ada', organizations: ['ops', 'dev'] };
    expect(await authenticate({ authorization: undefined, certificate })).toEqual({
      name: 'ada',
      groups: ['ops', 'dev', 'system:authenticated'],
    });
  });

  it('adds the credential-id extra', async () => {
    const certificate = { commonName: 'ada', organizations: [], sha256: 'ab01' };
    expect(await authenticate({ authorization: undefined, certificate })).toMatchObject({
      extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=ab01'] },
    });
  });

  it('authenticates nobody without a certificate or without a common name', async () => {
    expect(await authenticate(nothing)).toBeUndefined();
    const certificate = { commonName: '', organizations: ['system:masters'] };
    expect(await authenticate({ authorization: undefined, certificate })).toBeUndefined();
  });
});

describe('tokenAuthenticator', () => {
  const authenticate = tokenAuthenticator([ada]);

  it('authenticates a bearer token, with the scheme in any case', async () => {
    const user = { name: 'ada', uid: '7', groups: ['ops', 'system:authenticated'] };
    expect(await authenticate(bearer('Bearer abc'))).toEqual(user);
    expect(await authenticate(bearer('bEARER  abc '))).toEqual(user);
  });

  it('adds system:authenticated once', async () => {
    const again = tokenAuthenticator([{ token: 't', user: { name: 'x', groups: ['system:authenticated'] } }]);
    expect(await again(bearer('Bearer t'))).toEqual({ name: 'x', groups: ['system:authenticated'] });
  });

  it.each(['Bearer abcd', 'Bearer ab', 'bearer x', 'Bearer abc def'])('rejects %j with 401', (header) => {
    expect(() => authenticate(bearer(header))).toThrow(expect.objectContaining({ code: 401, reason: 'Unauthorized' }));
  });

  it.each(['', 'Bearer', 'Bearer ', 'Basic YTpi', 'Bearerabc'])('has no opinion on %j', async (header) => {
    expect(await authenticate(bearer(header))).toBeUndefined();
  });
});

describe('unionAuthenticator', () => {
  const authenticate = unionAuthenticator([tokenAuthenticator([ada]), certificateAuthenticator(names)], anonymous);
  const certificate = { commonName: 'bob', organizations: [] };

  it('uses the first authenticator that recognises the credentials', async () => {
    expect((await authenticate({ authorization: 'Bearer abc', certificate }))?.name).toBe('ada');
    expect((await authenticate({ authorization: undefined, certificate }))?.name).toBe('bob');
  });

  it('tries the next authenticator after a 401', async () => {
    expect((await authenticate({ authorization: 'Bearer wrong', certificate }))?.name).toBe('bob');
  });

  it('uses the fallback without credentials, without the group system:authenticated', async () => {
    expect(await authenticate(nothing)).toEqual({ name: 'system:anonymous', groups: ['system:unauthenticated'] });
  });

  it('rejects invalid credentials although anonymous requests are allowed', async () => {
    expect(() => authenticate(bearer('Bearer wrong'))).toThrow(expect.objectContaining({ code: 401 }));
  });

  it('follows the same rules with asynchronous authenticators', async () => {
    const slow = unionAuthenticator(
      [
        async (credentials) => tokenAuthenticator([ada])(credentials),
        async () => undefined,
        certificateAuthenticator(names),
      ],
      anonymous,
    );
    expect((await slow({ authorization: 'Bearer abc', certificate }))?.name).toBe('ada');
    expect((await slow({ authorization: 'Bearer wrong', certificate }))?.name).toBe('bob');
    expect((await slow(nothing))?.name).toBe('system:anonymous');
    await expect(slow(bearer('Bearer wrong'))).rejects.toMatchObject({ code: 401 });
  });

  it('authenticates nobody without credentials and fallback', async () => {
    expect(await unionAuthenticator([certificateAuthenticator(names)])(nothing)).toBeUndefined();
  });

  it('passes on errors that are no 401', async () => {
    const broken = () => Promise.reject(new Error('down'));
    await expect(unionAuthenticator([broken, certificateAuthenticator(names)])(nothing)).rejects.toThrow('down');
  });
});
