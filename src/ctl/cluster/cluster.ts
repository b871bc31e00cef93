/** The server that a command works with. */
import { join } from 'node:path';
import {
  type Client,
  type ClientRequest,
  type ClientResponse,
  type Connection,
  connect,
  createClient,
  patientTransport,
  readText,
  type SocketRequest,
  type Transport,
} from '../../client/index.ts';
import { readOwnJson, stringifyJson } from '../../codec/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import { type GlobalValues, parseRequestTimeout } from '../flags/global-flags.ts';
import type { Io } from '../io.ts';
import type { ProgressLine } from '../output/progress-line.ts';
import { chooseConnection } from './choose-connection.ts';
import { Discovery } from './discovery.ts';
import { discoveryFile, loadRecord, saveRecord } from './discovery-cache.ts';

/** A request of a command. `url`: the path and the query. */
export interface CommandRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly accept?: string;
  readonly body?: Json | undefined;
  /** The media type of the body; by default `application/json`. */
  readonly contentType?: string;
}

export interface Cluster {
  readonly connection: Connection;
  /** The namespace of the flag or of the context. */
  readonly namespace: string;
  /** Whether the namespace is that of the flag: objects of files must be in it. */
  readonly isNamespaceSet: boolean;
  readonly client: Client;
  /** Tells people what takes long. */
  readonly progress: ProgressLine;
  /** The resources of the server. Read at the first call. */
  discovery(): Promise<Discovery>;
  /** Sends a request and reads the object of the response, with exact integers. @throws StatusError */
  send(request: CommandRequest): Promise<JsonObject>;
  /** Sends a request and reads the text of the response. @throws StatusError */
  text(request: CommandRequest): Promise<string>;
  /** Closes idle connections. */
  close(): void;
}

/** Opens the server of the kubeconfig and the flags. Sends nothing. @throws CommandError, KubeconfigError */
export async function openCluster(globals: GlobalValues, io: Io, warned: (text: string) => void): Promise<Cluster> {
  const connection = await chooseConnection(globals, io);
  const transport = connect(connection);
  const timeoutMs = requestTimeoutOf(globals);
  const patient = patientTransport(logged(transport, globals.v, io), { onWarning: warned });
  const client = createClient({
    transport: bounded(patient, timeoutMs, io.signal),
    baseHeaders: { 'user-agent': `orch-ctl/${io.version}` },
  });
  const text = async ({ method = 'GET', url, accept = 'application/json', ...rest }: CommandRequest) => {
    const { body, contentType = 'application/json' } = rest;
    const headers = { accept, ...(body === undefined ? {} : { 'content-type': contentType }) };
    const bytes = body === undefined ? {} : { body: Buffer.from(stringifyJson(body)) };
    return readText(await client.request({ method, url, headers, ...bytes }));
  };
  let discovery: Promise<Discovery> | undefined;
  return {
    connection,
    namespace: connection.namespace,
    isNamespaceSet: globals.namespace !== '',
    client,
    progress: io.progress,
    text,
    send: async (request) => objectOf(readOwnJson(await text(request))),
    discovery: () => {
      discovery ??= io.progress.during(
        () => 'Reading which resources the server has',
        () => Discovery.open(discoverySource(client, connection, globals, io)),
      );
      return discovery;
    },
    close: () => transport.close(),
  };
}

function objectOf(value: Json): JsonObject {
  if (isJsonObject(value)) return value;
  throw new CommandError('the server answered with a value that is not an object');
}

function requestTimeoutOf({ requestTimeout }: GlobalValues): number {
  try {
    return parseRequestTimeout(requestTimeout);
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error));
  }
}

/** Ends each request with the signal of the command, and after the timeout if there is one. */
function bounded(transport: Transport, timeoutMs: number, signal: AbortSignal): Transport {
  const limited = <R extends Pick<ClientRequest, 'signal'>>(request: R): R & { readonly signal: AbortSignal } => ({
    ...request,
    signal: AbortSignal.any([
      signal,
      ...(request.signal === undefined ? [] : [request.signal as AbortSignal]),
      ...(timeoutMs === 0 ? [] : [AbortSignal.timeout(timeoutMs)]),
    ]),
  });
  const { webSocket } = transport;
  return Object.assign(
    async (request: ClientRequest) => {
      const sent = limited(request);
      const response = await transport(sent);
      return { ...response, body: withReason(response.body, sent.signal) };
    },
    webSocket === undefined ? {} : { webSocket: (request: SocketRequest) => webSocket(limited(request)) },
  );
}

/** A body whose end by a signal has the reason of the signal; the connection only tells that it was aborted. */
async function* withReason(body: ClientResponse['body'], signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

/** From verbosity 6: a line on standard error for each request, without headers. */
function logged(transport: Transport, verbosity: number, { stderr, clock }: Io): Transport {
  if (verbosity < 6) return transport;
  const log = async (request: ClientRequest) => {
    const start = clock.now();
    const response = await transport(request);
    stderr.write(`${request.method} ${request.url} ${response.status} in ${clock.now() - start} ms\n`);
    return response;
  };
  return Object.assign(log, transport.webSocket === undefined ? {} : { webSocket: transport.webSocket });
}

function discoverySource(client: Client, connection: Connection, { cacheDir }: GlobalValues, { home, clock }: Io) {
  const folder = cacheDir === '' ? join(home, '.kube', 'cache') : cacheDir;
  const file = discoveryFile(folder, connection.server, connection.ca);
  return {
    now: () => clock.now(),
    load: () => loadRecord(file),
    save: (record: Parameters<typeof saveRecord>[1]) => saveRecord(file, record),
    read: async (url: string, headers: { readonly [name: string]: string }) => {
      const response = await client.request({ method: 'GET', url, headers });
      const etag = response.headers['etag'] ?? '';
      if (response.status === 304) {
        for await (const _ of response.body);
        return undefined;
      }
      return { etag, body: JSON.parse(await readText(response)) as JsonObject };
    },
  };
}
