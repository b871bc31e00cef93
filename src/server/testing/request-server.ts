import type { JsonObject } from '../../meta/index.ts';
import type { Dependencies } from '../dependencies.ts';
import { silentLog } from '../dependencies.ts';
import { createServer, type OrchServer } from '../server.ts';
import type { ServerOptions } from '../settings/server-options.ts';

export interface TextAnswer {
  readonly status: number;
  readonly warning: string | readonly string[] | undefined;
  readonly text: string;
}

export interface RequestedServer {
  readonly server: OrchServer;
  /** Requests something as an administrator, by default discovery documents in one piece. */
  readonly request: (method: string, url: string, body?: JsonObject) => Promise<TextAnswer>;
}

const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

/** Opens a server in this process that does not listen, with the Kubernetes spelling. */
export async function requestServer(
  options: ServerOptions,
  dependencies: Partial<Dependencies> = {},
): Promise<RequestedServer> {
  const server = await createServer({ apiDomain: 'k8s.io', ...options }, { log: silentLog, ...dependencies });
  const request = async (method: string, url: string, body?: JsonObject) => {
    const answer = await server.client.request({
      method,
      url,
      headers: { accept, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
    });
    const pieces: Uint8Array[] = [];
    for await (const piece of answer.body) pieces.push(piece);
    return { status: answer.status, warning: answer.headers['warning'], text: Buffer.concat(pieces).toString() };
  };
  return { server, request };
}
