/** Validation of IP addresses and CIDRs, and warnings for them. */
import {
  cidr,
  type FieldError,
  fieldError,
  formatIp,
  type IpNumber,
  ipAddress,
  type Names,
  readIp,
} from '../../meta/index.ts';
import { byRule } from './field-rules.ts';

type Family = 'IPv4' | 'IPv6';

/** Warnings for an IP address that is not in canonical form. */
export function addressWarnings(path: string, value: string, { product }: Names): string[] {
  const address = readIp(value);
  if (address === undefined || !value.includes(':')) return [];
  const best = JSON.stringify(formatIp(address));
  if (address.size === 32) {
    const server = product.charAt(0).toUpperCase() + product.slice(1);
    return [
      `${path}: non-standard IP address ${JSON.stringify(value)} will be considered invalid in a future ${server} release: use ${best}`,
    ];
  }
  if (best === JSON.stringify(value)) return [];
  return [`${path}: IPv6 address ${JSON.stringify(value)} should be in RFC 5952 canonical format (${best})`];
}

/** Warnings for a CIDR that is not in canonical form or has host bits set. */
export function cidrWarnings(path: string, value: string): string[] {
  const [text = '', length = ''] = value.split('/');
  const address = readIp(text);
  if (address === undefined) return [];
  const rest = BigInt(address.size - Number(length));
  const start = { ...address, bits: (address.bits >> rest) << rest };
  const best = JSON.stringify(`${formatIp(start)}/${length}`);
  if (start.bits !== address.bits) {
    const single = JSON.stringify(`${formatIp(address)}/${address.size}`);
    return [
      `${path}: CIDR value ${JSON.stringify(value)} is ambiguous in this context (should be ${best} or ${single}?)`,
    ];
  }
  if (!text.includes(':') || best === JSON.stringify(value)) return [];
  return [`${path}: IPv6 CIDR value ${JSON.stringify(value)} should be in RFC 5952 canonical format (${best})`];
}

/** The family of an IP address or CIDR; undefined when the text is neither. */
export function familyOf(text: string): Family | undefined {
  const size = readIp(text.split('/')[0] ?? '')?.size;
  return size === undefined ? undefined : size === 32 ? 'IPv4' : 'IPv6';
}

/** Whether the addresses include both families. */
export const isDualStack = (texts: readonly string[]): boolean => new Set(texts.map(familyOf)).size === 2;

/** A CIDR. */
interface Range {
  readonly size: number;
  readonly start: bigint;
  /** The number of host bits. */
  readonly rest: bigint;
}

/** Parses a CIDR; undefined when the text does not begin with an IP address. */
function readRange(text: string): Range | undefined {
  const [address = '', length = ''] = text.split('/');
  const found = readIp(address);
  if (found === undefined) return undefined;
  const rest = BigInt(found.size - Number(length));
  return { size: found.size, start: found.bits >> rest, rest };
}

const lies = ({ bits, size }: IpNumber, range: Range | undefined): boolean =>
  range !== undefined && size === range.size && bits >> range.rest === range.start;

/** Whether a valid CIDR lies within another one and is smaller. */
export function isWithin(inner: string, outer: string): boolean {
  const [address = '', length = ''] = inner.split('/');
  const found = readIp(address);
  return found !== undefined && lies(found, readRange(outer)) && Number(length) > Number(outer.split('/')[1]);
}

/** Whether a valid CIDR has no host bits set. */
export function isAligned(range: string): boolean {
  const [address = '', length = ''] = range.split('/');
  const found = readIp(address);
  if (found === undefined) return false;
  const rest = BigInt(found.size - Number(length));
  return (found.bits >> rest) << rest === found.bits;
}

export const validateIp = (field: string, value: string): FieldError[] => byRule(field, value, ipAddress);
export const validateCidr = (field: string, value: string): FieldError[] => byRule(field, value, cidr);

const special: readonly (readonly [ranges: readonly (Range | undefined)[], why: string])[] = [
  [['127.0.0.0/8', '::1/128'].map(readRange), 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  [['169.254.0.0/16', 'fe80::/10'].map(readRange), 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  [
    ['224.0.0.0/24', 'ff02::/16'].map(readRange),
    'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
  ],
];

/** Rejects unspecified, loopback and link-local addresses. */
export function validatePublicIp(field: string, value: string): FieldError[] {
  const address = readIp(value);
  if (address === undefined) return [fieldError.invalid(field, value, 'must be a valid IP address')];
  const found = address.bits === 0n ? [fieldError.invalid(field, value, `may not be unspecified (${value})`)] : [];
  for (const [ranges, why] of special) {
    if (ranges.some((range) => lies(address, range))) found.push(fieldError.invalid(field, value, why));
  }
  return found;
}
