import { expandNames, type Names, StatusError } from '../../meta/index.ts';
import { readJson } from '../transport/response.ts';
import type { ClientRequest, ClientResponse } from '../transport/transport.ts';
import type { KindPlace, KindReference } from './kind.ts';

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
