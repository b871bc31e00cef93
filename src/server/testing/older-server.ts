import type { ApiObject, JsonObject } from '../../meta/index.ts';
import { expandNames, namesFor } from '../../meta/index.ts';
import { olderKinds } from '../../resources/older/index.ts';
import { openMemoryStore } from '../../store/index.ts';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { silentLog } from '../dependencies.ts';
import { createServer, type OrchServer } from '../server.ts';

export interface RequestOptions {
  readonly contentType?: string;
  readonly accept?: string;
  /** The expected status, or several. Default: success. */
  readonly status?: number | readonly number[];
}

export interface Answer {
  readonly status: number;
  readonly headers: Awaited<ReturnType<OrchServer['client']['request']>>['headers'];
  readonly object: ApiObject;
}

export interface OlderServer {
  readonly server: OrchServer;
  /** The errors that the server has logged. */
  readonly errors: readonly unknown[];
  /** @throws for an answer with another status than the expected one */
  readonly request: (method: string, url: string, body?: JsonObject, options?: RequestOptions) => Promise<Answer>;
  /** Replaces an object by a change of it, again where the server has written it in the meantime. */
  readonly replace: (url: string, change: (object: ApiObject) => JsonObject) => Promise<Answer>;
}

/** Opens a server in this process that serves every older version, without controllers. */
export async function olderServer(store = openMemoryStore({ clock: drivenClock() })): Promise<OlderServer> {
  const names = namesFor('k8s.io');
  const groupVersions = olderKinds.flatMap(({ group, versions }) =>
    versions.map(({ version }) => `${expandNames(group, names)}/${version}`),
  );
  const errors: unknown[] = [];
  const log = { ...silentLog, error: (...logged: unknown[]) => void errors.push(logged) };
  const server = await createServer(
    {
      apiDomain: 'k8s.io',
      controllers: '-*',
      runtimeConfig: Object.fromEntries(groupVersions.map((groupVersion) => [groupVersion, true])),
    },
    { log, store },
  );
  const request: OlderServer['request'] = async (method, url, body, options = {}) => {
    const { contentType = 'application/json', accept = 'application/json', status } = options;
    const answer = await server.client.request({
      method,
      url,
      headers: { accept, ...(body === undefined ? {} : { 'content-type': contentType }) },
      ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
    });
    const text = await textOf(answer.body);
    const isExpected = status === undefined ? answer.status < 300 : [status].flat().includes(answer.status);
    if (!isExpected) throw new Error(`${method} ${url}: ${answer.status} ${text}`);
    return { status: answer.status, headers: answer.headers, object: JSON.parse(text) as ApiObject };
  };
  const replace: OlderServer['replace'] = async (url, change) => {
    const { object } = await request('GET', url);
    const answer = await request('PUT', url, change(object), { status: [200, 409] });
    return answer.status === 409 ? replace(url, change) : answer;
  };
  return { server, errors, request, replace };
}

export async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

export const specOf = (object: ApiObject) => object['spec'] as JsonObject;

export const mergePatch = { contentType: 'application/merge-patch+json' };
