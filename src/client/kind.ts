import { expandNames, type Json, type JsonObject, type Names, type ObjectMeta, StatusError } from '../meta/index.ts';
import type { Place } from './client.ts';
import { readJson } from './response.ts';
import type { ClientRequest, ClientResponse } from './transport.ts';

/** What the client reads of an object. Interfaces of kinds fit as they are; they need no index signature. */
export interface TypedObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?:
    | {
        readonly name?: string | undefined;
        readonly generateName?: string | undefined;
        readonly namespace?: string | undefined;
        readonly uid?: string | undefined;
        readonly resourceVersion?: string | undefined;
        readonly labels?: { readonly [key: string]: string } | undefined;
        readonly annotations?: { readonly [key: string]: string } | undefined;
        readonly finalizers?: readonly string[] | undefined;
        readonly ownerReferences?: readonly OwnerLike[] | undefined;
      }
    | undefined;
}

/** An object of which no more is known. */
export interface UntypedObject {
  [field: string]: Json | undefined;
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta & JsonObject;
}

interface OwnerLike {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: unknown;
}

/** Names an object of a kind. The `metadata` of an object is one. */
export interface ObjectKey {
  /** Absent or empty for objects at cluster scope. */
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

export interface KindReference {
  /** `v1`, `apps/v1`; `{domain}` stands for the API domain of the client, as in `coordination.{domain}/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
}

/** Where the objects of a kind are. */
export interface KindPlace extends KindReference {
  /** The plural name. */
  readonly resource: string;
  readonly namespaced: boolean;
}

/** A kind whose objects are of type `T`; discovery is asked where its objects are, unless it says so. */
export interface TypedKind<T extends TypedObject> extends KindReference, Partial<Omit<KindPlace, keyof KindReference>> {
  /** Never set: carries the type of the objects. */
  readonly $object?: T;
}

/** The path of a kind's objects: in a namespace, or for an empty one in all. */
export const placeIn = ({ apiVersion, resource }: KindPlace, namespace = ''): Place => ({
  apiVersion,
  resource,
  ...(namespace === '' ? {} : { namespace }),
});

/** The key of an object in caches and queues: `namespace/name`, or the name at cluster scope. */
export const keyOf = ({ metadata: { namespace = '', name = '' } = {} }: Pick<TypedObject, 'metadata'>): string =>
  keyIn(namespace, name);

export const keyIn = (namespace: string, name: string): string => (namespace === '' ? name : `${namespace}/${name}`);

/** The inverse of `keyIn`. */
export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return slash < 0 ? { namespace: '', name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

type Request = (request: ClientRequest) => Promise<ClientResponse>;

/** Finds out where the objects of kinds are, and remembers what it has found. */
export class KindPlaces {
  readonly #request: Request;
  readonly #names: Names;
  /** By version and kind. */
  readonly #found = new Map<string, KindPlace>();
  /** Reads of the resources of a version that are under way. */
  readonly #reading = new Map<string, Promise<void>>();

  constructor(request: Request, names: Names) {
    this.#request = request;
    this.#names = names;
  }

  /** @throws StatusError 404 when the kind is not served */
  async of(reference: KindReference): Promise<KindPlace> {
    const { kind } = reference;
    const apiVersion = expandNames(reference.apiVersion, this.#names);
    const key = `${apiVersion} ${kind}`;
    if (!this.#found.has(key)) await this.#read(apiVersion);
    const found = this.#found.get(key);
    if (found === undefined) throw notServed(apiVersion, kind);
    return found;
  }

  /** Callers that come meanwhile share one request. */
  #read(apiVersion: string): Promise<void> {
    const reading = this.#reading.get(apiVersion) ?? this.#load(apiVersion);
    this.#reading.set(apiVersion, reading);
    return reading.finally(() => this.#reading.delete(apiVersion));
  }

  async #load(apiVersion: string): Promise<void> {
    const path = [apiVersion.includes('/') ? 'apis' : 'api', ...apiVersion.split('/').map(encodeURIComponent)];
    const response = await this.#request({ method: 'GET', url: `/${path.join('/')}`, headers: {} });
    if (response.status === 404) return;
    const { resources = [] } = (await readJson(response)) as {
      resources?: { name: string; kind: string; namespaced: boolean }[];
    };
    for (const { name, kind, namespaced } of resources) {
      // Subresources are listed too.
      if (!name.includes('/'))
        this.#found.set(`${apiVersion} ${kind}`, { apiVersion, kind, resource: name, namespaced });
    }
  }
}

const notServed = (apiVersion: string, kind: string) =>
  new StatusError(404, 'NotFound', `the server does not serve the kind ${kind} in version ${apiVersion}`, { kind });
