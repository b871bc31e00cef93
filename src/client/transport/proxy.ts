import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { connectBySocks } from './socks.ts';

type Created = (error: Error | null, stream?: Duplex) => void;

/** How long a proxy may take to connect (ms). */
const proxyMs = 30_000;

interface Target {
  readonly host: string;
  readonly port: number;
}

/**
 * Opens connections of an agent through a proxy: by the method CONNECT of an HTTP proxy, or by SOCKS 5. Errors name the proxy
 * without its credentials. Connections that are still being opened are given up when `closing` aborts. @throws Error when the
 * URL of the proxy has another scheme
 */
export function throughProxy(
  proxy: string,
  isSecure: boolean,
  closing: AbortSignal,
): (options: ConnectionOptions, created: Created) => undefined {
  const url = URL.canParse(proxy) ? new URL(proxy) : undefined;
  const open = url === undefined ? undefined : openers[url.protocol];
  if (url === undefined || open === undefined) {
    throw new Error('the URL of a proxy, such as proxy-url, must have the scheme http, https or socks5');
  }
  return (options, created) => {
    const { host = '', port = 443 } = options;
    open(url, { host, port: Number(port) }, closing).then(
      (socket) => {
        created(null, isSecure ? connectTls({ ...options, socket }) : socket);
        if (!isSecure) socket.resume();
      },
      (error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        const failed = `the proxy ${url.protocol}//${url.host} does not connect to ${hostAndPort({ host, port: Number(port) })}`;
        created(new Error(`${failed}: ${why}`, { cause: error }));
      },
    );
    return undefined;
  };
}

type Open = (proxy: URL, target: Target, closing: AbortSignal) => Promise<Duplex>;

const hostAndPort = ({ host, port }: Target): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');
const credentialsOf = ({ username, password }: URL): { readonly user: string; readonly password: string } => ({
  user: decodeURIComponent(username),
  password: decodeURIComponent(password),
});

const openByConnect: Open = (proxy, target, signal) => {
  const { user, password } = credentialsOf(proxy);
  const basic = Buffer.from(`${user}:${password}`).toString('base64');
  const request = (proxy.protocol === 'https:' ? httpsRequest : httpRequest)({
    hostname: hostOf(proxy),
    port: proxy.port === '' ? undefined : proxy.port,
    method: 'CONNECT',
    path: hostAndPort(target),
    headers: { host: hostAndPort(target), ...(user === '' ? {} : { 'proxy-authorization': `Basic ${basic}` }) },
    timeout: proxyMs,
    agent: false,
    signal,
  });
  return new Promise((resolve, reject) => {
    request.once('timeout', () => request.destroy(new Error('it did not answer in time')));
    request.once('error', reject);
    request.once('connect', ({ statusCode, statusMessage = '' }, socket, head) => {
      socket.setTimeout(0);
      if (head.length > 0) socket.unshift(head);
      if (statusCode === 200) resolve(socket);
      else {
        socket.destroy();
        reject(new Error(`it answered ${statusCode} ${statusMessage}`.trimEnd()));
      }
    });
    request.end();
  });
};

const openBySocks: Open = (proxy, target, signal) =>
  connectBySocks({
    proxy: { host: hostOf(proxy), port: proxy.port === '' ? 1080 : Number(proxy.port) },
    ...credentialsOf(proxy),
    target,
    timeoutMs: proxyMs,
    signal,
  });

const openers: { readonly [protocol: string]: Open } = {
  'http:': openByConnect,
  'https:': openByConnect,
  'socks5:': openBySocks,
  'socks5h:': openBySocks,
};
