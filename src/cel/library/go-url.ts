/**
 * URLs by the rules of Go's net/url, which decide what `isURL` and the format `uri` accept; those of the WHATWG accept
 * and normalize more.
 */
import { Pace, quote, type Steps } from '../../meta/index.ts';

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

const hasControl = (text: string): boolean => /[\x00-\x1f\x7f]/.test(text);

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
type Part = 'path' | 'user' | 'host' | 'zone' | 'fragment';

const percent = 0x25;

/** The hexadecimal digits of a byte. */
const digitsOf = (code: number): string => code.toString(16).padStart(2, '0');

/** Whether a part contains a character unescaped (1), by its code below 256. */
const plain: { readonly [part in Part]: Uint8Array } = {
  path: alphanumericAnd('-_.~$&+,/:;=@'),
  user: alphanumericAnd('-_.~$&+,;='),
  host: alphanumericAnd('-_.~!$&\'()*+,;=:[]<>"'),
  zone: alphanumericAnd('-_.~!$&\'()*+,;=:[]<>"'),
  fragment: alphanumericAnd('-_.~$&+,/:;=?@!()*'),
};

/** Characters and escapes that are invalid in a host. A loop over the characters of a long text takes ten times as long. */
const invalidInHost = {
  host: invalidIn(plain.host, (code) => code >= 0x80),
  zone: invalidIn(plain.zone, (code) => code === 0x20 || plain.zone[code] === 1),
};

function invalidIn(isPlain: Uint8Array, mayBeEscaped: (code: number) => boolean): RegExp {
  const codes = Array.from({ length: 256 }, (_, code) => code);
  const characters = codes.filter((code) => isPlain[code] === 1 || code >= 0x80).map((code) => `\\x${digitsOf(code)}`);
  const escapes = codes.filter((code) => code === percent || mayBeEscaped(code)).map(digitsOf);
  return new RegExp(`[^%${characters.join('')}\\u0100-\\uffff]|%(?!${escapes.join('|')})`, 'i');
}

function alphanumericAnd(others: string): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => {
    const character = String.fromCharCode(code);
    return /[a-zA-Z0-9]/.test(character) || others.includes(character) ? 1 : 0;
  });
}

/** Replaces the escapes of a part. Bytes that are not UTF-8 become U+FFFD. */
function decode(text: string, part: Part): string {
  const problem = part === 'host' || part === 'zone' ? hostProblem(text, part) : escapeProblem(text);
  if (problem !== undefined) throw new UrlError(problem);
  return decodeValid(text);
}

/** Replaces the escapes of a text in which all are valid. */
const decodeValid = (text: string): string => (text.includes('%') ? decodeBytes(text).toString() : text);

/** Replaces the escapes of a part of a query, in which `+` is a space. */
const decodeSpaces = (text: string): string => decodeValid(text.replaceAll('+', ' '));

/** Why a text cannot be decoded, if it cannot. */
const escapeProblem = (text: string): string | undefined => problemAt(text, /%(?![0-9a-f]{2})/i);

/** A host escapes other than ASCII characters only, and `%`; a zone what it could contain anyway, and spaces. */
const hostProblem = (text: string, part: 'host' | 'zone'): string | undefined => problemAt(text, invalidInHost[part]);

function problemAt(text: string, invalid: RegExp): string | undefined {
  const at = text.search(invalid);
  if (at < 0) return undefined;
  if (text.charAt(at) === '%') return `invalid URL escape ${quote(text.slice(at, at + 3))}`;
  return `invalid character ${quote(text.charAt(at))} in host name`;
}

/** The bytes of a text whose escapes are valid. */
function decodeBytes(text: string): Buffer {
  const bytes = Buffer.from(text);
  let size = 0;
  for (let i = 0; i < bytes.length; i++) {
    const isEscape = bytes[i] === percent;
    bytes[size++] = isEscape ? nibble(bytes[i + 1]) * 16 + nibble(bytes[i + 2]) : (bytes[i] as number);
    if (isEscape) i += 2;
  }
  return bytes.subarray(0, size);
}

/** The value of a hexadecimal digit. */
const nibble = (code = 0): number => (code & 0xf) + (code >= 0x41 ? 9 : 0);

/** Bytes as text, with the escapes that a part needs. Appending characters to a long text takes a hundred times as long. */
function encodeBytes(bytes: Uint8Array, part: Part): string {
  const isPlain = plain[part];
  const encoded = Buffer.allocUnsafe(3 * bytes.length);
  let size = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (isPlain[byte] === 1) encoded[size++] = byte;
    else {
      encoded[size++] = percent;
      encoded[size++] = hexDigits[byte >> 4] as number;
      encoded[size++] = hexDigits[byte & 0xf] as number;
    }
  }
  return encoded.toString('latin1', 0, size);
}

const hexDigits = Buffer.from('0123456789ABCDEF');
const encode = (text: string, part: Part): string => encodeBytes(Buffer.from(text), part);

/** The path with all escapes that it needs: as written when it has them. */
export const escapedPath = ({ path }: ParsedUrl): string =>
  /^[A-Za-z0-9\-_.~$&+,/:;=@!'()*[\]%]*$/.test(path) ? path : encodeBytes(decodeBytes(path), 'path');

const escapedFragment = (fragment: string): string =>
  /^[A-Za-z0-9\-_.~$&+,/:;=?@!'()*[\]%]*$/.test(fragment) ? fragment : encodeBytes(decodeBytes(fragment), 'fragment');

/**
 * The parameters of the query in their order; those that cannot be decoded are left out. `check` is called with the number of
 * those read so far.
 */
export function* queryParameters(
  { query = '' }: ParsedUrl,
  check: (count: number) => void,
): Steps<Map<string, string[]>> {
  const parameters = new Map<string, string[]>();
  const pace = new Pace();
  let count = 0;
  for (let start = 0, end = 0; start < query.length; start = end + 1) {
    if (pace.over()) yield;
    end = query.indexOf('&', start);
    if (end < 0) end = query.length;
    const setting = query.slice(start, end);
    if (setting === '' || setting.includes(';')) continue;
    const [key, value = ''] = cut(setting, '=');
    if (escapeProblem(key) !== undefined || escapeProblem(value) !== undefined) continue;
    check(++count);
    const name = decodeSpaces(key);
    const values = parameters.get(name);
    if (values === undefined) parameters.set(name, [decodeSpaces(value)]);
    else values.push(decodeSpaces(value));
  }
  return parameters;
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
