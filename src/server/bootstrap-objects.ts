import { systemPriorities } from '../admission/index.ts';
import type { Client } from '../client/index.ts';
import { applyMergePatch } from '../merge/index.ts';
import { type ApiObject, isJsonObject, type Json, type JsonObject, type Names, StatusError } from '../meta/index.ts';
import { bootstrapFlowObjects } from '../resources/index.ts';

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

const flowManager = 'api-priority-and-fairness-config-producer-v1';

/**
 * Creates the objects that every server has, again when they were deleted: the system namespaces, the system priority
 * classes, the mandatory and suggested flow control objects, and `more`. Existing objects are not changed.
 */
export async function createBootstrapObjects(
  client: Client,
  names: Names,
  more: readonly BootstrapObject[],
): Promise<void> {
  const namespaces = ['default', names.systemNamespace, names.publicNamespace, names.nodeLeaseNamespace];
  const objects: BootstrapObject[] = [
    ...more,
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
  await Promise.all(
    objects.map((object) =>
      createOwn(client, object).catch((error: unknown) => {
        if (!isStatus(error, 409)) throw error;
      }),
    ),
  );
}

export const isStatus = (error: unknown, code: number): boolean => error instanceof StatusError && error.code === code;

/** Creates the object; undefined when its resource is not served. */
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
 * Creates the object, or patches the labels and fields that differ; its other fields stay. `first` are fields of a new
 * object that are not reconciled afterwards. Undefined when its resource is not served. @throws StatusError
 */
export async function ensureObject(
  client: Client,
  object: BootstrapObject,
  first: JsonObject = {},
): Promise<ApiObject | undefined> {
  const { resource, apiVersion, metadata, fields = {} } = object;
  const { name, namespace, labels } = metadata;
  const place = { apiVersion, resource, name, ...(namespace === undefined ? {} : { namespace }) };
  const found = await client.get<ApiObject>(place).catch((error: unknown) => {
    if (!isStatus(error, 404)) throw error;
    return undefined;
  });
  if (found === undefined)
    return createOwn(client, { ...object, fields: applyMergePatch(fields, first) as JsonObject });
  const wanted: JsonObject = { ...(labels === undefined ? {} : { metadata: { labels } }), ...fields };
  if (includes(found, wanted)) return found;
  return client.patch(place, 'merge', wanted, { fieldManager: ownManager });
}

/** Whether a value includes the wanted one; lists must have the same length. */
function includes(found: Json | undefined, wanted: Json): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(found) && found.length === wanted.length && wanted.every((item, i) => includes(found[i], item))
    );
  }
  if (!isJsonObject(wanted)) return found === wanted;
  return isJsonObject(found) && Object.entries(wanted).every(([key, value]) => includes(found[key], value));
}
