import { createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inProcessTransport } from '../../client/index.ts';
import { makeCertificates } from '../../http/testing/fixture.ts';
import type { ApiObject, JsonObject } from '../../meta/index.ts';
import { until } from '../../meta/testing/until.ts';
import { createServer, type OrchServer } from '../index.ts';
import { compactToken, encodePart, type Signer, signers } from '../testing/compact-token.ts';

const newRsa = (modulusLength = 2_048) => generateKeyPairSync('rsa', { modulusLength }).privateKey;
const newEc = (namedCurve = 'P-256') => generateKeyPairSync('ec', { namedCurve }).privateKey;
const accountIssuer = 'https://accounts.example.com';
const attacker = newRsa();
const accounts = newRsa();

/** The keys of the provider by their ids. */
const keys = {
  rsa: newRsa(),
  named: newRsa(),
  p256: newEc(),
  p384: newEc('P-384'),
  small: newRsa(1_024),
  encrypting: newRsa(),
  wrapping: newRsa(),
  edwards: generateKeyPairSync('ed25519').privateKey,
  twice: newRsa(),
  twiceMore: newRsa(),
};
const secret = Buffer.from('a secret of the provider, thirty-two bytes');
const publicJwk = (key: KeyObject) => createPublicKey(key).export({ format: 'jwk' }) as JsonObject;
const published = [
  { ...publicJwk(keys.rsa), kid: 'rsa' },
  { ...publicJwk(keys.named), kid: 'named', alg: 'RS256' },
  { ...publicJwk(keys.p256), kid: 'p256' },
  { ...publicJwk(keys.p384), kid: 'p384' },
  { ...publicJwk(keys.small), kid: 'small' },
  { ...publicJwk(keys.encrypting), kid: 'encrypting', use: 'enc' },
  { ...publicJwk(keys.wrapping), kid: 'wrapping', key_ops: ['wrapKey'] },
  { ...publicJwk(keys.edwards), kid: 'edwards' },
  { kty: 'oct', k: secret.toString('base64url'), kid: 'symmetric' },
  { ...publicJwk(keys.twice), kid: 'twice' },
  { ...publicJwk(keys.twiceMore), kid: 'twice' },
];

const folder = mkdtempSync(join(tmpdir(), 'orch-'));
const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};
const pemOf = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const publicPem = (key: KeyObject) => createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();
const publicDer = (key: KeyObject) => createPublicKey(key).export({ type: 'spki', format: 'der' });

let provider: https.Server;
let server: OrchServer;
let issuer: string;
let accountUid: string;
beforeAll(async () => {
  const tls = makeCertificates();
  provider = https.createServer(tls, ({ url }, response) => {
    const document = url === '/keys' ? { keys: published } : { issuer, jwks_uri: `${issuer}/keys` };
    response.end(JSON.stringify(document));
  });
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  issuer = `https://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  server = await createServer({
    controllers: '-*',
    apiDomain: 'k8s.io',
    oidcIssuerUrl: issuer,
    oidcClientId: 'orch',
    oidcCaFile: file('ca.crt', tls.ca),
    oidcUsernamePrefix: '-',
    oidcGroupsClaim: 'groups',
    oidcSigningAlgs: ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'],
    serviceAccountIssuer: [accountIssuer],
    serviceAccountSigningKeyFile: file('accounts.key', pemOf(accounts)),
  });
  const account = await server.client.create<ApiObject>(
    { apiVersion: 'v1', resource: 'serviceaccounts', namespace: 'default' },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'bot' } },
  );
  accountUid = account.metadata.uid ?? '';
  await until(async () => expect(await userOf(byProvider())).toBe('jane'));
});
afterAll(async () => {
  await server.close();
  provider.closeAllConnections();
  provider.close();
});

/** The name of the user for whom the server takes the bearer of a token, or the status code of its refusal. */
async function userOf(token: string): Promise<string | number> {
  const { status, body } = await inProcessTransport(server.handler)({
    method: 'POST',
    url: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: Buffer.from('{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'),
  });
  const review = (await json(body as AsyncIterable<Uint8Array> & NodeJS.ReadableStream)) as {
    readonly status?: { readonly userInfo?: { readonly username: string } };
  };
  return review.status?.userInfo?.username ?? status;
}

const seconds = (ahead: number) => Math.floor(Date.now() / 1_000) + ahead;

interface Token {
  readonly header?: object | string;
  readonly claims?: JsonObject;
  readonly signer?: Signer;
}

const claimsOfProvider = () => ({ iss: issuer, aud: 'orch', sub: 'jane', exp: seconds(60) });

/** A token of the provider, but for what differs. */
const byProvider = ({ header = {}, claims = {}, signer = signers.rsa(keys.rsa) }: Token = {}) =>
  compactToken(
    typeof header === 'string' ? header : { alg: 'RS256', kid: 'rsa', ...header },
    { ...claimsOfProvider(), ...claims },
    signer,
  );

const claimsOfAccount = () => ({
  iss: accountIssuer,
  aud: [accountIssuer],
  sub: 'system:serviceaccount:default:bot',
  exp: seconds(60),
  'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'bot', uid: accountUid } },
});

/** A token of the service account, but for what differs. */
const byAccounts = ({ header = {}, claims = {}, signer = signers.rsa(accounts) }: Token = {}) =>
  compactToken({ alg: 'RS256', ...(header as object) }, { ...claimsOfAccount(), ...claims }, signer);

/** The order of the curve P-256, and zero, as numbers of a signature. */
const order = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex');
const zero = Buffer.alloc(32);
const one = Buffer.alloc(32, 1);
const es256 = { alg: 'ES256', kid: 'p256' };

type Row = readonly [title: string, make: () => string];

const byAlgorithm: readonly Row[] = [
  ['HS256 with the PEM of a public key', () => byHmac(publicPem(keys.rsa))],
  ['HS256 with the PEM without its last line break', () => byHmac(publicPem(keys.rsa).trim())],
  ['HS256 with the DER of a public key', () => byHmac(publicDer(keys.rsa))],
  ['HS256 with the JWK of a public key', () => byHmac(JSON.stringify(published[0]))],
  [
    'HS256 with the modulus of a public key',
    () => byHmac(Buffer.from(publicJwk(keys.rsa)['n'] as string, 'base64url')),
  ],
  ['HS256 with a symmetric key that the provider publishes', () => byHmac(secret, { kid: 'symmetric' })],
  ['HS256 without the id of the symmetric key', () => byHmac(secret, { kid: '' })],
  ['ES256 and the id of an RSA key', () => byProvider({ header: { alg: 'ES256' } })],
  ['RS256 and the id of an ECDSA key', () => byProvider({ header: { kid: 'p256' } })],
  ['RS256 that is signed as PS256', () => byProvider({ signer: signers.pss(keys.rsa) })],
  ['PS256 that is signed as RS256', () => byProvider({ header: { alg: 'PS256' } })],
  [
    'PS256 by a key that is for RS256',
    () => byProvider({ header: { alg: 'PS256', kid: 'named' }, signer: signers.pss(keys.named) }),
  ],
  [
    'ES256 by a key on the curve P-384',
    () => byProvider({ header: { ...es256, kid: 'p384' }, signer: signers.ecdsa(keys.p384) }),
  ],
  [
    'ES384 by a key on the curve P-256',
    () => byProvider({ header: { ...es256, alg: 'ES384' }, signer: signers.ecdsa(keys.p256, 'sha384') }),
  ],
  ['EdDSA', () => byProvider({ header: { alg: 'EdDSA', kid: 'edwards' }, signer: signers.eddsa(keys.edwards) })],
  ['rs256 in small letters', () => byProvider({ header: { alg: 'rs256' } })],
  ['an empty algorithm', () => byProvider({ header: { alg: '' } })],
  ['no algorithm', () => byProvider({ header: '{"kid":"rsa"}' })],
  ['an algorithm that is null', () => byProvider({ header: '{"alg":null,"kid":"rsa"}' })],
  ['a list of algorithms', () => byProvider({ header: '{"alg":["RS256"],"kid":"rsa"}' })],
  ['__proto__ as algorithm', () => byProvider({ header: { alg: '__proto__' } })],
  ['constructor as algorithm', () => byProvider({ header: { alg: 'constructor' } })],
];

const byHmac = (key: string | Uint8Array, header: object = {}) =>
  byProvider({ header: { alg: 'HS256', ...header }, signer: signers.hmac(key) });

const bySignature: readonly Row[] = [
  // CVE-2022-21449: a verifier that does not check the range of the numbers accepts zero for everything.
  ['an ECDSA signature of zeros', () => byNumbers(zero, zero)],
  ['an ECDSA signature whose r is zero', () => byNumbers(zero, one)],
  ['an ECDSA signature whose s is zero', () => byNumbers(one, zero)],
  ['an ECDSA signature of the order of the curve', () => byNumbers(order, order)],
  ['an ECDSA signature of half the length', () => byNumbers(zero)],
  ['an ECDSA signature with a byte too few', () => byNumbers(one, one.subarray(1))],
  ['an ECDSA signature with a byte too many', () => byNumbers(one, one, Buffer.alloc(1))],
  ['an ECDSA signature in DER', () => byProvider({ header: es256, signer: signers.ecdsaDer(keys.p256) })],
  ['an RSA signature of zeros', () => byProvider({ signer: signers.bytes(Buffer.alloc(256)) })],
  ['an RSA signature of the number one', () => byProvider({ signer: signers.bytes(Buffer.alloc(256).fill(1, 255)) })],
  [
    'an RSA signature behind a zero byte',
    () => byProvider({ signer: (input) => Buffer.concat([Buffer.alloc(1), signers.rsa(keys.rsa)(input)]) }),
  ],
  ['an RSA key of 1,024 bits', () => byProvider({ header: { kid: 'small' }, signer: signers.rsa(keys.small) })],
  [
    'a key that is for encryption',
    () => byProvider({ header: { kid: 'encrypting' }, signer: signers.rsa(keys.encrypting) }),
  ],
  [
    'a key whose operations are others',
    () => byProvider({ header: { kid: 'wrapping' }, signer: signers.rsa(keys.wrapping) }),
  ],
  ['the key of service accounts', () => byProvider({ signer: signers.rsa(accounts) })],
  [
    'the key of service accounts, without its id',
    () => byProvider({ header: { kid: '' }, signer: signers.rsa(accounts) }),
  ],
];

const byNumbers = (...numbers: Buffer[]) =>
  byProvider({ header: es256, signer: signers.bytes(Buffer.concat(numbers)) });

const signedByAttacker = signers.rsa(attacker);
const byHeader: readonly Row[] = [
  ...(
    [
      ['a key of its own', { jwk: publicJwk(attacker) }],
      ['an address of keys', { jku: 'https://evil.example.com/keys' }],
      ['an address of certificates', { x5u: 'https://evil.example.com/chain' }],
      ['a certificate of its own', { x5c: [publicDer(attacker).toString('base64')] }],
      ['a file as the id of its key', { kid: '../../../../dev/null' }],
      ['an address as the id of its key', { kid: 'https://evil.example.com/keys' }],
      ['an id of its key with a NUL', { kid: 'rsa\0' }],
      ['an id of its key with a line break', { kid: 'rsa\n' }],
      ['__proto__ as the id of its key', { kid: '__proto__' }],
      ['constructor as the id of its key', { kid: 'constructor' }],
      ['an empty id of its key', { kid: '' }],
      ['an id of its key of 8 KB', { kid: 'k'.repeat(8_000) }],
    ] as const
  ).map(([title, header]): Row => [title, () => byProvider({ header, signer: signedByAttacker })]),
  ['an id of the right key and another one', () => byProvider({ header: '{"alg":"RS256","kid":"rsa","kid":"x"}' })],
  ['two algorithms', () => byProvider({ header: '{"alg":"RS256","kid":"rsa","alg":"none"}' })],
  ['an unencoded payload (RFC 7797)', () => byProvider({ header: { b64: false, crit: ['b64'] } })],
  ['a critical extension', () => byProvider({ header: { crit: ['exp'], exp: 1 } })],
  ['an empty list of critical extensions', () => byProvider({ header: { crit: [] } })],
  ['a byte order mark', () => byProvider({ header: '\uFEFF{"alg":"RS256","kid":"rsa"}' })],
];

const byForm: readonly Row[] = [
  ['an encrypted one of five parts', () => `${encodePart({ alg: 'dir', enc: 'A256GCM' })}.AA.AA.AA.AA`],
  ['five parts, the first of which are right', () => `${byProvider()}.AA.AA`],
  ['in JSON', () => inJson(byProvider())],
  ['with a dot behind it', () => `${byProvider()}.`],
  ['with a dot before it', () => `.${byProvider()}`],
  ['with padding', () => byProvider().replace('.', '=.')],
  [
    'in the other alphabet',
    () =>
      `${byProvider({ claims: { jti: '~~~???' } })
        .replaceAll('_', '/')
        .replaceAll('-', '+')}`,
  ],
  ['with other bits behind its signature', () => withOtherBits(byProvider())],
  ['with a quotation mark around it', () => `"${byProvider()}"`],
  ['of 17 KB', () => byProvider({ claims: { more: 'x'.repeat(13_000) } })],
  ['of 10,000 dots', () => '.'.repeat(10_000)],
];

function inJson(token: string): string {
  const [header, payload, signature] = token.split('.');
  return JSON.stringify({ protected: header, payload, signature });
}

/** The last character of 256 bytes in base64url has four unused bits. */
function withOtherBits(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return token.slice(0, -1) + alphabet.charAt(alphabet.indexOf(token.slice(-1)) + 1);
}

const byClaims: readonly Row[] = [
  ...Object.entries<JsonObject[string]>({
    'a negative number': -1,
    null: null,
    'a text that is not a number': 'NaN',
    'a number in a list': [9_999_999_999],
    true: true,
    'a number beyond all dates': 1e18,
  }).map(([title, exp]): Row => [`an expiry that is ${title}`, () => byProvider({ claims: { exp } })]),
  ['an expiry within this second', () => byProvider({ claims: { exp: seconds(0) + 0.999 } })],
  ['an audience among others that are not strings', () => byProvider({ claims: { aud: [['orch'], 1, null] } })],
  ['an audience that begins with the right one', () => byProvider({ claims: { aud: 'orch ' } })],
  ['a user in __proto__', () => byText(`"__proto__":{"sub":"jane"}`)],
  ['a user in constructor', () => byText(`"constructor":{"prototype":{"sub":"jane"}}`)],
  ['a user that is null', () => byText('"sub":null')],
  ['the user of another case', () => byText('"SUB":"jane"')],
  ['the issuer in another case', () => byProvider({ claims: { iss: issuer.toUpperCase() } })],
  ['the issuer with its default path', () => byProvider({ claims: { iss: `${issuer}/` } })],
  ['the issuer in a list', () => byProvider({ claims: { iss: [issuer] } })],
];

/** A token of the provider without a user, but for this member. */
const byText = (member: string) =>
  compactToken(
    { alg: 'RS256', kid: 'rsa' },
    `{"iss":${JSON.stringify(issuer)},"aud":"orch","exp":${seconds(60)},${member}}`,
    signers.rsa(keys.rsa),
  );

const ofAccounts: readonly Row[] = [
  ['signed by a key of the provider', () => byAccounts({ signer: signers.rsa(keys.rsa) })],
  [
    'signed by a key of the provider, with its id',
    () => byAccounts({ header: { kid: 'rsa' }, signer: signers.rsa(keys.rsa) }),
  ],
  [
    'of the issuer of tokens in secrets, signed by a key of the provider',
    () => byAccounts({ claims: { iss: 'orch/serviceaccount' }, signer: signers.rsa(keys.rsa) }),
  ],
  ['of the provider, signed by the key of accounts', () => byAccounts({ claims: { iss: issuer, aud: 'orch' } })],
  ['that expired more than a minute ago', () => byAccounts({ claims: { exp: seconds(-62) } })],
  ['that is not valid for more than a minute', () => byAccounts({ claims: { nbf: seconds(62) } })],
  ['that was issued in the future', () => byAccounts({ claims: { iat: seconds(62) } })],
  ...['never', true, [1], 1e300].map(
    (exp): Row => [`with ${JSON.stringify(exp)} as expiry`, () => byAccounts({ claims: { exp } })],
  ),
  ['with an audience that is not a string', () => byAccounts({ claims: { aud: [accountIssuer, 1] } })],
  ['for another audience', () => byAccounts({ claims: { aud: ['orch'] } })],
  ['of an account with another uid', () => byAccounts({ claims: ofBot(randomUUID()) })],
  ['of an account without a uid', () => byAccounts({ claims: ofBot('') })],
  ['of the account __proto__', () => byAccounts({ claims: ofBot(accountUid, '__proto__') })],
  ['of an account with a slash', () => byAccounts({ claims: ofBot(accountUid, '../default/bot') })],
  [
    'bound to a pod that does not exist',
    () => byAccounts({ claims: ofBot(accountUid, 'bot', { pod: { name: 'x', uid: randomUUID() } }) }),
  ],
  ['with the subject alone', () => byAccounts({ claims: { 'kubernetes.io': null } })],
];

const ofBot = (uid: string, name = 'bot', more: JsonObject = {}) => ({
  'kubernetes.io': { namespace: 'default', serviceaccount: { name, uid }, ...more },
});

describe.each<[string, readonly Row[]]>([
  ['with the algorithm', byAlgorithm],
  ['with the signature', bySignature],
  ['with the header', byHeader],
  ['that is', byForm],
  ['with the claims', byClaims],
  ['of a service account,', ofAccounts],
])('nobody is authenticated by a token %s', (_, rows) => {
  it.each(rows)('%s', async (_title, make) => {
    expect(await userOf(make())).toBe(401);
  });
});

describe('the user is that of the claims, whatever else', () => {
  it.each<[string, () => string, string]>([
    ['the header names of other keys', () => byProvider({ header: { jwk: publicJwk(attacker), x5u: 'x' } }), 'jane'],
    ['members the header has', () => byProvider({ header: { b64: false, typ: 'x' } }), 'jane'],
    [
      'key of the same id signs',
      () => byProvider({ header: { kid: 'twice' }, signer: signers.rsa(keys.twice) }),
      'jane',
    ],
    [
      'key of the same id signs, the second one too',
      () => byProvider({ header: { kid: 'twice' }, signer: signers.rsa(keys.twiceMore) }),
      'jane',
    ],
    [
      'RSA algorithm a key without one is used with',
      () => byProvider({ header: { alg: 'PS256' }, signer: signers.pss(keys.rsa) }),
      'jane',
    ],
    ['curve a key is on', () => byProvider({ header: es256, signer: signers.ecdsa(keys.p256) }), 'jane'],
    [
      'time it was issued at, as the reference server does',
      () => byProvider({ claims: { iat: seconds(9_999) } }),
      'jane',
    ],
    ['__proto__ says', () => byText('"sub":"jane","__proto__":{"sub":"root"}'), 'jane'],
    ['a claim in another case says', () => byText('"SUB":"root","sub":"jane"'), 'jane'],
    [
      'audiences a service account has',
      () => byAccounts({ claims: { aud: ['x', accountIssuer] } }),
      'system:serviceaccount:default:bot',
    ],
    [
      'the subject of a service account says',
      () => byAccounts({ claims: { sub: 'root' } }),
      'system:serviceaccount:default:bot',
    ],
  ])('%s', async (_, make, user) => {
    expect(await userOf(make())).toBe(user);
  });
});
