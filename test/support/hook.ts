import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { issueCertificate } from '../../src/pki/index.ts';

const day = 24 * 3_600_000;
const times = { notBefore: Date.now() - day, notAfter: Date.now() + day };

/** A call of a webhook. */
export interface HookCall {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly type: string | undefined;
  readonly authorization: string | undefined;
  readonly traceparent: string | undefined;
  /** The parsed body. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire brought
  readonly review: any;
}

/** A response as it stands. */
export interface RawAnswer {
  readonly status: number;
  readonly type?: string;
  readonly text?: string;
  /** Its response does not end behind the text. */
  readonly endless?: true;
}

/** A webhook over TLS, whose certificate is for its address and the given names. */
export interface Hook {
  readonly calls: HookCall[];
  /** `https://127.0.0.1:<port>` */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** The most requests that were open at the same time. */
  readonly most: () => number;
  /** How many connections it has had. */
  readonly connections: () => number;
  /** Its authority, as `caBundle` of a configuration. */
  readonly caBundle: string;
  close(): Promise<void>;
}

/** Starts a webhook. `answer` returns the JSON of its response, or one as it stands; undefined closes the connection. */
export async function startHook(
  answer: (call: HookCall) => unknown,
  { host = '127.0.0.1', names = [] }: { readonly host?: string; readonly names?: readonly string[] } = {},
): Promise<Hook> {
  const authority = { ...issueCertificate({ commonName: 'hook-ca', usage: 'authority', ...times }), name: 'hook-ca' };
  const hosts = names.length > 0 ? names : [host];
  const { cert, key } = issueCertificate({ commonName: 'hook', usage: 'server', hosts, ...times }, authority);
  const calls: HookCall[] = [];
  let [open, most] = [0, 0];
  const server = createServer({ cert, key }, (request, response) => {
    most = Math.max(most, ++open);
    response.on('close', () => {
      open -= 1;
    });
    void (async () => {
      const { method, url, headers } = request;
      const review: unknown = JSON.parse((await buffer(request)).toString());
      const call: HookCall = {
        method,
        url,
        type: headers['content-type'],
        authorization: headers.authorization,
        traceparent: headers['traceparent'] as string | undefined,
        review,
      };
      calls.push(call);
      const given = (await answer(call)) as object | undefined;
      if (given === undefined) throw new Error('no response');
      const raw = 'status' in given && typeof given.status === 'number' ? (given as RawAnswer) : undefined;
      response.writeHead(raw?.status ?? 200, { 'content-type': raw?.type ?? 'application/json' });
      if (raw?.endless) response.write(raw.text);
      else response.end(raw === undefined ? JSON.stringify(given) : raw.text);
    })().catch(() => response.destroy());
  });
  let connections = 0;
  server.on('secureConnection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    calls,
    host,
    port,
    url: `https://${host}:${port}`,
    most: () => most,
    connections: () => connections,
    caBundle: Buffer.from(authority.cert).toString('base64'),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
