import { type ClientHttp2Session, connect } from 'node:http2';
import { authorization, type TestedServer } from '../server.ts';
import { asAdmin, configMaps, hold, letBobRead, type Scenario, selfReviews, succeeded } from './scenario.ts';

/** One user sends far more than the seats of its priority level: lists, watches and writes at the same time. */

const bytes = 1_000;
/** Requests on each connection, below the number of streams that a connection may have. */
const perConnection = 90;

type Sent = readonly [method: 'GET' | 'POST', path: string, body?: string];

const sent: readonly Sent[] = [
  ['GET', configMaps],
  ['GET', `${configMaps}?watch=1&timeoutSeconds=1`],
  ['POST', selfReviews, '{}'],
];

/** Sends a request of bob; resolves with its status once the response has been read, 0 when the stream fails. */
function send(session: ClientHttp2Session, [method, path, body]: Sent): Promise<number> {
  return new Promise((resolve) => {
    const headers = { ':method': method, ':path': path, ...authorization('bob') };
    const stream = session.request(body === undefined ? headers : { ...headers, 'content-type': 'application/json' });
    let status = 0;
    stream.on('response', ({ ':status': received = 0 }) => {
      status = received;
    });
    stream.on('error', () => resolve(0));
    stream.on('close', () => resolve(status));
    stream.resume();
    stream.end(body);
  });
}

async function flood({ port, ca }: TestedServer, connections: number): Promise<readonly number[]> {
  const sessions = Array.from({ length: connections }, () => connect(`https://127.0.0.1:${port}`, { ca }));
  for (const session of sessions) session.on('error', () => {});
  const requests = sessions.flatMap((session) =>
    Array.from({ length: perConnection }, (_, i) => send(session, sent[i % sent.length] as Sent)),
  );
  const statuses = await Promise.all(requests);
  for (const session of sessions) session.destroy();
  return statuses;
}

const floodOfUser: Scenario = {
  name: 'flood-of-one-user',
  title: 'a flood of requests by one user waits or is refused, and other users of its priority level are served',
  attack: async ({ client, server, full }) => {
    await letBobRead(client);
    for (let i = 0; i < (full ? 300 : 60); i++) {
      const object = { metadata: { name: `flood${i}` }, data: { text: 'x'.repeat(bytes) } };
      succeeded('a write', await client.http1(asAdmin('POST', configMaps, object)));
    }
    const statuses = await flood(server, full ? 20 : 6);
    const unexpected = statuses.filter((status) => ![200, 201, 429].includes(status));
    hold(unexpected.length === 0, `requests are answered with ${[...new Set(unexpected)].join(', ')}`);
    hold(
      statuses.some((status) => status === 200 || status === 201),
      'no request is served',
    );
  },
};

export const floodOfUserScenarios: readonly Scenario[] = [floodOfUser];
