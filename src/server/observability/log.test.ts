import { stripVTControlCharacters } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { createClient, inProcessTransport } from '../../client/index.ts';
import { logOf } from '../dependencies.ts';
import { createServer, type OrchServer } from '../server.ts';
import { defaultLevels, formatLevels, parseLevels } from '../settings/log-levels.ts';
import type { ServerOptions } from '../settings/server-options.ts';
import { createLog } from './log.ts';

const levelsOf = (text: string) => {
  const parsed = parseLevels(text);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed.value;
};

/** A log, and what it has written. */
async function written(levels: string, format: 'json' | 'text' = 'json') {
  const lines: string[] = [];
  const out = { write: (line: string) => lines.push(line) };
  return { lines, log: await createLog({ levels: levelsOf(levels), format, identity: 'server-1', out }) };
}

describe('levels', () => {
  it('are one for all parts, and others for some', () => {
    expect(formatLevels(defaultLevels)).toBe('info');
    expect(formatLevels(levelsOf('store=debug, http=warn'))).toBe('info,store=debug,http=warn');
    expect(formatLevels(levelsOf('error,store=debug,warn,store=info'))).toBe('warn,store=info');
    expect([formatLevels(levelsOf('3')), formatLevels(levelsOf('4'))]).toEqual(['info', 'debug']);
  });

  it.each([
    ['verbose', 'must name levels among error, warn, info, debug; "verbose" does not'],
    ['', 'must name levels among error, warn, info, debug; "" does not'],
    ['info,stor=debug', 'names an unknown part "stor"; known are server, http, store'],
    ['store=debug=info', '"store=debug=info" does not'],
    ['__proto__=debug', 'names an unknown part "__proto__"'],
  ])('%j is refused', (text, problem) => {
    expect(parseLevels(text)).toEqual({ problem: expect.stringContaining(problem) as string });
  });

  it('decide for each part what is logged, until they are changed', async () => {
    const { lines, log } = await written('warn,store=info');
    const [store, http] = [logOf(log, 'store'), logOf(log, 'http')];
    store.info('one', {});
    http.info('two', {});
    expect(http.request).toBeUndefined();
    expect(log.levels?.set('error,http=debug')).toBeUndefined();
    store.warn('three', {});
    http.request?.({ verb: 'get' } as never);
    expect(log.levels?.set('nothing')).toContain('must name levels');
    expect(log.levels?.format()).toBe('error,http=debug');
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { level: 'info', part: 'store', msg: 'one', apiserver: 'server-1' },
      { level: 'debug', part: 'http', msg: 'request', verb: 'get' },
    ]);
  });
});

it('a line of text has level, time, process and part before the message, and one line whatever was sent', async () => {
  const { lines, log } = await written('info', 'text');
  logOf(log, 'http').warn('slow request', { path: '/a\nb', stages: { store: 1.5 }, error: new Error('broken\n') });
  const [line = '', ...more] = lines;
  expect(more).toEqual([]);
  expect(line.split('\n')).toHaveLength(2);
  expect(line).toMatch(/^W\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ http\] "slow request" /);
  expect(line).toContain(' path="/a\\nb" stages={"store":1.5} err="broken\\n" stack="Error: broken');
});

it('a terminal shows a line for people, without the stack of an expected failure', async () => {
  const lines: string[] = [];
  const out = { isTTY: true, write: (line: string) => lines.push(line) };
  const log = await createLog({ levels: levelsOf('info'), identity: 'server-1', out });
  logOf(log, 'store').warn('the store is not available', { error: new Error('no answer'), servers: ['a\u001b[2J'] });
  log.error('ended by an unexpected failure', { error: new Error('broken') });
  const plain = lines.map(stripVTControlCharacters);
  expect(lines[0]).not.toBe(plain[0]);
  expect(plain[0]).toMatch(/^\d\d:\d\d:\d\d warn {2}store: the store is not available error="no answer" servers=\["a/);
  expect(plain[0]).not.toContain('\u001b');
  expect(plain[1]).toMatch(/^\d\d:\d\d:\d\d error server: ended .* err="broken" stack="Error: broken/);
  expect(plain.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true);
});

describe('/debug/flags/v', () => {
  let server: OrchServer;
  afterEach(() => server.close());

  async function start(options: ServerOptions = {}) {
    const { lines, log } = await written('info');
    server = await createServer({ controllers: '-*', apiDomain: 'k8s.io', ...options }, { log });
    const send = async (method: string, url: string, text = '', organizations = ['system:masters']) => {
      const transport = inProcessTransport(server.handler, { subject: { commonName: 'jane', organizations } });
      const body = text === '' ? {} : { body: Buffer.from(text).toString('latin1') as never };
      const response = await createClient({ transport }).request({ method, url, headers: {}, ...body });
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body) chunks.push(Buffer.from(chunk));
      return [response.status, Buffer.concat(chunks).toString()];
    };
    return { lines, send };
  }

  it('shows and changes the levels', async () => {
    const { lines, send } = await start();
    const requests = () => lines.filter((line) => line.includes('"msg":"request"')).length;
    expect(await send('GET', '/debug/flags')).toEqual([200, '/debug/flags/v\n']);
    expect(await send('GET', '/debug/flags/v')).toEqual([200, 'info\n']);
    expect(requests()).toBe(0);
    expect(await send('PUT', '/debug/flags/v', '4')).toEqual([200, 'successfully set v to debug\n']);
    expect(requests()).toBeGreaterThan(0);
    expect(await send('PUT', '/debug/flags/v', 'info,store=debug\n')).toEqual([
      200,
      'successfully set v to info,store=debug\n',
    ]);
    const before = requests();
    expect(await send('GET', '/debug/flags/v')).toEqual([200, 'info,store=debug\n']);
    expect(requests()).toBe(before);
  });

  it('refuses what is not a level, other methods, long bodies, and users who may not', async () => {
    const { send } = await start();
    expect(await send('PUT', '/debug/flags/v', 'loud')).toEqual([
      400,
      'v must name levels among error, warn, info, debug; "loud" does not\n',
    ]);
    expect(await send('POST', '/debug/flags/v', '4')).toEqual([406, 'unsupported http method\n']);
    expect(await send('GET', '/debug/flags/other')).toEqual([404, '404 page not found\n']);
    expect((await send('PUT', '/debug/flags/v', 'x'.repeat(5_000)))[0]).toBe(413);
    expect((await send('PUT', '/debug/flags/v', '4', ['people']))[0]).toBe(403);
    expect((await send('GET', '/debug/flags/v', '', ['people']))[0]).toBe(403);
    expect(await send('GET', '/debug/flags/v')).toEqual([200, 'info\n']);
  });

  it('is not served without profiling', async () => {
    const { send } = await start({ profiling: false });
    expect((await send('GET', '/debug/flags/v'))[0]).toBe(404);
  });
});
