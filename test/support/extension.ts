import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer, request as send } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { until } from '../../src/meta/testing/until.ts';
import type { OrchServer } from '../../src/server/server.ts';
import { frontProxyFlags, registration, servingCertificate } from './front-proxy.ts';
import { startWith } from './start.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: NodeJS.Dict<string>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire brought
  readonly body: any;
}

/** A listening server in this process, in front of extension API servers. */
export interface Front {
  readonly server: OrchServer;
  readonly url: string;
  readonly folder: string;
  /** The header of the administrator. */
  readonly authorization: string;
  /** Sends a request as a member of system:masters. */
  request(method: string, path: string, body?: unknown, headers?: { [name: string]: string }): Promise<Answer>;
  close(): Promise<void>;
}

const token = 'token-of-a-test-administrator';
const authorization = `Bearer ${token}`;

/** `flags`: further flags, with files of a folder. */
export async function startFront(flags: (folder: string) => readonly string[] = () => []): Promise<Front> {
  const folder = mkdtempSync(join(tmpdir(), 'orch-extension-'));
  writeFileSync(join(folder, 'tokens.csv'), `${token},tester,tester,"system:masters"\n`, { mode: 0o600 });
  const server = await startWith([
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    ...frontProxyFlags(folder),
    ...flags(folder),
  ]);
  const { url } = await server.listen();
  return {
    server,
    url,
    folder,
    authorization,
    request: (method, path, body, headers = {}) => {
      const type: { [name: string]: string } = body === undefined ? {} : { 'content-type': 'application/json' };
      const sent = { authorization, accept: 'application/json', ...type, ...headers };
      return new Promise((resolve, reject) => {
        const request = send(url + path, { method, rejectUnauthorized: false, headers: sent }, (incoming) => {
          let text = '';
          incoming.setEncoding('utf8');
          incoming.on('data', (piece: string) => {
            text += piece;
          });
          incoming.on('error', reject);
          incoming.on('end', () => {
            const { statusCode: status = 0, headers, trailers } = incoming;
            const isJson = headers['content-type']?.includes('json') === true;
            resolve({ status, headers, trailers, text, body: isJson ? JSON.parse(text) : text });
          });
        });
        request.on('error', reject);
        request.end(body === undefined ? undefined : JSON.stringify(body));
      });
    },
    close: async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Answering = (request: IncomingMessage, response: ServerResponse) => void;

/** An extension API server in this process, for one group version. It passes checks, and serves what `answers` has by path. */
export class Extension {
  readonly group: string;
  readonly name: string;
  readonly answers: { [path: string]: Answering } = {};
  readonly #server: ReturnType<typeof createServer>;
  readonly authority: string;

  constructor(folder: string, name: string) {
    this.name = name;
    this.group = `${name}.example.com`;
    const { cert, key } = servingCertificate(folder, name, `${name}.default.svc`);
    this.authority = cert;
    this.#server = createServer({ cert: readFileSync(join(folder, `${name}.crt`)), key }, (request, response) => {
      const answer = this.answers[(request.url ?? '').replace(/\?.*/, '')];
      if (answer !== undefined) answer(request, response);
      else if (request.url === this.root) json({ kind: 'APIResourceList', resources: [] })(request, response);
      else response.writeHead(404).end();
    });
    this.#server.keepAliveTimeout = 120_000;
  }

  get root(): string {
    return `/apis/${this.group}/v1`;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Starts to listen. */
  listen(host = '127.0.0.1'): Promise<void> {
    return new Promise((listening) => this.#server.listen(0, host, listening));
  }

  /** Starts to listen, and registers the group version. Resolves once it is available. */
  async start(front: Front): Promise<void> {
    await this.listen();
    const [service, apiService] = registration(this.group, 'v1', this.name, this.port, this.authority);
    await front.request('POST', '/api/v1/namespaces/default/services', service);
    await front.request('POST', '/apis/apiregistration.k8s.io/v1/apiservices', apiService);
    await this.becomes(front, 'True');
  }

  /** Resolves once its condition `Available` has this status. */
  async becomes(front: Front, status: 'True' | 'False'): Promise<void> {
    const path = `/apis/apiregistration.k8s.io/v1/apiservices/v1.${this.group}`;
    const isReached = async () => {
      const { body } = await front.request('GET', path);
      expect(body.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Available', status }));
    };
    await until(isReached);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }
}

export const json =
  (value: object): Answering =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
