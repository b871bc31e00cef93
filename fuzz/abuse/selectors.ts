import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { authorization, type TestedServer } from '../server.ts';
import { type Attack, answered, asAdmin, configMaps, hold, letBobRead, type Scenario, succeeded } from './scenario.ts';

/** Attacks by whoever may list and watch in one namespace. */

/** Lets bob list and watch config maps, and creates many of them. */
async function prepare({ client }: Attack, objects: number): Promise<void> {
  await letBobRead(client);
  const names = Array.from({ length: objects }, (_, i) => `labelled${i}`);
  await Promise.all(
    names.map(async (name) => {
      const object = { metadata: { name, labels: { app: name } }, data: { text: 'x'.repeat(200) } };
      succeeded('creating an object', await client.http1(asAdmin('POST', configMaps, object)));
    }),
  );
}

/** A selector with a thousand requirements that every object meets, and one that none does. */
const costly = (last: string) =>
  encodeURIComponent([...Array.from({ length: 999 }, (_, i) => `a${i}!=b`), last].join(','));

const costlyLists: Scenario = {
  name: 'costly-lists',
  title: 'lists with a thousand requirements each keep nobody waiting',
  attack: async (attack) => {
    const { client, full } = attack;
    await prepare(attack, full ? 3_000 : 1_000);
    const accepts = ['application/json', 'application/json;as=Table;v=v1;g=meta.orch.io', 'application/yaml'];
    await Promise.all(
      Array.from({ length: full ? 200 : 12 }, async (_, i) => {
        const path = `${configMaps}?labelSelector=${costly(`zz${i}`)}`;
        const headers = { accept: accepts[i % accepts.length] ?? '', 'accept-encoding': 'gzip' };
        const answer = await client.http1({ user: 'bob', method: 'GET', path, headers });
        hold(answer.status === 200 || answer.status === 429, `a list is answered with ${answer.status}`);
        answered('a list', answer);
      }),
    );
  },
};

/** Opens watches over as few connections as possible; returns the statuses of those that were answered. */
async function openWatches({ port, ca }: TestedServer, paths: readonly string[]) {
  const sessions: ClientHttp2Session[] = [];
  const streams: ClientHttp2Stream[] = [];
  const statuses = new Map<number, number>();
  for (const [i, path] of paths.entries()) {
    if (i % 90 === 0) {
      const session = connect(`https://127.0.0.1:${port}`, { ca });
      session.on('error', () => {});
      sessions.push(session);
    }
    const stream = sessions.at(-1)?.request({ ':method': 'GET', ':path': path, ...authorization('bob') });
    if (stream === undefined) continue;
    stream.on('error', () => {});
    stream.on('response', ({ ':status': status = 0 }) => statuses.set(status, (statuses.get(status) ?? 0) + 1));
    stream.resume();
    streams.push(stream);
    if (i % 90 === 89) await sleep(20);
  }
  const answered = () => [...statuses.values()].reduce((sum, count) => sum + count, 0);
  for (let i = 0; i < 100 && answered() < paths.length; i++) await sleep(200);
  const close = () => {
    for (const session of sessions) session.destroy();
  };
  return { statuses, close };
}

const costlyWatches: Scenario = {
  name: 'costly-watches',
  title: 'watches with a thousand requirements each are counted, and writes do not wait for them',
  attack: async (attack) => {
    const { client, server, full } = attack;
    // Each watch compares each object with its requirements, and each write with those of every watch.
    const [objects, writes] = full ? [100, 50] : [5, 5];
    await prepare(attack, objects);
    const before = await server.memory();
    const paths = Array.from(
      { length: full ? 7_000 : 500 },
      (_, i) => `${configMaps}?watch=1&resourceVersion=0&labelSelector=${costly(`zz${i}`)}`,
    );
    const watches = await openWatches(server, paths);
    for (let i = 0; i < writes; i++) {
      const change = { metadata: { labels: { round: String(i) } } };
      const path = `${configMaps}/labelled${i}`;
      succeeded('a write', await client.http1(asAdmin('PATCH', path, change, 'application/merge-patch+json')));
    }
    const taken = (await server.memory()) - before;
    watches.close();
    const { statuses } = watches;
    const unexpected = [...statuses.keys()].filter((status) => status !== 200 && status !== 429);
    hold(unexpected.length === 0, `watches are answered with ${unexpected.join(', ')}`);
    hold((statuses.get(200) ?? 0) > 0, 'no watch is answered with 200');
    hold((statuses.get(429) ?? 0) > 0, 'no watch is refused');
    hold(taken < 512 * 1024 * 1024, `watches take ${Math.round(taken / 1024 / 1024)} MB`);
  },
};

export const selectorScenarios: readonly Scenario[] = [costlyLists, costlyWatches];
