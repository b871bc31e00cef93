import { Agent, request as httpsRequest } from 'node:https';
import type { ClientResponse, Transport } from './transport.ts';

export interface HttpsOptions {
  /** Such as `https://127.0.0.1:6443`; without a path. */
  readonly server: string;
  /** The CA bundle for the server certificate in PEM; absent: the certificates that the system trusts. */
  readonly ca?: string;
  readonly token?: string;
  /** A client certificate and its key in PEM. */
  readonly certificate?: { readonly cert: string; readonly key: string };
}

/** Sends requests over TLS and HTTP/1.1, on connections that are kept alive until `close`. */
export function httpsTransport(options: HttpsOptions): Transport & { close(): void } {
  const agent = new Agent({ keepAlive: true, minVersion: 'TLSv1.2', ca: options.ca, ...options.certificate });
  const url = new URL(options.server);
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const authorization = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
  const transport: Transport = (request) =>
    new Promise<ClientResponse>((resolve, reject) => {
      // The path is not resolved against the server's URL: it could name another host, which would get the credentials.
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
      sent.on('response', (response) => {
        const headers: { [name: string]: string } = {};
        for (const [name, value] of Object.entries(response.headers)) {
          if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ');
        }
        resolve({ status: response.statusCode ?? 0, headers, body: response });
      });
      sent.end(request.body);
    });
  return Object.assign(transport, { close: () => agent.destroy() });
}
