import { X509Certificate } from 'node:crypto';
import { DistributedClaims, type GetDocument, openIdAuthenticator, ProviderKeys } from '../../src/access/index.ts';
import {
  emptyTokenCounts,
  requestHeaderAuthenticator,
  serviceAccountAuthenticator,
  type TokenAuthenticator,
  verificationKeys,
} from '../../src/auth/index.ts';
import { StatusError, statusError, type User } from '../../src/meta/index.ts';
import { readDer } from '../../src/pki/der.ts';
import { pemBlocks, readCertificate, TrustPool } from '../../src/pki/index.ts';
import { accountsPem, accountToken, ann, low, middle, providerJwk, providerToken, root } from '../credentials.ts';
import { names } from '../names.ts';
import type { Random } from '../random.ts';
import { headerSize, law, type Target } from '../target.ts';
import { oddJson } from '../texts.ts';
import { anyText, changed } from '../values.ts';

const seedsOf = (...texts: readonly string[]) => texts.map((text) => Buffer.from(text));
const now = Date.UTC(2026, 0, 1);
const clock = { now: () => now };
const audiences = ['https://a.example'];

const provider = 'https://p.example';
const documents: { readonly [url: string]: object } = {
  [`${provider}/.well-known/openid-configuration`]: { issuer: provider, jwks_uri: `${provider}/keys` },
  [`${provider}/keys`]: { keys: [providerJwk] },
};

async function tokenAuthenticators(): Promise<readonly TokenAuthenticator[]> {
  const get: GetDocument = async (url) => ({ status: 200, statusText: 'OK', text: JSON.stringify(documents[url]) });
  const timers = { monotonic: () => 0, after: () => () => {} };
  const keys = new ProviderKeys({ issuer: provider, get, clock: timers, failed: () => {} });
  const distributedClaims = new DistributedClaims(get, { ...clock, ...timers });
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 's', namespace: 'n', uid: 'u' } };
  const [key] = verificationKeys(accountsPem);
  if (key === undefined) throw new Error('there is no key of accounts');
  while (!keys.ready) await new Promise((resolve) => setImmediate(resolve));
  return [
    openIdAuthenticator([
      {
        provider: {
          issuer: provider,
          audiences: ['orch'],
          algorithms: ['RS256', 'ES256', 'PS256'],
          mapping: {
            username: { claim: 'sub', prefix: '' },
            groups: { claim: 'groups', prefix: '' },
            uid: undefined,
            extra: [],
            requiredClaims: new Map(),
            claimRules: [],
            userRules: [],
          },
        },
        keys,
        distributedClaims,
        names,
        clock,
        audiences,
      },
    ]),
    serviceAccountAuthenticator({
      ...{ names, clock, audiences, issuers: audiences, lookup: true },
      keys: async () => ({ signing: key, verification: [key] }),
      objects: {
        get: async (resource, namespace, name) =>
          resource === 'serviceaccounts' && namespace === 'n' && name === 's' ? account : undefined,
        read: () => Promise.reject(statusError.notFound({ group: '', resource: '' }, '')),
        labelSecret: () => {},
      },
      counts: emptyTokenCounts().serviceAccount,
    }),
  ];
}

const issued = new Map([
  [providerToken, 'jane'],
  [accountToken, 'system:serviceaccount:n:s'],
]);
let authenticators: ReturnType<typeof tokenAuthenticators> | undefined;

const tokens: Target = {
  name: 'auth-tokens',
  limit: headerSize,
  seeds: seedsOf(...issued.keys()),
  words: ['.', '..', '=', '-', '_', '+', '/', ' ', '\n', 'e30', 'AA', 'eyJhbGciOiJub25lIn0', ...issued.keys()],
  generate: forgedToken,
  run: async (bytes) => {
    const token = Buffer.from(bytes).toString();
    authenticators ??= tokenAuthenticators();
    const users: string[] = [];
    for (const authenticate of await authenticators) {
      const found = await Promise.resolve(authenticate(token, audiences)).catch((error: unknown) => {
        law(error instanceof StatusError && error.code === 401, 'a token is refused with 401');
      });
      if (found) users.push(found.user.name);
    }
    law(
      users.join() === (issued.get(token) ?? ''),
      'a token that was issued authenticates its user, another one nobody',
    );
  },
};

/** An issued token, whose header, claims or signature are replaced by something like them. */
function forgedToken(random: Random): string {
  const [header = '', claims = '', signature = ''] = random.pick([...issued.keys()]).split('.');
  const forged = (part: string) => {
    const value = JSON.parse(Buffer.from(part, 'base64url').toString());
    return Buffer.from(oddJson(random, random.once(2) ? value : changed(random, value))).toString('base64url');
  };
  const other = random.pick([...issued.keys()]).split('.')[2] ?? '';
  return [
    random.once(3) ? header : forged(header),
    random.once(3) ? claims : forged(claims),
    random.once(3) ? signature : random.pick([other, '', signature.toLowerCase(), 'A'.repeat(86)]),
  ].join('.');
}

const [rootPool, middlePool] = [new TrustPool(root), new TrustPool(middle)];
const headerNames = {
  user: ['x-remote-user', 'x-user'],
  uid: ['x-remote-uid'],
  group: ['x-remote-group'],
  extraPrefix: ['x-remote-extra-'],
};
const byHeaders = (pool: TrustPool, allowedNames: readonly string[] = []) =>
  requestHeaderAuthenticator({ pool: () => pool, clock, settings: () => ({ allowedNames, names: headerNames }) });
const proxy = { commonName: 'ann', organizations: ['system:masters'], own: new X509Certificate(ann) };

/** The most header fields of a request. */
const mostFields = 100;

const proxyHeaders: Target = {
  name: 'auth-request-headers',
  limit: headerSize,
  seeds: seedsOf(
    'x-remote-user: a\nx-remote-group: b\nx-remote-group: c,d\nx-remote-extra-example.com%2fscopes: e',
    'x-remote-user:\nx-user: f\nx-remote-uid: 1\nx-remote-extra-%41%zz: g\nx-remote-extra-__proto__: h',
  ),
  words: [
    'x-remote-',
    'x-remote-user: ',
    'x_remote_user: ',
    'x-remote-extra-',
    '__proto__',
    ':',
    ',',
    '\n',
    '%',
    '%2f',
  ],
  generate: (random) =>
    random
      .list(
        1,
        6,
        () => `${random.pick(['x-remote-user', 'x-user', 'x-remote-group', 'x-remote-extra-'])}: ${anyText(random)}`,
      )
      .join('\n'),
  run: (bytes) => {
    const lines = Buffer.from(bytes)
      .toString('latin1')
      .split('\n', mostFields)
      .map((line) => [line.split(':', 1)[0]?.toLowerCase() ?? '', line.slice(line.indexOf(':') + 1).trim()] as const);
    const valuesOf = (...of: readonly string[]) => lines.flatMap(([name, value]) => (of.includes(name) ? [value] : []));
    const sent = {
      headers: Object.fromEntries(lines.map(([name]) => [name, valuesOf(name).join(', ')])),
      headerValues: (name: string) => valuesOf(name),
    };
    const asked = { authorization: undefined, certificate: proxy, sent };
    const none = byHeaders(rootPool)({ ...asked, certificate: undefined });
    law(none === undefined, 'headers without a certificate are nobody');
    for (const other of [byHeaders(middlePool), byHeaders(rootPool, ['front'])]) {
      law(codeOf(() => other(asked)) === 401, 'headers with the certificate of another are refused with 401');
    }
    const user = byHeaders(rootPool)(asked) as User | undefined;
    if (user === undefined) return;
    law(valuesOf('x-remote-user', 'x-user').includes(user.name), 'the user is named in a header');
    const groups = [...valuesOf('x-remote-group'), 'system:authenticated'];
    law(
      user.groups.every((group) => groups.includes(group)),
      'groups are named in headers',
    );
    law(Object.values(user.extra ?? {}).every(Array.isArray), 'extra attributes have lists of values');
  },
};

function codeOf(attempt: () => unknown): number | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return error instanceof StatusError ? error.code : undefined;
  }
}

const derOf = (...pems: readonly string[]) => Buffer.concat(pems.flatMap(pemBlocks).map(({ bytes }) => bytes));
const subjectsOf = (pem: string) => identityOf(new X509Certificate(pem));
const identityOf = ({ subject, validFrom, validTo, publicKey }: X509Certificate) =>
  JSON.stringify([subject, validFrom, validTo, publicKey.export({ type: 'spki', format: 'pem' })]);
const trusted = new Set([ann, low, root, middle].map(subjectsOf));

/** Certificates in DER, one after the other: that of a client, and those that came with it. */
const certificates: Target = {
  name: 'pki-certificates',
  seeds: [derOf(ann), derOf(low, middle), derOf(low, middle, root), derOf(ann, ann)],
  words: ['\x30\0', '\x01\x01\0', '\x06\x03\x55\x1d\x13', '\x06\x03\x55\x1d\x25', '\x06\x03\x55\x04\x03', '\0\0'],
  run: (bytes) => {
    const chain = certificatesIn(Buffer.from(bytes));
    const [own] = chain;
    if (own === undefined) throw statusError.badRequest('there is no certificate');
    for (const pool of [rootPool, middlePool]) {
      const valid = pool.validate(chain).some(({ from, until }) => from <= now && now <= until);
      if (valid) law(trusted.has(identityOf(own)), 'only a certificate that was issued is trusted');
    }
  },
};

function certificatesIn(bytes: Buffer): X509Certificate[] {
  const found: X509Certificate[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = readDer(bytes, at)?.end ?? bytes.length;
    const certificate = readCertificate(bytes.subarray(at, end));
    if (certificate === undefined) break;
    found.push(certificate);
    at = end;
  }
  return found;
}

export const identityTargets: readonly Target[] = [tokens, proxyHeaders, certificates];
