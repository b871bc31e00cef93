/** IP addresses and prefixes by the rules and with the messages of Go's net/netip. */
import { type IpNumber, quote } from '../../meta/index.ts';

export class AddressError extends Error {}

/** An address and the length of its prefix; host bits may be set. */
export interface Prefix {
  readonly address: IpNumber;
  readonly bits: number;
}

/** The bits of an IPv6 address, also of one that maps an IPv4 address, and its zone, which is empty in most. */
interface ParsedAddress {
  readonly address: IpNumber;
  readonly zone: string;
}

/** @throws AddressError */
export function parseAddress(text: string): ParsedAddress {
  const [mark] = /[.:%]/.exec(text) ?? [];
  if (mark === '.') return { address: { bits: parseQuad(text, text), size: 32 }, zone: '' };
  if (mark === ':') return parseIpv6(text);
  throw wrong(text, mark === '%' ? 'missing IPv6 address' : 'unable to parse IP');
}

function wrong(text: string, why: string, at = ''): AddressError {
  return new AddressError(`ParseAddr(${quote(text)}): ${why}${at === '' ? '' : ` (at ${quote(at)})`}`);
}

/** The 32 bits of `1.2.3.4`, which is all or the end of the text. */
function parseQuad(text: string, quad: string): bigint {
  let bits = 0n;
  let dots = 0;
  let value = 0;
  let digits = 0;
  for (let i = 0; i < quad.length; i++) {
    const character = quad.charAt(i);
    if (character >= '0' && character <= '9') {
      if (digits === 1 && value === 0) throw wrong(text, 'IPv4 field has octet with leading zero');
      value = value * 10 + Number(character);
      digits++;
      if (value > 255) throw wrong(text, 'IPv4 field has value >255');
    } else if (character === '.') {
      if (digits === 0 || i === quad.length - 1) {
        throw wrong(text, 'IPv4 field must have at least one digit', quad.slice(i));
      }
      if (dots === 3) throw wrong(text, 'IPv4 address too long');
      bits = bits * 256n + BigInt(value);
      dots++;
      value = 0;
      digits = 0;
    } else throw wrong(text, 'unexpected character', quad.slice(i));
  }
  if (dots < 3) throw wrong(text, 'IPv4 address too short');
  return bits * 256n + BigInt(value);
}

function parseIpv6(text: string): ParsedAddress {
  const percent = text.indexOf('%');
  const zone = percent < 0 ? '' : text.slice(percent + 1);
  if (percent >= 0 && zone === '') throw wrong(text, 'zone must be a non-empty string');
  let rest = percent < 0 ? text : text.slice(0, percent);
  const words: bigint[] = [];
  let ellipsis = -1;
  if (rest.startsWith('::')) {
    ellipsis = 0;
    rest = rest.slice(2);
  }
  while (words.length < 8 && rest !== '') {
    const [hex = ''] = /^[0-9a-fA-F]{0,5}/.exec(rest) ?? [];
    if (hex.length > 4) throw wrong(text, 'each group must have 4 or less digits', rest);
    if (hex === '') throw wrong(text, 'each colon-separated field must have at least one digit', rest);
    if (rest.charAt(hex.length) === '.') {
      if (ellipsis < 0 && words.length !== 6) {
        throw wrong(text, 'embedded IPv4 address must replace the final 2 fields of the address', rest);
      }
      if (words.length > 6) {
        throw wrong(text, 'too many hex fields to fit an embedded IPv4 at the end of the address', rest);
      }
      const quad = parseQuad(text, rest);
      words.push(quad >> 16n, quad & 0xffffn);
      rest = '';
      break;
    }
    words.push(BigInt(`0x${hex}`));
    rest = rest.slice(hex.length);
    if (rest === '') break;
    if (!rest.startsWith(':')) throw wrong(text, 'unexpected character, want colon', rest);
    if (rest === ':') throw wrong(text, 'colon must be followed by more characters', rest);
    rest = rest.slice(1);
    if (!rest.startsWith(':')) continue;
    if (ellipsis >= 0) throw wrong(text, 'multiple :: in address', rest);
    ellipsis = words.length;
    rest = rest.slice(1);
  }
  if (rest !== '') throw wrong(text, 'trailing garbage after address', rest);
  return { address: { bits: joinWords(text, words, ellipsis), size: 128 }, zone };
}

/** Joins the words into 128 bits, with zeros in place of the ellipsis. */
function joinWords(text: string, words: readonly bigint[], ellipsis: number): bigint {
  const missing = 8 - words.length;
  if (missing > 0 && ellipsis < 0) throw wrong(text, 'address string too short');
  if (missing === 0 && ellipsis >= 0) throw wrong(text, 'the :: must expand to at least one field of zeros');
  const zeros = Array<bigint>(missing).fill(0n);
  const all = missing === 0 ? words : [...words.slice(0, ellipsis), ...zeros, ...words.slice(ellipsis)];
  return all.reduce((bits, word) => (bits << 16n) | word, 0n);
}

/** @throws AddressError */
export function parsePrefix(text: string): Prefix {
  const bad = (why: string) => new AddressError(`netip.ParsePrefix(${quote(text)}): ${why}`);
  const slash = text.lastIndexOf('/');
  if (slash < 0) throw bad("no '/'");
  const { address, zone } = parseWithErrors(text.slice(0, slash), bad);
  if (zone !== '') throw bad('IPv6 zones cannot be present in a prefix');
  const digits = text.slice(slash + 1);
  // Go reads at most 64 bits.
  if (!/^(?:0|[1-9][0-9]{0,18})$/.test(digits)) throw bad(`bad bits after slash: ${quote(digits)}`);
  const bits = Number(digits);
  if (bits > address.size) throw bad('prefix length out of range');
  return { address, bits };
}

function parseWithErrors(text: string, bad: (why: string) => AddressError): ParsedAddress {
  try {
    return parseAddress(text);
  } catch (error) {
    if (error instanceof AddressError) throw bad(error.message);
    throw error;
  }
}

/** Whether an IPv6 address maps an IPv4 address: `::ffff:1.2.3.4`. */
export const mapsIpv4 = ({ bits, size }: IpNumber): boolean => size === 128 && bits >> 32n === 0xffffn;

/** Returns the address without the bits after a prefix. */
export const network = ({ bits, size }: IpNumber, length: number): IpNumber => {
  const host = BigInt(size - length);
  return { bits: (bits >> host) << host, size };
};
