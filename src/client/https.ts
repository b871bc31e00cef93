import { Agent, request as httpsRequest } from 'node:https';
import type { ClientResponse, Transport } from './transport.ts';

export interface HttpsOptions {
  /** Such as `https://127.0.0.1:6443`; without a path. */
  readonly server: string;
  /** PEM of the certificates that the server's must stem from; absent: those that the system trusts. */
  readonly ca?: string;
  readonly token?: string;
  /** PEM of a client certificate and its key. */
  readonly certificate?: { readonly cert: string; readonly key: string };
}

/** Reaches a server over TLS and HTTP/1.1, with connections kept open for the next requests until `close`. */
export function httpsTransport(options: HttpsOptions): Transport & { close(): void } {
  const agent = new Agent({ keepAlive: true, minVersion: 'TLSv1.2', ca: options.ca, ...options.certificate });
  const url = new URL(options.server);
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const authorization = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
  const transport: Transport = (request) =>
    new Promise<ClientResponse>((resolve, reject) => {
      // The path as given: resolving it against the server's URL could leave the server, and credentials with it.
      const sent = httpsRequest({
        hostname,
        port: url.port === '' ? 443 : url.port,
        path: request.url,
        method: request.method,
        agent,
        headers: {
          ...authorization,
          ...request.headers,
          ...(request.body === undefined ? {} : { 'content-length': request.body.length }),
        },
        ...(request.signal === undefined ? {} : { signal: request.signal }),
      });
      sent.on('error', reject);
      sent.on('response', (answer) => {
        const headers: { [name: string]: string } = {};
        for (const [name, value] of Object.entries(answer.headers)) {
          if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ');
        }
        resolve({ status: answer.statusCode ?? 0, headers, body: answer });
      });
      sent.end(request.body);
    });
  return Object.assign(transport, { close: () => agent.destroy() });
}
