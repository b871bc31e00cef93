import { quote } from './quote.ts';
import { type StatusError, statusError } from './status-error.ts';

/** The authenticated user of a request (spec/access.md, "What the service does" 4). */
export interface User {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: { readonly [key: string]: readonly string[] };
}

/** What the names of users begin with that are nodes. */
export const nodePrefix = 'system:node:';

/** The name of the node that a user is, which may be empty; undefined for other users. */
export const nodeOf = ({ name, groups }: User): string | undefined =>
  name.startsWith(nodePrefix) && groups.includes('system:nodes') ? name.slice(nodePrefix.length) : undefined;

/**
 * Sets an annotation of the audit events of a request; the first value of a key stays. `level`: events of a lower level do
 * not show it.
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

/** What an authorizer was asked: `path` is that of a request for no resource. */
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
