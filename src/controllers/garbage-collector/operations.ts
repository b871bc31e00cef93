import { type Client, type DeleteOptions, metadataOnly, type Place } from '../../client/index.ts';
import {
  type ApiObject,
  isStatus,
  type Json,
  type JsonObject,
  jsonEqual,
  type Names,
  type ObjectMeta,
  type OwnerReference,
  StatusError,
} from '../../meta/index.ts';
import type { ServedResource, ServedResources } from '../metadata/discovery.ts';
import { placeOf } from '../shared/kind.ts';
import type { Identity } from './identity.ts';

/** The kind is not served: whether the object exists is not known. */
export class UnknownKindError extends Error {
  override readonly name = 'UnknownKindError';
  /** Discovery lists it nevertheless. */
  readonly listed: boolean;

  constructor({ apiVersion, kind }: Pick<Identity, 'apiVersion' | 'kind'>, listed: boolean) {
    super(`no resource of kind ${kind} in ${apiVersion} is served`);
    this.listed = listed;
  }
}

/** The object would be in a namespace, but nothing says in which. */
export class NoNamespaceError extends Error {
  override readonly name = 'NoNamespaceError';
}

export type Propagation = NonNullable<DeleteOptions['propagationPolicy']>;

/** How often a write is tried again at once when others write the object. */
const maxAttempts = 5;

const isMissing = (error: unknown, name: string): boolean =>
  error instanceof StatusError && error.code === 404 && error.details?.name === name;

/**
 * Reads and writes of objects of any kind, as metadata. Every write is for the object with the uid of the identity, in the
 * state that was read.
 * @throws UnknownKindError, NoNamespaceError, StatusError
 */
export class Operations {
  readonly #client: Client;
  readonly #names: Names;
  readonly #served: () => ServedResources;

  constructor(client: Client, names: Names, served: () => ServedResources) {
    this.#client = client;
    this.#names = names;
    this.#served = served;
  }

  resourceOf({ apiVersion, kind }: Pick<Identity, 'apiVersion' | 'kind'>): ServedResource {
    const resource = this.#served().find(apiVersion, kind);
    if (resource === undefined) throw new UnknownKindError({ apiVersion, kind }, false);
    return resource;
  }

  /** The object with this name, whatever its uid; undefined when there is none. */
  async get(identity: Identity): Promise<ObjectMeta | undefined> {
    try {
      const accept = metadataOnly(this.#names).watch;
      return (await this.#client.get<ApiObject>(this.#placeOf(identity), { accept })).metadata;
    } catch (error) {
      if (isMissing(error, identity.name)) return undefined;
      // The resource itself is not there.
      if (isStatus(error, 404)) throw new UnknownKindError(identity, true);
      throw error;
    }
  }

  /** The object with this uid and name in whatever namespace; undefined when there is none. */
  async find({ apiVersion, kind, name, uid }: Identity): Promise<ObjectMeta | undefined> {
    const { list: accept } = metadataOnly(this.#names);
    const place = placeOf(this.resourceOf({ apiVersion, kind }), this.#names);
    const { items } = await this.#client.list<ApiObject>(place, { accept, fieldSelector: `metadata.name=${name}` });
    return items.find(({ metadata }) => metadata.uid === uid)?.metadata;
  }

  /** Deletes the object, as long as it has these owners; false when it is gone. */
  async delete(identity: Identity, read: ObjectMeta, policy: Propagation): Promise<boolean> {
    const { uid } = identity;
    const { ownerReferences: owners = [] } = read;
    let { resourceVersion = '' } = read;
    for (let attempt = 1; ; attempt++) {
      const options = { propagationPolicy: policy, preconditions: { uid, resourceVersion } };
      try {
        await this.#client.delete<ApiObject>(this.#placeOf(identity), options, {
          accept: metadataOnly(this.#names).watch,
        });
        return true;
      } catch (error) {
        if (isMissing(error, identity.name)) return false;
        if (!isStatus(error, 409) || attempt === maxAttempts) throw error;
        const live = await this.get(identity);
        if (live?.uid !== uid) return false;
        if (!jsonEqual(live.ownerReferences ?? [], owners)) throw error;
        resourceVersion = live.resourceVersion ?? '';
      }
    }
  }

  /** The object has no owner with one of these uids any more, or is gone. */
  removeOwners(identity: Identity, uids: ReadonlySet<string>): Promise<void> {
    return this.#update(identity, ({ ownerReferences = [] }) => {
      const remaining = ownerReferences.filter(({ uid }) => !uids.has(uid));
      return remaining.length === ownerReferences.length ? undefined : { ownerReferences: orNull(remaining) };
    });
  }

  /** No owner waits for the object any more, or it is gone. */
  unblockOwners(identity: Identity): Promise<void> {
    return this.#update(identity, ({ ownerReferences = [] }) => {
      if (!ownerReferences.some(({ blockOwnerDeletion }) => blockOwnerDeletion === true)) return undefined;
      const unblocked = ownerReferences.map((ref): OwnerReference => ({ ...ref, blockOwnerDeletion: false }));
      return { ownerReferences: unblocked };
    });
  }

  /** The object does not have the finalizer, or is gone. */
  removeFinalizer(identity: Identity, finalizer: string): Promise<void> {
    return this.#update(identity, ({ finalizers = [] }) =>
      finalizers.includes(finalizer)
        ? { finalizers: orNull(finalizers.filter((name) => name !== finalizer)) }
        : undefined,
    );
  }

  /** Writes what `change` makes of the metadata; nothing when that is undefined. */
  async #update(identity: Identity, change: (read: ObjectMeta) => JsonObject | undefined): Promise<void> {
    const { uid } = identity;
    for (let attempt = 1; ; attempt++) {
      const read = await this.get(identity);
      if (read?.uid !== uid) return;
      const metadata = change(read);
      if (metadata === undefined) return;
      const patch = { metadata: { ...metadata, uid, resourceVersion: read.resourceVersion ?? null } };
      try {
        const accept = metadataOnly(this.#names).watch;
        await this.#client.patch<ApiObject>(this.#placeOf(identity), 'merge', patch, { accept });
        return;
      } catch (error) {
        if (isMissing(error, identity.name)) return;
        if (!isStatus(error, 409) || attempt === maxAttempts) throw error;
      }
    }
  }

  #placeOf(identity: Identity): Place {
    const resource = this.resourceOf(identity);
    const { namespace, name } = identity;
    if (resource.namespaced && namespace === '')
      throw new NoNamespaceError(`${identity.kind} ${name} has no namespace`);
    return { ...placeOf(resource, this.#names, resource.namespaced ? namespace : ''), name };
  }
}

const orNull = (list: Json[]): Json => (list.length === 0 ? null : list);
