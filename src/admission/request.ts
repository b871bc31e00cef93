import { type ObjectMeta, StatusError, statusError } from '../meta/index.ts';
import type { ObjectOf, StructSchema } from '../schema/index.ts';
import type { AdmissionOperation, AdmissionPlace, AdmissionRequest } from './types.ts';

/**
 * The request with the type of its objects. It holds where `handles` admits only one resource, whose storage version has
 * this schema, or one subresource with a kind of its own of this schema. Nothing is checked or copied.
 */
export function typedRequest<S extends StructSchema>(
  _schema: S,
  request: AdmissionRequest,
): AdmissionRequest<ObjectOf<S>> {
  return request as AdmissionRequest<never>;
}

type Operations = readonly AdmissionOperation[];

/** Matches these operations on these resources; `pods/resize` names a subresource. */
export function on(operations: Operations, ...resources: readonly string[]): (place: AdmissionPlace) => boolean {
  return ({ operation, resource, subresource }) =>
    operations.includes(operation) && resources.includes(subresource === '' ? resource : `${resource}/${subresource}`);
}

/** What identifies the object of a request in messages. */
interface Named extends Pick<AdmissionRequest, 'resource' | 'name'> {
  readonly object: { readonly metadata: ObjectMeta } | undefined;
}

/** The 403 of a plugin. It names `generateName` while the name has not been generated. */
export const forbidden = ({ resource, name, object }: Named, why: string): StatusError =>
  statusError.forbidden(resource, name || (object?.metadata.generateName ?? 'Unknown'), why);

/** A 500 without a reason: the configuration of the server or of a namespace is invalid. */
export const misconfigured = (why: string): StatusError => new StatusError(500, '', why);
