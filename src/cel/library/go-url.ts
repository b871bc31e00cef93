/**
 * URLs by the rules of Go's net/url, which decide what `isURL` and the format `uri` accept; those of the WHATWG accept
 * and normalize more.
 */
import { quote } from '../../meta/index.ts';

/** The parts of a URL, each as it was written where not said otherwise. */
export interface ParsedUrl {
  /** In lower case; empty: the URL is a path. */
  readonly scheme: string;
  /** The text after a scheme without `/`, as in `mailto:a@b`. */
  readonly opaque: string;
  /** Undefined: none; decoded. */
  readonly user: { readonly name: string; readonly password: string | undefined } | undefined;
  /** The host and the port, decoded. */
  readonly host: string;
  /** `scheme:/path` was written without `//`. */
  readonly omitsHost: boolean;
  readonly path: string;
  /** Undefined: no `?`. */
  readonly query: string | undefined;
  readonly fragment: string;
}

class UrlError extends Error {}

/**
 * Parses an absolute URI or an absolute path; a `#` is not special.
 * @throws Error `parse "…": why`
 */
export const parseRequestUri = (text: string): ParsedUrl => withUrlInErrors(text, () => parse(text, true));

/**
 * Parses a URL with its fragment.
 * @throws Error `parse "…": why`
 */
export function parseUrl(text: string): ParsedUrl {
  const mark = text.indexOf('#');
  const main = mark < 0 ? text : text.slice(0, mark);
  const url = withUrlInErrors(main, () => parse(main, false));
  if (mark < 0) return url;
  const fragment = text.slice(mark + 1);
  withUrlInErrors(text, () => decode(fragment, 'fragment'));
  return { ...url, fragment };
}

function withUrlInErrors<T>(text: string, parsed: () => T): T {
  try {
    return parsed();
  } catch (error) {
    if (error instanceof UrlError) throw new Error(`parse ${quote(text)}: ${error.message}`);
    throw error;
  }
}

function parse(text: string, viaRequest: boolean): ParsedUrl {
  if (hasControl(text)) throw new UrlError('net/url: invalid control character in URL');
  if (text === '' && viaRequest) throw new UrlError('empty url');
  const url = { scheme: '', opaque: '', user: undefined, host: '', omitsHost: false, fragment: '' };
  if (text === '*') return { ...url, path: '*', query: undefined };
  if (text.startsWith(':')) throw new UrlError('missing protocol scheme');
  const [before = '', written = ''] = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text) ?? [];
  const scheme = written.toLowerCase();
  const [rest, query] = cut(text.slice(before.length), '?');
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { ...url, scheme, opaque: rest, path: '', query };
    if (viaRequest) throw new UrlError('invalid URI for request');
    if (cut(rest, '/')[0].includes(':')) throw new UrlError('first path segment in URL cannot contain colon');
  }
  const hasAuthority = rest.startsWith('//') && (scheme !== '' || (!viaRequest && !rest.startsWith('///')));
  if (!hasAuthority) {
    decode(rest, 'path');
    return { ...url, scheme, omitsHost: scheme !== '', path: rest, query };
  }
  const end = rest.indexOf('/', 2);
  const path = end < 0 ? '' : rest.slice(end);
  const authority = parseAuthority(end < 0 ? rest.slice(2) : rest.slice(2, end));
  decode(path, 'path');
  return { ...url, scheme, ...authority, path, query };
}

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

/** The text before the first separator and the text after it; undefined: there is none. */
function cut(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function parseAuthority(authority: string): Pick<ParsedUrl, 'user' | 'host'> {
  const at = authority.lastIndexOf('@');
  const host = parseHost(authority.slice(at + 1));
  if (at < 0) return { user: undefined, host };
  const userinfo = authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(userinfo)) throw new UrlError('net/url: invalid userinfo');
  const [name, password] = cut(userinfo, ':');
  return {
    user: { name: decode(name, 'user'), password: password === undefined ? undefined : decode(password, 'user') },
    host,
  };
}

function parseHost(host: string): string {
  if (!host.startsWith('[')) {
    const colon = host.lastIndexOf(':');
    if (colon >= 0) checkPort(host.slice(colon));
    return decode(host, 'host');
  }
  const end = host.lastIndexOf(']');
  if (end < 0) throw new UrlError("missing ']' in host");
  checkPort(host.slice(end + 1));
  const zone = host.slice(0, end).indexOf('%25');
  if (zone < 0) return decode(host, 'host');
  return decode(host.slice(0, zone), 'host') + decode(host.slice(zone, end), 'zone') + decode(host.slice(end), 'host');
}

const isPort = (text: string): boolean => /^(?::[0-9]*)?$/.test(text);

function checkPort(text: string): void {
  if (!isPort(text)) throw new UrlError(`invalid port ${quote(text)} after host`);
}

/** The host without port and brackets, and the port. */
export function splitHost(hostPort: string): { readonly host: string; readonly port: string } {
  const colon = hostPort.lastIndexOf(':');
  const hasPort = colon >= 0 && isPort(hostPort.slice(colon));
  const host = hasPort ? hostPort.slice(0, colon) : hostPort;
  return {
    host: host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host,
    port: hasPort ? hostPort.slice(colon + 1) : '',
  };
}

/** The parts of a URL, by what is written in them without an escape. */
type Part = 'path' | 'user' | 'host' | 'zone' | 'query' | 'fragment';

/** The characters other than letters and digits that a part contains unescaped. */
const plain: { readonly [part in Part]: ReadonlySet<number> } = {
  path: codesOf('-_.~$&+,/:;=@'),
  user: codesOf('-_.~$&+,;='),
  host: codesOf('-_.~!$&\'()*+,;=:[]<>"'),
  zone: codesOf('-_.~!$&\'()*+,;=:[]<>"'),
  query: codesOf('-_.~'),
  fragment: codesOf('-_.~$&+,/:;=?@!()*'),
};

function codesOf(characters: string): ReadonlySet<number> {
  return new Set(Buffer.from(characters));
}

const isPlain = (code: number, part: Part): boolean =>
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x30 && code <= 0x39) ||
  plain[part].has(code);

/** Replaces the escapes of a part. Bytes that are not UTF-8 become U+FFFD. */
function decode(text: string, part: Part): string {
  if (part === 'host' || part === 'zone') checkHost(text, part);
  else
    for (let at = text.indexOf('%'); at >= 0; at = text.indexOf('%', at + 3)) checkEscape(text.slice(at, at + 3), part);
  const spaced = part === 'query' ? text.replaceAll('+', ' ') : text;
  return spaced.includes('%') ? decodeBytes(spaced).toString() : spaced;
}

function checkHost(text: string, part: Part): void {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x25) {
      checkEscape(text.slice(i, i + 3), part);
      i += 2;
    } else if (code < 0x80 && !isPlain(code, part)) {
      throw new UrlError(`invalid character ${quote(text.charAt(i))} in host name`);
    }
  }
}

function checkEscape(sequence: string, part: Part): void {
  const code = /^%[0-9a-fA-F]{2}$/.test(sequence) ? Number.parseInt(sequence.slice(1), 16) : Number.NaN;
  const allowed =
    // A host escapes other than ASCII characters only; a zone what it could contain anyway, and spaces.
    (part !== 'host' && part !== 'zone') ||
    sequence === '%25' ||
    (part === 'host' ? code >= 0x80 : code === 0x20 || isPlain(code, 'zone'));
  if (Number.isNaN(code) || !allowed) throw new UrlError(`invalid URL escape ${quote(sequence)}`);
}

/** The bytes of a text whose escapes are valid. */
function decodeBytes(text: string): Buffer {
  const bytes = Buffer.from(text);
  let size = 0;
  for (let i = 0; i < bytes.length; i++) {
    const isEscape = bytes[i] === 0x25;
    bytes[size++] = isEscape ? nibble(bytes[i + 1]) * 16 + nibble(bytes[i + 2]) : (bytes[i] as number);
    if (isEscape) i += 2;
  }
  return bytes.subarray(0, size);
}

/** The value of a hexadecimal digit. */
const nibble = (code = 0): number => (code & 0xf) + (code >= 0x41 ? 9 : 0);

function encodeBytes(bytes: Uint8Array, part: Part): string {
  let text = '';
  for (const byte of bytes) {
    text += isPlain(byte, part) ? String.fromCharCode(byte) : hex(byte);
  }
  return text;
}

const hex = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
const encode = (text: string, part: Part): string => encodeBytes(Buffer.from(text), part);

/** The path with all escapes that it needs: as written when it has them. */
export const escapedPath = ({ path }: ParsedUrl): string =>
  /^[A-Za-z0-9\-_.~$&+,/:;=@!'()*[\]%]*$/.test(path) ? path : encodeBytes(decodeBytes(path), 'path');

const escapedFragment = (fragment: string): string =>
  /^[A-Za-z0-9\-_.~$&+,/:;=?@!'()*[\]%]*$/.test(fragment) ? fragment : encodeBytes(decodeBytes(fragment), 'fragment');

/** The parameters of the query in their order; those that cannot be decoded are left out. */
export function queryParameters({ query = '' }: ParsedUrl): Map<string, string[]> {
  const parameters = new Map<string, string[]>();
  for (const setting of query.split('&')) {
    if (setting === '' || setting.includes(';')) continue;
    const [key, value] = cut(setting, '=').map((part = '') => tryDecode(part));
    if (key === undefined || value === undefined) continue;
    const values = parameters.get(key);
    if (values === undefined) parameters.set(key, [value]);
    else values.push(value);
  }
  return parameters;
}

function tryDecode(text: string): string | undefined {
  try {
    return decode(text, 'query');
  } catch {
    return undefined;
  }
}

/** Formats a URL. Equal URLs have equal texts. */
export function formatUrl(url: ParsedUrl): string {
  const { scheme, opaque, user, host, query, fragment } = url;
  let text = scheme === '' ? '' : `${scheme}:`;
  if (opaque !== '') text += opaque;
  else {
    const path = escapedPath(url);
    const hasAuthority = host !== '' || user !== undefined;
    if (hasAuthority || (scheme !== '' && !url.omitsHost && path !== '')) text += '//';
    if (user !== undefined) {
      const password = user.password === undefined ? '' : `:${encode(user.password, 'user')}`;
      text += `${encode(user.name, 'user')}${password}@`;
    }
    text += encode(host, 'host') + path;
  }
  if (query !== undefined) text += `?${query}`;
  return fragment === '' ? text : `${text}#${escapedFragment(fragment)}`;
}
