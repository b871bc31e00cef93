import type { OwnerReference } from '../../meta/index.ts';
import type { TypedObject } from './kind.ts';

/**
 * Returns the entry of `metadata.ownerReferences` that makes the owner the controller of an object. The object is deleted
 * with its owner, and blocks the owner's foreground deletion.
 */
export const controllerReference = ({ apiVersion = '', kind = '', metadata }: TypedObject): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata?.name ?? '',
  uid: metadata?.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});

/** The API group of a version; empty for the core group. */
export const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
