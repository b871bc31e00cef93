import { describe, expect, it } from 'vitest';
import { type JsonObject, statusError } from '../../meta/index.ts';
import type { Authenticated, Credentials, TokenAuthenticator } from '../types.ts';
import { bearerAuthenticator, staticTokenAuthenticator, unionTokenAuthenticator } from './bearer.ts';
import { invalidToken } from './types.ts';

const own = ['here', 'also here'];
const ada = { token: 'abc', user: { name: 'ada', uid: '7', groups: ['ops'] } };
const bearer = (authorization: string, warnings = new Set<string>()): Credentials => ({
  authorization,
  certificate: undefined,
  warn: (text: string) => void warnings.add(text),
});

describe('bearerAuthenticator', () => {
  const authenticate = bearerAuthenticator(staticTokenAuthenticator([ada], own), own);

  it.each(['Bearer abc', 'bEARER abc', ' Bearer abc ', 'Bearer abc def'])('takes the token of %j', async (header) => {
    const user = { name: 'ada', uid: '7', groups: ['ops', 'system:authenticated'] };
    expect(await authenticate(bearer(header))).toEqual(user);
  });

  it.each(['Bearer abcd', 'Bearer ab', 'bearer x', 'Bearer ABC'])('rejects %j with 401', (header) => {
    expect(() => authenticate(bearer(header))).toThrow(expect.objectContaining({ code: 401, reason: 'Unauthorized' }));
  });

  it.each(['', 'Bearer', 'Bearer ', 'Basic YTpi', 'Bearerabc', 'Token abc', 'Bearer\tabc'])(
    'has no opinion on %j',
    async (header) => {
      const warnings = new Set<string>();
      expect(await authenticate(bearer(header, warnings))).toBeUndefined();
      expect([...warnings]).toEqual([]);
    },
  );

  it('ignores a token behind extra space, with a warning', async () => {
    const warnings = new Set<string>();
    expect(await authenticate(bearer('Bearer  abc', warnings))).toBeUndefined();
    expect([...warnings]).toEqual([
      'the provided Authorization header contains extra space before the bearer token, and is ignored',
    ]);
  });

  it('tells a client neither why its token is invalid nor the token', async () => {
    const refused = bearerAuthenticator(() => Promise.reject(invalidToken('its secret is gone')), own);
    await expect(refused(bearer('Bearer abc'))).rejects.toThrow(statusError.unauthorized());
    const down = bearerAuthenticator(() => Promise.reject(statusError.timeout('too slow')), own);
    await expect(down(bearer('Bearer abc'))).rejects.toMatchObject({ code: 504 });
  });

  it('sets the annotations that come with a token', async () => {
    const annotations = { 'a/b': 'c', 'a/d': 'e' };
    const set: JsonObject = {};
    const annotate = (key: string, value: string) => {
      set[key] = value;
    };
    const found = bearerAuthenticator(async () => ({ user: ada.user, audiences: own, annotations }), own);
    await found({ ...bearer('Bearer abc'), annotate });
    expect(set).toEqual(annotations);
  });

  it('adds the warnings that come with a token', async () => {
    const warnings = new Set<string>();
    const found: Authenticated = { user: ada.user, audiences: own, warnings: ['renew it'] };
    await bearerAuthenticator(async () => found, own)(bearer('Bearer abc', warnings));
    expect([...warnings]).toEqual(['renew it']);
  });
});

describe('staticTokenAuthenticator', () => {
  const authenticate = staticTokenAuthenticator([ada], own);

  it('is valid for the audiences of the server, in the order of the request', async () => {
    expect((await authenticate('abc', own))?.audiences).toEqual(own);
    expect((await authenticate('abc', ['other', 'also here', 'here']))?.audiences).toEqual(['also here', 'here']);
    expect(await authenticate('abc', ['other'])).toBeUndefined();
  });

  it('adds system:authenticated once', async () => {
    const again = staticTokenAuthenticator(
      [{ token: 't', user: { name: 'x', groups: ['system:authenticated'] } }],
      own,
    );
    expect((await again('t', own))?.user.groups).toEqual(['system:authenticated']);
  });
});

describe('unionTokenAuthenticator', () => {
  const knows =
    (name: string): TokenAuthenticator =>
    (_, audiences) => ({ user: { name, groups: [] }, audiences });
  const refuses =
    (message: string): TokenAuthenticator =>
    () =>
      Promise.reject(invalidToken(message));
  const none: TokenAuthenticator = () => undefined;

  it('takes the first authenticator that recognises the token', async () => {
    const found = await unionTokenAuthenticator([none, refuses('no'), knows('a'), knows('b')])('t', own);
    expect(found).toEqual({ user: { name: 'a', groups: ['system:authenticated'] }, audiences: own });
  });

  it('has no opinion when none has one', async () => {
    expect(await unionTokenAuthenticator([none, none])('t', own)).toBeUndefined();
  });

  it('joins the messages of all that refuse it, each once', async () => {
    const refused = unionTokenAuthenticator([refuses('no key'), none, refuses('expired'), refuses('no key')])('t', own);
    await expect(refused).rejects.toThrow(invalidToken('no key, expired'));
  });

  it('passes on errors other than 401', async () => {
    const down: TokenAuthenticator = () => Promise.reject(statusError.timeout('too slow'));
    await expect(unionTokenAuthenticator([down, knows('a')])('t', own)).rejects.toMatchObject({ code: 504 });
  });
});
