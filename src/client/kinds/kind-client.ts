import { expandNames, isStatus, type Json, type Status, statusError } from '../../meta/index.ts';
import type { ClientWatch } from '../transport/watch.ts';
import {
  type KindPlace,
  type KindReference,
  type ObjectKey,
  placeIn,
  type TypedKind,
  type TypedObject,
} from './kind.ts';
import { pagesOf } from './pages.ts';
import type { Place } from './place.ts';
import type {
  ApplyOptions,
  ItemOptions,
  ListOptions,
  ObjectList,
  PatchFormat,
  PlaceClient,
  WatchParameters,
} from './place-client.ts';

/** Receives what typed kinds read and write, so that informers have it before their watch delivers it. Must not throw. */
export interface ObjectObserver {
  /** Receives a complete object as the server returned it. */
  readonly observe: (kind: KindReference, object: TypedObject) => void;
  /** Receives an object that the client has written, before `observe` does. */
  readonly wrote?: (kind: KindReference, object: TypedObject) => void;
  /** Reports that the object with this uid no longer exists. */
  readonly forget: (kind: KindReference, key: ObjectKey & { readonly uid: string }) => void;
}

/** Ignores everything. */
export const noObserver: ObjectObserver = { observe: () => {}, forget: () => {} };

export interface DeleteOptions {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  /** The object must have this uid and this resourceVersion; otherwise the deletion fails with a conflict. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** Restricts a call to one namespace; without it the call covers all namespaces. */
export interface InNamespace {
  readonly namespace?: string;
}

/** An object whose fields are all optional, for server-side apply. */
export type Partially<T> = T extends readonly (infer E)[]
  ? Partially<E>[]
  : T extends object
    ? { [K in keyof T]?: Partially<T[K]> }
    : T;

/** An object without `apiVersion` and `kind`, which the client adds. */
export type Unnamed<T> = T extends { apiVersion: unknown; kind: unknown }
  ? Omit<T, 'apiVersion' | 'kind'> & Partial<Pick<T, 'apiVersion' | 'kind'>>
  : T;

/**
 * Reads and writes the objects of one kind. An object is identified by namespace and name, for example by
 * `object.metadata`; the namespace is absent for cluster-scoped kinds. The caller owns the returned objects.
 * @throws StatusError the error of the server; 404 when the server does not serve the kind; 400 when a required namespace
 * is missing or a cluster-scoped object has one; 503 when the server cannot be reached
 */
export interface KindClient<T extends TypedObject> extends TypedKind<T> {
  /** Resolves to the resource name and scope of the kind. Discovery is read once. */
  resolve(): Promise<KindPlace>;
  /** Reads one object. @throws StatusError 404 when it does not exist */
  get(key: ObjectKey, options?: Pick<ItemOptions, 'signal'>): Promise<T>;
  /** Reads one object; undefined when it does not exist. */
  find(key: ObjectKey, options?: Pick<ItemOptions, 'signal'>): Promise<T | undefined>;
  /** Lists objects: all of them in one response, or one page when `limit` is set. */
  list(options?: Omit<ListOptions, 'accept'> & InNamespace): Promise<ObjectList<T>>;
  /** Iterates over all objects at one resourceVersion, in pages of `limit` (default 500). */
  items(options?: Omit<ListOptions, 'accept' | 'continue'> & InNamespace): AsyncIterable<T>;
  /** Watches the objects. Resolves once the server has accepted the watch. */
  watch(options?: Omit<WatchParameters, 'accept'> & InNamespace): Promise<ClientWatch<T>>;
  /** Creates the object in the namespace of its metadata. The client adds `kind` and `apiVersion`. */
  create(object: T | Unnamed<T>, options?: Omit<ItemOptions, 'accept'>): Promise<T>;
  /** Replaces the object. @throws StatusError 409 when `metadata.resourceVersion` is set and not the latest */
  update(object: T | Unnamed<T>, options?: Omit<ItemOptions, 'accept'>): Promise<T>;
  /** Patches the object. The format `strategic` works for built-in kinds only. */
  patch(key: ObjectKey, format: PatchFormat, patch: object, options?: Omit<ItemOptions, 'accept'>): Promise<T>;
  /** Server-side apply: creates the object, or sets the fields in it and removes those that only this manager had set. */
  apply(object: T | Partially<T>, options: Omit<ApplyOptions, 'accept'>): Promise<T>;
  /**
   * Deletes the object. When the key has a uid, as `object.metadata` does, the object must still have it. Resolves to the
   * object while its deletion is pending (finalizers, grace period), and to undefined when it is gone.
   */
  delete(
    key: ObjectKey & { readonly uid?: string | undefined },
    options?: DeleteOptions & Omit<ItemOptions, 'accept'>,
  ): Promise<T | undefined>;
  /** Deletes all selected objects. */
  deleteCollection(
    options?: DeleteOptions & InNamespace & Pick<ListOptions, 'labelSelector' | 'fieldSelector' | 'signal'>,
  ): Promise<void>;
  /** Returns a subresource: `status`, or one with its own type such as `scale`, `eviction`, `token` or `binding`. */
  subresource<S extends TypedObject = T>(name: string): Subresource<S>;
}

/** Reads and writes a subresource of the objects of a kind. */
export interface Subresource<S extends TypedObject> {
  get(key: ObjectKey, options?: Pick<ItemOptions, 'signal'>): Promise<S>;
  /** Posts a request to the subresource of the object, such as an eviction or a token request. */
  create(key: ObjectKey, body: S, options?: Omit<ItemOptions, 'accept'>): Promise<S>;
  /** Replaces the subresource of the object that the metadata identifies. */
  update(object: S | Unnamed<S>, options?: Omit<ItemOptions, 'accept'>): Promise<S>;
  patch(key: ObjectKey, format: PatchFormat, patch: object, options?: Omit<ItemOptions, 'accept'>): Promise<S>;
  apply(object: S | Partially<S>, options: Omit<ApplyOptions, 'accept'>): Promise<S>;
}

/** Creates the typed verbs of one kind over a client; `observer` receives what they return. */
export function createKindClient<T extends TypedObject>(
  client: PlaceClient,
  reference: TypedKind<T>,
  observer: ObjectObserver,
): KindClient<T> {
  const kind = { ...reference, apiVersion: expandNames(reference.apiVersion, client.names) };
  const access = new Access(client, kind, observer);
  const { resolve } = access;
  return {
    ...kind,
    resolve,
    ...reads<T>(access),
    ...writes<T>(access),
    ...deletions<T>(access),
    watch: async ({ namespace, ...options } = {}) => client.watch<T>(await access.all(namespace), options),
    create: async (object, options) => {
      const place = placeOfObject(await resolve(), object.metadata?.namespace);
      return access.written(await client.create<T>(place, access.typed(object as T), options), options);
    },
    subresource: <S extends TypedObject>(name: string): Subresource<S> => ({
      get: async (key, options) => access.observed(await client.get<S>(await access.one(key, name), options)),
      create: async (key, body, options) => client.create<S>(await access.one(key, name), body, options),
      ...writes<S>(access, name),
    }),
  };
}

/** The settings that all verbs of a kind share. */
class Access {
  readonly client: PlaceClient;
  readonly kind: TypedKind<TypedObject>;
  readonly observer: ObjectObserver;

  constructor(client: PlaceClient, kind: TypedKind<TypedObject>, observer: ObjectObserver) {
    this.client = client;
    this.kind = kind;
    this.observer = observer;
  }

  readonly resolve = (): Promise<KindPlace> => this.client.resolve(this.kind);

  async all(namespace: string | undefined): Promise<Place> {
    return placeIn(await this.resolve(), namespace);
  }

  async one({ namespace, name = '' }: ObjectKey, subresource?: string): Promise<Place> {
    if (name === '') throw statusError.badRequest(`metadata.name: the name of the ${this.kind.kind} is required`);
    const place = { ...placeOfObject(await this.resolve(), namespace), name };
    return subresource === undefined ? place : { ...place, subresource };
  }

  /** Returns the object with `apiVersion` and `kind`. */
  typed<R extends TypedObject>(object: R): R {
    return { ...object, apiVersion: this.kind.apiVersion, kind: this.kind.kind };
  }

  observed<R extends TypedObject>(object: R): R {
    if (this.#isWhole(object)) this.observer.observe(this.kind, object);
    return object;
  }

  written<R extends TypedObject>(object: R, options: ItemOptions | undefined): R {
    if (options?.dryRun === true) return object;
    if (this.#isWhole(object)) this.observer.wrote?.(this.kind, object);
    return this.observed(object);
  }

  /** A subresource may have its own kind. */
  #isWhole(object: TypedObject): boolean {
    return object.kind === this.kind.kind && object.apiVersion === this.kind.apiVersion;
  }
}

function reads<T extends TypedObject>(access: Access): Pick<KindClient<T>, 'get' | 'find' | 'list' | 'items'> {
  const { client } = access;
  const read = async (place: Place, options?: Pick<ItemOptions, 'signal'>) =>
    access.observed(await client.get<T>(place, options));
  return {
    get: async (key, options) => read(await access.one(key), options),
    find: async (key, options) => {
      const place = await access.one(key);
      return read(place, options).catch((error: unknown) => {
        if (isStatus(error, 404)) return undefined;
        throw error;
      });
    },
    list: async ({ namespace, ...options } = {}) => client.list<T>(await access.all(namespace), options),
    items: async function* ({ namespace, ...options } = {}) {
      for await (const { items } of pagesOf<T>(client, await access.all(namespace), options)) yield* items;
    },
  };
}

/** Writes to existing objects, or to one of their subresources. */
function writes<T extends TypedObject>(
  access: Access,
  subresource?: string,
): Pick<Subresource<T>, 'update' | 'patch' | 'apply'> {
  const { client } = access;
  // A subresource may take any kind, which the object itself names.
  const whole = (object: T) => (subresource === undefined || object.kind === undefined ? access.typed(object) : object);
  return {
    update: async (object, options) => {
      const place = await access.one(object.metadata ?? {}, subresource);
      return access.written(await client.update<T>(place, whole(object as T), options), options);
    },
    patch: async (key, format, patch, options) => {
      const place = await access.one(key, subresource);
      return access.written(await client.patch<T>(place, format, patch as Json, options), options);
    },
    apply: async (object, options) => {
      const configuration = whole(object as T);
      const place = await access.one(configuration.metadata ?? {}, subresource);
      return access.written(await client.apply<T>(place, configuration, options), options);
    },
  };
}

function deletions<T extends TypedObject>(access: Access): Pick<KindClient<T>, 'delete' | 'deleteCollection'> {
  const { client, kind, observer } = access;
  return {
    delete: async (
      { namespace, name, uid },
      { propagationPolicy, gracePeriodSeconds, preconditions, ...options } = {},
    ) => {
      const conditions = preconditions ?? (uid === undefined ? undefined : { uid });
      const body = defined({ propagationPolicy, gracePeriodSeconds, preconditions: conditions });
      const remaining = await client.delete<T>(await access.one({ namespace, name }), body, options);
      if (!isStatusObject(remaining)) return access.written(remaining, options);
      // Without the uid, an object created since under the same name would pass for the deleted one.
      const deleted = remaining.details?.uid ?? uid;
      if (deleted !== undefined && options.dryRun !== true) observer.forget(kind, { namespace, name, uid: deleted });
      return undefined;
    },
    deleteCollection: async ({ namespace, propagationPolicy, gracePeriodSeconds, preconditions, ...options } = {}) => {
      const body = defined({ propagationPolicy, gracePeriodSeconds, preconditions });
      await client.deleteCollection(await access.all(namespace), body, options);
    },
  };
}

/** The place of one object. @throws StatusError 400 when the namespace does not fit the scope of the kind */
function placeOfObject(place: KindPlace, namespace = ''): Place {
  const { kind, namespaced } = place;
  if (namespaced && namespace === '') {
    throw statusError.badRequest(`metadata.namespace: required: the kind ${kind} is namespaced`);
  }
  if (!namespaced && namespace !== '') {
    throw statusError.badRequest(`metadata.namespace: must be absent: the kind ${kind} is cluster-scoped`);
  }
  return placeIn(place, namespace);
}

const isStatusObject = (value: TypedObject | Status): value is Status => value.kind === 'Status';

/** Returns a copy without undefined values. */
const defined = (value: { readonly [key: string]: unknown }): { [key: string]: Json } =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as { [key: string]: Json };
