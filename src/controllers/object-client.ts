import {
  type Client,
  createKindClient,
  type DeleteOptions,
  type Informers,
  type ItemOptions,
  type KindClient,
  type ListOptions,
  type ObjectObserver,
  type PatchFormat,
} from '../client/index.ts';
import type { Json } from '../meta/index.ts';
import type { Kind, Named } from './kind.ts';

/** Where an object is; an object has that itself. */
interface ObjectPlace {
  readonly metadata: { readonly namespace?: string; readonly name?: string; readonly uid?: string };
}

/**
 * The verbs on objects of built-in kinds. What a write returns is in the informers when the call returns, and shared with
 * them. @throws StatusError of the server, 503 when it cannot be reached
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
  delete<T extends Named>(kind: Kind<T>, at: ObjectPlace, options?: DeleteOptions): Promise<void>;
}

/** An ObjectClient over a client of the API, which tells the informers of its writes. */
export function createObjectClient(client: Client, informers?: Informers): ObjectClient {
  const observer: ObjectObserver = {
    observe: (kind, written) => {
      const object = written as Named;
      delete object.metadata.managedFields;
      informers?.started<Named>(kind)?.observe(object);
    },
    forget: (kind, key) => informers?.forget(kind, key),
  };
  const kinds = new Map<Kind<never>, KindClient<never>>();
  const of = <T extends Named>(kind: Kind<T>): KindClient<T> => {
    const known = kinds.get(kind as Kind<never>);
    // The key says which kind it is.
    if (known !== undefined) return known as unknown as KindClient<T>;
    const made = createKindClient(client, kind, observer);
    kinds.set(kind as Kind<never>, made as unknown as KindClient<never>);
    return made;
  };
  /** The kind, or a subresource of it. */
  const part = <T extends Named>(kind: Kind<T>, subresource: string | undefined) =>
    subresource === undefined ? of(kind) : of(kind).subresource<T>(subresource);
  return {
    get: (kind, namespace, name) => of(kind).get({ namespace, name }),
    find: (kind, namespace, name) => of(kind).find({ namespace, name }),
    list: async (kind, namespace, options) => (await of(kind).list({ ...options, namespace })).items,
    create: (kind, object, options) => of(kind).create(object, options),
    update: (kind, object, subresource) => part(kind, subresource).update(object),
    patch: (kind, { metadata }, format, patch, subresource) =>
      part(kind, subresource).patch(metadata, format, patch as object),
    apply: (kind, object, fieldManager, subresource) =>
      part(kind, subresource).apply(object, { fieldManager, force: true }),
    delete: async (kind, { metadata }, options) => {
      await of(kind).delete(metadata, options);
    },
  };
}
