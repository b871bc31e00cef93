import { isIP } from 'node:net';
import { isBase64, isDate, isDateTime, isUuid } from '../../meta/index.ts';
import { durationOf } from '../durations.ts';

/** The maximum length of an address. */
const MAX_LENGTH = 256;

type Format = (text: string) => boolean;

const matches =
  (pattern: RegExp): Format =>
  (text) =>
    pattern.test(text);

/** The formats of strings that are validated, their names without hyphens. All others are ignored. */
const stringFormats: ReadonlyMap<string, Format> = new Map<string, Format>([
  ['bsonobjectid', matches(/^[0-9a-f]{24}$/i)],
  ['uri', isRequestUri],
  ['email', isEmail],
  ['hostname', isHostname],
  ['ipv4', (text) => text.includes('.') && isIP(withoutLeadingZeros(text)) !== 0 && !text.includes('%')],
  ['ipv6', (text) => text.includes(':') && isIP(text) !== 0 && !text.includes('%')],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uuid', isUuid],
  ['uuid3', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ['uuid4', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['uuid5', matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', (text) => text.length === 11 && /^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$/.test(text)],
  ['hexcolor', matches(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i)],
  ['rgbcolor', isRgbColor],
  ['byte', isBase64],
  ['password', () => true],
  ['date', isDate],
  ['duration', (text) => durationOf(text) !== undefined],
  ['datetime', isDateTime],
]);

const numberFormats: { readonly [type: string]: readonly string[] } = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

/** The format of a schema as validation sees it: empty when it is not one of the type. `types` of int-or-string are two. */
export function knownFormat(format: string, types: readonly string[]): string {
  const type = types.length === 1 ? (types[0] as string) : '';
  if (type === '' || type === 'string') return stringFormats.has(format.replaceAll('-', '')) ? format : '';
  return numberFormats[type]?.includes(format) === true ? format : '';
}

/** The check of strings in a format; undefined for a format of other types. */
export const stringFormat = (format: string): Format | undefined => stringFormats.get(format.replaceAll('-', ''));

/** Numbers of IPv4 addresses may have leading zeros. */
const withoutLeadingZeros = (address: string) =>
  address.length > MAX_LENGTH ? '' : address.replace(/(^|[.:])0+(?=[0-9]+(?:\.|$))/g, '$1');

function isCidr(text: string): boolean {
  const [, address = '', bits = ''] = /^([^/%]*)\/([0-9]{1,6})$/.exec(text) ?? [];
  const version = isIP(address.includes('.') ? withoutLeadingZeros(address) : address);
  return version !== 0 && Number(bits) <= (version === 4 ? 32 : 128);
}

/** 6, 8 or 20 bytes, in pairs of digits with `:` or `-` or in groups of four with `.`. */
function isMac(text: string): boolean {
  const pairs = /^[0-9a-f]{2}(?:(:[0-9a-f]{2})+|(-[0-9a-f]{2})+)$/i.test(text);
  if (pairs) return [6, 8, 20].includes((text.length + 1) / 3);
  return /^[0-9a-f]{4}(?:\.[0-9a-f]{4})+$/i.test(text) && [6, 8, 20].includes(((text.length + 1) / 5) * 2);
}

const digitSum = (digits: string, weight: (i: number) => number) =>
  Array.from(digits).reduce((sum, digit, i) => sum + weight(i) * (digit === 'X' ? 10 : Number(digit)), 0);

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '');
  return /^[0-9]{9}[0-9X]$/.test(digits) && digitSum(digits, (i) => i + 1) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '');
  return /^[0-9]{13}$/.test(digits) && digitSum(digits, (i) => (i % 2 === 0 ? 1 : 3)) % 10 === 0;
}

const cards =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9]{2})[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})$/;

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '');
  if (!cards.test(digits)) return false;
  const fromEnd = Array.from(digits).reverse().map(Number);
  const sum = fromEnd.reduce((total, digit, i) => total + (i % 2 === 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0)), 0);
  return sum % 10 === 0;
}

function isRgbColor(text: string): boolean {
  const parts = /^rgb\(\s*([0-9]{1,3})\s*,\s*([0-9]{1,3})\s*,\s*([0-9]{1,3})\s*\)$/.exec(text)?.slice(1) ?? [];
  return parts.length === 3 && parts.every((part) => String(Number(part)) === part && Number(part) <= 255);
}

const label = /^[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?$/u;
const singleLabel = /^[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?$/u;
const topLevel = /^[a-zA-Z\p{L}]{2,63}$/u;

/** An Internet host name; other letters and symbols than those of ASCII are accepted. */
function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255) return false;
  const labels = text.split('.');
  if (labels.some((part) => Buffer.byteLength(part) > 63)) return false;
  const last = labels.pop() as string;
  if (labels.length === 0) return singleLabel.test(last);
  return topLevel.test(last) && labels.every((part) => label.test(part));
}

const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\u0080-\\u{10ffff}-]+";
const quoted = '"(?:[^"\\\\\\u0000-\\u0008\\u000a-\\u001f\\u007f]|\\\\[\\t\\u0020-\\u{10ffff}])*"';
const address = `(?:${atom}(?:\\.${atom})*|${quoted})@(?:${atom}(?:\\.${atom})*|\\[[0-9A-Fa-f.:]+\\])`;
const plainAddress = new RegExp(`^[ \\t]*${address}[ \\t]*$`, 'u');
const namedAddress = new RegExp(`^(?:${atom.slice(0, -1)}|[ \\t.]|${quoted})*<[ \\t]*${address}[ \\t]*>[ \\t]*$`, 'u');

/** The maximum length of an address: each character is compared with many character classes. */
const maxAddressLength = 65_536;

/** An address of RFC 5322, alone or behind a name: `Ann <ann@example.com>`. */
function isEmail(text: string): boolean {
  if (text.length > maxAddressLength) return false;
  return (text.includes('<') ? namedAddress : plainAddress).test(text);
}

/** An absolute URI or an absolute path, without regard to a fragment. */
function isRequestUri(text: string): boolean {
  if (text === '*') return true;
  // Control characters are refused.
  if (/[^ -~\u0080-\u{10ffff}]/u.test(text)) return false;
  const [, scheme = '', rest = ''] = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(.*)$/s.exec(text) ?? [];
  if (!rest.startsWith('/')) return scheme !== '';
  const query = rest.indexOf('?');
  const hierarchy = query < 0 ? rest : rest.slice(0, query);
  const [, authority, path = ''] = /^(?:\/\/([^/]*))?(.*)$/s.exec(hierarchy) ?? [];
  const hasAuthority = authority !== undefined && scheme !== '';
  if (hasAuthority && !isAuthority(authority)) return false;
  return isEscaped(hasAuthority ? path : hierarchy);
}

const isEscaped = (text: string) => !/%(?![0-9a-fA-F]{2})/.test(text);

function isAuthority(authority: string): boolean {
  const end = authority.lastIndexOf('@');
  const user = authority.slice(0, Math.max(end, 0));
  const host = authority.slice(end + 1);
  if (!/^[A-Za-z0-9._:~!$&'()*+,;=%@-]*$/.test(user) || !isEscaped(user)) return false;
  if (host.startsWith('[')) return /^\[[0-9a-fA-F.:]+(?:%25[^\]]*)?\](?::[0-9]*)?$/.test(host);
  // Of escapes, only those of other characters than ASCII.
  return /^(?:[^ "<>\\^`{|}%/?#:]|%[89a-fA-F][0-9a-fA-F])*(?::[0-9]*)?$/.test(host);
}
