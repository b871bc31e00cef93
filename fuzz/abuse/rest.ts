import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer as createTcpServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startNodeAgent } from '../../test/support/node-agent.ts';
import { type Client, openSocket } from '../client.ts';
import { flag, frame, frameType, preface, requestFrame, settings, uint32 } from '../requests/frames.ts';
import { authorization, startServer, type TestedServer } from '../server.ts';
import { asAdmin, heldPlaces, hold, makePod, pods, type Scenario, succeeded } from './scenario.ts';

/** Attacks on discovery and metrics, on proxied requests, and on the disk. */

const host = 'Host: localhost\r\n';

const madeUpMetrics: Scenario = {
  name: 'made-up-metrics',
  title: 'requests for unknown resources add no series to the metrics',
  sharesServer: true,
  attack: async ({ server, client, full }) => {
    const count = full ? 5_500 : 300;
    const paths = Array.from({ length: count }, (_, i) => [
      `GET /api/v1/namespaces/default/pods/web/made-up-${i}`,
      `GET /api/v1/namespaces/default/made-up-${i}/web`,
      `GET /apis/made-up-${i}/v1/pods`,
      `GET /made-up-${i}`,
      `DELETE /api/v1/nodes/web/made-up-${i}?dryRun=made-up-${i}`,
    ]).flat();
    const socket = await openSocket(server, 'http/1.1');
    const text = paths.map((line) => `${line} HTTP/1.1\r\n${host}\r\n`).join('');
    socket.write(`${text}GET /livez HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
    socket.resume();
    await new Promise((closed) => socket.once('close', closed));
    for (const method of Array.from({ length: 50 }, (_, i) => `made-up-${i}`)) {
      await client.http2({ user: 'nobody', method, path: '/api/v1/nodes' }).catch(() => {});
    }
    for (let i = 0; i < 3; i++) {
      const scraped = await client.http1(asAdmin('GET', '/metrics'));
      succeeded('a scrape', scraped);
      hold(!scraped.body.includes('made-up'), 'the metrics tell of what was made up');
      hold(scraped.body.length < 2 * 1024 * 1024, `the metrics have ${scraped.body.length} bytes`);
    }
  },
};

const pair = ({ folder }: TestedServer) => ({
  cert: readFileSync(join(folder, 'server.crt'), 'utf8'),
  key: readFileSync(join(folder, 'server.key'), 'utf8'),
});

const resetRelays: Scenario = {
  name: 'reset-relays',
  title: 'a proxied response is aborted with its client, and a truncated one never looks complete',
  attack: async ({ server, client, full }) => {
    const agent = await startNodeAgent(pair(server), (request, response) => {
      response.write('first line\n');
      if (request.url?.includes('tailLines') === true) setTimeout(() => response.destroy(), 50);
    });
    try {
      await makePod(client, agent.port, '192.0.2.1');
      await resetStreams(server, client, full ? 200 : 20);
      for (const protocol of ['http1', 'http2'] as const) {
        const whole = await client[protocol](asAdmin('GET', `${pods}/web/log?tailLines=1`)).then(
          () => true,
          () => false,
        );
        hold(!whole, `a log that broke off looks whole over ${protocol}`);
      }
    } finally {
      await agent.close();
    }
  },
};

/** Requests an endless log in a loop on one connection, and resets each stream with another error code. */
async function resetStreams(server: TestedServer, client: Client, count: number): Promise<void> {
  const { authorization: token } = authorization('admin');
  const socket = await openSocket(server, 'h2');
  socket.resume();
  socket.write(Buffer.concat([preface, settings()]));
  for (let i = 0; i < count; i++) {
    const stream = 2 * i + 1;
    const flags = flag.endHeaders | flag.endStream;
    socket.write(requestFrame(stream, 'GET', `${pods}/web/log?follow=true`, { authorization: token }, flags));
    await sleep(i % 4 === 0 ? 0 : 30);
    socket.write(frame(frameType.reset, 0, stream, uint32(i % 2 === 0 ? 0 : i % 14)));
  }
  // The connection itself stays open.
  const held = await heldPlaces(client);
  socket.destroy();
  hold(held.length === 0, `after the streams were reset: ${held.join(', ')}`);
}

/** Invalid or malicious responses of a kubelet. */
const oddAnswers = [
  'HTTP/1.1 099 Low\r\n\r\n',
  'HTTP/1.1 000 None\r\n\r\n',
  'HTTP/1.1 999 High\r\nContent-Length: 1\r\n\r\na',
  'HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\nhello',
  'HTTP/1.1 304 Not\r\nContent-Length: 5\r\n\r\n',
  'HTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
  'HTTP/1.1 200 OK\r\nX-Odd: \xe9\xff\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nConnection: close, x-odd\r\nX-Odd: a\r\nTE: b\r\nKeep-Alive: c\r\nProxy-Connection: d\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\na',
  'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbroken off',
  `HTTP/1.1 302 Found\r\nLocation: ${'%'.repeat(2_000)}\r\nContent-Length: 0\r\n\r\n`,
  'HTTP/1.1 200 OK\r\n:status: 500\r\nContent-Length: 0\r\n\r\n',
  'no HTTP\r\n\r\n',
  '',
];

const oddProxied: Scenario = {
  name: 'odd-proxied-answers',
  title: 'proxied responses that are invalid release their seats',
  attack: async ({ client, full }) => {
    // The proxy refuses loopback addresses: the target listens on another address of this host.
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const address = own.find(({ internal, family }) => !internal && family === 'IPv4')?.address;
    if (address === undefined) return;
    let given = '';
    const backend = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(given, 'latin1'));
    });
    await new Promise<void>((listening) => backend.listen(0, address, listening));
    const { port } = backend.address() as { port: number };
    await makePod(client, port, address);
    for (const answer of oddAnswers) {
      given = answer;
      for (let i = 0; i < (full ? 10 : 2); i++) {
        for (const protocol of ['http1', 'http2'] as const) {
          // Success or failure does not matter.
          await client[protocol](asAdmin('GET', `${pods}/web:${port}/proxy/x`)).catch(() => {});
        }
      }
    }
    await new Promise((closed) => backend.close(closed));
  },
};

const storePermissions: Scenario = {
  name: 'store-permissions',
  title: 'the store is readable by its owner only, whatever its mode was before',
  sharesServer: true,
  attack: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'orch-fuzz-'));
    try {
      await (await startServer({ folder })).stop();
      const store = join(folder, 'store');
      chmodSync(folder, 0o755);
      chmodSync(store, 0o755);
      for (const file of ['data.mdb', 'lock.mdb']) chmodSync(join(store, file), 0o644);
      const server = await startServer({ folder });
      const modes = [store, join(store, 'data.mdb'), join(store, 'lock.mdb')].map(
        (path) => statSync(path).mode & 0o777,
      );
      await server.stop();
      hold(
        String(modes) === String([0o700, 0o600, 0o600]),
        `the modes are ${modes.map((mode) => mode.toString(8)).join(', ')}`,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

const block = (lines: string) => `-----BEGIN CERTIFICATE REQUEST-----\n${lines}\n-----END CERTIFICATE REQUEST-----\n`;
/** Certificate requests for the organizations `harmless` and `system:masters`. */
const harmless = block(`MIHaMIGBAgEAMB8xETAPBgNVBAoMCGhhcm1sZXNzMQowCAYDVQQDDAF1MFkwEwYH
KoZIzj0CAQYIKoZIzj0DAQcDQgAE47XbZ4EduLUpeHpZ9GaXAWX0yEMy7KXL0Uzy
VdhT6kfuBmmiSa/6tzpFxir2QyhvLuMN7X8M+yyVcj8ldY0qlqAAMAoGCCqGSM49
BAMCA0gAMEUCIBXtU6voP1UZoglHxo7KdzZG/v1OvqeVNGmrbPlusxrDAiEA2eJ9
x0tfVdbNoczEOTC+QaKNqhSzGZu6yBlYQfAugPs=`);
const masters = block(`MIHfMIGHAgEAMCUxFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMQowCAYDVQQDDAF1
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE0+HccpDrpu042y+3QrGvX6nMwWHG
7iEvAyww499sOKRrU5drH37rYBlEytYRGuyQaQ1fVKwsXTRLsKEm3Tqs2qAAMAoG
CCqGSM49BAMCA0cAMEQCIExFWDeh6VG/m9c2t0s5EdOSDgNWkphnE++oMDdKWoqJ
AiAVI1EwSyVKMKn+moGLf1FcaYOW+JgFNLahPtoC4wfXrw==`);

const certificateRequests: Scenario = {
  name: 'certificate-requests',
  title: 'the certificate request that is validated is the one that would be signed',
  sharesServer: true,
  attack: async ({ client }) => {
    const path = '/apis/certificates.orch.io/v1/certificatesigningrequests';
    const post = (name: string, pem: string) =>
      client.http1(
        asAdmin('POST', path, {
          metadata: { name },
          spec: {
            request: Buffer.from(pem).toString('base64'),
            signerName: 'orch.io/kube-apiserver-client',
            usages: ['client auth'],
          },
        }),
      );
    succeeded('a request', await post('right', harmless));
    const odd: { readonly [name: string]: string } = {
      masters,
      'harmless-then-masters': harmless + masters,
      'masters-then-harmless': masters + harmless,
      'inside-text': `text -----BEGIN CERTIFICATE REQUEST-----${harmless.split('\n').slice(1, -2).join('')}-----END CERTIFICATE REQUEST-----\n${masters}`,
      'text-before': `text\n${harmless}`,
      'text-after': `${harmless}text\n`,
      'another-label': harmless.replaceAll('CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST') + masters,
    };
    for (const [name, pem] of Object.entries(odd)) {
      const { status } = await post(name, pem);
      hold(status >= 400 && status < 500, `the request "${name}" is answered with ${status}`);
    }
  },
};

export const otherScenarios: readonly Scenario[] = [
  madeUpMetrics,
  resetRelays,
  oddProxied,
  storePermissions,
  certificateRequests,
];
