import { type ApiObject, StatusError } from '../../meta/index.ts';

/** The resources that tokens refer to. */
export type TokenResource = 'nodes' | 'pods' | 'secrets' | 'serviceaccounts';

/** The stored objects that tokens are about. */
export interface TokenObjects {
  /** The object, perhaps as it was a moment ago; undefined: there is none in the store either. */
  readonly get: (
    resource: TokenResource,
    namespace: string,
    name: string,
  ) => ApiObject | undefined | Promise<ApiObject | undefined>;
  /** The object, no older than the call. @throws StatusError 404 */
  readonly read: (resource: TokenResource, namespace: string, name: string) => Promise<ApiObject>;
  /** Sets a label of a secret, some time later. */
  readonly labelSecret: (namespace: string, name: string, label: string, value: string) => void;
}

/** The 401 of an invalid token. The message never contains the token or a part of its signature. */
export const invalidToken = (message: string): StatusError => new StatusError(401, 'Unauthorized', message);
