/** The types of apidiscovery/v2. */
import { field, type Infer, list, string, struct } from '../schema/index.ts';
import { GroupVersionKind, ListMeta, ObjectMeta, typeMeta } from './meta-v1.ts';

export const APISubresourceDiscovery = struct('apidiscovery/v2.APISubresourceDiscovery', {
  subresource: field(1, string, { required: true, emptyOk: true, always: true }),
  responseKind: field(2, GroupVersionKind, { nullable: true }),
  acceptedTypes: field(3, list(GroupVersionKind), {
    listType: 'map',
    listMapKeys: ['group', 'version', 'kind'],
    duplicates: true,
  }),
  verbs: field(4, list(string), { required: true, emptyOk: true, always: true, listType: 'set', duplicates: true }),
});

export const APIResourceDiscovery = struct('apidiscovery/v2.APIResourceDiscovery', {
  resource: field(1, string, { required: true, emptyOk: true, always: true }),
  responseKind: field(2, GroupVersionKind, { nullable: true }),
  scope: field(3, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['Cluster', 'Namespaced'],
    open: true,
  }),
  singularResource: field(4, string, { required: true, emptyOk: true, always: true }),
  verbs: field(5, list(string), { required: true, emptyOk: true, always: true, listType: 'set', duplicates: true }),
  shortNames: field(6, list(string), { listType: 'set', duplicates: true }),
  categories: field(7, list(string), { listType: 'set', duplicates: true }),
  subresources: field(8, list(APISubresourceDiscovery), {
    listType: 'map',
    listMapKeys: ['subresource'],
    duplicates: true,
  }),
});

export const APIVersionDiscovery = struct('apidiscovery/v2.APIVersionDiscovery', {
  version: field(1, string, { required: true, emptyOk: true, always: true }),
  resources: field(2, list(APIResourceDiscovery), { listType: 'map', listMapKeys: ['resource'], duplicates: true }),
  freshness: field(3, string, { known: ['Current', 'Stale'], open: true }),
});

export const APIGroupDiscovery = struct('apidiscovery/v2.APIGroupDiscovery', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  versions: field(2, list(APIVersionDiscovery), { listType: 'map', listMapKeys: ['version'], duplicates: true }),
});
export type APIGroupDiscovery = Infer<typeof APIGroupDiscovery>;

export const APIGroupDiscoveryList = struct('apidiscovery/v2.APIGroupDiscoveryList', {
  ...typeMeta,
  metadata: field(1, ListMeta),
  items: field(2, list(APIGroupDiscovery), { required: true, emptyOk: true, always: true }),
});
export type APIGroupDiscoveryList = Infer<typeof APIGroupDiscoveryList>;
