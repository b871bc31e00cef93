/** URLs: `url('https://example.com:80/')` and their parts. */
import { atOnce, expressionTypes, Pace, type Steps } from '../../meta/index.ts';
import { scale, unbounded } from '../cost/range.ts';
import type { Library } from '../library.ts';
import { checkListSize } from '../result-limits.ts';
import { boolType, listType, mapType, opaqueType, stringType } from '../types.ts';
import { CelError, EntriesValue, ListValue, OpaqueValue, type Value } from '../values.ts';
import { longCost, reading, readingLong, sizeOf, stringFactor } from './costs.ts';
import {
  escapedPath,
  formatUrl,
  type ParsedUrl,
  parseRequestUri,
  parseUrl,
  queryParameters,
  splitHost,
} from './go-url.ts';
import { functionOf, methodOf } from './overloads.ts';

const urlType = opaqueType(`${expressionTypes}.URL`, unbounded);

/** A URL. The results of its functions are computed once, because a call costs 1 however long the URL is. */
export class UrlValue extends OpaqueValue {
  readonly typeName = urlType.name;
  readonly url: ParsedUrl;
  readonly #length: number;
  #text: string | undefined;
  #path: string | undefined;
  #host: { readonly host: string; readonly port: string } | undefined;
  #query: EntriesValue | undefined;

  constructor(url: ParsedUrl, length: number) {
    super();
    this.url = url;
    this.#length = length;
  }

  get text(): string {
    this.#text ??= formatUrl(this.url);
    return this.#text;
  }

  get path(): string {
    this.#path ??= escapedPath(this.url);
    return this.#path;
  }

  get host(): { readonly host: string; readonly port: string } {
    this.#host ??= splitHost(this.url.host);
    return this.#host;
  }

  /** @throws CelError for too many parameters */
  *query(): Steps<EntriesValue> {
    if (this.#query !== undefined) return this.#query;
    const query = new EntriesValue([]);
    const pace = new Pace();
    for (const [key, values] of yield* queryParameters(this.url, checkListSize)) {
      if (pace.over()) yield;
      query.add(key, new ListValue(values));
    }
    this.#query = query;
    return query;
  }

  override get size(): number {
    return longCost(this.#length);
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof UrlValue && this.text === other.text;
  }
}

/** @throws CelError */
function urlOf(text: string): UrlValue {
  try {
    // A fragment is part of the path or the query to the first parser, which alone requires an absolute URI.
    parseRequestUri(text);
    return new UrlValue(parseUrl(text), text.length);
  } catch (error) {
    throw new CelError(`URL parse error during conversion from string: ${(error as Error).message}`);
  }
}

function isUrl(text: Value): boolean {
  try {
    parseRequestUri(text as string);
    return true;
  } catch {
    return false;
  }
}

const accessor = (id: string, read: (url: UrlValue) => string) =>
  methodOf(id, [urlType], stringType, (value) => read(value as UrlValue));

const queryOf = (value: Value): Steps<Value> => (value as UrlValue).query();

export const urlLibrary: Library = {
  name: `${expressionTypes}.urls`,
  functions: {
    url: [
      functionOf('string_to_url', [stringType], urlType, (text) => urlOf(text as string), {
        cost: reading().cost,
        estimate: (args) => ({ cost: scale(sizeOf(args, 0), stringFactor), resultSize: sizeOf(args, 0) }),
      }),
    ],
    isURL: [functionOf('is_url_string', [stringType], boolType, isUrl, readingLong)],
    getScheme: [accessor('url_get_scheme', ({ url }) => url.scheme)],
    getHost: [accessor('url_get_host', ({ url }) => url.host)],
    getHostname: [accessor('url_get_hostname', ({ host }) => host.host)],
    getPort: [accessor('url_get_port', ({ host }) => host.port)],
    getEscapedPath: [accessor('url_get_escaped_path', ({ path }) => path)],
    getQuery: [
      methodOf(
        'url_get_query',
        [urlType],
        mapType(stringType, listType(stringType)),
        (value) => atOnce(queryOf(value)),
        { steps: queryOf },
      ),
    ],
  },
};
