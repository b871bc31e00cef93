/** Which addresses of a block services may have, and in which order they are tried. */
import { type Cidr, type IpNumber, type Random, readIp } from '../meta/index.ts';

export interface AddressRange {
  readonly family: 'IPv4' | 'IPv6';
  readonly size: IpNumber['size'];
  /** The address of the block itself, which nobody has. */
  readonly base: bigint;
  readonly first: bigint;
  readonly last: bigint;
  /** From here on addresses are given out first; those before are meant for who asks for a certain one. */
  readonly dynamic: bigint;
}

/** The part that is kept for certain addresses: a sixteenth of the block, from 16 to 256 of them. */
const reserved = { least: 16n, most: 256n, share: 16n };

export function rangeOf({ address, prefix }: Cidr): AddressRange | undefined {
  const start = readIp(address);
  if (start === undefined) return undefined;
  const { bits: base, size } = start;
  const count = 1n << BigInt(size - prefix);
  // The last address of an IPv4 block means all of it.
  const last = base + count - (size === 32 ? 2n : 1n);
  const share = count / reserved.share;
  const kept = share < reserved.least ? reserved.least : share > reserved.most ? reserved.most : share;
  const first = base + 1n;
  return {
    family: size === 32 ? 'IPv4' : 'IPv6',
    size,
    base,
    first,
    last,
    dynamic: count <= reserved.least ? first : first + kept,
  };
}

export const holds = ({ size, first, last }: AddressRange, address: IpNumber): boolean =>
  address.size === size && address.bits >= first && address.bits <= last;

/** Every address of the range once: from somewhere in the upper part around, then from somewhere in the lower one. */
export function* candidates({ first, last, dynamic }: AddressRange, random: Random): Generator<bigint> {
  yield* around(dynamic, last, random);
  yield* around(first, dynamic - 1n, random);
}

function* around(from: bigint, to: bigint, random: Random): Generator<bigint> {
  if (to < from) return;
  const start = from + below(to - from + 1n, random);
  for (let at = start; at <= to; at++) yield at;
  for (let at = from; at < start; at++) yield at;
}

/** A random number below the limit; numbers above 2^60 are as good as any other. */
function below(limit: bigint, random: Random): bigint {
  const half = 1 << 30;
  return ((BigInt(random.integer(half)) << 30n) | BigInt(random.integer(half))) % limit;
}
