import { type Client, groupOf, type KindPlace, readJson } from '../../client/index.ts';
import { formatGroupVersion, type Names } from '../../meta/index.ts';
import type { APIGroupDiscovery, APIGroupDiscoveryList } from '../../types/apidiscovery-v2.ts';

/** A resource that the server serves, in one version. */
export interface ServedResource extends KindPlace {
  readonly group: string;
  readonly verbs: readonly string[];
}

/** The resources that the server serves, from discovery. */
export interface ServedResources {
  /** Each resource of a group once: in the version that the group prefers among those that have it. */
  readonly preferred: readonly ServedResource[];
  /** The resource of a kind in any version that is served. */
  readonly find: (apiVersion: string, kind: string) => ServedResource | undefined;
  /** The same by the plural name of the resource. */
  readonly findResource: (apiVersion: string, resource: string) => ServedResource | undefined;
  /** The group versions whose resources the server does not know at present. */
  readonly stale: readonly string[];
}

/** The resource of a kind: in this version, or else in the one that its group prefers. */
export function resourceOf(
  { find, preferred }: ServedResources,
  apiVersion: string,
  kind: string,
): ServedResource | undefined {
  const group = groupOf(apiVersion);
  return find(apiVersion, kind) ?? preferred.find((served) => served.group === group && served.kind === kind);
}

interface Root {
  readonly path: string;
  etag: string;
  /** In all versions, those that a group prefers first. */
  resources: readonly ServedResource[];
  stale: readonly string[];
}

/** Reads aggregated discovery. */
export class Discovery {
  readonly #client: Client;
  readonly #accept: string;
  /** The last responses of the discovery roots. */
  readonly #roots: readonly Root[] = ['/api', '/apis'].map((path) => ({ path, etag: '', resources: [], stale: [] }));
  #served = servedBy([]);
  /** Some root has changed since, perhaps by a call of `read` that has not ended. */
  #changed = false;

  constructor(client: Client, names: Names) {
    this.#client = client;
    this.#accept = `application/json;g=apidiscovery.${names.domain};v=v2;as=APIGroupDiscoveryList`;
  }

  /** The result of the last call of `read`. */
  get served(): ServedResources {
    return this.#served;
  }

  /** Asks the server; the same value as before while nothing has changed. @throws StatusError */
  async read(signal?: AbortSignal): Promise<ServedResources> {
    await Promise.all(this.#roots.map((root) => this.#update(root, signal)));
    if (this.#changed) this.#served = servedBy(this.#roots);
    this.#changed = false;
    return this.#served;
  }

  async #update(root: Root, signal: AbortSignal | undefined): Promise<void> {
    const response = await this.#client.request({
      method: 'GET',
      url: root.path,
      headers: { accept: this.#accept, ...(root.etag === '' ? {} : { 'if-none-match': root.etag }) },
      ...(signal === undefined ? {} : { signal }),
    });
    if (response.status === 304) return;
    const { items = [] } = (await readJson(response)) as APIGroupDiscoveryList;
    root.resources = items.flatMap(resourcesOf);
    root.stale = items.flatMap(staleVersions);
    root.etag = response.headers['etag'] ?? '';
    this.#changed = true;
  }
}

function servedBy(roots: readonly Root[]): ServedResources {
  const preferred = new Map<string, ServedResource>();
  const byKind = new Map<string, ServedResource>();
  const byResource = new Map<string, ServedResource>();
  for (const served of roots.flatMap(({ resources }) => resources)) {
    const { group, apiVersion, kind, resource } = served;
    if (!byKind.has(`${apiVersion} ${kind}`)) byKind.set(`${apiVersion} ${kind}`, served);
    byResource.set(`${apiVersion} ${resource}`, served);
    if (!preferred.has(`${group}/${resource}`)) preferred.set(`${group}/${resource}`, served);
  }
  return {
    preferred: [...preferred.values()],
    stale: roots.flatMap(({ stale }) => stale),
    find: (apiVersion, kind) => byKind.get(`${apiVersion} ${kind}`),
    findResource: (apiVersion, resource) => byResource.get(`${apiVersion} ${resource}`),
  };
}

function resourcesOf({ metadata, versions = [] }: APIGroupDiscovery): ServedResource[] {
  const group = metadata?.name ?? '';
  return versions.flatMap(({ version = '', resources = [] }) =>
    resources.flatMap(({ resource, responseKind, scope, verbs = [] }) => {
      // A resource that is only there for its subresources has no kind.
      const kind = responseKind?.kind ?? '';
      if (resource === undefined || kind === '') return [];
      const apiVersion = formatGroupVersion({ group, version });
      return [{ group, apiVersion, kind, resource, namespaced: scope === 'Namespaced', verbs }];
    }),
  );
}

const staleVersions = ({ metadata, versions = [] }: APIGroupDiscovery): string[] =>
  versions
    .filter(({ freshness }) => freshness === 'Stale')
    .map(({ version = '' }) => formatGroupVersion({ group: metadata?.name ?? '', version }));
