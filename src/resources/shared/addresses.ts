/** Validation of IP addresses and CIDRs, and warnings for them. */
import {
  cidr,
  type FieldError,
  fieldError,
  formatCidr,
  formatIp,
  type IpNumber,
  ipAddress,
  type Names,
  parseCidr,
  parseNetwork,
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
  const range = readRange(value);
  if (range === undefined) return [];
  const { address, prefix } = range;
  const start = startOf(range);
  const best = JSON.stringify(formatCidr({ address: formatIp({ ...address, bits: start }), prefix }));
  if (start !== address.bits) {
    const single = JSON.stringify(`${formatIp(address)}/${address.size}`);
    return [
      `${path}: CIDR value ${JSON.stringify(value)} is ambiguous in this context (should be ${best} or ${single}?)`,
    ];
  }
  if (!value.includes(':') || best === JSON.stringify(value)) return [];
  return [`${path}: IPv6 CIDR value ${JSON.stringify(value)} should be in RFC 5952 canonical format (${best})`];
}

/** The family of an IP address or CIDR; undefined when the text is neither. */
export function familyOf(text: string): Family | undefined {
  const size = readIp(text.split('/', 1)[0] ?? '')?.size;
  return size === undefined ? undefined : size === 32 ? 'IPv4' : 'IPv6';
}

/** Whether the addresses include both families. */
export const isDualStack = (texts: readonly string[]): boolean => new Set(texts.map(familyOf)).size === 2;

/** A CIDR with its address as a number; the address may have host bits. */
interface Range {
  readonly address: IpNumber;
  readonly prefix: number;
}

function readRange(text: string): Range | undefined {
  const cidr = parseCidr(text);
  const address = cidr && readIp(cidr.address);
  return address && { address, prefix: cidr.prefix };
}

const hostBits = ({ address, prefix }: Range): bigint => BigInt(address.size - prefix);

/** The first address of a range. */
const startOf = (range: Range): bigint => (range.address.bits >> hostBits(range)) << hostBits(range);

const contains = (range: Range | undefined, { bits, size }: IpNumber): boolean =>
  range !== undefined &&
  size === range.address.size &&
  bits >> hostBits(range) === range.address.bits >> hostBits(range);

/** Whether a CIDR range is a proper part of another. Both must be valid. */
export function isWithin(inner: string, outer: string): boolean {
  const [part, whole] = [readRange(inner), readRange(outer)];
  return part !== undefined && whole !== undefined && contains(whole, part.address) && part.prefix > whole.prefix;
}

export const validateIp = (field: string, value: string): FieldError[] => byRule(field, value, ipAddress);
export const validateCidr = (field: string, value: string): FieldError[] => byRule(field, value, cidr);

/** No address or network is longer. */
const longestText = 64;

/** The text with its leading zeros removed from decimal numbers, which some parsers read as octal. */
const withoutZeros = (text: string): string =>
  text.length > longestText ? text : text.replace(/(?<![\d:a-f])0+(?=\d)(?![\d]*[:a-f])/gi, '');

/** Requires the only form of an IP address that names it. */
export function canonicalAddress(text: string): string[] {
  const wrong = ipAddress(text);
  if (wrong.length > 0) return ipAddress(withoutZeros(text)).length === 0 ? ['must not have leading 0s'] : wrong;
  const address = readIp(text) as IpNumber;
  if (address.size === 32 && text.includes(':')) return ['must not be an IPv4-mapped IPv6 address'];
  return canonicalForm(text, formatIp(address));
}

/** Requires the only form of a network that names it. */
export function canonicalNetwork(text: string): string[] {
  const range = parseCidr(text);
  if (range === undefined) {
    const isPadded = parseCidr(withoutZeros(text)) !== undefined;
    return isPadded ? ['must not have leading 0s in IP or prefix length'] : cidr(text);
  }
  const address = readIp(range.address) as IpNumber;
  if (address.size === 32 && text.includes(':')) return ['must not have an IPv4-mapped IPv6 address'];
  if (parseNetwork(text) === undefined) return ['must not have bits set beyond the prefix length'];
  return canonicalForm(text, formatCidr({ address: formatIp(address), prefix: range.prefix }));
}

const canonicalForm = (text: string, form: string): string[] =>
  text === form ? [] : [`must be in canonical form (${JSON.stringify(form)})`];

const special: readonly (readonly [ranges: readonly string[], why: string])[] = [
  [['127.0.0.0/8', '::1/128'], 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  [['169.254.0.0/16', 'fe80::/10'], 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  [['224.0.0.0/24', 'ff02::/16'], 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
];

/** Rejects unspecified, loopback and link-local addresses. */
export function validatePublicIp(field: string, value: string): FieldError[] {
  const address = readIp(value);
  if (address === undefined) return [fieldError.invalid(field, value, 'must be a valid IP address')];
  const errors = address.bits === 0n ? [fieldError.invalid(field, value, `may not be unspecified (${value})`)] : [];
  for (const [ranges, why] of special) {
    if (ranges.some((range) => contains(readRange(range), address))) errors.push(fieldError.invalid(field, value, why));
  }
  return errors;
}
