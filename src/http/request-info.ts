import { type Attributes, selectorAttributes } from '../auth/index.ts';
import {
  pathSegmentName,
  type ResourcePlace,
  receiveSelectors,
  type Selectors,
  statusError,
  type User,
} from '../meta/index.ts';
import { readFlag } from '../registry/index.ts';
import type { RequestHeaders } from './types.ts';

/** Parameters of a URL; names and values are percent-decoded. */
export type Query = Pick<URLSearchParams, 'get' | 'getAll' | 'has' | 'size'>;

/** The parameters of these names that a query has. */
export function pickParameters(query: Query, names: readonly string[]): { [name: string]: string } {
  const parameters: { [name: string]: string } = {};
  for (const name of names) {
    const value = query.get(name);
    if (value !== null) parameters[name] = value;
  }
  return parameters;
}

/** The parts of a path below `/api/<version>` or `/apis/<group>/<version>`. Absent parts are empty. */
export interface ResourcePath extends ResourcePlace {
  /** The path after the subresource, without the slash. */
  readonly rest: string;
  /** The number of path segments up to and including the place of the subresource. */
  readonly depth: number;
}

export interface RequestInfo {
  /** Percent-decoded, without query. */
  readonly path: string;
  readonly query: Query;
  /**
   * The authorized verb: `get`, `list`, `deletecollection`…; the lower-case method for non-resource paths. Empty for a
   * method without a verb.
   */
  readonly verb: string;
  /** Undefined for non-resource paths. */
  readonly resource: ResourcePath | undefined;
  /** Whether a watch is asked for by the deprecated path `watch/`. */
  readonly watchPath: boolean;
  /** The selectors of a list, watch or deletecollection, parsed at the first use. Others have none. */
  readonly selectors: Selectors;
  /** The length of their texts (characters); 0 without selectors. */
  readonly selectorLength: number;
}

const noQuery: Query = new URLSearchParams();
const noSelectors: Selectors = {};
/** The info of a request whose URL has not been parsed. */
export const unknownRequest: RequestInfo = {
  path: '',
  query: noQuery,
  verb: '',
  resource: undefined,
  watchPath: false,
  selectors: noSelectors,
  selectorLength: 0,
};
const selecting: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection']);
const verbs = new Map([
  ['POST', 'create'],
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);
/** The methods of HTTP (RFC 9110, 9.3; RFC 5789). They are case-sensitive. */
const methods = new Set([...verbs.keys(), 'CONNECT', 'OPTIONS', 'TRACE']);
// Subresources of a namespace. Any other segment there names a resource in the namespace.
const namespaceSubresources = new Set(['status', 'finalize']);

/** Parses method and URL. Throws a 400 StatusError for a URL that cannot be decoded. */
export function identify(method: string, url: string): RequestInfo {
  const target = url.startsWith('/') ? url : originForm(url);
  const mark = target.indexOf('?');
  const sentPath = mark < 0 ? target : target.slice(0, mark);
  const path = sentPath.includes('%') ? decodePath(sentPath) : sentPath;
  const query = mark < 0 ? noQuery : new URLSearchParams(target.slice(mark + 1));
  const { resource, watchPath } = parsePath(path, url.length);
  if (resource === undefined) {
    const verb = methods.has(method) ? method.toLowerCase() : '';
    return { path, query, verb, resource, watchPath: false, selectors: noSelectors, selectorLength: 0 };
  }
  const { name, subresource } = resource;
  let verb = verbs.get(method) ?? '';
  if (watchPath) verb = 'watch';
  else if (verb === 'get' && subresource === '') {
    if (query !== noQuery && readFlag(query.get('watch') ?? undefined) === true) verb = 'watch';
    else if (name === '') verb = 'list';
  } else if (verb === 'delete' && name === '') verb = 'deletecollection';
  if (query.size > 0 && selecting.has(verb)) {
    const labels = query.get('labelSelector') ?? '';
    const fields = query.get('fieldSelector') ?? '';
    if (labels !== '' || fields !== '') {
      return new SelectingRequest({ path, query, verb, resource, watchPath }, labels, fields);
    }
  }
  return { path, query, verb, resource, watchPath, selectors: noSelectors, selectorLength: 0 };
}

type ParsedPath = Pick<RequestInfo, 'resource' | 'watchPath'>;

/** Recently parsed paths. Most requests repeat one, and parsing it again takes a fiftieth of a GET. */
const parsedPaths = new Map<string, ParsedPath>();
const maxParsedPaths = 1_000;
/** The longest URL whose path is kept (characters): the path may keep all of it in memory. */
const maxKeptUrl = 256;

/** Parses a path that was sent in a URL of this length. */
function parsePath(path: string, urlLength: number): ParsedPath {
  const known = parsedPaths.get(path);
  if (known !== undefined) return known;
  const parts = path.split('/');
  if (parts[parts.length - 1] === '') parts.pop();
  const start = parts[1] === 'api' ? 2 : parts[1] === 'apis' ? 3 : 0;
  // Discovery documents such as `/apis/apps/v1` and paths with empty segments are non-resource paths.
  const isResource = start > 0 && parts.length >= start + 2;
  const watchPath = isResource && parts[start + 1] === 'watch' && parts.length > start + 2;
  const parsed = { resource: isResource ? identifyResource(parts, start, watchPath) : undefined, watchPath };
  if (urlLength > maxKeptUrl) return parsed;
  if (parsedPaths.size === maxParsedPaths) parsedPaths.clear();
  parsedPaths.set(path, parsed);
  return parsed;
}

/** A request with selectors. */
class SelectingRequest implements RequestInfo {
  readonly path: string;
  readonly query: Query;
  readonly verb: string;
  readonly resource: ResourcePath | undefined;
  readonly watchPath: boolean;
  readonly selectorLength: number;
  readonly #labels: string;
  readonly #fields: string;
  #selectors: Selectors | undefined;

  /** `labels` and `fields`: the texts of its selectors. */
  constructor(
    { path, query, verb, resource, watchPath }: Omit<RequestInfo, 'selectors' | 'selectorLength'>,
    labels: string,
    fields: string,
  ) {
    this.path = path;
    this.query = query;
    this.verb = verb;
    this.resource = resource;
    this.watchPath = watchPath;
    this.selectorLength = labels.length + fields.length;
    this.#labels = labels;
    this.#fields = fields;
  }

  get selectors(): Selectors {
    this.#selectors ??= receiveSelectors(this.#labels, this.#fields);
    return this.#selectors;
  }
}

/** Undefined when a segment is empty; only those after a subresource may be. */
function identifyResource(parts: readonly string[], start: number, watchPath: boolean): ResourcePath | undefined {
  let next = watchPath ? start + 2 : start + 1;
  let namespace = '';
  if (parts[next] === 'namespaces' && parts.length > next + 1) {
    namespace = parts[next + 1] as string;
    if (parts.length > next + 2 && !namespaceSubresources.has(parts[next + 2] as string)) next += 2;
  }
  const empty = parts.indexOf('', 1);
  if (empty > 0 && empty < next + 3) return undefined;
  return {
    group: start === 2 ? '' : (parts[2] ?? ''),
    version: parts[start] as string,
    namespace,
    resource: parts[next] as string,
    name: parts[next + 1] ?? '',
    subresource: parts[next + 2] ?? '',
    rest: parts.length > next + 3 ? parts.slice(next + 3).join('/') : '',
    depth: next + 2,
  };
}

/**
 * The attributes for which a request is authorized and audited. A list or watch whose field selector requires a
 * `metadata.name` has that name. `withSelectors`: the feature gate `AuthorizeWithSelectors`.
 */
export function attributesOf(info: RequestInfo, user: User, withSelectors: boolean): Attributes {
  const { verb, path, resource, watchPath, selectors } = info;
  const { fieldSelector, labelSelector } = selectors;
  // The reference server ignores the selectors of watches by path: their form for one object does not support any.
  if (resource === undefined || watchPath || (fieldSelector === undefined && labelSelector === undefined)) {
    return { user, verb, resource, path };
  }
  const name = selectedName(info);
  const selected = name === undefined ? resource : { ...resource, name };
  return { user, verb, resource: selected, path, ...(withSelectors ? selectorAttributes(selectors) : {}) };
}

/** Undefined where the selectors require no name, require what is not a name, or cannot be parsed, which is an error later. */
function selectedName({ verb, resource, selectors }: RequestInfo): string | undefined {
  if (resource?.name !== '' || (verb !== 'list' && verb !== 'watch')) return undefined;
  if (selectors.labelSelector?.error !== undefined) return undefined;
  const name = selectors.fieldSelector?.selector?.requires('metadata.name') ?? '';
  return name === '' || pathSegmentName(name).length > 0 ? undefined : name;
}

/** Whether a request has impersonation headers. */
export function hasImpersonation(headers: RequestHeaders): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true;
  return false;
}

/** Splits a URL, as it was sent, after its subresource. */
export function splitAtRest(url: string, { resource }: RequestInfo): { before: string; rest: string } {
  const target = url.startsWith('/') ? url : originForm(url);
  let end = target.search(/[?]|$/);
  let depth = 0;
  for (const { index } of target.slice(0, end).matchAll(/\/|%2f/gi)) {
    if (depth === resource?.depth) {
      end = index;
      break;
    }
    depth += 1;
  }
  return { before: target.slice(0, end), rest: target.slice(end) };
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (cause) {
    throw statusError.badRequest('the path of the request is not percent-encoded UTF-8', cause);
  }
}

/** The path and query of a URL in absolute form, as clients send it to a proxy. */
function originForm(url: string): string {
  const absolute = /^https?:\/\/[^/?#]*/i.exec(url);
  if (absolute === null) return url;
  const rest = url.slice(absolute[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}
