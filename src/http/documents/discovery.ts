import { createHash } from 'node:crypto';
import {
  bufferOf,
  formatGroupVersion,
  type JsonObject,
  type Names,
  oneStep,
  type Steps,
  statusError,
} from '../../meta/index.ts';
import type { Subresource } from '../../registry/index.ts';
import type { Call } from '../call.ts';
import { negotiator, type Transform, wantsPretty } from '../codecs/negotiation.ts';
import type { WireCodec } from '../codecs/wire-codec.ts';
import { ReadTurns } from '../read-turns.ts';
import type { ApiResponse } from '../types.ts';
import {
  type ApiGroups,
  type Group,
  remembered,
  rootOf,
  type ServedResource,
  type ServedVersion,
} from './api-groups.ts';
import { type Document, documentOf, serveDocument } from './documents.ts';
import { MadeOnce } from './made-once.ts';

/** Discovery: `/api`, `/apis` and the documents below them, unaggregated and aggregated. */
export interface Discovery {
  /** The response for a path; undefined for other paths. */
  serve(path: string, call: Call): ApiResponse | Promise<ApiResponse> | undefined;
}

/** The content of a path, and its source: a document is built again when the source is another object. */
interface Source {
  readonly of: object;
  readonly make: () => Steps<JsonObject>;
  /** The groups of aggregated discovery, at its two roots. */
  readonly groups?: readonly Group[];
  /** It is a version of custom resources, which any media range accepts. */
  readonly isCustom?: boolean;
}

/** `hashes`: resources have a storageVersionHash. `onAggregated` is called when a document of all groups is made. */
export function createDiscovery(
  groups: ApiGroups,
  names: Names,
  codecs: readonly WireCodec[],
  serverAddress: () => string,
  hashes: boolean,
  onAggregated: () => void,
): Discovery {
  const whole = { kind: 'APIGroupDiscoveryList', group: `apidiscovery.${names.domain}` };
  const offer = { codecs, listed: codecs, transforms: [] } as const;
  const chooseRouted = negotiator({ ...offer, route: 'plain' });
  const choose = negotiator({ ...offer, route: 'none' });
  const transforms = ['v2', 'v2beta1'].map((version) => ({ ...whole, version }));
  const chooseAll = (route: 'none' | 'plain') => negotiator({ ...offer, route, transforms });
  const chooseRoot = new Map([
    ['/api', chooseAll('plain')],
    ['/apis', chooseAll('none')],
  ]);
  const made = new WeakMap<object, Map<WireCodec, Map<string, MadeOnce<Document>>>>();
  const sources = new WeakMap<readonly Group[], Map<string, Source>>();
  const sourceOf = (path: string): Source | undefined => {
    const current = groups();
    return remembered(sources, current, () => sourcesOf(current, serverAddress, hashes)).get(path);
  };
  return {
    serve(path, call) {
      const { headers } = call.request;
      const key = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
      const source = sourceOf(key);
      if (source === undefined) return undefined;
      const routed = isRouted(key);
      // Checked before the document is begun: nobody would handle its failure after the request is rejected.
      if (routed && call.request.method !== 'GET') throw statusError.methodNotAllowed();
      const accept = chooseRoot.get(key) ?? (routed && source.isCustom !== true ? chooseRouted : choose);
      const accepted = accept(headers['accept']);
      const { mediaType, as } = accepted;
      const pretty = accepted.pretty || wantsPretty(call.info.query.get('pretty') ?? undefined, headers['user-agent']);
      const codec = (pretty ? accepted.codec.pretty : undefined) ?? accepted.codec;
      const documents = remembered(
        remembered(made, source.of, () => new Map()),
        codec,
        () => new Map(),
      );
      const make = () => {
        if (as !== undefined) onAggregated();
        return encoded(source, as, codec);
      };
      const document = remembered(documents, as?.version ?? '', () => new MadeOnce(make));
      const parameters = as === undefined ? '' : `;g=${as.group};v=${as.version};as=${as.kind}`;
      const contentType = `${mediaType}${parameters}`;
      const vary = source.groups === undefined ? {} : { vary: 'Accept' };
      const more = as === undefined ? vary : { ...vary, 'cache-control': 'public' };
      const answer = (ready: Document) => serveDocument(ready, contentType, headers['if-none-match'], more);
      return document.made === undefined ? document.get(new ReadTurns(call)).then(answer) : answer(document.made);
    },
  };
}

/** The document of a source in an encoding. */
function* encoded(source: Source, as: Transform | undefined, codec: WireCodec): Steps<Document> {
  const isList = as === undefined || source.groups === undefined;
  const value = isList ? yield* source.make() : yield* groupDiscoveryList(source.groups, as);
  yield;
  const chunk = codec.encodeValueInSteps ? yield* codec.encodeValueInSteps(value) : codec.encodeValue(value);
  yield;
  return yield* documentOf(typeof chunk === 'string' ? bufferOf(chunk) : chunk);
}

/** The documents of discovery by path. */
function sourcesOf(groups: readonly Group[], serverAddress: () => string, hashes: boolean): Map<string, Source> {
  const named = groups.filter((group) => group.name !== '');
  const core = groups.filter((group) => group.name === '');
  const sources = new Map<string, Source>();
  const put = (
    path: string,
    of: object,
    make: () => Steps<JsonObject>,
    more: Pick<Source, 'groups' | 'isCustom'> = {},
  ) => sources.set(path, { of, make, ...more });
  if (core.length > 0)
    put('/api', core[0] as Group, () => oneStep(() => apiVersions(core, serverAddress())), { groups: core });
  put('/apis', groups, () => groupList(named), { groups: named });
  for (const group of named) {
    put(`/apis/${group.name}`, group, () => oneStep(() => ({ kind: 'APIGroup', apiVersion: 'v1', ...groupOf(group) })));
  }
  // The server that serves a version shows its resources.
  for (const version of groups.flatMap((group) => group.versions.filter(({ resources }) => resources.length > 0))) {
    const isCustom = version.resources.some(({ resource }) => resource.definition.custom !== undefined);
    put(rootOf(version), version, () => resourceList(version, hashes), { isCustom });
  }
  return sources;
}

/** Whether a document is served by the resource routes, which negotiate media types and allow only GET. */
const isRouted = (path: string): boolean => /^\/api(?:\/[^/]+|s\/[^/]+\/[^/]+)?$/.test(path);

// Aggregated discovery

/** Makes the items in batches, one in each step. */
function* inBatches<T, U>(items: readonly T[], make: (item: T) => U): Steps<U[]> {
  const made: U[] = [];
  for (const item of items) {
    made.push(make(item));
    if (made.length % 500 === 0) yield;
  }
  return made;
}

function* groupDiscoveryList(groups: readonly Group[], { kind, group, version }: Transform): Steps<JsonObject> {
  const items: JsonObject[] = [];
  for (const { name, versions } of groups) {
    const shown: JsonObject[] = [];
    for (const version of versions) {
      shown.push(yield* versionDiscovery(version));
    }
    items.push({ metadata: name === '' ? {} : { name }, versions: shown });
    if (items.length % 100 === 0) yield;
  }
  return { kind, apiVersion: formatGroupVersion({ group, version }), metadata: {}, items };
}

/** A version whose server does not say what it serves is stale, and has no resources. */
function* versionDiscovery(served: ServedVersion): Steps<JsonObject> {
  const { version, remote } = served;
  if (remote === undefined) {
    const resources = yield* inBatches(served.resources, (resource) => resourceDiscovery(resource, served));
    return { version, resources, freshness: 'Current' };
  }
  if (remote.documents === undefined) return { version, freshness: 'Stale' };
  return { version, resources: [...remote.documents.resources], freshness: 'Current' };
}

function resourceDiscovery({ resource }: ServedResource, { group, version }: ServedVersion): JsonObject {
  const { definition } = resource;
  const subresources = subresourcesOf(definition);
  // Of built-in kinds the group and version of the list are understood.
  const place = definition.custom === undefined ? { group: '', version: '' } : { group, version };
  return {
    resource: definition.plural,
    responseKind: { ...place, kind: definition.kind },
    scope: definition.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: definition.singular,
    verbs: verbsOf(definition),
    ...(definition.shortNames.length === 0 ? {} : { shortNames: [...definition.shortNames] }),
    ...(definition.categories.length === 0 ? {} : { categories: [...definition.categories] }),
    ...(subresources.length === 0
      ? {}
      : {
          subresources: subresources.map((sub) => ({
            subresource: sub.name,
            responseKind: { group: sub.group ?? place.group, version: sub.version ?? place.version, kind: sub.kind },
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

function* groupList(groups: readonly Group[]): Steps<JsonObject> {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: yield* inBatches(groups, groupOf) };
}

function groupOf(group: Group): JsonObject {
  const versions = group.versions.map(({ apiVersion, version }) => ({ groupVersion: apiVersion, version }));
  return { name: group.name, versions, preferredVersion: versions[0] ?? {} };
}

function* resourceList(version: ServedVersion, hashes: boolean): Steps<JsonObject> {
  const resources = yield* inBatches(version.resources, (served) => listedResources(served, hashes));
  return {
    kind: 'APIResourceList',
    ...(version.group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: version.apiVersion,
    resources: resources.flat(),
  };
}

/** A resource and its subresources. */
function listedResources({ resource: { definition } }: ServedResource, hashes: boolean): JsonObject[] {
  const own: JsonObject = {
    name: definition.plural,
    singularName: definition.singular,
    namespaced: definition.namespaced,
    kind: definition.kind,
    verbs: verbsOf(definition),
    ...(definition.shortNames.length === 0 ? {} : { shortNames: [...definition.shortNames] }),
    ...(definition.categories.length === 0 ? {} : { categories: [...definition.categories] }),
    ...(hashes ? storageHash(definition) : {}),
  };
  const below = subresourcesOf(definition).map((sub) => ({
    name: `${definition.plural}/${sub.name}`,
    singularName: '',
    namespaced: definition.namespaced,
    ...(sub.group === undefined ? {} : { group: sub.group }),
    ...(sub.version === undefined ? {} : { version: sub.version }),
    kind: sub.kind,
    verbs: [...sub.verbs].sort(),
  }));
  return [own, ...below];
}

type Definition = ServedResource['resource']['definition'];

/** The verbs of custom resources in the order in which the reference server shows them. */
const customVerbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'] as const;
const writing: readonly string[] = ['patch', 'create', 'update'];

function verbsOf({ custom, verbs, terminating }: Definition): string[] {
  if (custom === undefined) return [...verbs].sort();
  return customVerbs.filter((verb) => verbs.includes(verb) && !(terminating === true && writing.includes(verb)));
}

/** Sorted; those of a custom resource are in the order of the definition. */
const subresourcesOf = ({ custom, subresources }: Definition): readonly Subresource[] =>
  custom === undefined ? [...subresources].sort((a, b) => (a.name < b.name ? -1 : 1)) : subresources;

/** The storageVersionHash: changes with the storage version of the resource. */
function storageHash({ verbs, kind, storage, custom }: Definition): JsonObject {
  if (!verbs.includes('watch')) return {};
  const text = `${storage.group}/${custom?.version ?? storage.version}/${kind}`;
  return { storageVersionHash: createHash('sha256').update(text).digest().subarray(0, 8).toString('base64') };
}
