import { createHash } from 'node:crypto';
import { negotiator, type Transform, wantsPretty } from '../codec/index.ts';
import { bufferOf, formatGroupVersion, type JsonObject, type Names } from '../meta/index.ts';
import type { Subresource } from '../registry/index.ts';
import { type Group, rootOf, type ServedResource, type ServedVersion } from './api-groups.ts';
import { type Document, documentOf, serveDocument } from './documents.ts';
import type { Query } from './request-info.ts';
import type { ApiResponse, Chunk, RequestHeaders } from './types.ts';
import type { WireCodec } from './wire-codec.ts';

/** Discovery: `/api`, `/apis` and the documents below them, unaggregated and aggregated. */
export interface Discovery {
  /** The response for a path; undefined for other paths. */
  serve(path: string, headers: RequestHeaders, query: Query): ApiResponse | undefined;
}

/** `hashes`: resources have a storageVersionHash. */
export function createDiscovery(
  groups: readonly Group[],
  names: Names,
  codecs: readonly WireCodec[],
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
  const offer = { codecs, listed: codecs, watchable: false, transforms: [] } as const;
  const chooseRouted = negotiator({ ...offer, route: 'plain' });
  const choose = negotiator({ ...offer, route: 'none' });
  const transforms = ['v2', 'v2beta1'].map((version) => ({ ...whole, version }));
  const chooseAll = (route: 'none' | 'plain') => negotiator({ ...offer, route, transforms });
  const roots = new Map([
    ['/api', { choose: chooseAll('plain'), groups: core }],
    ['/apis', { choose: chooseAll('none'), groups: named }],
  ]);
  const made = new Map<WireCodec, Map<string, Document>>();
  return {
    serve(path, headers, query) {
      const key = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
      const make = plain.get(key);
      if (make === undefined) return undefined;
      const root = roots.get(key);
      const accept = root?.choose ?? (isRouted(key) ? chooseRouted : choose);
      const accepted = accept(headers['accept']);
      const { mediaType, as } = accepted;
      const pretty = accepted.pretty || wantsPretty(query.get('pretty') ?? undefined, headers['user-agent']);
      const codec = (pretty ? accepted.codec.pretty : undefined) ?? accepted.codec;
      const documents = made.get(codec) ?? new Map<string, Document>();
      made.set(codec, documents);
      const id = `${as?.version} ${key}`;
      let document = documents.get(id);
      if (document === undefined) {
        const value = as === undefined || root === undefined ? make() : groupDiscoveryList(root.groups, as);
        document = documentOf(bufferOfChunk(codec.encodeValue(value)));
        documents.set(id, document);
      }
      const parameters = as === undefined ? '' : `;g=${as.group};v=${as.version};as=${as.kind}`;
      const contentType = `${mediaType}${parameters}`;
      return serveDocument(
        document,
        contentType,
        headers['if-none-match'],
        root === undefined ? {} : { vary: 'Accept' },
      );
    },
  };
}

const bufferOfChunk = (chunk: Chunk): Uint8Array => (typeof chunk === 'string' ? bufferOf(chunk) : chunk);

/** Whether a document is served by the resource routes, which negotiate media types and allow only GET. */
export const isRouted = (path: string): boolean => /^\/(?:version|api(?:\/[^/]+)?|apis\/[^/]+\/[^/]+)\/?$/.test(path);

// Aggregated discovery

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

// Unaggregated discovery

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

/** The storageVersionHash: changes with the storage version of the resource. */
function storageHash(definition: ServedResource['resource']['definition']): JsonObject {
  if (!definition.verbs.includes('watch')) return {};
  const { group, version } = definition.storage;
  const text = `${group}/${version}/${definition.kind}`;
  return { storageVersionHash: createHash('sha256').update(text).digest().subarray(0, 8).toString('base64') };
}
