/** Rules about IP addresses and ranges of them. */
import { isIPv4, isIPv6 } from 'node:net';
import { cidr, type FieldError, fieldError, ipAddress, type Names } from '../../meta/index.ts';
import { byRule } from '../core/pod-spec/findings.ts';

type Family = 'IPv4' | 'IPv6';

interface Address {
  readonly bits: bigint;
  readonly size: 32 | 128;
}

function read(text: string): Address | undefined {
  if (isIPv4(text)) {
    return { bits: text.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n), size: 32 };
  }
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const [head = '', tail] = canonicalIp(text).split('::');
  const groups = (part: string) => part.split(':').filter((group) => group !== '');
  const [first, last] = [groups(head), groups(tail ?? '')];
  const all = [...first, ...new Array<string>(8 - first.length - last.length).fill('0'), ...last];
  const bits = all.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
  // An IPv4 address may be written as the end of an IPv6 one.
  return bits >> 32n === 0xffffn ? { bits: bits & 0xffffffffn, size: 32 } : { bits, size: 128 };
}

/** The shortest way to write an address; the text itself when it is none. */
export function canonicalIp(text: string): string {
  return isIPv6(text) && !text.includes('%') ? new URL(`http://[${text}]/`).hostname.slice(1, -1) : text;
}

function format({ bits, size }: Address): string {
  const [width, joint, base] = size === 32 ? [8n, '.', 10] : ([16n, ':', 16] as const);
  const parts: string[] = [];
  for (let shift = BigInt(size) - width; shift >= 0n; shift -= width) {
    parts.push(((bits >> shift) & ((1n << width) - 1n)).toString(base));
  }
  return canonicalIp(parts.join(joint));
}

/** Advice on an address that is not in the form in which all write it. */
export function warnOfAddress(path: string, value: string, { product }: Names): string[] {
  const address = read(value);
  if (address === undefined || !value.includes(':')) return [];
  const best = JSON.stringify(format(address));
  if (address.size === 32) {
    const server = product.charAt(0).toUpperCase() + product.slice(1);
    return [
      `${path}: non-standard IP address ${JSON.stringify(value)} will be considered invalid in a future ${server} release: use ${best}`,
    ];
  }
  if (best === JSON.stringify(value)) return [];
  return [`${path}: IPv6 address ${JSON.stringify(value)} should be in RFC 5952 canonical format (${best})`];
}

/** The same for a range, and on one whose address has bits beyond its length. */
export function warnOfRange(path: string, value: string): string[] {
  const [text = '', length = ''] = value.split('/');
  const address = read(text);
  if (address === undefined) return [];
  const rest = BigInt(address.size - Number(length));
  const start = { ...address, bits: (address.bits >> rest) << rest };
  const best = JSON.stringify(`${format(start)}/${length}`);
  if (start.bits !== address.bits) {
    const single = JSON.stringify(`${format(address)}/${address.size}`);
    return [
      `${path}: CIDR value ${JSON.stringify(value)} is ambiguous in this context (should be ${best} or ${single}?)`,
    ];
  }
  if (!text.includes(':') || best === JSON.stringify(value)) return [];
  return [`${path}: IPv6 CIDR value ${JSON.stringify(value)} should be in RFC 5952 canonical format (${best})`];
}

/** Undefined when the text is neither an address nor a range. */
export function familyOf(text: string): Family | undefined {
  const size = read(text.split('/')[0] ?? '')?.size;
  return size === undefined ? undefined : size === 32 ? 'IPv4' : 'IPv6';
}

/** One of each family. */
export const isDualStack = (texts: readonly string[]): boolean => new Set(texts.map(familyOf)).size === 2;

const lies = ({ bits, size }: Address, range: string): boolean => {
  const [address = '', length = ''] = range.split('/');
  const whole = read(address);
  const shift = BigInt(size - Number(length));
  return whole !== undefined && whole.size === size && bits >> shift === whole.bits >> shift;
};

/** Whether a range is part of another, and not all of it. Takes both as valid. */
export function isWithin(inner: string, outer: string): boolean {
  const [address = '', length = ''] = inner.split('/');
  const found = read(address);
  return found !== undefined && lies(found, outer) && Number(length) > Number(outer.split('/')[1]);
}

/** A range whose address has no bits beyond its length. Takes it as valid. */
export function isAligned(range: string): boolean {
  const [address = '', length = ''] = range.split('/');
  const found = read(address);
  if (found === undefined) return false;
  const rest = BigInt(found.size - Number(length));
  return (found.bits >> rest) << rest === found.bits;
}

export const validateIp = (field: string, value: string): FieldError[] => byRule(field, value, ipAddress);
export const validateCidr = (field: string, value: string): FieldError[] => byRule(field, value, cidr);

const special: readonly (readonly [ranges: readonly string[], why: string])[] = [
  [['127.0.0.0/8', '::1/128'], 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  [['169.254.0.0/16', 'fe80::/10'], 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  [['224.0.0.0/24', 'ff02::/16'], 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
];

/** An address at which others can reach something. */
export function validatePublicIp(field: string, value: string): FieldError[] {
  const address = read(value);
  if (address === undefined) return [fieldError.invalid(field, value, 'must be a valid IP address')];
  const found = address.bits === 0n ? [fieldError.invalid(field, value, `may not be unspecified (${value})`)] : [];
  for (const [ranges, why] of special) {
    if (ranges.some((range) => lies(address, range))) found.push(fieldError.invalid(field, value, why));
  }
  return found;
}
