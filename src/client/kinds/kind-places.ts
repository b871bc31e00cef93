import { expandNames, type Names, StatusError } from '../../meta/index.ts';
import { readJson } from '../transport/response.ts';
import type { ClientRequest, ClientResponse } from '../transport/transport.ts';
import type { KindPlace, KindReference } from './kind.ts';

type Request = (request: ClientRequest) => Promise<ClientResponse>;

/** Resolves kinds to resources through discovery, and caches the results. */
export class KindPlaces {
  readonly #request: Request;
  readonly #names: Names;
  /** By version and kind. */
  readonly #places = new Map<string, KindPlace>();
  /** Discovery requests in flight, by version. */
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
    if (!this.#places.has(key)) await this.#read(apiVersion);
    const place = this.#places.get(key);
    if (place === undefined) throw notServed(apiVersion, kind);
    return place;
  }

  /** Concurrent callers share one request. */
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
        this.#places.set(`${apiVersion} ${kind}`, { apiVersion, kind, resource: name, namespaced });
    }
  }
}

const notServed = (apiVersion: string, kind: string) =>
  new StatusError(404, 'NotFound', `the server does not serve the kind ${kind} in version ${apiVersion}`, { kind });
