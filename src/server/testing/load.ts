import { type ClientHttp2Session, connect } from 'node:http2';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { httpsTransport, type Transport } from '../../client/index.ts';

const path = '/api/v1/namespaces/default/configmaps';
type Answer = { readonly status: number; readonly body: string };
/** A request to one of the servers. Rejects when its connection is closed. */
type Ask = (method: string, url: string, body?: object) => Promise<Answer>;

/** In PEM. */
export interface Credentials {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

function overHttp1(
  server: string,
  { ca, cert, key }: Credentials,
  ends: (() => unknown)[],
): Ask & { transport: Transport } {
  const transport = httpsTransport({ server, ca, certificate: { cert, key } });
  ends.push(() => transport.close());
  const ask: Ask = async (method, url, body) => {
    const headers = { 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) };
    const answer = await transport({ method, url, headers, ...sent });
    return { status: answer.status, body: await text(answer.body) };
  };
  return Object.assign(ask, { transport });
}

/** One connection, which is replaced when the server has told that it goes away. */
function overHttp2(server: string, credentials: Credentials, ends: (() => unknown)[]): Ask {
  let session: ClientHttp2Session | undefined;
  ends.push(() => session?.destroy());
  const open = () => {
    const made = connect(server, credentials);
    const forget = () => {
      if (session === made) session = undefined;
    };
    made.on('error', forget).on('close', forget).on('goaway', forget);
    return made;
  };
  return (method, url, body) =>
    new Promise((resolve, reject) => {
      session ??= open();
      const stream = session.request({ ':method': method, ':path': url, 'content-type': 'application/json' });
      let status = 0;
      stream.on('response', (headers) => {
        status = Number(headers[':status']);
      });
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (status !== 0) resolve({ status, body: Buffer.concat(chunks).toString() });
      });
      stream.on('error', reject);
      stream.on('close', () => reject(new Error('the stream was closed')));
      if (body !== undefined) stream.end(JSON.stringify(body));
    });
}

const map = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

/** Clients of several servers, half of them over HTTP/2, which try again with the next server when a connection is closed. */
export interface Load {
  /** Ends the clients. Resolves when all requests are answered, and the watch has seen everything. */
  end(): Promise<LoadResult>;
}

export interface LoadResult {
  /** Answers other than those that a client expects from a server that never ends. */
  readonly failures: readonly string[];
  /** How many objects are left. */
  readonly created: number;
  /** How often a connection was closed before the answer. */
  readonly retries: number;
}

/** The state that the clients of a load share. */
interface LoadState {
  readonly failures: string[];
  readonly created: string[];
  readonly seen: Set<string>;
  retries: number;
  over: boolean;
}

/** Starts writers, readers and a watch. */
export function startLoad(urls: readonly string[], credentials: Credentials): Load {
  const ends: (() => unknown)[] = [];
  const state: LoadState = { failures: [], created: [], seen: new Set(), retries: 0, over: false };
  const workers = Array.from({ length: 8 }, (_, index) => {
    const over = index % 2 === 0 ? overHttp1 : overHttp2;
    const connections = urls.map((url) => over(url, credentials, ends));
    return work(state, `w${index}`, connections);
  });
  const ended = new AbortController();
  const transports = urls.map((url) => overHttp1(url, credentials, ends).transport);
  const watching = follow(state, transports, ended.signal);
  return {
    async end() {
      const { failures, created, seen } = state;
      state.over = true;
      await Promise.all(workers);
      const missing = () => created.filter((name) => !seen.has(name));
      for (let waits = 0; missing().length > 0 && waits < 500; waits++) await pause(20);
      ended.abort();
      await watching;
      for (const close of ends) close();
      failures.push(...missing().map((name) => `watch: ${name} was never added`));
      return { failures, created: created.length, retries: state.retries };
    },
  };
}

/** Creates, reads, updates and deletes, until the load is over. */
async function work(state: LoadState, id: string, connections: readonly Ask[]): Promise<void> {
  let at = 0;
  const ask: Ask = async (method, url, body) => {
    for (let attempt = 0; attempt < 100; attempt++) {
      try {
        return await (connections[at % connections.length] as Ask)(method, url, body);
      } catch {
        state.retries++;
        at++;
        await pause(5);
      }
    }
    return { status: 0, body: 'no server answers' };
  };
  for (let count = 0; !state.over; count++, at++) {
    const name = `${id}-${count}`;
    const sent = [
      // When the answer to a request that was served is lost, this is 409, and the deletion 404.
      [201, await ask('POST', path, map(name))],
      [200, await ask('GET', `${path}/${name}`)],
      [200, await ask('GET', `${path}?limit=5`)],
      [200, await ask('PUT', `${path}/${name}`, { ...map(name), data: { a: 'b' } })],
      ...(count % 2 === 0 ? [[200, await ask('DELETE', `${path}/${name}`)] as const] : []),
    ] as const;
    for (const [status, answer] of sent) {
      if (answer.status !== status) state.failures.push(`${id}: ${answer.status} ${answer.body.slice(0, 200)}`);
    }
    if (count % 2 === 1) state.created.push(name);
  }
}

/** A watch that goes on at its last version, with the next server. */
async function follow(state: LoadState, transports: readonly Transport[], signal: AbortSignal): Promise<void> {
  const { failures, seen } = state;
  let version = '0';
  for (let at = 0; !signal.aborted; at++) {
    const url = `${path}?watch=1&resourceVersion=${version}&timeoutSeconds=600`;
    let rest = '';
    try {
      const transport = transports[at % transports.length] as Transport;
      const answer = await transport({ method: 'GET', url, headers: {}, signal });
      if (answer.status !== 200) failures.push(`watch: ${answer.status} ${await text(answer.body)}`);
      for await (const chunk of answer.body) {
        const lines = (rest + Buffer.from(chunk).toString()).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const { type, object } = JSON.parse(line) as WatchedEvent;
          const { name, resourceVersion } = object.metadata;
          version = resourceVersion;
          if (type === 'ERROR') failures.push(`watch: ${line}`);
          if (type !== 'ADDED') continue;
          if (seen.has(name)) failures.push(`watch: ${name} was added twice`);
          seen.add(name);
        }
      }
      if (rest !== '') failures.push('watch: an event was cut off');
    } catch {
      if (!signal.aborted) await pause(5);
    }
  }
}

interface WatchedEvent {
  readonly type: string;
  readonly object: { readonly metadata: { readonly name: string; readonly resourceVersion: string } };
}
