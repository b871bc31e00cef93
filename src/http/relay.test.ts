import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { relay } from './relay.ts';
import { requestOf } from './testing/fixture.ts';
import type { Chunk } from './types.ts';

let server: Server;
let port: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      response.writeHead(request.method === 'POST' ? 201 : 200, { 'content-type': 'text/plain', connection: 'close' });
      response.write(`${request.method} ${request.url}\n`);
      if (request.url === '/forever') return;
      response.end(JSON.stringify({ headers: request.headers, body: Buffer.concat(pieces).toString() }));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  port = String((server.address() as AddressInfo).port);
});
afterAll(() => new Promise((done) => server.close(done)));

const here = () => ({ scheme: 'http', host: '127.0.0.1', port, path: '' }) as const;

async function textOf(body: unknown): Promise<string> {
  let text = '';
  for await (const piece of body as AsyncIterable<Chunk>) text += String(piece);
  return text;
}

it('passes method, path, body and headers on, but not who asks', async () => {
  const request = requestOf('POST', '/ignored', {
    body: 'hello',
    headers: { 'x-mine': '1', authorization: 'Bearer secret', 'impersonate-user': 'jane' },
  });
  const answer = await relay(request, here(), '/there?a=b');
  expect(answer.status).toBe(201);
  expect(answer.headers['content-type']).toBe('text/plain');
  // A header of that one connection.
  expect(answer.headers['connection']).toBeUndefined();
  const [line, rest] = (await textOf(answer.body)).split('\n');
  expect(line).toBe('POST /there?a=b');
  const seen = JSON.parse(rest ?? '') as { headers: { [name: string]: string }; body: string };
  expect(seen.body).toBe('hello');
  expect(seen.headers).toMatchObject({ 'x-mine': '1', 'content-length': '5' });
  expect(seen.headers['authorization']).toBeUndefined();
  expect(seen.headers['impersonate-user']).toBeUndefined();
});

it('ends with the client', async () => {
  const gone = new AbortController();
  const request = requestOf('GET', '/', { signal: gone.signal });
  const answer = await relay(request, here(), '/forever');
  gone.abort();
  await expect(textOf(answer.body)).rejects.toThrow();
});

it('tells that nobody answers there', async () => {
  const request = requestOf('GET', '/');
  // Port 1 is one that nobody listens on.
  await expect(relay(request, { ...here(), port: '1' }, '/')).rejects.toMatchObject({
    code: 503,
    message: 'error trying to reach service: ECONNREFUSED',
  });
});
