import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type ApiObject, type JsonObject, namesFor, statusError } from '../../meta/index.ts';
import { parseToken } from './jws.ts';
import { keySet, type SigningKey, signingKey } from './keys.ts';
import { type TokenRequestOptions, tokenRequestHandler } from './token-request.ts';

// The recorded exchanges of `identity` cover names, bounds, audiences and most bindings.
const now = 1_700_000_000_500;
const issuedAt = 1_700_000_000;
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const keys = keySet(signingKey(privateKey.export({ type: 'sec1', format: 'pem' }).toString()) as SigningKey, []);
const objects: { readonly [place: string]: JsonObject } = {
  'serviceaccounts ns/bot': { metadata: { name: 'bot', uid: 'sa-uid' } },
  'pods ns/run': { metadata: { name: 'run', uid: 'pod-uid' }, spec: { serviceAccountName: 'bot', nodeName: 'n1' } },
  'pods ns/lost': { metadata: { name: 'lost', uid: 'lost-uid' }, spec: { serviceAccountName: 'bot', nodeName: 'n2' } },
  'nodes /n1': { metadata: { name: 'n1', uid: 'node-uid' } },
};

async function request(spec: JsonObject, options: Partial<TokenRequestOptions> = {}) {
  const warnings = new Set<string>();
  const annotations: JsonObject = {};
  const annotate = (key: string, value: string) => {
    annotations[key] = value;
  };
  const issue = tokenRequestHandler({
    names: namesFor('k8s.io'),
    random: { uuid: () => 'id-1' },
    keys: async () => keys,
    issuer: 'https://me',
    audiences: ['https://me', 'also me'],
    maxExpiration: 0,
    extendExpiration: true,
    objects: {
      read: async (resource, namespace, name) => {
        const found = objects[`${resource} ${namespace}/${name}`];
        if (found === undefined) throw statusError.notFound({ group: '', resource }, name);
        return found as ApiObject;
      },
    },
    ...options,
  });
  const call = {
    requester: { name: '', groups: [] },
    namespace: 'ns',
    name: 'bot',
    warn: (text: string) => void warnings.add(text),
    annotate,
    now,
  };
  const posted = { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', metadata: {}, spec } as ApiObject;
  const answer = (await issue(posted, call)) as ApiObject & { spec: JsonObject; status: { [key: string]: string } };
  return {
    answer,
    claims: parseToken(answer.status['token'] ?? '')?.claims ?? {},
    warnings: [...warnings],
    annotations,
  };
}
const bind = (kind: string, name: string, more: JsonObject = {}) => ({
  boundObjectRef: { apiVersion: 'v1', kind, name, ...more },
});

describe('a token request', () => {
  it('is answered with a token for the server and an hour', async () => {
    const { answer, claims, annotations } = await request({ audiences: [] });
    expect(annotations).toEqual({ 'authentication.kubernetes.io/issued-credential-id': 'JTI=id-1' });
    expect(claims).toEqual({
      aud: ['https://me', 'also me'],
      exp: issuedAt + 3600,
      iat: issuedAt,
      iss: 'https://me',
      jti: 'id-1',
      'kubernetes.io': { namespace: 'ns', serviceaccount: { name: 'bot', uid: 'sa-uid' } },
      nbf: issuedAt,
      sub: 'system:serviceaccount:ns:bot',
    });
    expect(answer.metadata).toEqual({ name: 'bot', namespace: 'ns', creationTimestamp: '2023-11-14T22:13:20Z' });
    expect(answer.status['expirationTimestamp']).toBe('2023-11-14T23:13:20Z');
    expect(answer.spec).toEqual({
      audiences: ['https://me', 'also me'],
      expirationSeconds: 3600,
      boundObjectRef: null,
    });
  });

  it.each([
    ['a node', bind('Node', 'n1'), { node: { name: 'n1', uid: 'node-uid' } }],
    ['a pod', bind('Pod', 'run'), { pod: { name: 'run', uid: 'pod-uid' }, node: { name: 'n1', uid: 'node-uid' } }],
    ['a pod whose node is gone', bind('Pod', 'lost'), { pod: { name: 'lost', uid: 'lost-uid' }, node: { name: 'n2' } }],
  ])('can be bound to %s', async (_, spec, bound) => {
    const serviceaccount = { name: 'bot', uid: 'sa-uid' };
    expect((await request(spec)).claims['kubernetes.io']).toEqual({ namespace: 'ns', serviceaccount, ...bound });
  });

  it.each([
    [bind('Node', 'n3'), 'nodes "n3" not found'],
    [
      bind('Node', 'n1', { uid: 'other' }),
      expect.stringContaining('the UID in the bound object reference (other) does not match'),
    ],
    [bind('Pod', 'run', { apiVersion: 'apps/v1' }), 'cannot bind token to object of type apps/v1, Kind=Pod'],
    [bind('constructor', 'run'), 'cannot bind token to object of type /v1, Kind=constructor'],
  ])('bound to %j is refused', async (spec, message) => {
    await expect(request(spec)).rejects.toMatchObject({ message });
  });

  it('is extended to a year for the token that a kubelet mounts into a pod', async () => {
    const mounted = { ...bind('Pod', 'run'), expirationSeconds: 3607, audiences: ['also me'] };
    const { answer, claims } = await request(mounted);
    expect(claims).toMatchObject({
      exp: issuedAt + 365 * 24 * 3600,
      'kubernetes.io': { warnafter: issuedAt + 3607 },
    });
    expect(answer.spec['expirationSeconds']).toBe(3607);
    expect(answer.status['expirationTimestamp']).toBe('2023-11-14T23:13:27Z');
  });

  it.each<[string, JsonObject, Partial<TokenRequestOptions>]>([
    ['for another audience', { ...bind('Pod', 'run'), expirationSeconds: 3607, audiences: ['also me', 'other'] }, {}],
    ['for another time', { ...bind('Pod', 'run'), expirationSeconds: 3608 }, {}],
    ['without a pod', { expirationSeconds: 3607 }, {}],
    ['without extension', { ...bind('Pod', 'run'), expirationSeconds: 3607 }, { extendExpiration: false }],
  ])('is not extended %s', async (_, spec, options) => {
    expect((await request(spec, options)).claims['exp']).toBe(issuedAt + Number(spec['expirationSeconds']));
  });

  it('is shortened to the longest lifetime, with a warning', async () => {
    const { answer, claims, warnings } = await request({ expirationSeconds: 90_000 }, { maxExpiration: 7200 });
    expect([claims['exp'], answer.spec['expirationSeconds']]).toEqual([issuedAt + 7200, 7200]);
    expect(warnings).toEqual(['requested expiration of 90000 seconds shortened to 7200 seconds']);
  });
});
