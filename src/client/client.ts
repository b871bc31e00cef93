import type { ApiObject, Json, Status } from '../meta/index.ts';
import { StatusError } from '../meta/index.ts';
import { discard, failure, readAll, readJson } from './response.ts';
import type { ClientRequest, ClientResponse, Signal, Transport } from './transport.ts';
import { type ClientWatch, followWatch } from './watch.ts';

/** The path of a request: a resource in a version, one namespace or all, and for one object its name. */
export interface Place {
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string;
  /** The plural name, such as `configmaps`. */
  readonly resource: string;
  /** Absent: cluster-scoped, or all namespaces. */
  readonly namespace?: string;
  readonly name?: string;
  /** Such as `status`. */
  readonly subresource?: string;
}

interface Negotiation {
  /** The media type of the response, such as that of metadata alone; whole objects by default. */
  readonly accept?: string;
}

export interface ItemOptions extends Negotiation {
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  readonly signal?: Signal;
}

export interface ListOptions extends Negotiation {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  readonly signal?: Signal;
}

export interface WatchParameters extends Negotiation {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Only changes after this version; absent: the existing objects as ADDED, then every change. */
  readonly resourceVersion?: string;
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
  readonly resourceVersionMatch?: 'NotOlderThan';
  readonly timeoutSeconds?: number;
  readonly signal?: Signal;
}

export interface ObjectList<T extends ApiObject> {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: T[];
}

export interface ClientOptions {
  readonly transport: Transport;
  /** Sent with every request; names in lower case. */
  readonly baseHeaders?: { readonly [name: string]: string };
}

/**
 * The verbs of the API. A failed response is thrown as the StatusError that the server sent; a server that cannot be
 * reached is a StatusError with code 503. Integers beyond 2^53 lose precision.
 */
export interface Client {
  get<T extends ApiObject>(place: Place, options?: Pick<ItemOptions, 'signal' | 'accept'>): Promise<T>;
  list<T extends ApiObject>(place: Place, options?: ListOptions): Promise<ObjectList<T>>;
  create<T extends ApiObject>(place: Place, object: T, options?: ItemOptions): Promise<T>;
  /** Replaces the object. With a `metadata.resourceVersion` that is not the latest it is a conflict. */
  update<T extends ApiObject>(place: Place, object: T, options?: ItemOptions): Promise<T>;
  /** `strategic` is for built-in kinds only. */
  patch<T extends ApiObject>(
    place: Place,
    format: 'json' | 'merge' | 'strategic',
    patch: Json,
    options?: ItemOptions,
  ): Promise<T>;
  /** Server-side apply. With `force` it takes over fields of other managers, which are a conflict otherwise. */
  apply<T extends ApiObject>(
    place: Place,
    object: ApiObject,
    options: ItemOptions & { readonly fieldManager: string; readonly force?: boolean },
  ): Promise<T>;
  /** The object when its deletion is pending (finalizers, grace period); otherwise the Status of the deletion. */
  delete<T extends ApiObject>(place: Place, deleteOptions?: Json, options?: ItemOptions): Promise<T | Status>;
  /** Deletes all objects at the place. Resolves when that is done; what was deleted is not read. */
  deleteCollection(place: Place, deleteOptions?: Json, options?: Pick<ItemOptions, 'signal' | 'accept'>): Promise<void>;
  /** Resolves as soon as the server has accepted the watch. */
  watch<T extends ApiObject>(place: Place, options?: WatchParameters): Promise<ClientWatch<T>>;
  /** Any request. Returns the response whatever its status code. */
  request(request: ClientRequest): Promise<ClientResponse>;
}

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

export function createClient({ transport, baseHeaders = {} }: ClientOptions): Client {
  const request = async (sent: ClientRequest) => {
    try {
      return await transport({ ...sent, headers: { accept: 'application/json', ...baseHeaders, ...sent.headers } });
    } catch (error) {
      throw unreachable(error);
    }
  };
  const send = async <T>(
    method: string,
    url: string,
    body: Sent | undefined,
    { signal, accept }: Call,
    read: (response: ClientResponse) => Promise<T>,
  ) => {
    const response = await request({
      method,
      url,
      headers: {
        ...(accept === undefined ? {} : { accept }),
        ...(body === undefined ? {} : { 'content-type': body.type }),
      },
      ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body.value)) }),
      ...(signal === undefined ? {} : { signal }),
    });
    return read(response).catch((error: unknown) => {
      throw unreachable(error);
    });
  };
  // The caller names the type of the object at this path.
  const item = async <T>(method: string, place: Place, body: Sent | undefined, options: ItemOptions = {}) => {
    const { signal, accept, dryRun, ...parameters } = options;
    const query = { ...parameters, ...(dryRun === true ? { dryRun: 'All' } : {}) };
    return (await send(method, urlOf(place, query), body, { signal, accept }, readJson)) as T;
  };
  return {
    request,
    get: (place, options) => item('GET', place, undefined, options),
    create: (place, object, options) => item('POST', place, { type: 'application/json', value: object }, options),
    update: (place, object, options) => item('PUT', place, { type: 'application/json', value: object }, options),
    patch: (place, format, value, options) => item('PATCH', place, { type: patchTypes[format], value }, options),
    // JSON is YAML.
    apply: (place, object, options) =>
      item('PATCH', place, { type: 'application/apply-patch+yaml', value: object }, options),
    delete: (place, value, options) =>
      item('DELETE', place, value === undefined ? undefined : { type: 'application/json', value }, options),
    deleteCollection: (place, value, { signal, accept } = {}) => {
      const body = value === undefined ? undefined : { type: 'application/json', value };
      return send('DELETE', urlOf(place, {}), body, { signal, accept }, discard);
    },
    list: async <T extends ApiObject>(place: Place, { signal, accept, ...query }: ListOptions = {}) =>
      (await send('GET', urlOf(place, query), undefined, { signal, accept }, readJson)) as unknown as ObjectList<T>,
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
  readonly signal: AbortSignal | undefined;
  readonly accept: string | undefined;
}

interface Sent {
  readonly type: string;
  readonly value: Json;
}

function urlOf(place: Place, query: { readonly [name: string]: string | number | boolean | undefined }): string {
  const parts = [
    ...(place.apiVersion.includes('/') ? ['apis', ...place.apiVersion.split('/')] : ['api', place.apiVersion]),
    ...(place.namespace === undefined ? [] : ['namespaces', place.namespace]),
    place.resource,
    ...(place.name === undefined ? [] : [place.name]),
    ...(place.subresource === undefined ? [] : [place.subresource]),
  ];
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
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
