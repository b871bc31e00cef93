import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { credentialedTransport } from './credentialed.ts';
import type { Credential } from './credentials.ts';
import { readAll } from './response.ts';

const seen: { authorization: string | undefined; port: number | undefined }[] = [];
const server = createServer((incoming, outgoing) => {
  const { authorization } = incoming.headers;
  seen.push({ authorization, port: incoming.socket.remotePort });
  outgoing.statusCode = authorization === 'Bearer good' ? 200 : 401;
  outgoing.end('text');
});
let url = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

/** Credentials in turn, the last one again and again. */
function inTurn(...credentials: Credential[]) {
  let rejected = 0;
  return {
    current: async () => credentials[Math.min(rejected, credentials.length - 1)] as Credential,
    reject: () => {
      rejected++;
      return true;
    },
  };
}
const request = { method: 'GET', url: '/a', headers: {} };

describe('a transport with credentials', () => {
  it('sends a request again with another credential after 401, and only once', async () => {
    const bad = { authorization: 'Bearer bad' };
    const transport = credentialedTransport({ server: url }, inTurn(bad, { authorization: 'Bearer good' }));
    const answer = await transport(request);
    expect([answer.status, await readAll(answer)]).toEqual([200, 'text']);
    transport.close();
    const hopeless = credentialedTransport({ server: url }, inTurn(bad));
    seen.length = 0;
    expect((await hopeless(request)).status).toBe(401);
    expect(seen).toHaveLength(2);
    hopeless.close();
  });

  it('opens a new connection when the certificate has changed, and uses the same one otherwise', async () => {
    const authorization = 'Bearer good';
    let certificate: Credential['certificate'];
    const transport = credentialedTransport(
      { server: url },
      { current: async () => ({ authorization, certificate }), reject: () => false },
    );
    seen.length = 0;
    for (const next of [undefined, undefined, { cert: 'C', key: 'K' }]) {
      certificate = next;
      await readAll(await transport(request));
    }
    const [first, second, third] = seen.map(({ port }) => port);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    transport.close();
  });
});
