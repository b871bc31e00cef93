import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { Http1Message } from './http1-message.ts';

const open: { close(): void }[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.close();
});

/** A server that reads no body. */
async function started(served: (message: IncomingMessage) => void = () => {}) {
  const server: Server = createServer({ IncomingMessage: Http1Message }, (message, response) => {
    served(message);
    response.end(message.method);
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  open.push(server, { close: () => agent.destroy() });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  let sockets = 0;
  server.on('connection', () => sockets++);
  const send = async (method: string, body?: string): Promise<string> => {
    const sent = request({ port, host: '127.0.0.1', agent, method });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return (await response.setEncoding('utf8').toArray()).join('');
  };
  return { send, sockets: () => sockets };
}

describe('a request', () => {
  it('without a body has ended when it is complete, and its connection keeps no reference to it', async () => {
    const messages: IncomingMessage[] = [];
    const { send } = await started((message) => messages.push(message));
    expect(await send('GET')).toBe('GET');
    await setImmediate();
    const [message] = messages as [IncomingMessage];
    expect(message.readableEnded).toBe(true);
    expect((message.socket as unknown as { parser: { incoming: unknown } }).parser.incoming).toBe(null);
  });

  it.each([
    ['without a body', undefined],
    ['with a body that nobody reads', 'x'.repeat(100_000)],
  ])('%s lets the next one arrive on its connection', async (_, body) => {
    const { send, sockets } = await started();
    expect(await send('PUT', body)).toBe('PUT');
    expect(await send('GET')).toBe('GET');
    expect(await send('PUT', body)).toBe('PUT');
    expect(sockets()).toBe(1);
  });

  it('with a body can be read', async () => {
    const bodies: Promise<unknown[]>[] = [];
    const { send } = await started((message) => bodies.push(message.setEncoding('utf8').toArray()));
    await send('PUT', 'a body');
    expect((await Promise.all(bodies)).flat().join('')).toBe('a body');
  });
});
