import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type ApiObject, type JsonObject, namesFor, statusError } from '../../meta/index.ts';
import { emptyTokenCounts } from './counts.ts';
import { signToken } from './jws.ts';
import { keySet, type SigningKey, signingKey, verificationKeys } from './keys.ts';
import { signSecretToken } from './secret-tokens.ts';
import { serviceAccountAuthenticator } from './service-accounts.ts';
import type { TokenResource } from './types.ts';

const names = namesFor('k8s.io');
const now = Date.parse('2026-01-02T03:04:05Z');
const seconds = now / 1000;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
const signer = (key: KeyObject) => signingKey(key.export({ type: 'pkcs8', format: 'pem' }).toString()) as SigningKey;
const own = signer(rsa.privateKey);
const other = signer(p256.privateKey);
const keys = keySet(own, verificationKeys(p256.publicKey.export({ type: 'spki', format: 'pem' }).toString()));

type Objects = { [place: string]: Partial<ApiObject> };
const stored = (uid: string, more: JsonObject = {}) => ({ metadata: { uid }, ...more });
const objects = (): Objects => ({
  'serviceaccounts ns/bot': stored('sa-uid'),
  'pods ns/run': stored('pod-uid'),
  'secrets ns/box': stored('secret-uid'),
  'nodes /n1': stored('node-uid'),
});

interface Options {
  readonly held?: Objects;
  /** The objects in the store, where the cache is behind. */
  readonly latest?: Objects;
  readonly audiences?: readonly string[];
  readonly lookup?: boolean;
}

function make({ held = objects(), latest, audiences = ['here'], lookup = true }: Options = {}) {
  const labelled: string[][] = [];
  const counts = emptyTokenCounts().serviceAccount;
  const authenticate = serviceAccountAuthenticator({
    names,
    clock: { now: () => now },
    keys: async () => keys,
    issuers: ['https://one', 'https://two'],
    audiences,
    lookup,
    counts,
    objects: {
      get: (resource: TokenResource, namespace, name) => held[`${resource} ${namespace}/${name}`] as ApiObject,
      read: async (resource, namespace, name) => {
        const found = (latest ?? held)[`${resource} ${namespace}/${name}`] as ApiObject | undefined;
        if (found === undefined) throw statusError.notFound({ group: '', resource }, name);
        return found;
      },
      labelSecret: (...label) => void labelled.push(label),
    },
  });
  return { authenticate, labelled, counts };
}

const reference = (name: string, uid: string) => ({ name, uid });
const claims = (bound: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  iss: 'https://one',
  aud: ['here'],
  sub: 'system:serviceaccount:ns:bot',
  exp: seconds + 600,
  iat: seconds,
  nbf: seconds,
  jti: 'id-1',
  ...more,
  'kubernetes.io': { namespace: 'ns', serviceaccount: reference('bot', 'sa-uid'), ...bound },
});
const ask = async (body: JsonObject, options: Options = {}, key: SigningKey = own, audiences = ['here']) =>
  make(options).authenticate(await signToken(key, body), audiences);
const refused = (body: JsonObject, options?: Options, key?: SigningKey) =>
  ask(body, options, key).then(
    () => 'accepted',
    (error: Error) => error.message,
  );

const user = {
  name: 'system:serviceaccount:ns:bot',
  uid: 'sa-uid',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:ns'],
};
const extra = (more: { [key: string]: string } = {}) =>
  Object.fromEntries(
    Object.entries({ 'credential-id': 'JTI=id-1', ...more }).map(([key, value]) => [
      `authentication.kubernetes.io/${key}`,
      [value],
    ]),
  );

describe('a token of an issuer', () => {
  it('stands for its account, whichever accepted issuer and key signed it', async () => {
    const found = { user: { ...user, extra: extra() }, audiences: ['here'] };
    expect(await ask(claims())).toEqual(found);
    expect(await ask(claims({}, { iss: 'https://two' }), {}, other)).toEqual(found);
  });

  it.each([
    ['pod', { pod: reference('run', 'pod-uid') }, { 'pod-name': 'run', 'pod-uid': 'pod-uid' }],
    [
      'pod with its node',
      { pod: reference('run', 'pod-uid'), node: { name: 'gone' } },
      { 'pod-name': 'run', 'pod-uid': 'pod-uid', 'node-name': 'gone' },
    ],
    ['secret', { secret: reference('box', 'secret-uid') }, {}],
    ['node', { node: reference('n1', 'node-uid') }, { 'node-name': 'n1', 'node-uid': 'node-uid' }],
  ])('bound to a %s tells so', async (_, bound, more) => {
    expect((await ask(claims(bound)))?.user.extra).toEqual(extra(more));
  });

  it('is valid for the requested audiences that it names, in the order of the request', async () => {
    const body = claims({}, { aud: ['a', 'b', 'c'] });
    expect((await ask(body, {}, own, ['c', 'x', 'a']))?.audiences).toEqual(['c', 'a']);
    expect((await ask(claims({}, { aud: 'here' })))?.audiences).toEqual(['here']);
    expect(await refused(body)).toBe('token audiences ["a" "b" "c"] is invalid for the target audiences ["here"]');
  });

  it('is valid once for an audience that is requested twice, and names few of many audiences in an error', async () => {
    expect((await ask(claims(), {}, own, ['here', 'x', 'here']))?.audiences).toEqual(['here']);
    const many = Array.from({ length: 100_000 }, (_, i) => `audience ${i}`);
    const failure = await ask(claims(), {}, own, many).catch((error: unknown) => error);
    expect((failure as Error).message).toMatch(/"audience 31" \.\.\.\]$/);
  });

  it.each([
    ['of another issuer', { iss: 'https://three' }],
    ['without an issuer', { iss: undefined }],
    ['with an issuer that is not a string', { iss: ['https://one'] }],
  ])('%s is none of ours', async (_, more) => {
    expect(await ask(claims({}, more as JsonObject))).toBeUndefined();
  });

  it('is refused when another key signed it, also under the id of ours', async () => {
    expect(await refused(claims(), {}, signer(stranger.privateKey))).toBe('invalid signature, no keys found');
    expect(await refused(claims(), {}, { ...signer(stranger.privateKey), id: own.id })).toBe(
      'token signature is invalid',
    );
    expect(await refused(claims(), {}, { ...other, id: own.id })).toBe('token signature is invalid');
    expect(await refused(claims(), {}, { ...own, id: '' })).toBe('accepted');
  });

  it.each([
    [{ exp: seconds - 60 }, 'accepted'],
    [{ exp: seconds - 61 }, 'service account token has expired'],
    [{ nbf: seconds + 60 }, 'accepted'],
    [{ nbf: seconds + 61 }, 'service account token is not valid yet'],
    [{ iat: seconds + 61 }, 'service account token is issued in the future'],
    [{ exp: -1 }, 'service account token has expired'],
  ])('with %j is judged with a leeway of a minute: %s', async (more, outcome) => {
    expect(await refused(claims({}, more))).toBe(outcome);
  });

  it.each([
    ['exp', { exp: 1e300 }],
    ['exp', { exp: '1767323645' }],
    ['nbf', { nbf: 1e16 }],
    ['iat', { iat: {} }],
    ['aud', { aud: [1] }],
    ['aud', { aud: { a: 1 } }],
    ['aud', { aud: null }],
    ['sub', { sub: 5 }],
    ['jti', { jti: [] }],
    ['kubernetes.io', { 'kubernetes.io': 'x' }],
    ['name', { 'kubernetes.io': { namespace: 'ns', serviceaccount: { name: {} } } }],
    ['pod', { 'kubernetes.io': { namespace: 'ns', serviceaccount: { name: 'bot', uid: 'sa-uid' }, pod: 'run' } }],
  ])('with a claim %s of a wrong type is refused: %j', async (name, more) => {
    expect(await refused({ ...claims(), ...(more as JsonObject) })).toBe(`claim ${name} of the token has a wrong type`);
  });

  it('dies with its account, also when that is created again', async () => {
    const { 'serviceaccounts ns/bot': _, ...without } = objects();
    expect(await refused(claims(), { held: without })).toBe('serviceaccounts "bot" not found');
    const again = { ...without, 'serviceaccounts ns/bot': stored('new-uid') };
    expect(await refused(claims(), { held: again })).toBe(
      'service account UID (new-uid) does not match claim (sa-uid)',
    );
  });

  it.each([
    ['pod', 'pods ns/run', { pod: reference('run', 'pod-uid') }],
    ['secret', 'secrets ns/box', { secret: reference('box', 'secret-uid') }],
    ['node', 'nodes /n1', { node: reference('n1', 'node-uid') }],
  ])('dies with the %s it is bound to', async (kind, place, bound) => {
    const invalidated = 'service account token has been invalidated';
    const { [place]: _, ...without } = objects();
    expect(await refused(claims(bound), { held: without })).toBe(invalidated);
    const deleted = (at: number) => ({
      ...without,
      [place]: { metadata: { uid: `${kind}-uid`, deletionTimestamp: new Date(at).toISOString() } },
    });
    expect(await refused(claims(bound), { held: deleted(now - 60_000) })).toBe('accepted');
    expect(await refused(claims(bound), { held: deleted(now - 61_000) })).toBe(invalidated);
    expect(await refused(claims(bound), { held: { ...without, [place]: stored('new-uid') } })).toBe(
      `${kind} UID (new-uid) does not match service account ${kind} ref claim (${kind}-uid)`,
    );
  });

  it('is judged by the store where the cache still holds what was before', async () => {
    const again = { 'serviceaccounts ns/bot': stored('new-uid'), 'pods ns/run': stored('new-pod') };
    const body = claims({ serviceaccount: reference('bot', 'new-uid'), pod: reference('run', 'new-pod') });
    expect(await refused(body, { latest: again })).toBe('accepted');
    expect(await refused(body, { latest: { 'serviceaccounts ns/bot': stored('new-uid') } })).toBe(
      'service account token has been invalidated',
    );
    expect(await refused(body, { latest: {} })).toBe('serviceaccounts "bot" not found');
  });

  it('dies a minute after the deletion of its account began', async () => {
    const held = (at: number) => ({
      'serviceaccounts ns/bot': { metadata: { uid: 'sa-uid', deletionTimestamp: new Date(at).toISOString() } },
    });
    expect(await refused(claims(), { held: held(now - 60_000) })).toBe('accepted');
    expect(await refused(claims(), { held: held(now - 61_000) })).toBe('service account ns/bot has been deleted');
  });

  it.each([
    ['before', 0, { valid: 1, stale: 0 }, undefined],
    ['after', -5, { valid: 0, stale: 1 }, 'subject: system:serviceaccount:ns:bot, seconds after warning threshold: 5'],
  ])('with an extended lifetime is counted %s the end of the requested one', async (_, offset, expected, text) => {
    const { authenticate, counts } = make();
    const found = await authenticate(await signToken(own, claims({ warnafter: seconds + offset })), ['here']);
    expect(found?.annotations).toEqual(text && { 'authentication.k8s.io/stale-token': text });
    expect(counts).toMatchObject(expected);
  });

  it('never appears in an error', async () => {
    const token = await signToken(own, claims({}, { exp: 0 }));
    const failure = (await Promise.resolve(make().authenticate(token, ['here'])).catch(
      (error: unknown) => error,
    )) as Error;
    const shown = `${failure.message} ${failure.stack} ${JSON.stringify(failure)}`;
    for (const part of token.split('.')) expect(shown).not.toContain(part);
  });
});

describe('a token kept in a secret', () => {
  const account = { namespace: 'ns', name: 'bot', uid: 'sa-uid' };
  const sign = () => signSecretToken(own, { ...account, secret: 'box' }, names);
  const holding = (token: string, metadata: JsonObject = {}): Objects => ({
    ...objects(),
    'secrets ns/box': {
      metadata: { uid: 'secret-uid', ...metadata } as ApiObject['metadata'],
      data: { token: Buffer.from(token).toString('base64') },
    },
  });
  const outcome = async (options: Options, token?: string) => {
    const { authenticate, ...more } = make(options);
    try {
      return { found: await authenticate(token ?? (await sign()), ['here']), ...more };
    } catch (error) {
      return { found: (error as Error).message, ...more };
    }
  };
  const lastUsed = 'kubernetes.io/legacy-token-last-used';

  it('stands for its account without credential id, and its use is recorded', async () => {
    const { found, labelled, counts } = await outcome({ held: holding(await sign()) });
    const annotations = {
      'authentication.k8s.io/legacy-token': 'system:serviceaccount:ns:bot',
      'authentication.k8s.io/legacy-token-manual-secret': 'box',
    };
    expect(found).toEqual({ user, audiences: ['here'], annotations });
    expect(counts).toMatchObject({ legacy: 1, legacyManual: 1, legacyAuto: 0 });
    expect(labelled).toEqual([['ns', 'box', lastUsed, '2026-01-02']]);
  });

  it.each(['2026-01-02', '2026-01-03'])('is not recorded again on the day %s', async (day) => {
    const held = holding(await sign(), { labels: { [lastUsed]: day } });
    expect((await outcome({ held })).labelled).toEqual([]);
  });

  it('has the claims of the reference server', async () => {
    const [, payload = ''] = (await sign()).split('.');
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toEqual({
      iss: 'kubernetes/serviceaccount',
      'kubernetes.io/serviceaccount/namespace': 'ns',
      'kubernetes.io/serviceaccount/secret.name': 'box',
      'kubernetes.io/serviceaccount/service-account.name': 'bot',
      'kubernetes.io/serviceaccount/service-account.uid': 'sa-uid',
      sub: 'system:serviceaccount:ns:bot',
    });
  });

  it('is refused without its secret, with another token in it, and without its account', async () => {
    const token = await sign();
    expect((await outcome({ held: {} })).found).toBe('Token has been invalidated');
    const deleted = holding(token, { deletionTimestamp: '2027-01-01T00:00:00Z' });
    expect((await outcome({ held: deleted })).found).toBe('Token has been invalidated');
    for (const wrong of ['', token.slice(1), `${token.slice(0, -1)}!`]) {
      expect((await outcome({ held: holding(wrong) })).found).toBe("Token does not match server's copy");
    }
    const { 'serviceaccounts ns/bot': _, ...without } = holding(token);
    expect((await outcome({ held: without })).found).toBe('serviceaccounts "bot" not found');
    const again = { ...without, 'serviceaccounts ns/bot': stored('new-uid') };
    expect((await outcome({ held: again })).found).toBe('ServiceAccount UID (new-uid) does not match claim (sa-uid)');
  });

  it('needs its secret only with lookup', async () => {
    const annotations = { 'authentication.k8s.io/legacy-token': 'system:serviceaccount:ns:bot' };
    expect((await outcome({ held: {}, lookup: false })).found).toEqual({ user, audiences: ['here'], annotations });
  });

  it('is refused once it is marked invalid', async () => {
    const held = holding(await sign(), { labels: { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' } });
    const { found, labelled, counts } = await outcome({ held });
    expect(counts.legacyInvalidated).toBe(1);
    expect(found).toMatch(/^the token in secret ns\/box for service account ns\/bot has been marked invalid/);
    expect(labelled).toHaveLength(1);
  });

  it('comes with a warning when it was generated with its account', async () => {
    const held = {
      ...holding(await sign()),
      'serviceaccounts ns/bot': stored('sa-uid', { secrets: [{ name: 'box' }] }),
    };
    const { found, counts } = await outcome({ held });
    expect(found).toMatchObject({
      warnings: [expect.stringMatching(/^Use tokens from/)],
      annotations: { 'authentication.k8s.io/legacy-token-autogenerated-secret': 'box' },
    });
    expect(counts).toMatchObject({ legacy: 1, legacyManual: 0, legacyAuto: 1 });
  });

  it.each([
    ['namespace claim is missing', { 'kubernetes.io/serviceaccount/namespace': '' }],
    ['sub claim is missing', { sub: undefined }],
    ['sub claim is invalid', { sub: 'system:serviceaccount:kube-system:admin' }],
  ])('is refused: %s', async (message, more) => {
    const [, payload = ''] = (await sign()).split('.');
    const body = JSON.parse(Buffer.from(payload, 'base64url').toString()) as JsonObject;
    const token = await signToken(own, { ...body, ...(more as JsonObject) });
    expect((await outcome({ held: holding(token) }, token)).found).toBe(message);
  });
});
