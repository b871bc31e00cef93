import { systemPriorities } from '../../admission/index.ts';
import type { Client } from '../../client/index.ts';
import { trackingMap } from '../../controllers/index.ts';
import { applyMergePatch } from '../../merge/index.ts';
import {
  type ApiObject,
  formatGroupResource,
  isJsonObject,
  isStatus,
  type Json,
  type JsonObject,
  type Names,
  parseGroupVersion,
  statusError,
} from '../../meta/index.ts';
import type { NewEntry, Registry } from '../../registry/index.ts';
import { bootstrapFlowObjects } from '../../resources/index.ts';
import type { Store } from '../../store/index.ts';

/** The field manager of the server's own objects. */
export const ownManager = 'apiserver';

/** An object that the server creates at start. */
export interface BootstrapObject {
  readonly resource: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: { [key: string]: string };
    readonly annotations?: { [key: string]: string };
  };
  /** Its field manager. Default: `ownManager`. */
  readonly manager?: string;
  /** Its other fields. */
  readonly fields?: JsonObject;
}

/** The field manager of the specs of flow schemas and priority levels. */
export const flowManager = 'api-priority-and-fairness-config-producer-v1';

interface BootstrapOptions {
  readonly registry: Registry;
  readonly store: Store;
  readonly names: Names;
}

/** Maximum number of attempts when other servers create some of the objects at the same time. */
const maxRounds = 10;

/**
 * Creates missing objects that every cluster has: the system namespaces, the system priority
 * classes, the mandatory and suggested flow control objects, and `additional`. Existing objects are not changed. The missing
 * ones are created in one commit.
 */
export async function createBootstrapObjects(
  options: BootstrapOptions,
  additional: readonly BootstrapObject[],
): Promise<void> {
  const hasNodes = options.registry.find('', 'v1', 'nodes') !== undefined;
  const objects = [...additional, ...bootstrapObjects(options.names, hasNodes)];
  for (let round = 0; round < maxRounds; round++) {
    const entries = await Promise.all(objects.map((object) => missingEntry(options, object)));
    if (await commitNew(options.store, entries.flat())) return;
  }
  throw statusError.conflict(
    { group: '', resource: 'namespaces' },
    '',
    'other servers keep creating bootstrap objects',
  );
}

/** Creates the config map with the day since which the last use of tokens in secrets is recorded. @throws StatusError */
export async function ensureTokenTracking(client: Client, { systemNamespace }: Names, now: number): Promise<void> {
  const metadata = { name: trackingMap, namespace: systemNamespace };
  const since = new Date(now).toISOString().slice(0, 10);
  await ensureObject(
    client,
    { resource: 'configmaps', apiVersion: 'v1', kind: 'ConfigMap', metadata },
    { data: { since } },
  );
}

function bootstrapObjects(names: Names, hasNodes: boolean): BootstrapObject[] {
  const namespaces = ['default', names.systemNamespace, names.publicNamespace];
  if (hasNodes) namespaces.push(names.nodeLeaseNamespace);
  return [
    ...bootstrapFlowObjects(names).map((object) => ({ ...object, manager: flowManager })),
    ...namespaces.map((name) => ({ resource: 'namespaces', apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    ...systemPriorities.map(({ name, ...fields }) => ({
      resource: 'priorityclasses',
      apiVersion: `scheduling.${names.domain}/v1`,
      kind: 'PriorityClass',
      metadata: { name },
      fields,
    })),
  ];
}

/** The entry of a missing object; none when it exists, or its resource is not served. */
async function missingEntry({ registry }: BootstrapOptions, object: BootstrapObject): Promise<NewEntry[]> {
  const { apiVersion, kind, metadata, fields, manager = ownManager } = object;
  const { group = '', version = '' } = parseGroupVersion(apiVersion) ?? {};
  const resource = registry.find(group, version, object.resource);
  if (resource === undefined) return [];
  const id = formatGroupResource({ group, resource: object.resource });
  if ((await registry.objects.get(id, metadata.namespace ?? '', metadata.name)) !== undefined) return [];
  return [registry.newEntry(resource, { kind, apiVersion, metadata, ...fields }, manager)];
}

/** Creates all objects in one commit. Resolves with false, and creates none, when one of them already exists. */
export async function commitNew(store: Store, entries: readonly NewEntry[]): Promise<boolean> {
  if (entries.length === 0) return true;
  const { ok } = await store.commit(
    entries.map(({ key }) => ({ key, revision: 0 })),
    entries,
  );
  return ok;
}

/** Creates the object; resolves with undefined when its resource is not served. */
async function createOwn(client: Client, object: BootstrapObject): Promise<ApiObject | undefined> {
  const { resource, apiVersion, kind, metadata, fields, manager = ownManager } = object;
  const { namespace } = metadata;
  const place = { apiVersion, resource, ...(namespace === undefined ? {} : { namespace }) };
  try {
    return await client.create<ApiObject>(place, { kind, apiVersion, metadata, ...fields }, { fieldManager: manager });
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

/**
 * Creates the object, or patches the labels and fields that differ; its other fields stay. `initialFields` are fields of a new
 * object that are not reconciled afterwards. Undefined when its resource is not served.
 * @throws StatusError, 409 when another writer was first
 */
export async function ensureObject(
  client: Client,
  object: BootstrapObject,
  initialFields: JsonObject = {},
): Promise<ApiObject | undefined> {
  return reconcileObject(client, object, await findObject(client, object), initialFields);
}

/** Reads the object; undefined when it is missing, or its resource is not served. @throws StatusError */
export async function findObject(client: Client, object: BootstrapObject): Promise<ApiObject | undefined> {
  return client.get<ApiObject>(placeOf(object)).catch((error: unknown) => {
    if (!isStatus(error, 404)) throw error;
    return undefined;
  });
}

/** Like `ensureObject`, with the result of `findObject`. */
export async function reconcileObject(
  client: Client,
  object: BootstrapObject,
  current: ApiObject | undefined,
  initialFields: JsonObject = {},
): Promise<ApiObject | undefined> {
  const { metadata, fields = {} } = object;
  const { labels } = metadata;
  if (current === undefined)
    return createOwn(client, { ...object, fields: applyMergePatch(fields, initialFields) as JsonObject });
  const desired: JsonObject = { ...(labels === undefined ? {} : { metadata: { labels } }), ...fields };
  if (includes(current, desired)) return current;
  const { resourceVersion = '' } = current.metadata;
  const guarded = applyMergePatch(desired, { metadata: { resourceVersion } });
  return client.patch(placeOf(object), 'merge', guarded, { fieldManager: ownManager });
}

function placeOf({ resource, apiVersion, metadata: { name, namespace } }: BootstrapObject) {
  return { apiVersion, resource, name, ...(namespace === undefined ? {} : { namespace }) };
}

/** Whether the current value includes the desired one; lists must have the same length. */
function includes(current: Json | undefined, desired: Json): boolean {
  if (Array.isArray(desired)) {
    return (
      Array.isArray(current) &&
      current.length === desired.length &&
      desired.every((item, i) => includes(current[i], item))
    );
  }
  if (!isJsonObject(desired)) return current === desired;
  return isJsonObject(current) && Object.entries(desired).every(([key, value]) => includes(current[key], value));
}
