import { type ResourcePlace, statusError } from '../meta/index.ts';

/** Parameters of a URL; names and values are percent-decoded. */
export type Query = Pick<URLSearchParams, 'get' | 'getAll' | 'has' | 'size'>;

/** What a path below `/api/<version>` or `/apis/<group>/<version>` names. Absent parts are empty. */
export interface ResourcePath extends ResourcePlace {
  /** What follows the subresource, without the slash between. */
  readonly rest: string;
}

export interface RequestInfo {
  /** Percent-decoded, without query. */
  readonly path: string;
  readonly query: Query;
  /** The verb that is authorized: `get`, `list`, `deletecollection`…; the method in lower case for a path that is no resource. */
  readonly verb: string;
  /** Undefined for a path that is no resource. */
  readonly resource: ResourcePath | undefined;
}

const noQuery: Query = new URLSearchParams();
const verbs: { readonly [method: string]: string } = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};
// Subresources of a namespace; below any other second part, a namespace holds resources.
const namespaceSubresources = new Set(['status', 'finalize']);

/** Reads method and URL. Throws a 400 StatusError for a URL that cannot be decoded. */
export function identify(method: string, url: string): RequestInfo {
  const target = url.startsWith('/') ? url : originForm(url);
  const mark = target.indexOf('?');
  const path = decodePath(mark < 0 ? target : target.slice(0, mark));
  const query = mark < 0 ? noQuery : new URLSearchParams(target.slice(mark + 1));
  const parts = path.split('/');
  if (parts[parts.length - 1] === '') parts.pop();
  const start = parts[1] === 'api' ? 2 : parts[1] === 'apis' ? 3 : 0;
  // Neither a document such as `/apis/apps/v1` nor a path with an empty part names a resource.
  if (start === 0 || parts.length < start + 2 || parts.indexOf('', 1) > 0) {
    return { path, query, verb: method.toLowerCase(), resource: undefined };
  }
  const group = start === 2 ? '' : (parts[2] ?? '');
  return identifyResource(method, path, query, group, parts, start);
}

function identifyResource(
  method: string,
  path: string,
  query: Query,
  group: string,
  parts: readonly string[],
  start: number,
): RequestInfo {
  let next = start + 1;
  const watchPath = parts[next] === 'watch' && parts.length > next + 1;
  if (watchPath) next += 1;
  let namespace = '';
  if (parts[next] === 'namespaces' && parts.length > next + 1) {
    namespace = parts[next + 1] as string;
    if (parts.length > next + 2 && !namespaceSubresources.has(parts[next + 2] as string)) next += 2;
  }
  const name = parts[next + 1] ?? '';
  const subresource = parts[next + 2] ?? '';
  const resource: ResourcePath = {
    group,
    version: parts[start] as string,
    namespace,
    resource: parts[next] as string,
    name,
    subresource,
    rest: parts.length > next + 3 ? parts.slice(next + 3).join('/') : '',
  };
  return { path, query, verb: resourceVerb(method, query, name, subresource, watchPath), resource };
}

function resourceVerb(method: string, query: Query, name: string, subresource: string, watchPath: boolean): string {
  const verb = verbs[method] ?? method.toLowerCase();
  if (watchPath) return 'watch';
  if (verb === 'get' && subresource === '') {
    if (query !== noQuery && isTrue(query.get('watch'))) return 'watch';
    return name === '' ? 'list' : 'get';
  }
  return verb === 'delete' && name === '' ? 'deletecollection' : verb;
}

/** How a boolean parameter is read: given and neither `false` nor `0` is true, even when it has no value. */
function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

function decodePath(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch (cause) {
    throw statusError.badRequest('the path of the request is not percent-encoded UTF-8', cause);
  }
}

/** The path and query of an absolute URL, as a client may send it to a proxy. */
function originForm(url: string): string {
  const absolute = /^https?:\/\/[^/?#]*/i.exec(url);
  if (absolute === null) return url;
  const rest = url.slice(absolute[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}
