import { systemPriorities } from '../admission/index.ts';
import type { Client } from '../client/index.ts';
import { applyMergePatch } from '../merge/index.ts';
import { type ApiObject, isJsonObject, type Json, type JsonObject, type Names, StatusError } from '../meta/index.ts';
import { bootstrapFlowObjects } from '../resources/index.ts';

/** Who owns what the server makes itself. */
export const ownManager = 'apiserver';

/** An object that the server has of its own accord. */
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
  /** Who owns it: the server itself unless told otherwise. */
  readonly manager?: string;
  /** Its other fields. */
  readonly fields?: JsonObject;
}

const flowManager = 'api-priority-and-fairness-config-producer-v1';

/**
 * What every server has, whatever was deleted before: its namespaces, the priorities of what it cannot do without, its
 * flows, and more of the kind. What is there already stays as it is.
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

/** Undefined when such objects are not served. */
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
 * The object is there and says what it should; what else it says stays. `first` are fields that it is made with and
 * that may be as they are afterwards. Undefined when such objects are not served. @throws StatusError
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
  if (says(found, wanted)) return found;
  return client.patch(place, 'merge', wanted, { fieldManager: ownManager });
}

/** Whether a value holds all that is wanted; lists must be of the same length. */
function says(found: Json | undefined, wanted: Json): boolean {
  if (Array.isArray(wanted)) {
    return Array.isArray(found) && found.length === wanted.length && wanted.every((item, i) => says(found[i], item));
  }
  if (!isJsonObject(wanted)) return found === wanted;
  return isJsonObject(found) && Object.entries(wanted).every(([key, value]) => says(found[key], value));
}
