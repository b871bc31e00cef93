import type { ApiObject, Json, Names, Status } from '../../meta/index.ts';
import type { ClientRequest, ClientResponse, Signal } from '../transport/transport.ts';
import type { ClientWatch } from '../transport/watch.ts';
import type { KindPlace, TypedKind, TypedObject } from './kind.ts';
import type { Place } from './place.ts';

interface Negotiation {
  /** The media type of the response, for example one for metadata only; complete objects by default. */
  readonly accept?: string;
}

export interface ItemOptions extends Negotiation {
  readonly dryRun?: boolean;
  readonly fieldManager?: string;
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  readonly signal?: Signal;
}

/** The options of a GET. A server with `--object-history` reads the version that they name (docs/history.md). */
export type GetOptions = Pick<ListOptions, 'signal' | 'accept' | 'resourceVersion' | 'resourceVersionMatch'>;

export interface ApplyOptions extends ItemOptions {
  readonly fieldManager: string;
  /** Takes over fields that other managers own. Without it such fields are a conflict. */
  readonly force?: boolean;
}

/** The format of a patch; `strategic` works for built-in kinds only. */
export type PatchFormat = 'json' | 'merge' | 'strategic';

export interface ListOptions extends Negotiation {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  readonly signal?: Signal;
}

export interface WatchParameters extends Negotiation {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Delivers only changes after this version. Without it: the existing objects as ADDED, then every change. */
  readonly resourceVersion?: string;
  readonly allowWatchBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
  readonly resourceVersionMatch?: 'NotOlderThan';
  readonly timeoutSeconds?: number;
  readonly signal?: Signal;
}

export interface ObjectList<T extends TypedObject> {
  readonly metadata: {
    readonly resourceVersion: string;
    /** Empty or absent: the list is complete. */
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: T[];
}

/**
 * The verbs of the API by path. A failed response is thrown as the StatusError that the server sent; an unreachable server
 * is a StatusError with code 503. Integers beyond 2^53 lose precision.
 */
export interface PlaceClient {
  /** The names of the API domain. */
  readonly names: Names;
  /** Resolves a kind to its resource. Reads discovery once for each version. @throws StatusError 404 when it is not served */
  resolve(kind: TypedKind<TypedObject>): Promise<KindPlace>;
  get<T extends TypedObject = ApiObject>(place: Place, options?: GetOptions): Promise<T>;
  list<T extends TypedObject = ApiObject>(place: Place, options?: ListOptions): Promise<ObjectList<T>>;
  create<T extends TypedObject = ApiObject>(place: Place, object: T, options?: ItemOptions): Promise<T>;
  /** Replaces the object. @throws StatusError 409 when `metadata.resourceVersion` is set and not the latest */
  update<T extends TypedObject = ApiObject>(place: Place, object: T, options?: ItemOptions): Promise<T>;
  patch<T extends TypedObject = ApiObject>(
    place: Place,
    format: PatchFormat,
    patch: Json,
    options?: ItemOptions,
  ): Promise<T>;
  /** Server-side apply. */
  apply<T extends TypedObject = ApiObject>(place: Place, object: TypedObject, options: ApplyOptions): Promise<T>;
  /** Resolves to the object while its deletion is pending (finalizers, grace period), otherwise to a Status. */
  delete<T extends TypedObject = ApiObject>(
    place: Place,
    deleteOptions?: Json,
    options?: ItemOptions,
  ): Promise<T | Status>;
  /** Deletes all selected objects at the place. Resolves when they are deleted, without returning them. */
  deleteCollection(
    place: Place,
    deleteOptions?: Json,
    options?: Pick<ListOptions, 'signal' | 'accept' | 'labelSelector' | 'fieldSelector'>,
  ): Promise<void>;
  /** Resolves once the server has accepted the watch. */
  watch<T extends TypedObject = ApiObject>(place: Place, options?: WatchParameters): Promise<ClientWatch<T>>;
  /** Sends any request. Resolves to the response whatever its status code. */
  request(request: ClientRequest): Promise<ClientResponse>;
}
