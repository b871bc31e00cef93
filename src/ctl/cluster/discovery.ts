/** The resources of a server: read once, cached on disk, and validated by ETag. */

import {
  compatibleDomain,
  defaultDomain,
  isJsonObject,
  type JsonObject,
  type Names,
  namesFor,
} from '../../meta/index.ts';
import { jsonText } from '../output/json.ts';
import { type Resource, resourcesOfGroups, resourcesOfVersion } from './resource.ts';

/** The age at which a cached document is validated (ms). */
const maxAgeMs = 10 * 60_000;

/** A discovery document with the ETag that validates it. */
interface CachedDocument {
  readonly etag: string;
  readonly resources: readonly Resource[];
}

/** The cached discovery of a server. */
export interface DiscoveryRecord {
  readonly domain: string;
  /** When the documents were read or validated, in milliseconds since 1970. */
  readonly at: number;
  /** Those of `/api` and of `/apis`. */
  readonly documents: readonly [CachedDocument, CachedDocument];
}

export interface DiscoverySource {
  /** Requests a path; resolves to undefined for 304. */
  readonly read: (
    path: string,
    headers: { readonly [name: string]: string },
  ) => Promise<{ readonly etag: string; readonly body: JsonObject } | undefined>;
  readonly load: () => Promise<DiscoveryRecord | undefined>;
  readonly save: (record: DiscoveryRecord) => Promise<void>;
  readonly now: () => number;
}

/** Looks up resources. */
export class Discovery {
  readonly #source: DiscoverySource;
  #record: DiscoveryRecord;
  #fresh: boolean;

  private constructor(source: DiscoverySource, record: DiscoveryRecord, fresh: boolean) {
    this.#source = source;
    this.#record = record;
    this.#fresh = fresh;
  }

  /** Uses the record on disk while it is young. @throws StatusError */
  static async open(source: DiscoverySource): Promise<Discovery> {
    const record = await source.load();
    const isYoung = record !== undefined && source.now() - record.at < maxAgeMs && record.at <= source.now();
    return isYoung
      ? new Discovery(source, record, false)
      : new Discovery(source, await readRecord(source, record), true);
  }

  /** The names of the API domain of the server. */
  get names(): Names {
    return namesFor(this.#record.domain);
  }

  /** All resources in all their versions: the core group first, then groups and versions in the order of the server. */
  get resources(): readonly Resource[] {
    return this.#record.documents.flatMap(({ resources }) => resources);
  }

  /** The resources in the preferred version of each. */
  preferred(): Resource[] {
    const seen = new Map<string, Resource>();
    for (const resource of this.resources) {
      const key = `${resource.group}/${resource.name}`;
      if (!seen.has(key)) seen.set(key, resource);
    }
    return [...seen.values()];
  }

  /** Reads the documents again unless this process has done so. Returns whether they may have changed. */
  async refresh(): Promise<boolean> {
    if (this.#fresh) return false;
    this.#record = await readRecord(this.#source, this.#record);
    this.#fresh = true;
    return true;
  }

  /** Finds a type such as `pods`, `po`, `deployments.apps` or `deployments.v1.apps`; undefined when it is not served. */
  async find(type: string): Promise<Resource | undefined> {
    return findType(this.resources, type) ?? ((await this.refresh()) ? findType(this.resources, type) : undefined);
  }

  /** Finds the resource of a kind; undefined when it is not served. */
  async findKind(apiVersion: string, kind: string): Promise<Resource | undefined> {
    const search = () =>
      this.resources.find((resource) => resource.kind === kind && resource.apiVersion === apiVersion);
    return search() ?? ((await this.refresh()) ? search() : undefined);
  }

  /** The resources of a category such as `all`, in their preferred versions. */
  inCategory(category: string): Resource[] {
    return this.preferred().filter(({ categories }) => categories.includes(category));
  }
}

function findType(resources: readonly Resource[], type: string): Resource | undefined {
  const [name = '', ...rest] = type.toLowerCase().split('.');
  const isNamed = ({ name: plural, singular }: Resource) => plural === name || singular === name;
  const isShort = ({ shortNames }: Resource) => shortNames.includes(name);
  const [version, ...groupAfterVersion] = rest;
  const group = rest.join('.');
  for (const matches of [isNamed, isShort]) {
    const candidates = resources.filter(matches);
    const found =
      candidates.find(
        (one) => rest.length > 0 && one.version === version && one.group === groupAfterVersion.join('.'),
      ) ??
      candidates.find((one) => rest.length === 0 || one.group === group) ??
      candidates.find((one) => one.group.startsWith(group));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The media types of aggregated discovery under the domains, and plain JSON. */
const acceptFor = (domains: readonly string[]) =>
  [
    ...domains.map((domain) => `application/json;g=apidiscovery.${domain};v=v2;as=APIGroupDiscoveryList`),
    'application/json',
  ].join(',');

async function readRecord(source: DiscoverySource, before: DiscoveryRecord | undefined): Promise<DiscoveryRecord> {
  const domains = before === undefined ? [compatibleDomain, defaultDomain] : [before.domain];
  const first = await readDocument(source, '/apis', domains, before?.documents[1]);
  // A server of another domain answers in the plain form, which shows its domain.
  const domain =
    first.plain === undefined ? (first.domain ?? before?.domain ?? compatibleDomain) : domainOf(first.plain);
  const groups =
    first.plain === undefined || domains.includes(domain)
      ? first
      : await readDocument(source, '/apis', [domain], undefined);
  const core = await readDocument(source, '/api', [domain], before?.documents[0]);
  const record: DiscoveryRecord = {
    domain,
    at: source.now(),
    documents: [await completed(source, core, 'api'), await completed(source, groups, 'apis')],
  };
  await source.save(record);
  return record;
}

interface ReadDocument extends CachedDocument {
  /** The document in the plain form, which has no resources. */
  readonly plain?: JsonObject;
  readonly domain?: string | undefined;
}

async function readDocument(
  source: DiscoverySource,
  path: string,
  domains: readonly string[],
  before: CachedDocument | undefined,
): Promise<ReadDocument> {
  const validation = before === undefined || before.etag === '' ? {} : { 'if-none-match': before.etag };
  const answer = await source.read(path, { accept: acceptFor(domains), ...validation });
  if (answer === undefined) return before ?? { etag: '', resources: [] };
  const { etag, body } = answer;
  if (body['kind'] !== 'APIGroupDiscoveryList') return { etag: '', resources: [], plain: body };
  const [, domain] = /^apidiscovery\.(.+)\//.exec(jsonText(body['apiVersion'])) ?? [];
  return { etag, resources: resourcesOfGroups(body), domain };
}

/** Reads each version of a document in the plain form. */
async function completed(
  source: DiscoverySource,
  document: ReadDocument,
  root: 'api' | 'apis',
): Promise<CachedDocument> {
  const { etag, resources, plain } = document;
  if (plain === undefined) return { etag, resources };
  const read: Resource[] = [];
  for (const apiVersion of versionsIn(plain)) {
    const answer = await source.read(`/${root}/${apiVersion}`, { accept: 'application/json' });
    if (answer !== undefined) for (const resource of resourcesOfVersion(apiVersion, answer.body)) read.push(resource);
  }
  return { etag: '', resources: read };
}

function versionsIn({ versions = [], groups = [] }: JsonObject): string[] {
  if (Array.isArray(versions) && versions.length > 0) return versions.filter((version) => typeof version === 'string');
  const objects = (value: unknown) => (Array.isArray(value) ? (value as JsonObject[]).filter(isJsonObject) : []);
  return objects(groups).flatMap((group) => objects(group['versions']).map((one) => jsonText(one['groupVersion'])));
}

/** The suffix of the group `coordination.…`. */
function domainOf({ groups = [] }: JsonObject): string {
  const names = (Array.isArray(groups) ? groups : []).map((group) =>
    isJsonObject(group) ? jsonText(group['name']) : '',
  );
  const found = names.find((name) => name.startsWith('coordination.'));
  return found === undefined ? compatibleDomain : found.slice('coordination.'.length);
}
