import { expandNames, isStatus, type Json, type Status, statusError } from '../meta/index.ts';
import type {
  ApplyOptions,
  Client,
  ItemOptions,
  ListOptions,
  ObjectList,
  PatchFormat,
  Place,
  WatchParameters,
} from './client.ts';
import {
  type KindPlace,
  type KindReference,
  type ObjectKey,
  placeIn,
  type TypedKind,
  type TypedObject,
} from './kind.ts';
import { pagesOf } from './pages.ts';
import type { ClientWatch } from './watch.ts';

/** Told what typed kinds read and write, so that informers hold it before their watch shows it. Must not throw. */
export interface ObjectObserver {
  /** A whole object as the server returned it. */
  readonly observe: (kind: KindReference, object: TypedObject) => void;
  /** The object of this uid is there no longer. */
  readonly forget: (kind: KindReference, key: ObjectKey & { readonly uid: string }) => void;
}

/** Tells nobody. */
export const noObserver: ObjectObserver = { observe: () => {}, forget: () => {} };

export interface DeleteOptions {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  /** Only if it still has this uid, and this resourceVersion; anything else is a conflict. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** The objects of one namespace, or of all. */
export interface InNamespace {
  readonly namespace?: string;
}

/** An object of which any fields may be left out, for server-side apply. */
export type Partially<T> = T extends readonly (infer E)[]
  ? Partially<E>[]
  : T extends object
    ? { [K in keyof T]?: Partially<T[K]> }
    : T;

/**
 * The objects of a kind. Objects are named by namespace and name, such as `object.metadata`; without a namespace at
 * cluster scope only. What a method returns is the caller's. @throws StatusError that of the server; 404 when the kind is
 * not served; 400 when a namespace is missing or must not be there; 503 when the server cannot be reached
 */
export interface KindClient<T extends TypedObject> extends TypedKind<T> {
  /** Where the server serves the kind. Asked once. */
  resolve(): Promise<KindPlace>;
  get(key: ObjectKey, options?: Pick<ItemOptions, 'signal'>): Promise<T>;
  /** The same; undefined when there is no such object. */
  find(key: ObjectKey, options?: Pick<ItemOptions, 'signal'>): Promise<T | undefined>;
  /** One page, of all objects unless `limit` is set. */
  list(options?: Omit<ListOptions, 'accept'> & InNamespace): Promise<ObjectList<T>>;
  /** All objects, in pages of `limit`, by default 500, at one resourceVersion. */
  items(options?: Omit<ListOptions, 'accept' | 'continue'> & InNamespace): AsyncIterable<T>;
  watch(options?: Omit<WatchParameters, 'accept'> & InNamespace): Promise<ClientWatch<T>>;
  /** Creates the object in the namespace of its metadata; `kind` and `apiVersion` are added. */
  create(object: T, options?: Omit<ItemOptions, 'accept'>): Promise<T>;
  /** Replaces the object. With a `metadata.resourceVersion` that is not the latest it is a conflict. */
  update(object: T, options?: Omit<ItemOptions, 'accept'>): Promise<T>;
  /** `strategic` is for built-in kinds only. */
  patch(key: ObjectKey, format: PatchFormat, patch: object, options?: Omit<ItemOptions, 'accept'>): Promise<T>;
  /** Server-side apply: creates the object, or sets the fields that are given and takes away those that were before. */
  apply(object: T | Partially<T>, options: Omit<ApplyOptions, 'accept'>): Promise<T>;
  /**
   * Deletes the object; for a key with a uid, such as `object.metadata`, only if it still has that. The object when its
   * deletion is pending (finalizers, grace period); undefined when it is gone.
   */
  delete(
    key: ObjectKey & { readonly uid?: string | undefined },
    options?: DeleteOptions & Omit<ItemOptions, 'accept'>,
  ): Promise<T | undefined>;
  /** Deletes all objects that are selected. */
  deleteCollection(
    options?: DeleteOptions & InNamespace & Pick<ListOptions, 'labelSelector' | 'fieldSelector' | 'signal'>,
  ): Promise<void>;
  /** A subresource, such as `status`, or of a type of its own: `scale`, `eviction`, `token`, `binding`. */
  subresource<S extends TypedObject = T>(name: string): Subresource<S>;
}

/** A subresource of the objects of a kind. */
export interface Subresource<S extends TypedObject> {
  get(key: ObjectKey, options?: Pick<ItemOptions, 'signal'>): Promise<S>;
  /** Posts what the subresource takes, such as an eviction or a token request, for the object. */
  create(key: ObjectKey, body: S, options?: Omit<ItemOptions, 'accept'>): Promise<S>;
  /** Replaces the subresource of the object of this metadata. */
  update(object: S, options?: Omit<ItemOptions, 'accept'>): Promise<S>;
  patch(key: ObjectKey, format: PatchFormat, patch: object, options?: Omit<ItemOptions, 'accept'>): Promise<S>;
  apply(object: S | Partially<S>, options: Omit<ApplyOptions, 'accept'>): Promise<S>;
}

/** The typed verbs of one kind over a client; `observer` is told of what they return. */
export function createKindClient<T extends TypedObject>(
  client: Client,
  reference: TypedKind<T>,
  observer: ObjectObserver,
): KindClient<T> {
  const kind = { ...reference, apiVersion: expandNames(reference.apiVersion, client.names) };
  const resolve = () => client.resolve(kind);
  const observed = <R extends TypedObject>(object: R): R => {
    // A subresource may be of a kind of its own.
    if (object.kind === kind.kind && object.apiVersion === kind.apiVersion) observer.observe(kind, object);
    return object;
  };
  const at = async (key: ObjectKey, subresource?: string): Promise<Place> => {
    const { name = '' } = key;
    if (name === '') throw statusError.badRequest(`metadata.name: the name of the ${kind.kind} is required`);
    return { ...within(await resolve(), key.namespace), name, ...(subresource === undefined ? {} : { subresource }) };
  };
  const typed = <R extends TypedObject>(object: R): R => ({ ...object, apiVersion: kind.apiVersion, kind: kind.kind });
  const collection = async (namespace: string | undefined) => placeIn(await resolve(), namespace);
  const get = async (key: ObjectKey, options?: Pick<ItemOptions, 'signal'>) =>
    observed(await client.get<T>(await at(key), options));
  const list: KindClient<T>['list'] = async ({ namespace, ...options } = {}) =>
    client.list<T>(await collection(namespace), options);
  return {
    ...kind,
    resolve,
    get,
    list,
    find: async (key, options) => {
      await resolve();
      return get(key, options).catch((error: unknown) => {
        if (isStatus(error, 404)) return undefined;
        throw error;
      });
    },
    items: async function* ({ namespace, ...options } = {}) {
      for await (const { items } of pagesOf<T>(client, await collection(namespace), options)) yield* items;
    },
    watch: async ({ namespace, ...options } = {}) => client.watch<T>(await collection(namespace), options),
    create: async (object, options) => {
      const place = within(await resolve(), object.metadata?.namespace);
      const created = await client.create<T>(place, typed(object), options);
      return options?.dryRun === true ? created : observed(created);
    },
    ...writes<T>(),
    delete: async ({ uid, ...key }, { propagationPolicy, gracePeriodSeconds, preconditions, ...options } = {}) => {
      const conditions = preconditions ?? (uid === undefined ? undefined : { uid });
      const body = { ...defined({ propagationPolicy, gracePeriodSeconds, preconditions: conditions }) };
      const left = await client.delete<T>(await at(key), body, options);
      if (!isStatusObject(left)) return options.dryRun === true ? left : observed(left);
      // Without its uid, an object that has been created again meanwhile would be taken for the one that was deleted.
      const deleted = left.details?.uid ?? uid;
      if (deleted !== undefined && options.dryRun !== true) observer.forget(kind, { ...key, uid: deleted });
      return undefined;
    },
    deleteCollection: async ({ namespace, propagationPolicy, gracePeriodSeconds, preconditions, ...options } = {}) => {
      const body = defined({ propagationPolicy, gracePeriodSeconds, preconditions });
      await client.deleteCollection(await collection(namespace), body, options);
    },
    subresource: <S extends TypedObject>(name: string): Subresource<S> => ({
      get: async (key, options) => observed(await client.get<S>(await at(key, name), options)),
      create: async (key, body, options) => client.create<S>(await at(key, name), body, options),
      ...writes<S>(name),
    }),
  };

  /** Writes to objects that exist, or to a subresource of them. */
  function writes<S extends TypedObject>(subresource?: string) {
    // What is posted to a subresource may be of any kind: it says so itself.
    const whole = (object: S) => (subresource === undefined || object.kind === undefined ? typed(object) : object);
    const told = (object: S, options: ItemOptions | undefined) =>
      options?.dryRun === true ? object : observed(object);
    return {
      update: async (object: S, options?: ItemOptions) => {
        const place = await at(object.metadata ?? {}, subresource);
        return told(await client.update<S>(place, whole(object), options), options);
      },
      patch: async (key: ObjectKey, format: PatchFormat, patch: object, options?: ItemOptions) =>
        told(await client.patch<S>(await at(key, subresource), format, patch as Json, options), options),
      apply: async (object: S | Partially<S>, options: ApplyOptions) => {
        const configuration = whole(object as S);
        const place = await at(configuration.metadata ?? {}, subresource);
        return told(await client.apply<S>(place, configuration, options), options);
      },
    };
  }
}

/** The place of objects of which each has one namespace, or none. @throws StatusError 400 when it has the wrong one */
function within(place: KindPlace, namespace = ''): Place {
  const { kind, namespaced } = place;
  if (namespaced && namespace === '') {
    throw statusError.badRequest(`metadata.namespace: objects of the kind ${kind} are in a namespace: name it`);
  }
  if (!namespaced && namespace !== '') {
    throw statusError.badRequest(`metadata.namespace: objects of the kind ${kind} are in no namespace: leave it out`);
  }
  return placeIn(place, namespace);
}

const isStatusObject = (value: TypedObject | Status): value is Status => value.kind === 'Status';

/** The same without what is undefined. */
const defined = (value: { readonly [key: string]: unknown }): { [key: string]: Json } =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as { [key: string]: Json };
