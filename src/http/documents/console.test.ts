import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isStatus } from '../../meta/index.ts';
import { identify } from '../request-info.ts';
import type { ApiRequest, ApiResponse } from '../types.ts';
import { type ConsoleIssuer, createConsole, isConsolePath } from './console.ts';

const folder = mkdtempSync(join(tmpdir(), 'orch-page-'));
const settings = { domain: 'k8s.io', scopes: ['openid'] };
const login = 'https://login.example.com';
let issuers: ConsoleIssuer[] = [];
const page = createConsole(pathToFileURL(`${folder}/`), () => ({ ...settings, issuers }));

beforeAll(() => {
  writeFileSync(join(folder, 'index.html.br'), brotliCompressSync('<p>page</p>'));
  writeFileSync(join(folder, 'main-1.js.br'), brotliCompressSync('1'));
  writeFileSync(join(folder, 'secret.br'), brotliCompressSync('secret'));
  const table = {
    'index.html': { type: 'text/html', hash: 'a', hashed: false },
    'main-1.js': { type: 'text/javascript', hash: 'b', hashed: true },
  };
  writeFileSync(join(folder, 'files.json'), JSON.stringify(table));
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => {
  issuers = [];
});

async function get(url: string, headers: { [name: string]: string } = {}, method = 'GET') {
  const request = { method, url, headers } as unknown as ApiRequest;
  const answer = page.serve({ request, info: identify(method, url) });
  return (await answer) as ApiResponse;
}

const textOf = ({ body }: ApiResponse) => Buffer.from(body as Uint8Array).toString();

describe('the page of the console', () => {
  it('is served compressed to clients that accept that, and as it is to others', async () => {
    const compressed = await get('/console/', { 'accept-encoding': 'gzip, br' });
    expect(compressed.headers).toMatchObject({ 'content-encoding': 'br', 'cache-control': 'no-cache' });
    for (const accepted of ['gzip', 'br;q=0', '']) {
      const plain = await get('/console/index.html', { 'accept-encoding': accepted });
      expect([plain.headers['content-encoding'], textOf(plain)]).toEqual([undefined, '<p>page</p>']);
    }
  });

  it('may be kept for ever under a name with a hash, and is not sent again to who has it', async () => {
    const { headers } = await get('/console/main-1.js');
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(await get('/console/main-1.js', { 'if-none-match': '"b"' })).toMatchObject({ status: 304, body: '' });
  });

  it('may connect to its own origin and those of the current issuers, also where a browser has kept it', async () => {
    const policyOf = ({ headers }: ApiResponse) => headers['content-security-policy'];
    const before = await get('/console/');
    expect(policyOf(before)).toContain("; connect-src 'self'; ");
    const etag = String(before.headers['etag']);
    expect(await get('/console/', { 'if-none-match': etag })).toMatchObject({ status: 304 });
    issuers = [
      {
        url: `${login}/realms/a`,
        clientId: 'orch',
        discoveryUrl: `${login}/realms/a/.well-known/openid-configuration`,
        origins: [login],
      },
      {
        url: `${login}/realms/b`,
        clientId: 'orch',
        discoveryUrl: `${login}/b`,
        origins: [login, 'https://tokens.example.com:8443'],
      },
    ];
    const after = await get('/console/', { 'if-none-match': etag });
    expect(after.status).toBe(200);
    expect(policyOf(after)).toContain(`; connect-src 'self' ${login} https://tokens.example.com:8443; `);
  });

  it('has settings that name the issuers', async () => {
    issuers = [{ url: login, clientId: 'orch', discoveryUrl: `${login}/discovery`, origins: [login] }];
    expect(JSON.parse(textOf(await get('/console/settings.json')))).toEqual({ ...settings, issuers });
  });

  it('has the files of its table only', async () => {
    const paths = [
      'secret',
      'files.json',
      '../index.html',
      '..%2findex.html',
      'main-1.js.br',
      '__proto__',
      'index.html/',
    ];
    for (const path of paths) expect([path, (await get(`/console/${path}`)).status]).toEqual([path, 404]);
  });

  it('moves clients to the path with a slash, and refuses other methods', async () => {
    expect(await get('/console')).toMatchObject({ status: 301, headers: { location: '/console/' } });
    await expect(get('/console/', {}, 'POST')).rejects.toSatisfy((error) => isStatus(error, 405));
  });

  it('leaves other paths to others', async () => {
    expect(await get('/consoles')).toBeUndefined();
    expect(['/console', '/console/a', '/consoles', '/a/console/'].map(isConsolePath)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('says that it is not built where there is no table', async () => {
    const empty = createConsole(pathToFileURL(`${folder}/none/`), () => ({ ...settings, issuers }));
    const request = { method: 'GET', url: '/console/', headers: {} } as unknown as ApiRequest;
    const answer = empty.serve({ request, info: identify('GET', '/console/') });
    await expect(answer).rejects.toMatchObject({ code: 503, message: expect.stringContaining('npm run build') });
  });
});
