import type { Client, ItemOptions, ListOptions } from '../client/index.ts';
import { type ApiObject, isStatus, type Json, type Names, type Status } from '../meta/index.ts';
import type { Informers } from './informer.ts';
import { apiVersionOf, type Kind, type KindPlace, type Named, placeOf } from './kind.ts';

/** Where an object is; an object has that itself. */
interface ObjectPlace {
  readonly metadata: { readonly namespace?: string; readonly name?: string; readonly uid?: string };
}

export interface DeletionOptions {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  /** Only if it still has this uid, and this resourceVersion. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** Strategic merge patches are for built-in kinds only. */
export type PatchFormat = Parameters<Client['patch']>[1];

/**
 * The verbs on typed objects. What a write returns is in the informers when the call returns. @throws StatusError of the
 * server, 503 when it cannot be reached
 */
export interface ObjectClient {
  /** The object as stored, not from an informer. */
  get<T extends Named>(kind: Kind<T>, namespace: string, name: string): Promise<T>;
  /** The same; undefined when it does not exist. */
  find<T extends Named>(kind: Kind<T>, namespace: string, name: string): Promise<T | undefined>;
  list<T extends Named>(kind: Kind<T>, namespace: string, options?: ListOptions): Promise<T[]>;
  /** Creates the object in the namespace of its metadata; `kind` and `apiVersion` are added. */
  create<T extends Named>(kind: Kind<T>, object: NoInfer<T>, options?: ItemOptions): Promise<T>;
  /** Replaces the object or a subresource, if it still has the resourceVersion of its metadata. */
  update<T extends Named>(kind: Kind<T>, object: NoInfer<T>, subresource?: string): Promise<T>;
  patch<T extends Named>(
    kind: Kind<T>,
    at: ObjectPlace,
    format: PatchFormat,
    patch: Json,
    subresource?: string,
  ): Promise<T>;
  /** Server-side apply to the object or a subresource, which takes over the fields of other managers. */
  apply<T extends Named>(kind: Kind<T>, object: NoInfer<T>, fieldManager: string, subresource?: string): Promise<T>;
  /** Deletes the object; one with a uid only if it still has it. */
  delete<T extends Named>(kind: Kind<T>, at: ObjectPlace, options?: DeletionOptions): Promise<void>;
}

const isStatusObject = (value: ApiObject | Status): value is Status => value.kind === 'Status';

/** An ObjectClient over a client of the API, which tells the informers of its writes. */
export function createObjectClient(client: Client, informers: Informers, names: Names): ObjectClient {
  const at = (kind: KindPlace, { metadata: { namespace = '', name = '' } }: ObjectPlace, subresource?: string) => ({
    ...placeOf(kind, names, namespace),
    name,
    ...(subresource === undefined ? {} : { subresource }),
  });
  const observed = <T extends Named>(kind: Kind<T>, written: ApiObject): T => {
    delete written.metadata.managedFields;
    const object = written as Named as T;
    // A subresource may be of a kind of its own.
    if (written.kind === kind.kind) informers.started(kind)?.observe(object);
    return object;
  };
  const typed = <T extends Named>(kind: Kind<T>, object: T): ApiObject =>
    ({ ...object, apiVersion: apiVersionOf(kind, names), kind: kind.kind }) as Named as ApiObject;
  const get = async <T extends Named>(kind: Kind<T>, namespace: string, name: string) =>
    observed(kind, await client.get<ApiObject>(at(kind, { metadata: { namespace, name } })));
  return {
    get,
    find: async (kind, namespace, name) => {
      try {
        return await get(kind, namespace, name);
      } catch (error) {
        if (isStatus(error, 404)) return undefined;
        throw error;
      }
    },
    list: async <T extends Named>(kind: Kind<T>, namespace: string, options?: ListOptions) => {
      const { items } = await client.list<ApiObject>(placeOf(kind, names, namespace), options);
      return items as Named[] as T[];
    },
    create: async (kind, object, options) => {
      const { name: _, ...place } = at(kind, object);
      const created = await client.create<ApiObject>(place, typed(kind, object), options);
      return options?.dryRun === true ? (created as Named as typeof object) : observed(kind, created);
    },
    update: async (kind, object, subresource) =>
      observed(kind, await client.update<ApiObject>(at(kind, object, subresource), typed(kind, object))),
    patch: async (kind, place, format, patch, subresource) =>
      observed(kind, await client.patch<ApiObject>(at(kind, place, subresource), format, patch)),
    apply: async (kind, object, fieldManager, subresource) => {
      const place = at(kind, object, subresource);
      return observed(kind, await client.apply<ApiObject>(place, typed(kind, object), { fieldManager, force: true }));
    },
    delete: async (kind, place, { preconditions, ...options } = {}) => {
      const { namespace = '', name = '', uid } = place.metadata;
      const conditions = preconditions ?? (uid === undefined ? undefined : { uid });
      const body = { ...options, ...(conditions === undefined ? {} : { preconditions: { ...conditions } }) };
      const left = await client.delete<ApiObject>(at(kind, place), body);
      if (!isStatusObject(left)) {
        observed(kind, left);
        return;
      }
      // Without its uid, an object that has been created again meanwhile would be taken for the one that was deleted.
      const deleted = left.details?.uid ?? uid;
      if (deleted !== undefined) informers.started(kind)?.forget(namespace, name, deleted);
    },
  };
}
