import type { Annotate, User } from './access.ts';
import type { ApiObject } from './object.ts';

/** The request that creates a review. */
export interface ReviewCall {
  /** The user of the request, after impersonation. */
  readonly requester: User;
  /** The namespace of the request; empty at cluster scope. */
  readonly namespace: string;
  /** The name of the object whose subresource it is, or else of the posted object. */
  readonly name: string;
  /** Adds a `Warning` header with this text to the response. */
  readonly warn: (text: string) => void;
  /** Absent: the request is not audited. */
  readonly annotate?: Annotate | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Answers a create of a virtual resource or of a subresource, such as an access review or a token request, with the object to
 * return. The posted object has been decoded against its schema and admitted. @throws StatusError
 */
export type ReviewHandler = (posted: ApiObject, call: ReviewCall) => ApiObject | Promise<ApiObject>;
