import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueCertificate } from '../../pki/index.ts';
import { createServer, type OrchServer } from '../index.ts';

const life = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 3_600_000 };
const proxies = { ...issueCertificate({ commonName: 'proxies', usage: 'authority', ...life }), name: 'proxies' };
const front = issueCertificate({ commonName: 'front', usage: 'client', ...life }, proxies);
const path = '/apis/authentication.orch.io/v1/selfsubjectreviews';
const body = '{"kind":"SelfSubjectReview","apiVersion":"authentication.orch.io/v1"}';

let server: OrchServer;
let port: number;
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'orch-'));
  const file = join(folder, 'proxies.crt');
  writeFileSync(file, proxies.cert);
  const tokenAuthFile = join(folder, 'tokens.csv');
  writeFileSync(tokenAuthFile, 'secret,tom,1\nother,eve,2\n', { mode: 0o600 });
  server = await createServer({
    securePort: 0,
    tokenAuthFile,
    requestheaderClientCaFile: file,
    requestheaderUsernameHeaders: ['X-Remote-User'],
    requestheaderGroupHeaders: ['X-Remote-Group'],
    requestheaderExtraHeadersPrefix: ['X-Remote-Extra-'],
  });
  ({ port } = await server.listen());
});
afterAll(() => server.close());

/** Sends bytes as the proxy; the result is what came until the server or `enough` ended the connection. */
function exchange(protocol: 'http/1.1' | 'h2', bytes: Buffer, enough: (received: Buffer) => boolean): Promise<Buffer> {
  return new Promise((resolve) => {
    let received = Buffer.alloc(0);
    const options = { port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: [protocol] };
    const socket = tls.connect({ ...options, cert: front.cert, key: front.key }, () => socket.write(bytes));
    socket.on('data', (piece: Buffer) => {
      received = Buffer.concat([received, piece]);
      if (enough(received)) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(received));
  });
}

/** The user and its groups of a review; the code of a failure. */
function outcome(text: string): string {
  const { username, groups = [] } = (JSON.parse(text).status?.userInfo ?? {}) as {
    username?: string;
    groups?: string[];
  };
  return username === undefined ? String(JSON.parse(text).code) : `${username} of ${groups.join()}`;
}

/** The outcome of a request over HTTP/1.1 with these lines in its head. */
async function over1(lines: string, ending = `Content-Length: ${body.length}\r\n\r\n${body}`): Promise<string> {
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n`;
  const received = (
    await exchange('http/1.1', Buffer.from(`${head}${lines}${ending}`, 'latin1'), () => false)
  ).toString();
  const [answered = '', text = ''] = received.split('\r\n\r\n', 2);
  const json = /\{.*\}/s.exec(text)?.[0];
  return json === undefined ? (answered.split(' ')[1] ?? '') : outcome(json);
}

type Field = readonly [name: string, value: string];

const frame = (type: number, flags: number, stream: number, payload: Buffer) => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};

/** Header fields as HPACK literals, which no library has looked at. */
const literals = (fields: readonly Field[]) =>
  Buffer.concat(
    fields.flatMap(([name, value]) => [
      Buffer.from([0x10, name.length]),
      Buffer.from(name, 'latin1'),
      Buffer.from([value.length]),
      Buffer.from(value, 'latin1'),
    ]),
  );

/** The outcome of a request over HTTP/2; `refused` when its stream or connection is reset. */
async function over2(fields: readonly Field[], pseudo: readonly Field[] = pseudoHeaders): Promise<string> {
  const all: readonly Field[] = [...pseudo, ['content-type', 'application/json'], ...fields];
  const bytes = Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(4, 0, 0, Buffer.alloc(0)),
    frame(1, 4, 1, literals(all)),
    frame(0, 1, 1, Buffer.from(body)),
  ]);
  const read = (received: Buffer) => {
    let text = '';
    for (let at = 0; at + 9 <= received.length; ) {
      const [length, type, flags] = [received.readUIntBE(at, 3), received[at + 3], received[at + 4] ?? 0];
      if (at + 9 + length > received.length) break;
      // RST_STREAM and GOAWAY.
      if (type === 3 || type === 7) return text === '' ? 'refused' : outcome(text);
      if (type === 0) text += received.toString('utf8', at + 9, at + 9 + length);
      if (type === 0 && (flags & 1) === 1) return outcome(text);
      at += 9 + length;
    }
    return undefined;
  };
  return read(await exchange('h2', bytes, (received) => read(received) !== undefined)) ?? 'refused';
}

const pseudoHeaders: readonly Field[] = [
  [':method', 'POST'],
  [':scheme', 'https'],
  [':path', path],
  [':authority', 'a'],
];

const own = 'ann of system:masters,system:authenticated';
const ann = 'X-Remote-User: ann\r\nX-Remote-Group: system:masters\r\n';

describe('headers that name a user over HTTP/1.1', () => {
  it.each([
    ['as they should be', ann, own],
    ['in another case', 'x-REMOTE-uSER: ann\r\nX-remote-GROUP: system:masters\r\n', own],
    ['twice', `${ann}X-Remote-User: eve\r\n`, own],
    ['twice, the first one empty', `X-Remote-User:\r\n${ann}`, '401'],
    ['two in one', 'X-Remote-User: ann, eve\r\n', 'ann, eve of system:authenticated'],
    ['with underscores', 'X_Remote_User: ann\r\nX_Remote_Group: system:masters\r\n', '401'],
    ['with underscores in addition', `X_Remote_User: eve\r\n${ann}`, own],
    ['empty', 'X-Remote-User:  \r\n', '401'],
    ['with white space before the colon', 'X-Remote-User : ann\r\n', '400'],
    ['named as hop-by-hop headers', `${ann}Connection: X-Remote-User, X-Remote-Group\r\n`, own],
    ['too large', `X-Remote-User: ${'a'.repeat(20_000)}\r\n`, '431'],
    ['too many', `X-Remote-User: ann\r\n${'X-Remote-Group: g\r\n'.repeat(200)}`, '431'],
    ['too many extra keys', ann + Array.from({ length: 200 }, (_, i) => `X-Remote-Extra-${i}: g\r\n`).join(''), '431'],
    ['with a line feed alone', 'X-Remote-User: ann\nX-Remote-Group: system:masters\r\n', '400'],
    ['with a carriage return alone', 'X-Remote-User: ann\rX-Remote-Group: system:masters\r\n', '400'],
    ['with a NUL', 'X-Remote-User: ann\0\r\n', '400'],
    ['in UTF-8', 'X-Remote-User: j\xc3\xb6rg\r\n', 'jörg of system:authenticated'],
    ['not in UTF-8', 'X-Remote-User: j\xf6rg\r\n', '400'],
    ['with a group not in UTF-8', `${ann}X-Remote-Group: \xff\r\n`, '400'],
  ])('%s', async (_, lines, expected) => {
    expect(await over1(lines)).toBe(expected);
  });

  it('folded over two lines are refused, or one value', async () => {
    expect(['400', 'ann eve of system:authenticated']).toContain(await over1('X-Remote-User: ann\r\n eve\r\n'));
  });

  it('after the body count for nothing', async () => {
    const chunks = `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n`;
    expect(await over1('Trailer: X-Remote-User\r\n', `${chunks}X-Remote-User: ann\r\n\r\n`)).toBe('401');
    expect(await over1(ann, `${chunks}Impersonate-User: eve\r\nX-Remote-User: eve\r\n\r\n`)).toBe(own);
  });

  it.each([
    ['as they should be', 'Impersonate-User: bob\r\n', 'bob of system:authenticated'],
    ['in another case', 'iMPERSONATE-uSER: bob\r\n', 'bob of system:authenticated'],
    ['twice', 'Impersonate-User: bob\r\nImpersonate-User: eve\r\n', 'bob of system:authenticated'],
    ['two in one', 'Impersonate-User: bob,eve\r\n', 'bob,eve of system:authenticated'],
    ['with underscores', 'Impersonate_User: bob\r\n', own],
    ['empty', 'Impersonate-User:\r\n', own],
    ['a group alone', 'Impersonate-Group: dev\r\n', '400'],
    ['not in UTF-8', 'Impersonate-User: b\xf6b\r\n', '400'],
    ['with a group not in UTF-8', 'Impersonate-User: bob\r\nImpersonate-Group: \xff\r\n', '400'],
    ['with an extra value not in UTF-8', 'Impersonate-User: bob\r\nImpersonate-Extra-A: \xff\r\n', '400'],
    ['too many', `Impersonate-User: bob\r\n${'Impersonate-Group: g\r\n'.repeat(200)}`, '431'],
  ])('to impersonate, %s', async (_, lines, expected) => {
    expect(await over1(ann + lines)).toBe(expected);
  });
});

describe('the Authorization header', () => {
  const tom = 'tom of system:authenticated';

  it.each([
    ['of a token', 'Authorization: Bearer secret\r\n', tom],
    ['in another case', 'AUTHORIZATION: bEARER secret\r\n', tom],
    ['together with the headers of a proxy', `Authorization: Bearer secret\r\n${ann}`, own],
    ['twice, of which the first one counts', 'Authorization: Bearer secret\r\nAuthorization: Bearer other\r\n', tom],
    ['twice, the first one of another scheme', 'Authorization: Basic eDp5\r\nAuthorization: Bearer secret\r\n', '401'],
    ['twice, the first one empty', 'Authorization:\r\nAuthorization: Bearer secret\r\n', '401'],
    ['with words behind the token', 'Authorization: Bearer secret other\r\n', tom],
    ['with two tokens and a comma', 'Authorization: Bearer secret, Bearer other\r\n', '401'],
    ['with a token in another case', 'Authorization: Bearer SECRET\r\n', '401'],
    ['with a token in quotes', 'Authorization: Bearer "secret"\r\n', '401'],
    ['with a tab', 'Authorization: Bearer\tsecret\r\n', '401'],
    ['without a token', 'Authorization: Bearer\r\n', '401'],
    ['without a scheme', 'Authorization: secret\r\n', '401'],
    ['of a password', `Authorization: Basic ${btoa('tom:secret')}\r\n`, '401'],
    ['of a negotiation', `Authorization: Negotiate ${btoa('secret')}\r\n`, '401'],
    ['of a digest', 'Authorization: Digest username="tom", response="secret"\r\n', '401'],
    ['of another name', 'Proxy-Authorization: Bearer secret\r\nX-Authorization: Bearer secret\r\n', '401'],
    ['__proto__ as token', 'Authorization: Bearer __proto__\r\n', '401'],
  ])('%s', async (_, lines, expected) => {
    expect(await over1(lines)).toBe(expected);
  });

  it.each([
    'Impersonate-User: system:admin',
    'Impersonate-User: system:serviceaccount:kube-system:x',
    'Impersonate-User: tom',
    'Impersonate-User: tom\r\nImpersonate-Group: system:masters',
    'Impersonate-User: tom\r\nImpersonate-Uid: 1',
    'Impersonate-User: tom\r\nImpersonate-Extra-__proto__: x',
  ])('of a user without rights, with %j, impersonates nobody', async (lines) => {
    expect(await over1(`Authorization: Bearer secret\r\n${lines}\r\n`)).toBe('403');
  });

  it.each(['Group: system:masters', 'Uid: 1', 'Extra-Scopes: x'])(
    'with Impersonate-%s alone is refused: it names no user',
    async (line) => {
      expect(await over1(`Authorization: Bearer secret\r\nImpersonate-${line}\r\n`)).toBe('400');
    },
  );

  it('after the body counts for nothing', async () => {
    const chunks = `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n`;
    expect(await over1('Trailer: Authorization\r\n', `${chunks}Authorization: Bearer secret\r\n\r\n`)).toBe('401');
  });
});

describe('headers that name a user over HTTP/2', () => {
  const user: Field = ['x-remote-user', 'ann'];
  const group: Field = ['x-remote-group', 'system:masters'];

  it.each<[string, readonly Field[], string]>([
    ['as they should be', [user, group], own],
    ['twice', [user, group, ['x-remote-user', 'eve']], own],
    ['in upper case', [['X-Remote-User', 'ann']], 'refused'],
    // Node leaves out fields whose value is malformed.
    ['with a line break', [['x-remote-user', 'ann\r\nx-remote-group: system:masters']], '401'],
    ['with a NUL', [['x-remote-user', 'ann\0']], '401'],
    ['not in UTF-8', [['x-remote-user', 'j\xf6rg']], '400'],
    ['with a Connection header', [user, ['connection', 'x-remote-user']], 'refused'],
    ['with a Transfer-Encoding header', [user, ['transfer-encoding', 'chunked']], 'refused'],
    ['before a second path', [user, [':path', '/version']], 'refused'],
    ['to impersonate', [user, group, ['impersonate-user', 'bob']], 'bob of system:authenticated'],
    ['to impersonate, in upper case', [user, group, ['Impersonate-User', 'bob']], 'refused'],
    ['with another host', [user, group, ['host', 'b']], own],
    ['with a token too', [user, group, ['authorization', 'Bearer secret']], own],
  ])('%s', async (_, fields, expected) => {
    expect(await over2(fields)).toBe(expected);
  });

  it.each<[string, readonly Field[]]>([
    ['two paths', [...pseudoHeaders, [':path', '/version']]],
    ['two methods', [...pseudoHeaders, [':method', 'GET']]],
    ['two authorities', [...pseudoHeaders, [':authority', 'b']]],
    ['no path', pseudoHeaders.filter(([name]) => name !== ':path')],
    ['an unknown pseudo-header', [...pseudoHeaders, [':user', 'ann']]],
    ['a pseudo-header of a response', [...pseudoHeaders, [':status', '200']]],
  ])('are refused with %s', async (_, pseudo) => {
    expect(await over2([user, group], pseudo)).toBe('refused');
  });
});
