/** The allocatable addresses of a service CIDR, and the order in which they are tried. */
import { type Cidr, type IpNumber, type Random, readIp } from '../meta/index.ts';

export interface AddressRange {
  readonly family: 'IPv4' | 'IPv6';
  readonly size: IpNumber['size'];
  /** The network address, which is never allocated. */
  readonly base: bigint;
  readonly first: bigint;
  readonly last: bigint;
  /** Start of the dynamic band, which is tried first; the static band before it is for requested addresses. */
  readonly dynamic: bigint;
}

/** Size of the static band: a sixteenth of the block, 16 to 256 addresses. */
const staticPart = { least: 16n, most: 256n, share: 16n };

export function rangeOf({ address, prefix }: Cidr): AddressRange | undefined {
  const start = readIp(address);
  if (start === undefined) return undefined;
  const { bits: base, size } = start;
  const count = 1n << BigInt(size - prefix);
  // The last address of an IPv4 block is the broadcast address.
  const last = base + count - (size === 32 ? 2n : 1n);
  const share = count / staticPart.share;
  const staticSize = share < staticPart.least ? staticPart.least : share > staticPart.most ? staticPart.most : share;
  const first = base + 1n;
  return {
    family: size === 32 ? 'IPv4' : 'IPv6',
    size,
    base,
    first,
    last,
    dynamic: count <= staticPart.least ? first : first + staticSize,
  };
}

export const holds = ({ size, first, last }: AddressRange, address: IpNumber): boolean =>
  address.size === size && address.bits >= first && address.bits <= last;

/** Every address once: the dynamic band from a random start, then the static band from a random start. */
export function* candidates({ first, last, dynamic }: AddressRange, random: Random): Generator<bigint> {
  yield* rotated(dynamic, last, random);
  yield* rotated(first, dynamic - 1n, random);
}

function* rotated(from: bigint, to: bigint, random: Random): Generator<bigint> {
  if (to < from) return;
  const start = from + randomBelow(to - from + 1n, random);
  for (let at = start; at <= to; at++) yield at;
  for (let at = from; at < start; at++) yield at;
}

/** A random number below the limit, from 60 random bits. */
function randomBelow(limit: bigint, random: Random): bigint {
  const half = 1 << 30;
  return ((BigInt(random.integer(half)) << 30n) | BigInt(random.integer(half))) % limit;
}
