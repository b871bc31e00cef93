import { quote } from './quote.ts';
import { type StatusError, statusError } from './status-error.ts';

/** The authenticated user of a request (access.md, "What the service does" 4). */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: { readonly [key: string]: readonly string[] };
}

/** The prefix of the user names of nodes. */
export const nodePrefix = 'system:node:';

/** Returns the node name of a user; undefined for users that are not nodes. The name may be empty. */
export const nodeOf = ({ name, groups }: User): string | undefined =>
  name.startsWith(nodePrefix) && groups.includes('system:nodes') ? name.slice(nodePrefix.length) : undefined;

/**
 * Sets an annotation on the audit events of a request; the first value of a key wins. With `level`, events of a lower
 * level omit it.
 */
export type Annotate = (key: string, value: string, level?: 'Request') => void;

/** The target of a request: a collection, an object or a subresource. Absent parts are empty. */
export interface ResourcePlace {
  readonly group: string;
  readonly version: string;
  /** The plural name, as in the URL. */
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** The attributes of a denied request. `path` is set for requests without a resource. */
interface AccessAttributes {
  readonly user: User;
  readonly verb: string;
  readonly resource: ResourcePlace | undefined;
  readonly path: string;
}

/** The 403 for a request that an authorizer denied for `reason`, which may be empty. */
export function accessDenied({ user, verb, resource, path }: AccessAttributes, reason: string): StatusError {
  const who = `User ${quote(user.name)} cannot ${verb}`;
  const because = reason === '' ? '' : `: ${reason}`;
  if (resource === undefined) {
    return statusError.forbidden(undefined, '', escapeHtml(`${who} path ${quote(path)}`) + because);
  }
  const what = resource.subresource === '' ? resource.resource : `${resource.resource}/${resource.subresource}`;
  const where = resource.namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(resource.namespace)}`;
  const why = escapeHtml(`${who} resource ${quote(what)} in API group ${quote(resource.group)} ${where}`);
  return statusError.forbidden({ group: resource.group, resource: resource.resource }, resource.name, why + because);
}

const entities: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** The text in a form that no client takes for HTML. */
const escapeHtml = (text: string): string => text.replace(/[&<>]/g, (character) => entities[character] ?? '');
