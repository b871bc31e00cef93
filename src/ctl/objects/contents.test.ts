import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readUrl } from './contents.ts';

const { signal } = new AbortController();
let files: Server;
let proxy: Server;
const targets: string[] = [];
const portOf = (server: Server) => (server.address() as AddressInfo).port;

beforeAll(async () => {
  files = createServer(({ url = '' }, response) => {
    if (url === '/a.yaml?x=1') response.end('a: 1\n');
    else if (url === '/moved') response.writeHead(302, { location: '/a.yaml?x=1' }).end();
    else if (url === '/elsewhere') response.writeHead(302, { location: 'file:///etc/passwd' }).end();
    else if (url === '/round') response.writeHead(301, { location: '/round' }).end();
    else if (url === '/large') response.end(Buffer.alloc(17 * 1024 * 1024));
    else if (url !== '/silent') response.writeHead(404).end();
  });
  // Connects to the server of the files, whatever the target is.
  proxy = createServer();
  proxy.on('connect', ({ url = '' }, socket) => {
    targets.push(url);
    const target = connect(portOf(files), '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    socket.on('error', () => target.destroy()).pipe(target);
    target.on('error', () => socket.destroy()).pipe(socket);
  });
  for (const server of [files, proxy]) await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => {
  for (const server of [files, proxy]) server.close();
});

const local = (path: string) => readUrl(`http://127.0.0.1:${portOf(files)}${path}`, { env: {}, signal });

describe('the content of a URL', () => {
  it('is read through the proxy of the environment, unless it is one of this machine', async () => {
    const env = { HTTP_PROXY: `http://127.0.0.1:${portOf(proxy)}` };
    expect(await readUrl('http://files.example:81/moved', { env, signal })).toBe('a: 1\n');
    expect(targets).toEqual(['files.example:81', 'files.example:81']);
    expect(await readUrl(`http://127.0.0.1:${portOf(files)}/moved`, { env, signal })).toBe('a: 1\n');
    expect(targets).toHaveLength(2);
  });

  it.each([
    ['/absent', ', server reported 404 Not Found, status code=404'],
    ['/elsewhere', ': it must have the scheme http or https'],
    ['/round', ': stopped after 10 redirects'],
  ])('is an error that says why: %s', async (path, why) => {
    await expect(local(path)).rejects.toThrow(`unable to read URL "http://127.0.0.1:${portOf(files)}${path}"${why}`);
  });

  it('is limited in size', async () => {
    await expect(local('/large')).rejects.toThrow('/large is larger than 16 MiB: split it into several files');
  });

  it('is not waited for after Ctrl-C, which is no failure of the URL', async () => {
    const stop = new AbortController();
    const reading = readUrl(`http://127.0.0.1:${portOf(files)}/silent`, { env: {}, signal: stop.signal });
    const interruption = new Error('interrupted');
    stop.abort(interruption);
    await expect(reading).rejects.toBe(interruption);
  });
});
