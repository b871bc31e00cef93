import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer, type TLSSocket } from 'node:tls';
import { openSocket, shown } from '../client.ts';
import { authorization, type TestedServer } from '../server.ts';
import { asAdmin, hold, makePod, pods, type Scenario, succeeded } from './scenario.ts';

/** Attacks by what the server calls: kubelets and webhooks. */

/** Serves every connection with raw bytes, once a request has begun to arrive. */
async function withBackend<T>(
  { folder }: TestedServer,
  serve: (socket: TLSSocket) => void,
  use: (port: number) => Promise<T>,
): Promise<T> {
  const open = new Set<TLSSocket>();
  const cert = readFileSync(join(folder, 'server.crt'));
  const key = readFileSync(join(folder, 'server.key'));
  const backend = createServer({ cert, key }, (socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => open.delete(socket));
    socket.once('data', () => serve(socket));
    socket.on('end', () => socket.end());
  });
  await new Promise<void>((listening) => backend.listen(0, '127.0.0.1', listening));
  try {
    return await use((backend.address() as AddressInfo).port);
  } finally {
    for (const socket of open) socket.destroy();
    backend.close();
  }
}

/** Sends a head, and a block again and again as fast as it is taken. */
function sendForever(socket: TLSSocket, [head, block]: Endless): void {
  const bytes = Buffer.from(block);
  const more = () => {
    while (socket.writable && socket.write(bytes));
    socket.once('drain', more);
  };
  socket.write(head);
  more();
}

type Endless = readonly [head: string, block: string];

const ok = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;

/** Responses without an end. A short run has the first two only. */
const endless: readonly Endless[] = [
  // Chunks of one byte.
  [chunked, '1\r\n \r\n'.repeat(10_000)],
  // Informational responses.
  ['', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2_000)],
  // Trailers.
  [`${chunked}0\r\n`, 'a: b\r\n'.repeat(2_000)],
  // Chunk extensions.
  [chunked, `1;${'a=b;'.repeat(1_000)}\r\n \r\n`],
  // Headers.
  [ok, 'a: b\r\n'.repeat(2_000)],
  // Large chunks.
  [chunked, `10000\r\n${' '.repeat(65_536)}\r\n`],
];

const endlessOf = (full: boolean) => endless.slice(0, full ? endless.length : 2);

const kubelets: Scenario = {
  name: 'endless-kubelet-responses',
  title: 'responses of kubelets without an end, in very many small parts, keep nobody waiting',
  attack: async ({ server, client, full }) => {
    let response: Endless = ['', ''];
    const attack = async (port: number) => {
      await makePod(client, port, '192.0.2.1');
      const token = authorization('admin').authorization;
      const path = `${pods}/web/log?follow=true`;
      const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${token}\r\n\r\n`;
      for (const next of endlessOf(full)) {
        response = next;
        const open = Array.from({ length: full ? 20 : 10 }, () => openSocket(server, 'http/1.1'));
        const sockets = await Promise.all(open);
        for (const socket of sockets) {
          socket.resume();
          socket.write(request);
        }
        await sleep(full ? 5_000 : 500);
        for (const socket of sockets) socket.destroy();
      }
    };
    await withBackend(server, (socket) => sendForever(socket, response), attack);
  },
};

const secrets = '/api/v1/namespaces/default/secrets';
const webhooks = '/apis/admissionregistration.orch.io/v1/validatingwebhookconfigurations';

const admissionWebhooks: Scenario = {
  name: 'endless-webhook-responses',
  title: 'responses of webhooks without an end, in very many small parts, keep nobody waiting',
  attack: async ({ server, client, full }) => {
    let response: Endless = ['', ''];
    const attack = async (port: number) => {
      const caBundle = Buffer.from(server.ca).toString('base64');
      const webhook = {
        name: 'a.example.com',
        clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'], operations: ['CREATE'] }],
        sideEffects: 'None',
        timeoutSeconds: full ? 5 : 1,
        admissionReviewVersions: ['v1'],
      };
      const configuration = { metadata: { name: 'a' }, webhooks: [webhook] };
      succeeded('a webhook', await client.http1(asAdmin('POST', webhooks, configuration)));
      const ask = asAdmin('POST', secrets, { metadata: { generateName: 's' } });
      for (const next of endlessOf(full)) {
        response = next;
        const answers = await Promise.all(Array.from({ length: full ? 60 : 10 }, () => client.http2(ask)));
        for (const { status, body } of answers) {
          hold(status === 500, `a write whose webhook has no answer is answered with ${status}: ${shown(body)}`);
        }
      }
    };
    await withBackend(server, (socket) => sendForever(socket, response), attack);
  },
};

export const backendScenarios: readonly Scenario[] = [kubelets, admissionWebhooks];
