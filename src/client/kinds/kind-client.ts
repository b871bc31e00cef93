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

/** Told what typed kinds read and write, so that informers hold it before their watch shows it. Must not throw. */
export interface ObjectObserver {
  /** A whole object as the server returned it. */
  readonly observe: (kind: KindReference, object: TypedObject) => void;
  /** The same of an object that the client has written, before `observe`. */
  readonly wrote?: (kind: KindReference, object: TypedObject) => void;
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

/** An object that does not say its kind, which the client adds. */
export type Unnamed<T> = T extends { apiVersion: unknown; kind: unknown }
  ? Omit<T, 'apiVersion' | 'kind'> & Partial<Pick<T, 'apiVersion' | 'kind'>>
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
  create(object: T | Unnamed<T>, options?: Omit<ItemOptions, 'accept'>): Promise<T>;
  /** Replaces the object. With a `metadata.resourceVersion` that is not the latest it is a conflict. */
  update(object: T | Unnamed<T>, options?: Omit<ItemOptions, 'accept'>): Promise<T>;
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
  update(object: S | Unnamed<S>, options?: Omit<ItemOptions, 'accept'>): Promise<S>;
  patch(key: ObjectKey, format: PatchFormat, patch: object, options?: Omit<ItemOptions, 'accept'>): Promise<S>;
  apply(object: S | Partially<S>, options: Omit<ApplyOptions, 'accept'>): Promise<S>;
}

/** The typed verbs of one kind over a client; `observer` is told of what they return. */
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
      const place = within(await resolve(), object.metadata?.namespace);
      return access.written(await client.create<T>(place, access.typed(object as T), options), options);
    },
    subresource: <S extends TypedObject>(name: string): Subresource<S> => ({
      get: async (key, options) => access.observed(await client.get<S>(await access.one(key, name), options)),
      create: async (key, body, options) => client.create<S>(await access.one(key, name), body, options),
      ...writes<S>(access, name),
    }),
  };
}

/** What all verbs of a kind do. */
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
    const place = { ...within(await this.resolve(), namespace), name };
    return subresource === undefined ? place : { ...place, subresource };
  }

  /** The object with kind and version. */
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

  /** A subresource may be of a kind of its own. */
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

/** Writes to objects that exist, or to a subresource of them. */
function writes<T extends TypedObject>(
  access: Access,
  subresource?: string,
): Pick<Subresource<T>, 'update' | 'patch' | 'apply'> {
  const { client } = access;
  // What is written to a subresource may be of any kind: it says so itself.
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
      const left = await client.delete<T>(await access.one({ namespace, name }), body, options);
      if (!isStatusObject(left)) return access.written(left, options);
      // Without its uid, an object that has been created again meanwhile would be taken for the one that was deleted.
      const deleted = left.details?.uid ?? uid;
      if (deleted !== undefined && options.dryRun !== true) observer.forget(kind, { namespace, name, uid: deleted });
      return undefined;
    },
    deleteCollection: async ({ namespace, propagationPolicy, gracePeriodSeconds, preconditions, ...options } = {}) => {
      const body = defined({ propagationPolicy, gracePeriodSeconds, preconditions });
      await client.deleteCollection(await access.all(namespace), body, options);
    },
  };
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
