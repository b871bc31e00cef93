import { createHash } from 'node:crypto';
import { negotiator, prettyJson, stringifyYaml, type Transform, wantsPretty } from '../codec/index.ts';
import { formatGroupVersion, type JsonObject, type Names } from '../meta/index.ts';
import type { Subresource } from '../registry/index.ts';
import { type Group, rootOf, type ServedResource, type ServedVersion } from './api-groups.ts';
import { type Document, documentOf, serveDocument } from './documents.ts';
import type { Protobuf } from './protobuf.ts';
import type { Query } from './request-info.ts';
import type { ApiResponse, RequestHeaders } from './types.ts';

/** Says what there is: `/api`, `/apis` and the documents below them, plain and in the form that tells all at once. */
export interface Discovery {
  /** The answer for a path; undefined when the path is none of discovery's. */
  serve(path: string, headers: RequestHeaders, query: Query): ApiResponse | undefined;
}

/** With `hashes` each resource says by one how it is stored. */
export function createDiscovery(
  groups: readonly Group[],
  names: Names,
  protobuf: Protobuf,
  serverAddress: () => string,
  hashes: boolean,
): Discovery {
  const plain = new Map<string, () => JsonObject>();
  const named = groups.filter((group) => group.name !== '');
  const core = groups.filter((group) => group.name === '');
  if (core.length > 0) plain.set('/api', () => apiVersions(core, serverAddress()));
  plain.set('/apis', () => groupList(named));
  for (const group of named) {
    plain.set(`/apis/${group.name}`, () => ({ kind: 'APIGroup', apiVersion: 'v1', ...groupOf(group) }));
  }
  for (const version of groups.flatMap((group) => group.versions)) {
    plain.set(rootOf(version), () => resourceList(version, hashes));
  }
  const whole = { kind: 'APIGroupDiscoveryList', group: `apidiscovery.${names.domain}` };
  // Both versions have the same fields.
  const declared = { kind: whole.kind, apiVersion: `${whole.group}/v2` };
  const write = {
    json: (value: JsonObject) => `${JSON.stringify(value)}\n`,
    pretty: prettyJson,
    yaml: stringifyYaml,
    // There every object has a version.
    protobuf: (value: JsonObject) =>
      protobuf.write({ apiVersion: 'v1', ...value }, value['kind'] === whole.kind ? declared : undefined),
  };
  const offer = { types: mediaTypes, listed: mediaTypes, watchable: false, transforms: [] } as const;
  const chooseRouted = negotiator({ ...offer, route: 'plain' }, names);
  const choose = negotiator({ ...offer, route: 'none' }, names);
  const transforms = ['v2', 'v2beta1'].map((version) => ({ ...whole, version }));
  const chooseAll = (route: 'none' | 'plain') => negotiator({ ...offer, route, transforms }, names);
  const roots = new Map([
    ['/api', { choose: chooseAll('plain'), groups: core }],
    ['/apis', { choose: chooseAll('none'), groups: named }],
  ]);
  const made = new Map<string, Document>();
  return {
    serve(path, headers, query) {
      const key = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
      const make = plain.get(key);
      if (make === undefined) return undefined;
      const root = roots.get(key);
      const accept = root?.choose ?? (isRouted(key) ? chooseRouted : choose);
      const { mediaType, name, as, pretty } = accept(headers['accept']);
      const lines = pretty || wantsPretty(query.get('pretty') ?? undefined, headers['user-agent']);
      const form = mediaType === 'json' && lines ? 'pretty' : mediaType;
      const id = `${form} ${as?.version} ${key}`;
      let document = made.get(id);
      if (document === undefined) {
        const all = as !== undefined && root !== undefined;
        document = documentOf(write[form](all ? groupDiscoveryList(root.groups, as) : make()));
        made.set(id, document);
      }
      const parameters = as === undefined ? '' : `;g=${as.group};v=${as.version};as=${as.kind}`;
      const contentType = `${name}${parameters}`;
      return serveDocument(
        document,
        contentType,
        headers['if-none-match'],
        root === undefined ? {} : { vary: 'Accept' },
      );
    },
  };
}

const mediaTypes = ['json', 'yaml', 'protobuf'] as const;

/** Whether a document is found on the same way as the resources: one that knows media types, and no method but GET. */
export const isRouted = (path: string): boolean => /^\/(?:version|api(?:\/[^/]+)?|apis\/[^/]+\/[^/]+)\/?$/.test(path);

// The form that tells all at once

function groupDiscoveryList(groups: readonly Group[], { kind, group, version }: Transform): JsonObject {
  return {
    kind,
    apiVersion: formatGroupVersion({ group, version }),
    metadata: {},
    items: groups.map((group) => ({
      metadata: group.name === '' ? {} : { name: group.name },
      versions: group.versions.map((version) => ({
        version: version.version,
        resources: version.resources.map(resourceDiscovery),
        freshness: 'Current',
      })),
    })),
  };
}

function resourceDiscovery({ resource }: ServedResource): JsonObject {
  const { definition } = resource;
  const subresources = sorted(definition.subresources);
  return {
    resource: definition.plural,
    responseKind: { group: '', version: '', kind: definition.kind },
    scope: definition.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: definition.singular,
    verbs: [...definition.verbs].sort(),
    ...(definition.shortNames.length === 0 ? {} : { shortNames: [...definition.shortNames] }),
    ...(definition.categories.length === 0 ? {} : { categories: [...definition.categories] }),
    ...(subresources.length === 0
      ? {}
      : {
          subresources: subresources.map((sub) => ({
            subresource: sub.name,
            responseKind: { group: sub.group ?? '', version: sub.version ?? '', kind: sub.kind },
            verbs: [...sub.verbs].sort(),
          })),
        }),
  };
}

// The plain form

function apiVersions(core: readonly Group[], serverAddress: string): JsonObject {
  return {
    kind: 'APIVersions',
    versions: core.flatMap((group) => group.versions.map((version) => version.version)),
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

function groupList(groups: readonly Group[]): JsonObject {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupOf) };
}

function groupOf(group: Group): JsonObject {
  const versions = group.versions.map(({ apiVersion, version }) => ({ groupVersion: apiVersion, version }));
  return { name: group.name, versions, preferredVersion: versions[0] ?? {} };
}

function resourceList(version: ServedVersion, hashes: boolean): JsonObject {
  return {
    kind: 'APIResourceList',
    ...(version.group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: version.apiVersion,
    resources: version.resources.flatMap(({ resource }) => {
      const { definition } = resource;
      const own: JsonObject = {
        name: definition.plural,
        singularName: definition.singular,
        namespaced: definition.namespaced,
        kind: definition.kind,
        verbs: [...definition.verbs].sort(),
        ...(definition.shortNames.length === 0 ? {} : { shortNames: [...definition.shortNames] }),
        ...(definition.categories.length === 0 ? {} : { categories: [...definition.categories] }),
        ...(hashes ? storageHash(definition) : {}),
      };
      const below = sorted(definition.subresources).map((sub) => ({
        name: `${definition.plural}/${sub.name}`,
        singularName: '',
        namespaced: definition.namespaced,
        ...(sub.group === undefined ? {} : { group: sub.group }),
        ...(sub.version === undefined ? {} : { version: sub.version }),
        kind: sub.kind,
        verbs: [...sub.verbs].sort(),
      }));
      return [own, ...below];
    }),
  };
}

const sorted = (subresources: readonly Subresource[]) => [...subresources].sort((a, b) => (a.name < b.name ? -1 : 1));

/** A hash of where and as what the objects are stored, by which clients learn that this has changed. */
function storageHash(definition: ServedResource['resource']['definition']): JsonObject {
  if (!definition.verbs.includes('watch')) return {};
  const { group, version } = definition.storage;
  const text = `${group}/${version}/${definition.kind}`;
  return { storageVersionHash: createHash('sha256').update(text).digest().subarray(0, 8).toString('base64') };
}
