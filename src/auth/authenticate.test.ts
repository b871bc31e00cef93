import { describe, expect, it } from 'vitest';
import { namesFor } from '../meta/index.ts';
import { anonymousAuthenticator, unionAuthenticator } from './authenticate.ts';
import { certificateAuthenticator } from './client-certificates.ts';
import { bearerAuthenticator, staticTokenAuthenticator } from './tokens/bearer.ts';
import type { Credentials } from './types.ts';

const names = namesFor('k8s.io');
const nothing: Credentials = { authorization: undefined, certificate: undefined };
const bearer = (authorization: string): Credentials => ({ authorization, certificate: undefined });
const ada = { token: 'abc', user: { name: 'ada', uid: '7', groups: ['ops'] } };
const certificates = certificateAuthenticator(names, { pool: () => undefined, clock: { now: () => 0 }, uids: true });
const tokens = bearerAuthenticator(staticTokenAuthenticator([ada], ['here']), ['here']);

describe('unionAuthenticator', () => {
  const authenticate = unionAuthenticator([tokens, certificates], anonymousAuthenticator());
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
      [async (credentials) => tokens(credentials), async () => undefined, certificates],
      anonymousAuthenticator(),
    );
    expect((await slow({ authorization: 'Bearer abc', certificate }))?.name).toBe('ada');
    expect((await slow({ authorization: 'Bearer wrong', certificate }))?.name).toBe('bob');
    expect((await slow(nothing))?.name).toBe('system:anonymous');
    await expect(slow(bearer('Bearer wrong'))).rejects.toMatchObject({ code: 401 });
  });

  it('authenticates nobody without credentials and fallback', async () => {
    expect(await unionAuthenticator([certificates])(nothing)).toBeUndefined();
  });

  it('passes on errors other than 401', async () => {
    const broken = () => Promise.reject(new Error('down'));
    await expect(unionAuthenticator([broken, certificates])(nothing)).rejects.toThrow('down');
  });
});

describe('anonymousAuthenticator', () => {
  it('serves requests to the exact paths alone, if there are any', () => {
    const authenticate = anonymousAuthenticator(['/livez', '/healthz']);
    const isServed = (path?: string) => authenticate(path === undefined ? nothing : { ...nothing, path }) !== undefined;
    expect(['/livez', '/healthz'].map(isServed)).toEqual([true, true]);
    expect(['/livez/', '/livez/ping', '/LIVEZ', '/', '', '__proto__', undefined].filter(isServed)).toEqual([]);
  });
});
