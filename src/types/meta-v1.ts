/** The types of meta/v1. */
import {
  anyObject,
  anyValue,
  bool,
  field,
  type Infer,
  int32,
  int64,
  list,
  map,
  named,
  shortList,
  string,
  struct,
  time,
} from '../schema/index.ts';

export const conditionStatuses = ['True', 'False', 'Unknown'];

// Every object and list

export const TypeMeta = struct('meta/v1.TypeMeta', { kind: field(1, string), apiVersion: field(2, string) });

/** The first fields of every kind. In protobuf they stand outside the message, hence no number. */
export const typeMeta = {
  kind: field(0, string),
  apiVersion: field(0, string),
};

export const OwnerReference = struct(
  'meta/v1.OwnerReference',
  {
    apiVersion: field(5, string, { required: true, emptyOk: true, always: true }),
    kind: field(1, string, { required: true, emptyOk: true, always: true }),
    name: field(3, string, { required: true, emptyOk: true, always: true }),
    uid: field(4, string, { required: true, emptyOk: true, always: true }),
    controller: field(6, bool, { nullable: true }),
    blockOwnerDeletion: field(7, bool, { nullable: true }),
  },
  { structType: 'atomic' },
);
export type OwnerReference = Infer<typeof OwnerReference>;

export const FieldsV1 = named('meta/v1.FieldsV1', anyObject);

export const ManagedFieldsEntry = struct('meta/v1.ManagedFieldsEntry', {
  manager: field(1, string),
  operation: field(2, string, {
    known: ['Apply', 'Update'],
    open: true,
  }),
  apiVersion: field(3, string),
  time: field(4, time, { nullable: true }),
  fieldsType: field(6, string),
  fieldsV1: field(7, FieldsV1, { nullable: true }),
  subresource: field(8, string),
});
export type ManagedFieldsEntry = Infer<typeof ManagedFieldsEntry>;

export const ObjectMeta = struct('meta/v1.ObjectMeta', {
  name: field(1, string),
  generateName: field(2, string),
  namespace: field(3, string),
  selfLink: field(4, string),
  uid: field(5, string),
  resourceVersion: field(6, string),
  generation: field(7, int64),
  creationTimestamp: field(8, time, { nullable: true, protoAlways: true }),
  deletionTimestamp: field(9, time, { nullable: true }),
  deletionGracePeriodSeconds: field(10, int64, { nullable: true }),
  labels: field(11, map(string)),
  annotations: field(12, map(string)),
  ownerReferences: field(13, shortList(OwnerReference), {
    listType: 'map',
    listMapKeys: ['uid'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'uid',
  }),
  finalizers: field(14, shortList(string), { listType: 'set', duplicates: true, patchStrategy: 'merge' }),
  managedFields: field(17, list(ManagedFieldsEntry), { listType: 'atomic' }),
});
export type ObjectMeta = Infer<typeof ObjectMeta>;

export const ListMeta = struct('meta/v1.ListMeta', {
  selfLink: field(1, string),
  resourceVersion: field(2, string),
  continue: field(3, string),
  remainingItemCount: field(4, int64, { nullable: true }),
});
export type ListMeta = Infer<typeof ListMeta>;

// Parts that many types share

export const LabelSelectorRequirement = struct('meta/v1.LabelSelectorRequirement', {
  key: field(1, string, { required: true, emptyOk: true, always: true }),
  operator: field(2, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
    open: true,
  }),
  values: field(3, list(string), { listType: 'atomic' }),
});

export const LabelSelector = struct(
  'meta/v1.LabelSelector',
  {
    matchLabels: field(1, map(string)),
    matchExpressions: field(2, list(LabelSelectorRequirement), { listType: 'atomic' }),
  },
  { structType: 'atomic' },
);
export type LabelSelector = Infer<typeof LabelSelector>;

export const FieldSelectorRequirement = struct('meta/v1.FieldSelectorRequirement', {
  key: field(1, string, { required: true, emptyOk: true, always: true }),
  operator: field(2, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
    open: true,
  }),
  values: field(3, list(string), { listType: 'atomic' }),
});

export const Condition = struct('meta/v1.Condition', {
  type: field(1, string, { required: true, emptyOk: true, always: true }),
  status: field(2, string, { required: true, emptyOk: true, always: true, known: conditionStatuses, open: true }),
  observedGeneration: field(3, int64),
  lastTransitionTime: field(4, time, { required: true, emptyOk: true, always: true }),
  reason: field(5, string, { required: true, emptyOk: true, always: true }),
  message: field(6, string, { required: true, emptyOk: true, always: true }),
});
export type Condition = Infer<typeof Condition>;

export const GroupVersionKind = struct('meta/v1.GroupVersionKind', {
  group: field(1, string, { required: true, emptyOk: true, always: true }),
  version: field(2, string, { required: true, emptyOk: true, always: true }),
  kind: field(3, string, { required: true, emptyOk: true, always: true }),
});

export const GroupVersionResource = struct('meta/v1.GroupVersionResource', {
  group: field(1, string, { required: true, emptyOk: true, always: true }),
  version: field(2, string, { required: true, emptyOk: true, always: true }),
  resource: field(3, string, { required: true, emptyOk: true, always: true }),
});

// Options of requests

export const ListOptions = struct('meta/v1.ListOptions', {
  ...typeMeta,
  labelSelector: field(1, string),
  fieldSelector: field(2, string),
  watch: field(3, bool),
  allowWatchBookmarks: field(9, bool),
  resourceVersion: field(4, string),
  resourceVersionMatch: field(10, string, { known: ['NotOlderThan', 'Exact'], open: true }),
  timeoutSeconds: field(5, int64, { nullable: true }),
  limit: field(7, int64),
  continue: field(8, string),
  sendInitialEvents: field(11, bool, { nullable: true }),
});
export type ListOptions = Infer<typeof ListOptions>;

export const GetOptions = struct('meta/v1.GetOptions', {
  ...typeMeta,
  resourceVersion: field(1, string),
});
export type GetOptions = Infer<typeof GetOptions>;

export const Preconditions = struct('meta/v1.Preconditions', {
  uid: field(1, string, { nullable: true }),
  resourceVersion: field(2, string, { nullable: true }),
});

export const DeleteOptions = struct('meta/v1.DeleteOptions', {
  ...typeMeta,
  gracePeriodSeconds: field(1, int64, { nullable: true }),
  preconditions: field(2, Preconditions, { nullable: true }),
  orphanDependents: field(3, bool, { nullable: true }),
  propagationPolicy: field(4, string, { nullable: true, known: ['Orphan', 'Background', 'Foreground'], open: true }),
  dryRun: field(5, list(string), { listType: 'atomic' }),
  ignoreStoreReadErrorWithClusterBreakingPotential: field(6, bool, { nullable: true }),
});
export type DeleteOptions = Infer<typeof DeleteOptions>;

export const CreateOptions = struct('meta/v1.CreateOptions', {
  ...typeMeta,
  dryRun: field(1, list(string), { listType: 'atomic' }),
  fieldManager: field(3, string),
  fieldValidation: field(4, string),
});
export type CreateOptions = Infer<typeof CreateOptions>;

export const PatchOptions = struct('meta/v1.PatchOptions', {
  ...typeMeta,
  dryRun: field(1, list(string), { listType: 'atomic' }),
  force: field(2, bool, { nullable: true }),
  fieldManager: field(3, string),
  fieldValidation: field(4, string),
});
export type PatchOptions = Infer<typeof PatchOptions>;

export const ApplyOptions = struct('meta/v1.ApplyOptions', {
  ...typeMeta,
  dryRun: field(1, list(string), { listType: 'atomic' }),
  force: field(2, bool, { required: true, emptyOk: true, always: true }),
  fieldManager: field(3, string, { required: true, emptyOk: true, always: true }),
});
export type ApplyOptions = Infer<typeof ApplyOptions>;

export const UpdateOptions = struct('meta/v1.UpdateOptions', {
  ...typeMeta,
  dryRun: field(1, list(string), { listType: 'atomic' }),
  fieldManager: field(2, string),
  fieldValidation: field(3, string),
});
export type UpdateOptions = Infer<typeof UpdateOptions>;

export const TableOptions = struct('meta/v1.TableOptions', {
  ...typeMeta,
  includeObject: field(1, string, { known: ['None', 'Metadata', 'Object'], open: true }),
});
export type TableOptions = Infer<typeof TableOptions>;

// Answers

export const StatusCause = struct('meta/v1.StatusCause', {
  reason: field(1, string, {
    known: [
      'FieldValueNotFound',
      'FieldValueRequired',
      'FieldValueDuplicate',
      'FieldValueInvalid',
      'FieldValueNotSupported',
      'FieldValueForbidden',
      'FieldValueTooLong',
      'FieldValueTooMany',
      'InternalError',
      'FieldValueTypeInvalid',
      'UnexpectedServerResponse',
      'FieldManagerConflict',
      'ResourceVersionTooLarge',
    ],
    open: true,
  }),
  message: field(2, string),
  field: field(3, string),
});

export const StatusDetails = struct('meta/v1.StatusDetails', {
  name: field(1, string),
  group: field(2, string),
  kind: field(3, string),
  uid: field(6, string),
  causes: field(4, list(StatusCause), { listType: 'atomic' }),
  retryAfterSeconds: field(5, int32),
});

export const Status = struct('meta/v1.Status', {
  ...typeMeta,
  metadata: field(1, ListMeta),
  status: field(2, string),
  message: field(3, string),
  reason: field(4, string, {
    known: [
      '',
      'Unauthorized',
      'Forbidden',
      'NotFound',
      'AlreadyExists',
      'Conflict',
      'Gone',
      'Invalid',
      'ServerTimeout',
      'StorageReadError',
      'Timeout',
      'TooManyRequests',
      'BadRequest',
      'MethodNotAllowed',
      'NotAcceptable',
      'RequestEntityTooLarge',
      'UnsupportedMediaType',
      'InternalError',
      'Expired',
      'ServiceUnavailable',
    ],
    open: true,
  }),
  details: field(5, StatusDetails, { nullable: true, listType: 'atomic' }),
  code: field(6, int32),
});
export type Status = Infer<typeof Status>;

export const List = struct('meta/v1.List', {
  ...typeMeta,
  metadata: field(1, ListMeta),
  items: field(2, list(anyObject), { required: true, emptyOk: true, always: true }),
});
export type List = Infer<typeof List>;

export const PartialObjectMetadata = struct('meta/v1.PartialObjectMetadata', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
});
export type PartialObjectMetadata = Infer<typeof PartialObjectMetadata>;

export const PartialObjectMetadataList = struct('meta/v1.PartialObjectMetadataList', {
  ...typeMeta,
  metadata: field(1, ListMeta),
  items: field(2, list(PartialObjectMetadata), { required: true, emptyOk: true, always: true }),
});
export type PartialObjectMetadataList = Infer<typeof PartialObjectMetadataList>;

export const TableColumnDefinition = struct('meta/v1.TableColumnDefinition', {
  name: field(0, string, { required: true, emptyOk: true, always: true }),
  type: field(0, string, { required: true, emptyOk: true, always: true }),
  format: field(0, string, { required: true, emptyOk: true, always: true }),
  description: field(0, string, { required: true, emptyOk: true, always: true }),
  priority: field(0, int32, { required: true, emptyOk: true, always: true }),
});

export const TableRowCondition = struct('meta/v1.TableRowCondition', {
  type: field(0, string, { required: true, emptyOk: true, always: true, known: ['Completed'], open: true }),
  status: field(0, string, { required: true, emptyOk: true, always: true, known: conditionStatuses, open: true }),
  reason: field(0, string),
  message: field(0, string),
});

export const TableRow = struct('meta/v1.TableRow', {
  cells: field(0, list(anyValue), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
  conditions: field(0, list(TableRowCondition), { listType: 'atomic' }),
  object: field(0, anyObject),
});

export const Table = struct('meta/v1.Table', {
  ...typeMeta,
  metadata: field(0, ListMeta),
  columnDefinitions: field(0, list(TableColumnDefinition), {
    required: true,
    emptyOk: true,
    always: true,
    listType: 'atomic',
  }),
  rows: field(0, list(TableRow), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
});
export type Table = Infer<typeof Table>;

// Discovery

export const ServerAddressByClientCIDR = struct('meta/v1.ServerAddressByClientCIDR', {
  clientCIDR: field(1, string, { required: true, emptyOk: true, always: true }),
  serverAddress: field(2, string, { required: true, emptyOk: true, always: true }),
});

export const APIVersions = struct('meta/v1.APIVersions', {
  ...typeMeta,
  versions: field(1, list(string), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
  serverAddressByClientCIDRs: field(2, list(ServerAddressByClientCIDR), {
    required: true,
    emptyOk: true,
    always: true,
    listType: 'atomic',
  }),
});
export type APIVersions = Infer<typeof APIVersions>;

export const GroupVersionForDiscovery = struct('meta/v1.GroupVersionForDiscovery', {
  groupVersion: field(1, string, { required: true, emptyOk: true, always: true }),
  version: field(2, string, { required: true, emptyOk: true, always: true }),
});

export const APIGroup = struct('meta/v1.APIGroup', {
  ...typeMeta,
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  versions: field(2, list(GroupVersionForDiscovery), {
    required: true,
    emptyOk: true,
    always: true,
    listType: 'atomic',
  }),
  preferredVersion: field(3, GroupVersionForDiscovery),
  serverAddressByClientCIDRs: field(4, list(ServerAddressByClientCIDR), { listType: 'atomic' }),
});
export type APIGroup = Infer<typeof APIGroup>;

export const APIGroupList = struct('meta/v1.APIGroupList', {
  ...typeMeta,
  groups: field(1, list(APIGroup), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
});
export type APIGroupList = Infer<typeof APIGroupList>;

export const APIResource = struct('meta/v1.APIResource', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  singularName: field(6, string, { required: true, emptyOk: true, always: true }),
  namespaced: field(2, bool, { required: true, emptyOk: true, always: true }),
  group: field(8, string),
  version: field(9, string),
  kind: field(3, string, { required: true, emptyOk: true, always: true }),
  verbs: field(4, list(string), { required: true, emptyOk: true, always: true, protoMessage: true }),
  shortNames: field(5, list(string), { listType: 'atomic' }),
  categories: field(7, list(string), { listType: 'atomic' }),
  storageVersionHash: field(10, string),
});

export const APIResourceList = struct('meta/v1.APIResourceList', {
  ...typeMeta,
  groupVersion: field(1, string, { required: true, emptyOk: true, always: true }),
  resources: field(2, list(APIResource), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
});
export type APIResourceList = Infer<typeof APIResourceList>;

export const RootPaths = struct('meta/v1.RootPaths', {
  paths: field(1, list(string), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
});
