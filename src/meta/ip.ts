/** IP addresses and blocks of them. */
import { isIPv4, isIPv6 } from 'node:net';

/** An address as a number of `size` bits. */
export interface IpNumber {
  readonly bits: bigint;
  readonly size: 32 | 128;
}

/** The family of an address, 0 when it is invalid. In Node the pattern of IPv6 takes longer to compile than all others. */
function familyOf(text: string): 0 | 4 | 6 {
  if (isIPv4(text)) return 4;
  return text.includes(':') && isIPv6(text) ? 6 : 0;
}

/** Parses an address; undefined when it is invalid. An IPv6 address may end in IPv4 notation. */
export function readIp(text: string): IpNumber | undefined {
  const family = familyOf(text);
  if (family === 4) return { bits: BigInt(quadNumber(text)), size: 32 };
  if (family === 0 || text.includes('%')) return undefined;
  const bits = BigInt(`0x${addressBytes(text).toString('hex')}`);
  return bits >> 32n === 0xffffn ? { bits: bits & 0xffffffffn, size: 32 } : { bits, size: 128 };
}

/** The shortest notation of an address. */
export const formatIp = ({ bits, size }: IpNumber): string =>
  formatAddress(Buffer.from(bits.toString(16).padStart(size / 4, '0'), 'hex'));

/** Returns the shortest notation of an address, or an invalid text unchanged. */
export function canonicalIp(text: string): string {
  return familyOf(text) === 6 && !text.includes('%') ? new URL(`http://[${text}]/`).hostname.slice(1, -1) : text;
}

/** Returns the address of a socket. One that listens for both families shows that of an IPv4 client as `::ffff:192.0.2.1`. */
export const socketAddress = ({ remoteAddress = '' }: { readonly remoteAddress?: string | undefined }): string =>
  remoteAddress.replace(/^::ffff:(?=\d+\.)/i, '');

/**
 * Returns the addresses that one client can have, as a text: its IPv4 address, or the first 64 bits of its IPv6 address, the
 * smallest network that hosts are given (RFC 7421).
 */
export function clientNetwork(address: string): string {
  const [bare = ''] = address.split('%');
  return familyOf(bare) === 6 ? `${addressBytes(bare).toString('hex', 0, 8)}::/64` : address;
}

/** An address and the length of a prefix: the block of addresses that begin with the same bits. */
export interface Cidr {
  readonly address: string;
  readonly prefix: number;
}

/** Parses `10.0.0.0/24` or `fd00::/108`; undefined when the text is neither. The address may have host bits. */
export function parseCidr(text: string): Cidr | undefined {
  const [, address = '', digits] = /^([^/%]*)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const family = familyOf(address);
  if (family === 0) return undefined;
  const prefix = Number(digits);
  return prefix <= (family === 4 ? 32 : 128) ? { address, prefix } : undefined;
}

export const formatCidr = ({ address, prefix }: Cidr): string => `${address}/${prefix}`;

/** Parses the CIDR of a network; undefined when the address has host bits. */
export function parseNetwork(text: string): Cidr | undefined {
  const cidr = parseCidr(text);
  return cidr === undefined || hasHostBits(cidr) ? undefined : cidr;
}

const hasHostBits = ({ address, prefix }: Cidr): boolean =>
  addressBytes(address).some((byte, i) => (byte & (0xff >> Math.min(8, Math.max(0, prefix - i * 8)))) !== 0);

/** Returns the first address of a block that a service may use: the one after the network address. */
export function firstAddress({ address }: Cidr): string {
  const bytes = addressBytes(address);
  const last = bytes.length - 1;
  bytes[last] = (bytes[last] ?? 0) + 1;
  return formatAddress(bytes);
}

/** The 4 or 16 bytes of a valid address. */
export function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('::');
  const groups = (part: string) =>
    part === ''
      ? []
      : part.split(':').flatMap((group) => (group.includes('.') ? quad(group) : [Number.parseInt(group, 16)]));
  const start = groups(head);
  const end = groups(tail ?? '');
  const words = [...start, ...Array<number>(8 - start.length - end.length).fill(0), ...end];
  return Buffer.from(words.flatMap((word) => [word >> 8, word & 0xff]));
}

/** The 32 bits of a valid IPv4 address. */
function quadNumber(text: string): number {
  let bits = 0;
  let part = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x2e) {
      bits = bits * 256 + part;
      part = 0;
    } else part = part * 10 + code - 0x30;
  }
  return bits * 256 + part;
}

/** The same as two groups of an IPv6 address. */
function quad(text: string): number[] {
  const bits = quadNumber(text);
  return [Math.floor(bits / 65536), bits % 65536];
}

function formatAddress(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.');
  const words = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(i * 2).toString(16)).join(':');
  return new URL(`http://[${words}]`).hostname.slice(1, -1);
}
