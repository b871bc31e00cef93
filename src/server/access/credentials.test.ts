import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import type { ApiObject } from '../../meta/index.ts';
import { der } from '../../pki/der.ts';
import { type CertificateRequest, type CertKeyPair, issueCertificate } from '../../pki/index.ts';
import { forge, nameOf, ofClient } from '../../pki/testing/forge.ts';
import { oid } from '../../pki/x509.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { createServer, type OrchServer, type ServerOptions } from '../index.ts';

const hour = 3_600_000;
const life = { notBefore: Date.now() - hour, notAfter: Date.now() + hour };
type Issuer = CertKeyPair & { readonly name: string };
const authority = (name: string, issuer?: Issuer): Issuer => ({
  ...issueCertificate({ commonName: name, usage: 'authority', ...life }, issuer),
  name,
});
const client = (commonName: string, issuer: Issuer, more: Partial<CertificateRequest> = {}) =>
  issueCertificate({ commonName, usage: 'client', ...life, ...more }, issuer);
const [clients, moreClients, proxies, foreign] = ['clients', 'more', 'proxies', 'foreign'].map((name) =>
  authority(name),
);
if (!clients || !moreClients || !proxies || !foreign) throw new Error('no authorities');
const middle = authority('middle', clients);

const folder = () => mkdtempSync(join(tmpdir(), 'orch-'));
const files = folder();
const file = (name: string, text: string) => {
  const path = join(files, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};
const clientCaFile = file('clients.crt', clients.cert + moreClients.cert);
const settings: ServerOptions = {
  securePort: 0,
  clientCaFile,
  requestheaderClientCaFile: file('proxies.crt', proxies.cert),
  requestheaderAllowedNames: ['front', 'other'],
  requestheaderUsernameHeaders: ['X-Remote-User', 'X-User'],
  requestheaderUidHeaders: ['X-Remote-Uid'],
  requestheaderGroupHeaders: ['X-Remote-Group'],
  requestheaderExtraHeadersPrefix: ['X-Remote-Extra-'],
  tokenAuthFile: file('tokens.csv', 'secret,tom,t1,"dev,ops"\n'),
};

const open: OrchServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function serve(options: ServerOptions = {}, dependencies = {}) {
  const server = await createServer({ ...settings, ...options }, dependencies);
  open.push(server);
  const { port } = await server.listen();
  return { server, port };
}

interface Asked {
  readonly pair?: CertKeyPair;
  readonly headers?: { readonly [name: string]: string | string[] };
  readonly agent?: https.Agent;
}

interface Me {
  readonly code?: number;
  readonly status?: { readonly userInfo?: { readonly [key: string]: unknown } };
}

/** The user of a request as a SelfSubjectReview tells it, or the status code of its failure. */
async function whoAmI(port: number, { pair, headers = {}, agent }: Asked): Promise<unknown> {
  const got = await new Promise<Me>((resolve, reject) => {
    const request = https.request(
      {
        port,
        host: '127.0.0.1',
        path: '/apis/authentication.orch.io/v1/selfsubjectreviews',
        method: 'POST',
        rejectUnauthorized: false,
        headers: { 'content-type': 'application/json', ...headers },
        ...(pair && { cert: pair.cert, key: pair.key }),
        ...(agent === undefined ? { agent: new https.Agent({ maxCachedSessions: 0 }) } : { agent }),
      },
      (response) => void json(response).then((body) => resolve(body as Me), reject),
    );
    request.on('error', reject);
    request.end('{"kind":"SelfSubjectReview","apiVersion":"authentication.orch.io/v1"}');
  });
  return got.status?.userInfo ?? got.code;
}

const front = client('front', proxies);
const ann = { 'X-Remote-User': 'ann', 'X-Remote-Group': ['dev', 'ops'], 'X-Remote-Extra-A.b%2fc': 'x' };

describe('an authenticating proxy', () => {
  it('names the user, its uid, groups and extra attributes', async () => {
    const { port } = await serve();
    expect(await whoAmI(port, { pair: front, headers: { ...ann, 'x-remote-uid': 'u1' } })).toEqual({
      username: 'ann',
      uid: 'u1',
      groups: ['dev', 'ops', 'system:authenticated'],
      extra: { 'a.b/c': ['x'] },
    });
    expect(await whoAmI(port, { pair: front, headers: { 'x-user': 'bob' } })).toMatchObject({ username: 'bob' });
  });

  it('is not a user itself', async () => {
    const { port } = await serve();
    expect(await whoAmI(port, { pair: front })).toBe(401);
    expect(await whoAmI(port, { pair: client('front', proxies, { organizations: ['system:masters'] }) })).toBe(401);
  });

  it('needs an allowed common name and a certificate of its authority', async () => {
    const { port } = await serve();
    expect(await whoAmI(port, { pair: client('back', proxies), headers: ann })).toBe(401);
    expect(await whoAmI(port, { pair: client('front', foreign), headers: ann })).toBe(401);
    // A user of this name, and the headers count for nothing.
    const pair = client('front', clients, { organizations: ['staff'] });
    expect(await whoAmI(port, { pair, headers: ann })).toMatchObject({
      username: 'front',
      groups: ['staff', 'system:authenticated'],
    });
    expect(await whoAmI(port, { headers: { ...ann, authorization: 'Bearer secret' } })).toMatchObject({
      username: 'tom',
    });
    expect(await whoAmI(port, { headers: ann })).toBe(403);
  });

  it('gives way to a bearer token when its certificate is not that of a proxy', async () => {
    const { port } = await serve();
    const authorization = 'Bearer secret';
    expect(await whoAmI(port, { pair: client('x', foreign), headers: { authorization } })).toMatchObject({
      username: 'tom',
    });
    expect(await whoAmI(port, { pair: front, headers: { authorization, ...ann } })).toMatchObject({ username: 'ann' });
  });

  it('is published for aggregated API servers', async () => {
    const clock = drivenClock();
    const { server } = await serve({}, { clock });
    const place = { apiVersion: 'v1', resource: 'configmaps', namespace: 'kube-system' };
    const read = () =>
      server.client.get<ApiObject & { data: { [key: string]: string } }>({
        ...place,
        name: 'extension-apiserver-authentication',
      });
    await expect
      .poll(() =>
        read().then(
          ({ data }) => data,
          () => undefined,
        ),
      )
      .toMatchObject({
        'requestheader-client-ca-file': proxies.cert,
        'requestheader-allowed-names': '["front","other"]',
        'requestheader-username-headers': '["X-Remote-User","X-User"]',
        'requestheader-uid-headers': '["X-Remote-Uid"]',
        'requestheader-group-headers': '["X-Remote-Group"]',
        'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      });
    expect((await read()).data['client-ca-file']).toContain(moreClients.cert);
  });

  it.each([
    [{ featureGates: { RemoteRequestHeaderUID: false } }, 'needs --feature-gates=RemoteRequestHeaderUID=true'],
    [{ requestheaderUidHeaders: ['X-Other'] }, 'must have X-Remote-Uid among its headers'],
    [{ requestheaderUsernameHeaders: ['X Remote'] }, 'must be the name of a header'],
    [{ requestheaderClientCaFile: clientCaFile.replace('clients', 'nothing') }, '--requestheader-client-ca-file='],
  ])('is refused with wrong settings: %o', async (options, message) => {
    await expect(serve(options)).rejects.toThrow(message);
  });
});

describe('a static token', () => {
  it('names a user with uid and quoted groups; another is a 401 also where anonymous requests are allowed', async () => {
    const { port } = await serve();
    expect(await whoAmI(port, { headers: { authorization: 'Bearer secret' } })).toEqual({
      username: 'tom',
      uid: 't1',
      groups: ['dev', 'ops', 'system:authenticated'],
    });
    expect(await whoAmI(port, {})).toBe(403);
    expect(await whoAmI(port, { headers: { authorization: 'Bearer other' } })).toBe(401);
  });

  it('is needed where anonymous requests are not allowed', async () => {
    const { port } = await serve({ anonymousAuth: false });
    expect(await whoAmI(port, {})).toBe(401);
    expect(await whoAmI(port, { headers: { authorization: 'Basic dG9tOnNlY3JldA==' } })).toBe(401);
    expect(await whoAmI(port, { headers: { authorization: 'Bearer secret' } })).toMatchObject({ username: 'tom' });
  });
});

const { commonName: cn, organization: o } = oid;
const bmpString = (text: string) => {
  const bytes = Buffer.from(text, 'utf16le').swap16();
  return Buffer.from([0x1e, bytes.length, ...bytes]);
};

/** Subjects of certificates that an authority of users has signed, and the user of each, or the status code. */
const subjects: readonly (readonly [title: string, subject: Buffer, user: string | number])[] = [
  ['several common names: the last one counts', nameOf([cn, der.utf8('eve')], [cn, der.utf8('root')]), 'root of '],
  ['a NUL in its common name', nameOf([cn, der.utf8('root\0.example')]), 'root\0.example of '],
  ['a common name in UTF-16', nameOf([cn, bmpString('eve')]), 'eve of '],
  ['a common name in quotes and commas', nameOf([cn, der.utf8('eve,O=system:masters')]), 'eve,O=system:masters of '],
  ['a common name with a line break', nameOf([cn, der.utf8('eve\nO=system:masters')]), 'eve\nO=system:masters of '],
  ['an empty common name', nameOf([cn, der.utf8('')], [o, der.utf8('system:masters')]), 403],
  ['no subject', nameOf(), 403],
  ['__proto__ as organization', nameOf([cn, der.utf8('eve')], [o, der.utf8('__proto__')]), 'eve of __proto__,'],
  [
    '1,000 organizations',
    nameOf([cn, der.utf8('eve')], ...Array.from({ length: 1_000 }, (_, i) => [o, der.utf8(`g${i}`)] as const)),
    `eve of ${Array.from({ length: 1_000 }, (_, i) => `g${i}`).join()},`,
  ],
];

describe('a client certificate', () => {
  it('is that of a user when any of the authorities signed it, also through intermediate ones', async () => {
    const { port } = await serve();
    const organizations = ['dev', 'ops'];
    for (const issuer of [clients, moreClients]) {
      expect(await whoAmI(port, { pair: client('eve', issuer, { organizations }) })).toMatchObject({
        username: 'eve',
        groups: ['dev', 'ops', 'system:authenticated'],
      });
    }
    const leaf = client('low', middle);
    // Node 24 does not tell which certificates came with that of the client.
    const told = Number.parseInt(process.versions.node, 10) < 24 ? { username: 'low' } : 401;
    expect(await whoAmI(port, { pair: { ...leaf, cert: leaf.cert + middle.cert } })).toEqual(
      typeof told === 'number' ? told : expect.objectContaining(told),
    );
    expect(await whoAmI(port, { pair: leaf })).toBe(401);
  });

  it('is a 401 when it has expired, is foreign, or is that of a server', async () => {
    const { port } = await serve();
    expect(await whoAmI(port, { pair: client('eve', clients, { notAfter: Date.now() - 1_000 }) })).toBe(401);
    expect(await whoAmI(port, { pair: client('eve', clients, { notBefore: Date.now() + hour / 2 }) })).toBe(401);
    expect(await whoAmI(port, { pair: client('eve', foreign) })).toBe(401);
    expect(await whoAmI(port, { pair: client('eve', clients, { usage: 'server', hosts: ['a.b'] }) })).toBe(401);
  });

  it('without a common name is none, where there is no authenticating proxy', async () => {
    const { port } = await serve({
      requestheaderClientCaFile: undefined,
      requestheaderUidHeaders: undefined,
    });
    expect(await whoAmI(port, { pair: client('', clients, { organizations: ['system:masters'] }) })).toBe(403);
  });

  it('has the user and the groups that its subject names, however that is written', async () => {
    const { port } = await serve({ requestheaderClientCaFile: undefined, requestheaderUidHeaders: undefined });
    const issuer = {
      certificate: new X509Certificate(clients.cert),
      key: createPrivateKey(clients.key),
      subject: nameOf([cn, der.utf8(clients.name)]),
    };
    for (const [title, subject, expected] of subjects) {
      const { certificate, key } = forge({ subject, extensions: ofClient(), ...life }, issuer);
      const pair = { cert: certificate.toString(), key: key.export({ type: 'pkcs8', format: 'pem' }).toString() };
      const user = (await whoAmI(port, { pair })) as { username?: string; groups?: string[] } | number;
      const shown = typeof user === 'number' ? user : `${user.username} of ${user.groups?.join()}`;
      expect(shown, title).toBe(typeof expected === 'number' ? expected : `${expected}system:authenticated`);
    }
  });

  it('is judged by the authorities that the file has now', async () => {
    const clock = drivenClock();
    clock.advance(Date.now() - clock.now());
    const path = file('changing.crt', clients.cert);
    const { port } = await serve({ clientCaFile: path }, { clock });
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
    const pair = client('eve', foreign);
    const ask = () => whoAmI(port, { pair, agent });
    expect(await ask()).toBe(401);
    // In steps that no limit on idle connections sees: the connection stays the same.
    const askLater = async () => {
      for (let i = 0; i < 6; i++) {
        clock.advance(10_000);
        await ask();
      }
      return ask();
    };
    file('changing.crt', foreign.cert);
    await expect.poll(askLater).toMatchObject({ username: 'eve' });
    // An unreadable file changes nothing.
    file('changing.crt', foreign.cert.slice(0, 100));
    for (let i = 0; i < 3; i++) expect(await askLater()).toMatchObject({ username: 'eve' });
    file('changing.crt', clients.cert);
    await expect.poll(askLater).toBe(401);
    agent.destroy();
  });
});
