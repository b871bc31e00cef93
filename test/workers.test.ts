import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from './support/server.ts';

// A server of two processes, through its port. Connections go to the process with the fewest, so that of two in succession
// each is served by another process.
const configMaps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string, value = '1') => ({ metadata: { name }, data: { value } });

let server: RunningServer;
beforeAll(async () => {
  server = await startServer(['--workers=2', '--audit-log-path=-', '--audit-log-mode=blocking']);
});
afterAll(() => server.stop());

/** A client with one connection, which is opened with its first request. */
function client() {
  const ca = readFileSync(join(server.folder, 'ca.crt'));
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1, ca });
  const options = { agent, headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' } };
  const send = (method: string, path: string, body?: unknown) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const request = https.request(`${server.url}${path}`, { ...options, method }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        response.on('error', reject);
      });
      request.on('error', reject);
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
  return {
    send,
    json: async (method: string, path: string, body?: unknown) => JSON.parse((await send(method, path, body)).text),
    close: () => agent.destroy(),
    options,
  };
}

/** Two clients whose connections are served by different processes. */
async function twoClients() {
  const clients = [client(), client()] as const;
  for (const each of clients) await each.send('GET', '/version');
  return clients;
}

/** The names and revisions of the events of a watch, as they arrive. */
async function watch({ options }: ReturnType<typeof client>, resourceVersion: string) {
  const seen: string[] = [];
  const path = `${configMaps}?watch=true&resourceVersion=${resourceVersion}`;
  const [response] = await once(https.get(`${server.url}${path}`, options), 'response');
  let rest = '';
  response.setEncoding('utf8').on('data', (piece: string) => {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { name, resourceVersion: revision } = JSON.parse(line).object.metadata;
      seen.push(`${name}@${revision}`);
    }
  });
  response.on('error', () => undefined);
  return seen;
}

/** The processes that the server has started. */
const children = ({ process: { pid } }: RunningServer): number[] =>
  execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((found) => Number(found?.[2]) === pid && found?.[3]?.includes('worker.js'))
    .map((found) => Number(found?.[1]));

/** The value of a metric; NaN where there is none. */
const metric = (text: string, series: string) =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length),
  );

describe.skipIf(process.platform === 'win32')('a server with two workers', () => {
  it('answers a read with every write that any of them has answered before', async () => {
    const [one, two] = await twoClients();
    await one.send('POST', configMaps, configMap('shared'));
    for (let i = 0; i < 50; i++) {
      const [writer, reader] = i % 2 === 0 ? [one, two] : [two, one];
      const { metadata } = await writer.json('PUT', `${configMaps}/shared`, configMap('shared', `${i}`));
      const read = await reader.json('GET', `${configMaps}/shared`);
      expect([read.data.value, read.metadata.resourceVersion]).toEqual([`${i}`, metadata.resourceVersion]);
      const list = await reader.json('GET', `${configMaps}?fieldSelector=metadata.name=shared`);
      expect(list.items[0].data.value).toBe(`${i}`);
    }
    one.close();
    two.close();
  });

  it('delivers every change to the watches of both, in the same order', async () => {
    const watchers = [client(), client()];
    const [one, two] = await twoClients();
    const { metadata } = await one.json('GET', configMaps);
    const [first = [], second = []] = await Promise.all(watchers.map((each) => watch(each, metadata.resourceVersion)));
    const writes = Array.from({ length: 40 }, (_, i) =>
      (i % 2 === 0 ? one : two).json('POST', configMaps, configMap(`watched-${i}`)),
    );
    const written = (await Promise.all(writes)).map(
      (object) => `${object.metadata.name}@${object.metadata.resourceVersion}`,
    );
    const revisionOf = (text: string) => Number(text.split('@')[1]);
    const expected = written.sort((a, b) => revisionOf(a) - revisionOf(b));
    await expect.poll(() => first).toEqual(expected);
    await expect.poll(() => second).toEqual(expected);
    for (const each of [...watchers, one, two]) each.close();
  });

  it('has the health, the metrics and the limits of the whole server, whichever process answers', async () => {
    const [one, two] = await twoClients();
    const series =
      'apiserver_request_total{verb="GET",group="",version="v1",resource="secrets",subresource="",scope="resource",component="apiserver",dry_run="",code="404"}';
    for (let i = 0; i < 3; i++) await one.send('GET', '/api/v1/namespaces/default/secrets/none');
    for (let i = 0; i < 4; i++) await two.send('GET', '/api/v1/namespaces/default/secrets/none');
    for (const { send } of [one, two]) {
      expect(await send('GET', '/readyz')).toEqual({ status: 200, text: 'ok' });
      expect((await send('GET', '/readyz?verbose&exclude=ping')).text).toContain('[+]ping excluded: ok');
      expect((await send('GET', '/readyz/none')).status).toBe(404);
      expect((await send('GET', '/metrics/slis')).text).toContain('name="ping",type="readyz"');
      const { text } = await send('GET', '/metrics');
      expect(metric(text, series)).toBe(7);
      expect(metric(text, 'orch_limit{limit="receiving"}')).toBe(256 * 1024 * 1024);
      expect(text.match(/^apiserver_identity_info\{.*\} 1$/gm)).toHaveLength(1);
    }
    await two.send('DELETE', '/metrics');
    expect(metric((await one.send('GET', '/metrics')).text, series)).toBeNaN();
    one.close();
    two.close();
  });

  it('writes the requests of all to one audit log, a line each', async () => {
    const [one, two] = await twoClients();
    const paths = ['audited-one', 'audited-two'].map((name) => `${configMaps}/${name}`);
    await Promise.all([one.send('DELETE', paths[0] ?? ''), two.send('DELETE', paths[1] ?? '')]);
    const audited = () =>
      server
        .output()
        .split('\n')
        .filter((line) => line.includes('/audited-') && line.includes('ResponseComplete'))
        .map((line) => JSON.parse(line).requestURI);
    await expect.poll(() => new Set(audited())).toEqual(new Set(paths));
    one.close();
    two.close();
  });

  it('changes the levels of the log in both', async () => {
    const [one, two] = await twoClients();
    await one.send('PUT', '/debug/flags/v');
    const put = (to: typeof one, text: string) =>
      new Promise((resolve) => {
        const request = https.request(`${server.url}/debug/flags/v`, { ...to.options, method: 'PUT' }, (response) =>
          response.resume().on('end', resolve),
        );
        request.end(text);
      });
    for (const from of [one, two]) {
      await put(from, 'warn');
      for (const to of [one, two])
        await expect.poll(async () => (await to.send('GET', '/debug/flags/v')).text).toBe('warn\n');
      await put(from, 'info');
      for (const to of [one, two])
        await expect.poll(async () => (await to.send('GET', '/debug/flags/v')).text).toBe('info\n');
    }
    one.close();
    two.close();
  });

  it('replaces a worker that is killed: the others go on, no answered write is lost, counts do not go back', async () => {
    const [one, two] = await twoClients();
    const [killed = 0] = children(server);
    const before = metric((await two.send('GET', '/metrics')).text, 'apiserver_audit_event_total');
    const answered: string[] = [];
    const write = async ({ send }: typeof one, name: string) => {
      for (let i = 0; i < 30; i++) {
        const { status } = await send('POST', configMaps, configMap(`${name}-${i}`));
        if (status === 201) answered.push(`${name}-${i}`);
        if (name === 'first' && i === 10) process.kill(killed, 'SIGKILL');
      }
    };
    const results = await Promise.allSettled([write(one, 'first'), write(two, 'second')]);
    // Each was served by one process, and one of them is the owner.
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect.poll(() => children(server).filter((pid) => pid !== killed)).toHaveLength(1);
    expect(server.output()).toContain('a worker has ended and is started again');
    const [three, four] = [client(), client()];
    for (const each of [three, four]) {
      const { items } = await each.json('GET', configMaps);
      const names = new Set(items.map((item: { metadata: { name: string } }) => item.metadata.name));
      expect(answered.filter((name) => !names.has(name))).toEqual([]);
      const { text } = await each.send('GET', '/metrics');
      expect(metric(text, 'apiserver_audit_event_total')).toBeGreaterThan(before);
    }
    for (const each of [one, two, three, four]) each.close();
  });

  it('ends its watches and its workers with SIGTERM, and its workers with SIGKILL', async () => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const own = await startServer(['--workers=2', '--store=memory']);
      const pids = children(own);
      expect(pids).toHaveLength(1);
      expect(await own.stop(signal)).toBe(signal === 'SIGTERM' ? 0 : null);
      const isAlive = (pid: number) => {
        try {
          return process.kill(pid, 0);
        } catch {
          return false;
        }
      };
      await expect.poll(() => pids.some(isAlive)).toBe(false);
    }
  });
});
