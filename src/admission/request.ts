import { type Clock, type ObjectMeta, StatusError, serverTurns, statusError, type Turns } from '../meta/index.ts';
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

/** The identity of a request's object in messages. */
interface Named extends Pick<AdmissionRequest, 'resource' | 'name'> {
  readonly object: { readonly metadata: ObjectMeta } | undefined;
}

/** The 403 of a plugin. It names `generateName` while the name has not been generated. */
export const forbidden = ({ resource, name, object }: Named, why: string): StatusError =>
  statusError.forbidden(resource, name || (object?.metadata.generateName ?? 'Unknown'), why);

/** A 500 without a reason: the configuration of the server or of a namespace is invalid. */
export const misconfigured = (why: string): StatusError => new StatusError(500, '', why);

/** The time for all webhooks and policies of a request (ms). */
export const requestMs = 34_000;

export const isOverdue = ({ began }: Pick<AdmissionRequest, 'began'>, clock: Pick<Clock, 'now'>): boolean =>
  clock.now() >= began + requestMs;

/** The 504 of a request whose time is up. */
export const overdue = (): StatusError =>
  new StatusError(
    504,
    'Timeout',
    'Timeout: request did not complete within requested timeout - context deadline exceeded',
    {},
  );

/** The turns in which webhooks and policies are applied to a request. They end with a StatusError 504 once its time is up. */
export function admissionTurns(
  { began, turns = serverTurns() }: Pick<AdmissionRequest, 'began' | 'turns'>,
  clock: Pick<Clock, 'now'>,
): Turns {
  return {
    get over() {
      return turns.over;
    },
    async next() {
      await turns.next();
      if (isOverdue({ began }, clock)) throw overdue();
    },
  };
}
