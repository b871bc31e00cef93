import type { CachedObject } from '../../cache/index.ts';
import { type ApiObject, type ByteString, encodeText, setKey } from '../../meta/index.ts';
import type { CustomStorage } from '../resource/custom-storage.ts';
import type { SelectableField } from '../resource/definition.ts';
import { ManagedFieldsCache } from './managed-fields-cache.ts';
import { RowCache } from './row-cache.ts';

/**
 * How the objects of a resource are stored. Stored and cached bytes begin with `head`, then come the fields of the
 * metadata in the order of `metaFields`; cached bytes have the resourceVersion as well, right behind the uid.
 */
export interface ObjectFormat {
  readonly namespaced: boolean;
  readonly keyPrefix: string;
  readonly kind: string;
  /** Of the storage version, such as `apps/v1`; of a custom resource, the version of the request. */
  readonly apiVersion: string;
  /** `{"kind":…,"apiVersion":…,"metadata":{` */
  readonly head: ByteString;
  /** Of a custom resource, whose objects may be stored in another version. */
  readonly custom: CustomStorage | undefined;
  /** Conversions of objects of a built-in kind that are stored in another version, by their apiVersion. */
  readonly fromOtherVersions: ReadonlyMap<string, (object: ApiObject) => ApiObject>;
  /** The apiVersion of stored objects: `apiVersion`, but for a custom resource that is stored in another version. */
  readonly storedApiVersion: string;
  /** Selectable fields beyond name and namespace, of every definition that shares the objects. */
  readonly fields: readonly SelectableField[];
  /** Objects whose commit is pending, by key: their selectable fields are known when the watch delivers them. */
  readonly pendingCommits: Map<string, PendingCommit>;
  /** Objects that could not be read: the revision that was reported last, by key. */
  readonly corrupt: Map<string, number>;
  readonly report: CorruptReport;
  readonly shared: SharedState;
}

/** The stored fields of the metadata, in the order in which they are encoded. */
export const metaFields = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
] as const;

/** Receives the key and the revision of a stored object that cannot be read. */
export type CorruptReport = (key: string, revision: number) => void;

export interface PendingCommit {
  readonly stored: ByteString;
  readonly fields: CachedObject['fields'];
}

/** The state that the formats of one registry share. */
export interface SharedState {
  readonly managedFields: ManagedFieldsCache;
  readonly rows: RowCache;
}

export const newSharedState = (): SharedState => ({
  managedFields: new ManagedFieldsCache(),
  rows: new RowCache(),
});

type FormatOptions = Pick<ObjectFormat, 'namespaced' | 'keyPrefix' | 'fields'> &
  Partial<Pick<ObjectFormat, 'custom' | 'fromOtherVersions' | 'report' | 'shared'>>;

export const headEnd = '","metadata":{';

/** The first bytes of the objects of a kind and version. */
export const headOf = (kind: string, apiVersion: string): ByteString =>
  encodeText(`{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion).slice(0, -1)}${headEnd}`);

/** Whether cached bytes are in the version in which they are stored, and a webhook is yet to convert them. */
export const isUnconverted = ({ custom, head }: ObjectFormat, bytes: ByteString): boolean =>
  custom?.webhook !== undefined && !bytes.startsWith(head);

const noConversions: ObjectFormat['fromOtherVersions'] = new Map();

export function formatOf(kind: string, apiVersion: string, options: FormatOptions): ObjectFormat {
  const head = headOf(kind, apiVersion);
  const { namespaced, keyPrefix, fields, custom, fromOtherVersions = noConversions } = options;
  const { report = () => {}, shared = newSharedState() } = options;
  return {
    namespaced,
    keyPrefix,
    kind,
    apiVersion,
    head,
    fields,
    custom,
    fromOtherVersions,
    report,
    shared,
    storedApiVersion:
      custom === undefined ? apiVersion : apiVersion.slice(0, apiVersion.indexOf('/') + 1) + custom.version,
    pendingCommits: new Map(),
    corrupt: new Map(),
  };
}

/** The selectable fields of an object. */
export function selectFields({ fields }: ObjectFormat, object: ApiObject): CachedObject['fields'] {
  const values: { [path: string]: string } = {};
  for (const { path, value } of fields) setKey(values, path, value(object));
  return values;
}
