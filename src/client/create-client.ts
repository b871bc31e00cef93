import {
  compatibleDomain,
  expandNames,
  type Json,
  type Names,
  namesFor,
  StatusError,
  streamProtocols,
} from '../meta/index.ts';
import type { Client, ClientOptions } from './client.ts';
import type { KindPlace, ObjectKey, TypedKind, TypedObject } from './kinds/kind.ts';
import { createKindClient, type ObjectObserver } from './kinds/kind-client.ts';
import { KindPlaces } from './kinds/kind-places.ts';
import type { Place } from './kinds/place.ts';
import type { GetOptions, ItemOptions, ListOptions, ObjectList } from './kinds/place-client.ts';
import { remoteCommand } from './streams/command.ts';
import { forwardedPort } from './streams/forwarded-port.ts';
import { containerLog, podPlace, streamParameters } from './streams/pods.ts';
import { utf8 } from './transport/bytes.ts';
import { discard, failure, readAll, readJson } from './transport/response.ts';
import type { ClientRequest, ClientResponse, Signal } from './transport/transport.ts';
import { followWatch } from './transport/watch.ts';

/** Creates an API client over a transport: `httpsTransport`, `inProcessTransport` or one of your own. */
export function createClient(options: ClientOptions): Client {
  const names = namesFor(options.apiDomain ?? compatibleDomain);
  const request = requestsOver(options);
  const client: Client = { names, request, ...verbsOver(request), ...streamsOver(options, request), ...kindsOf() };
  return client;

  function kindsOf(): Pick<Client, 'kind' | 'resolve' | 'observe'> {
    const observers = new Set<ObjectObserver>();
    const all: ObjectObserver = {
      observe: (kind, object) => {
        for (const { observe } of observers) observe(kind, object);
      },
      wrote: (kind, object) => {
        for (const { wrote } of observers) wrote?.(kind, object);
      },
      forget: (kind, key) => {
        for (const { forget } of observers) forget(kind, key);
      },
    };
    return {
      kind: <T extends TypedObject>(first: TypedKind<T> | string, kind?: string) =>
        createKindClient<T>(
          client,
          typeof first === 'string' ? { apiVersion: first, kind: kind as string } : first,
          all,
        ),
      resolve: resolverOver(request, names),
      observe: (observer) => {
        observers.add(observer);
        return () => observers.delete(observer);
      },
    };
  }
}

/** Looks up the path of kinds that do not name their resource. */
function resolverOver(request: Client['request'], names: Names): Client['resolve'] {
  const places = new KindPlaces(request, names);
  return async (kind): Promise<KindPlace> => {
    const { resource, namespaced } = kind;
    if (resource === undefined || namespaced === undefined) return places.of(kind);
    return { apiVersion: expandNames(kind.apiVersion, names), kind: kind.kind, resource, namespaced };
  };
}

function requestsOver({ transport, baseHeaders = {} }: ClientOptions): Client['request'] {
  return async (clientRequest) => {
    try {
      return await transport({
        ...clientRequest,
        headers: { accept: 'application/json', ...baseHeaders, ...clientRequest.headers },
      });
    } catch (error) {
      throw unreachable(error);
    }
  };
}

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

type Verbs = Pick<
  Client,
  'get' | 'list' | 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'deleteCollection' | 'watch'
>;

function verbsOver(request: Client['request']): Verbs {
  // The caller states the type of the object at this path.
  const item = async <T>(method: string, place: Place, body?: RequestBody, options: ItemOptions & GetOptions = {}) => {
    const { signal, accept, dryRun, ...parameters } = options;
    const query = { ...parameters, ...(dryRun === true ? { dryRun: 'All' } : {}) };
    return (await send(request, method, urlOf(place, query), body, { signal, accept }, readJson)) as T;
  };
  return {
    get: (place, options) => item('GET', place, undefined, options),
    create: (place, object, options) => item('POST', place, json(object), options),
    update: (place, object, options) => item('PUT', place, json(object), options),
    patch: (place, format, value, options) => item('PATCH', place, { type: patchTypes[format], value }, options),
    // JSON is YAML.
    apply: (place, value, options) => item('PATCH', place, { type: 'application/apply-patch+yaml', value }, options),
    delete: (place, value, options) => item('DELETE', place, value === undefined ? undefined : json(value), options),
    deleteCollection: (place, value, { signal, accept, ...query } = {}) => {
      const body = value === undefined ? undefined : json(value);
      return send(request, 'DELETE', urlOf(place, query), body, { signal, accept }, discard);
    },
    list: async <T extends TypedObject>(place: Place, { signal, accept, ...query }: ListOptions = {}) => {
      const body = await send(request, 'GET', urlOf(place, query), undefined, { signal, accept }, readJson);
      return body as unknown as ObjectList<T>;
    },
    watch: async (place, { signal, accept, ...query } = {}) => {
      const stop = new AbortController();
      const both = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]);
      const response = await request({
        method: 'GET',
        url: urlOf(place, { watch: true, ...query }),
        headers: accept === undefined ? {} : { accept },
        signal: both,
      });
      if (response.status >= 300) throw failure(response.status, await readAll(response));
      return followWatch(response.body, both, () => stop.abort());
    },
  };
}

interface Call {
  readonly signal: Signal | undefined;
  readonly accept: string | undefined;
}

/** A request body: `value` as JSON. */
interface RequestBody {
  readonly type: string;
  readonly value: Json | TypedObject;
}

const json = (value: Json | TypedObject): RequestBody => ({ type: 'application/json', value });

async function send<T>(
  request: Client['request'],
  method: string,
  url: string,
  body: RequestBody | undefined,
  { signal, accept }: Call,
  read: (response: ClientResponse) => Promise<T>,
): Promise<T> {
  const response = await request({
    method,
    url,
    headers: {
      ...(accept === undefined ? {} : { accept }),
      ...(body === undefined ? {} : { 'content-type': body.type }),
    },
    ...(body === undefined ? {} : { body: utf8(JSON.stringify(body.value)) }),
    ...aborted(signal),
  });
  return read(response).catch((error: unknown) => {
    throw unreachable(error);
  });
}

const aborted = (signal: Signal | undefined): Pick<ClientRequest, 'signal'> => (signal === undefined ? {} : { signal });

function streamsOver(
  { transport, baseHeaders = {} }: ClientOptions,
  request: Client['request'],
): Pick<Client, 'log' | 'exec' | 'attach' | 'portForward'> {
  type Kind = keyof typeof streamProtocols;
  const open = async (kind: Kind, pod: ObjectKey, subresource: string, query: Query, signal: Signal | undefined) => {
    const url = urlOf(podPlace(pod, subresource), query);
    const { webSocket } = transport;
    if (webSocket === undefined) throw new StatusError(501, 'NotImplemented', noConnections);
    try {
      const protocols = streamProtocols[kind];
      return await webSocket({ url, headers: baseHeaders, protocols, ...aborted(signal) });
    } catch (error) {
      throw unreachable(error);
    }
  };
  return {
    log: async (pod, { signal, ...query } = {}) => {
      const url = urlOf(podPlace(pod, 'log'), query);
      return containerLog(await request({ method: 'GET', url, headers: {}, ...aborted(signal) }));
    },
    exec: async (pod, { command, signal, ...options }) => {
      const query = { ...streamParameters(options), command };
      return remoteCommand(await open('command', pod, 'exec', query, signal));
    },
    attach: async (pod, { signal, ...options } = {}) =>
      remoteCommand(await open('command', pod, 'attach', streamParameters(options), signal)),
    portForward: async (pod, port, { signal } = {}) =>
      forwardedPort(await open('port', pod, 'portforward', { ports: port }, signal), port),
  };
}

const noConnections =
  'the transport has no connections: commands, attached containers and forwarded ports require httpsTransport';

interface Query {
  readonly [name: string]: string | number | boolean | readonly string[] | undefined;
}

function urlOf(place: Place, query: Query): string {
  const parts = [
    ...(place.apiVersion.includes('/') ? ['apis', ...place.apiVersion.split('/')] : ['api', place.apiVersion]),
    ...(place.namespace === undefined ? [] : ['namespaces', place.namespace]),
    place.resource,
    ...(place.name === undefined ? [] : [place.name]),
    ...(place.subresource === undefined ? [] : [place.subresource]),
  ];
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) parameters.append(name, String(one));
  }
  const text = parameters.toString();
  return `/${parts.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

function unreachable(error: unknown): unknown {
  if (error instanceof StatusError || (error instanceof Error && error.name === 'AbortError')) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new StatusError(503, 'ServiceUnavailable', `the server cannot be reached: ${why}`, undefined, {
    cause: error,
  });
}
