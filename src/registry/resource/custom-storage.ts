import type { ApiObject, Steps } from '../../meta/index.ts';

/** How the objects of a custom resource are stored. */
export interface CustomStorage {
  /** The version in which objects are stored. */
  readonly version: string;
  /**
   * Brings a stored object, in any version, to the form of the request's version (conversion, pruning, defaults); returns
   * whether that changed it.
   */
  readonly fromStored: (object: ApiObject) => Steps<boolean>;
  /** Brings an object of the request's version to the form in which it is stored; returns the same object where nothing changes. */
  readonly toStored: (object: ApiObject) => Steps<ApiObject>;
  /** Whether `fromStored` can change an object whose bytes are in the request's version: the definition has changed. */
  readonly normalizes: boolean;
  /**
   * Converts between versions by calling a webhook. `fromStored` then gets objects of the request's version only, and
   * `toStored` none. Absent: they convert.
   */
  readonly webhook?: ConvertObjects;
}

/**
 * Converts objects, all of one version, to another version such as `apps/v1`: as many, in their order. Neither keeps nor
 * changes them. @throws StatusError
 */
export type ConvertObjects = (objects: readonly ApiObject[], apiVersion: string) => Promise<readonly ApiObject[]>;
