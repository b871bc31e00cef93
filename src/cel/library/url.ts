/** URLs: `url('https://example.com:80/')` and their parts. */
import { expressionTypes } from '../../meta/index.ts';
import { unbounded } from '../cost/range.ts';
import type { Library } from '../library.ts';
import { boolType, listType, mapType, opaqueType, stringType } from '../types.ts';
import { CelError, EntriesValue, ListValue, OpaqueValue, type Value } from '../values.ts';
import { reading, scaled, sizeOf, stringFactor } from './costs.ts';
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

export class UrlValue extends OpaqueValue {
  readonly typeName = urlType.name;
  readonly url: ParsedUrl;

  constructor(url: ParsedUrl) {
    super();
    this.url = url;
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof UrlValue && formatUrl(this.url) === formatUrl(other.url);
  }
}

/** @throws CelError */
function urlOf(text: string): UrlValue {
  try {
    // A fragment is part of the path or the query to the first parser, which alone requires an absolute URI.
    parseRequestUri(text);
    return new UrlValue(parseUrl(text));
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

const own = (value: Value): ParsedUrl => (value as UrlValue).url;

const query = (value: Value): Value =>
  new EntriesValue([...queryParameters(own(value))].map(([key, values]) => [key, new ListValue(values)]));

const accessor = (id: string, read: (url: ParsedUrl) => string) =>
  methodOf(id, [urlType], stringType, (value) => read(own(value)));

export const urlLibrary: Library = {
  name: `${expressionTypes}.urls`,
  functions: {
    url: [
      functionOf('string_to_url', [stringType], urlType, (text) => urlOf(text as string), {
        cost: reading().cost,
        estimate: (args) => ({ cost: scaled(sizeOf(args, 0), stringFactor), resultSize: sizeOf(args, 0) }),
      }),
    ],
    isURL: [functionOf('is_url_string', [stringType], boolType, isUrl)],
    getScheme: [accessor('url_get_scheme', ({ scheme }) => scheme)],
    getHost: [accessor('url_get_host', ({ host }) => host)],
    getHostname: [accessor('url_get_hostname', ({ host }) => splitHost(host).host)],
    getPort: [accessor('url_get_port', ({ host }) => splitHost(host).port)],
    getEscapedPath: [accessor('url_get_escaped_path', escapedPath)],
    getQuery: [methodOf('url_get_query', [urlType], mapType(stringType, listType(stringType)), query)],
  },
};
