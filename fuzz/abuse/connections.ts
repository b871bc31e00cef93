import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { openSocket } from '../client.ts';
import { flag, frame, frameType, preface, requestFrame, setting, settings, uint32 } from '../requests/frames.ts';
import { exchange } from '../requests/http1.ts';
import { authorization, type TestedServer } from '../server.ts';
import {
  asAdmin,
  configMaps,
  hold,
  letBobRead,
  makeConfigMaps,
  type Scenario,
  selfReviews,
  succeeded,
} from './scenario.ts';

/** Attacks at the level of connections. */

const bob = authorization('bob');
const admin = authorization('admin');
const host = 'Host: localhost\r\n';
const bobs = `Authorization: ${bob.authorization}\r\n`;
const admins = `Authorization: ${admin.authorization}\r\n`;

/** The response to these bytes, until the server closes the connection or is silent for `quietMs`. */
async function sendRaw(server: TestedServer, bytes: string, quietMs = 5_000): Promise<string> {
  return exchange(await openSocket(server, 'http/1.1'), [bytes], 'close', quietMs);
}

const pipelinedUpgrade: Scenario = {
  name: 'pipelined-upgrade',
  title: 'a pipelined upgrade ends its own connection only',
  sharesServer: true,
  attack: async ({ server, full }) => {
    const upgrade = `GET / HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: x\r\n\r\n`;
    const firsts = [
      `GET /version HTTP/1.1\r\n${host}\r\n`,
      `GET /openapi/v2 HTTP/1.1\r\n${host}${bobs}\r\n`,
      `GET ${configMaps}?watch=1 HTTP/1.1\r\n${host}${admins}\r\n`,
      `POST ${selfReviews} HTTP/1.1\r\n${host}${bobs}Content-Length: 2\r\n\r\n{}`,
      `POST ${selfReviews} HTTP/1.1\r\n${host}${bobs}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      upgrade,
    ];
    for (const first of firsts) {
      for (let i = 0; i < (full ? 20 : 2); i++)
        await sendRaw(server, first + upgrade + (i % 2 === 0 ? '' : upgrade), 100);
    }
  },
};

const noHost: Scenario = {
  name: 'no-host',
  title: 'HTTP/1.1 without a Host, or with several, is refused',
  sharesServer: true,
  attack: async ({ server }) => {
    for (const hosts of ['', 'Host: a\r\nHost: b\r\n']) {
      const answer = await sendRaw(server, `GET /version HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
      hold(/^HTTP\/1\.1 400 /.test(answer), `${JSON.stringify(hosts)} is answered with ${answer.slice(0, 60)}`);
    }
    const old = await sendRaw(server, 'GET /version HTTP/1.0\r\nConnection: close\r\n\r\n');
    hold(/^HTTP\/1\.\d 200 /.test(old), `HTTP/1.0 needs no Host, and is answered with ${old.slice(0, 60)}`);
  },
};

const strangeMethods: Scenario = {
  name: 'strange-methods',
  title: 'methods that are not those of HTTP are refused',
  sharesServer: true,
  attack: async ({ server, client }) => {
    succeeded('creating an object', await client.http1(asAdmin('POST', configMaps, { metadata: { name: 'kept' } })));
    const path = `${configMaps}/kept`;
    for (const method of [
      'deletecollection',
      'delete',
      'Delete',
      'DELETECOLLECTION',
      'update',
      'patch',
      'list',
      'PROPFIND',
      '*',
    ]) {
      for (const where of [path, configMaps]) {
        const { status } = await client.http2({ user: 'admin', method, path: where });
        hold(status >= 400 && status < 500, `${method} ${where} is answered with ${status}`);
        await sendRaw(server, `${method} ${where} HTTP/1.1\r\n${host}${admins}Connection: close\r\n\r\n`);
      }
    }
    succeeded('reading the object', await client.http1(asAdmin('GET', path)));
  },
};

const ciphers: Scenario = {
  name: 'cipher-suites',
  title: 'no cipher suite in CBC mode is accepted',
  sharesServer: true,
  attack: async ({ server: { port, ca } }) => {
    const options = {
      host: '127.0.0.1',
      port,
      ca,
      maxVersion: 'TLSv1.2',
      ciphers:
        'AES128-SHA:AES256-SHA:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA384:@SECLEVEL=0',
    } as const;
    const chosen = await new Promise<string | undefined>((resolve) => {
      const socket = connectTls(options, () => {
        resolve(socket.getCipher().name);
        socket.destroy();
      });
      socket.once('error', () => resolve(undefined));
    });
    hold(chosen === undefined, `the server agrees to ${chosen}`);
  },
};

const impersonation: Scenario = {
  name: 'impersonation',
  title: 'ambiguous impersonation headers impersonate nobody',
  sharesServer: true,
  attack: async ({ server }) => {
    const ask = (headers: string) =>
      sendRaw(
        server,
        `POST ${selfReviews} HTTP/1.1\r\n${host}${admins}${headers}Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
      );
    const twice = await ask('Impersonate-User: ann\r\nImpersonate-User: ben\r\n');
    hold(!twice.includes('ann, ben'), 'two users are joined to a third');
    const group = await ask('Impersonate-User: ann\r\nImpersonate-Group: a,system:masters\r\n');
    hold(!group.includes('"system:masters"'), 'a group with a comma is taken for two groups');
    const unknown = await ask('Impersonate-Other: ann\r\n');
    hold(!unknown.includes('"ann"'), 'an unknown header names a user');
  },
};

const unfinishedBodies: Scenario = {
  name: 'unfinished-bodies',
  title: 'unfinished bodies do not keep others from writing',
  sharesServer: true,
  attack: async ({ server, client, full }) => {
    const head = `POST ${selfReviews} HTTP/1.1\r\n${host}${bobs}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`;
    const frames = Array.from({ length: full ? 240 : 105 }, (_, i) => [
      requestFrame(2 * i + 1, 'POST', selfReviews, { ...bob, 'content-type': 'application/json' }, flag.endHeaders),
      frame(frameType.data, 0, 2 * i + 1, Buffer.from('{')),
    ]);
    const many = Buffer.concat([preface, settings(), ...frames.flat()]);
    await whileOpen(server, full ? 600 : 105, 'http/1.1', head, () =>
      whileOpen(server, full ? 2 : 1, 'h2', many, async () => {
        await sleep(1_000);
        for (let i = 0; i < 5; i++) {
          const created = await client.http1(asAdmin('POST', configMaps, { metadata: { name: `meanwhile-${i}` } }));
          succeeded('a write of an administrator', created);
        }
      }),
    );
  },
};

/** Runs a function while a number of connections are open on which these bytes were sent; they are read unless `stalled`. */
async function whileOpen<T>(
  server: TestedServer,
  count: number,
  protocol: 'http/1.1' | 'h2',
  bytes: string | Buffer,
  work: () => Promise<T>,
  { stalled = false } = {},
): Promise<T> {
  const sockets: TLSSocket[] = [];
  try {
    while (sockets.length < count) {
      const some = Math.min(50, count - sockets.length);
      sockets.push(...(await Promise.all(Array.from({ length: some }, () => openSocket(server, protocol)))));
    }
    for (const socket of sockets) {
      if (stalled) socket.pause();
      else socket.resume();
      socket.write(bytes);
    }
    return await work();
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

const megabyte = 1024 * 1024;

const stalledReaders: Scenario = {
  name: 'stalled-readers',
  title: 'responses to clients that do not read are bounded in memory',
  sharesServer: true,
  attack: async ({ server, full }) => {
    const before = await server.resident();
    const headers = { ...bob, accept: 'application/json' };
    const zero = settings({ [setting.initialWindowSize]: 0 });
    for (const path of ['/openapi/v2', '/openapi/v3/apis/apps/v1', '/apis']) {
      const asks = Array.from({ length: full ? 500 : 200 }, (_, i) => requestFrame(2 * i + 1, 'GET', path, headers));
      await whileOpen(server, full ? 8 : 3, 'h2', Buffer.concat([preface, zero, ...asks]), async () => {
        await sleep(full ? 4_000 : 1_500);
        const held = (await server.resident()) - before;
        hold(held < 384 * megabyte, `${Math.round(held / megabyte)} MB are held for ${path}`);
      });
    }
  },
};

const stalledWatchers: Scenario = {
  name: 'stalled-watchers',
  title: 'events for watchers that do not read are bounded in memory',
  attack: async ({ server, client, full }) => {
    const object = (i: number) => ({ metadata: { name: 'told' }, data: { i: String(i), x: 'x'.repeat(100_000) } });
    succeeded('creating an object', await client.http1(asAdmin('POST', configMaps, object(0))));
    const before = await server.resident();
    const zero = settings({ [setting.initialWindowSize]: 0 });
    const asks = Array.from({ length: full ? 100 : 25 }, (_, i) =>
      requestFrame(2 * i + 1, 'GET', `${configMaps}?watch=1`, { ...admin, accept: 'application/json' }),
    );
    await whileOpen(server, 4, 'h2', Buffer.concat([preface, zero, ...asks]), async () => {
      await sleep(500);
      for (let i = 1; i < (full ? 100 : 30); i++) {
        const patch = asAdmin('PATCH', `${configMaps}/told`, object(i), 'application/merge-patch+json');
        succeeded('a write', await client.http1(patch));
      }
      const held = (await server.resident()) - before;
      hold(held < 384 * megabyte, `${Math.round(held / megabyte)} MB are held for watchers`);
    });
  },
};

const stalledCollections: Scenario = {
  name: 'stalled-collections',
  title: 'lists and initial events for connections that are not read are bounded in memory',
  attack: async ({ server, client, full }) => {
    await letBobRead(client);
    // More than the buffers of a connection hold.
    await makeConfigMaps(client, 400, (i) => ({ metadata: { name: `c${i}` }, data: { x: 'x'.repeat(20_000) } }));
    const count = full ? 1_000 : 150;
    const before = await server.memory();
    for (const [path, headers, most] of [
      [configMaps, '', 64],
      [configMaps, 'Accept-Encoding: gzip\r\n', 104],
      [`${configMaps}?watch=1`, '', 64],
    ] as const) {
      const ask = `GET ${path} HTTP/1.1\r\n${host}${bobs}${headers}\r\n`;
      const measure = async () => {
        await sleep(full ? 8_000 : 5_000);
        return (await server.memory()) - before;
      };
      const held = await whileOpen(server, count, 'http/1.1', ask, measure, { stalled: true });
      hold(
        held < (full ? 2 : 1) * most * megabyte,
        `${Math.round(held / megabyte)} MB are held for ${path} ${headers}`,
      );
    }
  },
};

const afterGoAway: Scenario = {
  name: 'requests-after-goaway',
  title: 'requests after a GOAWAY end their own connection only',
  sharesServer: true,
  attack: async ({ server, full }) => {
    const goAway = frame(frameType.goAway, 0, 0, Buffer.concat([uint32(0), uint32(0)]));
    const open = requestFrame(1, 'POST', selfReviews, { ...bob }, flag.endHeaders);
    const late = Array.from({ length: 200 }, (_, i) =>
      requestFrame(2 * i + 3, 'GET', '/version', { ...bob, 'x-a': 'b'.repeat(i) }),
    );
    const bytes = Buffer.concat([preface, settings(), open, goAway, ...late]);
    for (let i = 0; i < (full ? 100 : 8); i++) {
      await whileOpen(server, 4, 'h2', bytes, () => sleep(20));
    }
  },
};

const idleConnections: Scenario = {
  name: 'idle-connections',
  title: 'thousands of idle connections take little memory and do not delay others',
  sharesServer: true,
  attack: async ({ server, full }) => {
    const count = full ? Number(process.env['ORCH_FUZZ_CONNECTIONS'] ?? 2_000) : 200;
    const before = await server.memory();
    const half = Math.floor(count / 2);
    const ask = `GET /version HTTP/1.1\r\n${host}\r\n`;
    const each = await whileOpen(server, count - half, 'http/1.1', ask, () =>
      whileOpen(server, half, 'h2', Buffer.concat([preface, settings()]), async () => {
        await sleep(1_000);
        return ((await server.memory()) - before) / count;
      }),
    );
    hold(each < 20 * 1024, `each idle connection takes ${Math.round(each / 1024)} KB`);
  },
};

export const connectionScenarios: readonly Scenario[] = [
  pipelinedUpgrade,
  noHost,
  strangeMethods,
  ciphers,
  impersonation,
  unfinishedBodies,
  stalledReaders,
  stalledWatchers,
  stalledCollections,
  afterGoAway,
  idleConnections,
];
