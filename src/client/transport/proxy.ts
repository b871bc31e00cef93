import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';

type Created = (error: Error | null, stream?: Duplex) => void;

/**
 * Opens connections of an agent through an HTTP proxy, by the method CONNECT. @throws Error when the URL of the proxy has
 * another scheme than http or https
 */
export function throughProxy(
  proxy: string,
  isSecure: boolean,
): (options: ConnectionOptions, created: Created) => undefined {
  const url = URL.canParse(proxy) ? new URL(proxy) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new Error('proxy-url must be a URL with http or https');
  }
  const credentials = [url.username, url.password].map(decodeURIComponent).join(':');
  const headers =
    url.username === '' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return (options, created) => {
    const { host = '', port = 443 } = options;
    const target = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const request = open({
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? undefined : url.port,
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...headers },
    });
    request.once('error', created);
    request.once('connect', (response, socket) => {
      if (response.statusCode === 200) {
        created(null, isSecure ? connectTls({ ...options, socket }) : socket);
      } else {
        socket.destroy();
        created(new Error(`the proxy ${url.host} refused to connect to ${target}: status ${response.statusCode}`));
      }
    });
    request.end();
    return undefined;
  };
}
