/** Networks in CIDR notation: `cidr('192.0.2.0/24')` and what they contain. */

import { expressionTypes, formatIp, type IpNumber, quote } from '../../meta/index.ts';
import { fixed, scale, sum } from '../cost/range.ts';
import type { EstimatedArgument, Library, Range } from '../library.ts';
import { boolType, intType, opaqueType, stringType } from '../types.ts';
import { CelError, OpaqueValue, type Value } from '../values.ts';
import { type Costs, reading, readingCost, sizeOf, stringFactor } from './costs.ts';
import { AddressError, mapsIpv4, network, type Prefix, parsePrefix } from './go-address.ts';
import { IpValue, ipOf, ipType, isIp } from './ip.ts';
import { functionOf, methodOf, succeeds } from './overloads.ts';

const cidrType = opaqueType('net.CIDR');

class CidrValue extends OpaqueValue {
  readonly typeName = cidrType.name;
  readonly prefix: Prefix;

  constructor(prefix: Prefix) {
    super();
    this.prefix = prefix;
  }

  /** Host bits count: `192.0.2.1/24` is not `192.0.2.0/24`. */
  equals(other: OpaqueValue): boolean {
    if (!(other instanceof CidrValue)) return false;
    const { address, bits } = other.prefix;
    return (
      bits === this.prefix.bits &&
      address.bits === this.prefix.address.bits &&
      address.size === this.prefix.address.size
    );
  }

  contains({ bits, size }: IpNumber): boolean {
    const { address, bits: length } = this.prefix;
    return size === address.size && network({ bits, size }, length).bits === network(address, length).bits;
  }
}

const failure = 'network address parse error during conversion from string';

/** @throws CelError */
function cidrOf(text: string): CidrValue {
  try {
    const prefix = parsePrefix(text);
    if (!mapsIpv4(prefix.address)) return new CidrValue(prefix);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw new CelError(`${failure}: ${failure}: ${error.message}`);
  }
  throw new CelError(`${failure}: IPv4-mapped IPv6 address ${quote(text)} is not allowed`);
}

const isCidr = succeeds((text) => cidrOf(text as string));

const own = (value: Value): CidrValue => value as CidrValue;

const containsIp = (value: Value, ip: Value): boolean => own(value).contains((ip as IpValue).address);

function containsIpText(value: Value, text: Value): boolean {
  if (!isIp(text)) throw new CelError('no such overload');
  return containsIp(value, ipOf(text as string));
}

function containsCidr(value: Value, other: CidrValue): boolean {
  const { address, bits } = other.prefix;
  return own(value).prefix.bits <= bits && own(value).contains(address);
}

function mask(value: Value): CidrValue {
  const { address, bits } = own(value).prefix;
  return new CidrValue({ address: network(address, bits), bits });
}

const format = ({ prefix }: CidrValue): string => `${formatIp(prefix.address)}/${prefix.bits}`;

/** The cost of comparing the bytes of a prefix `times` times. */
const comparing = (value: Value, times: number): number =>
  Math.ceil(Math.ceil(own(value).prefix.bits / 8) * times * stringFactor);

/** The bytes of an address. */
const addressSize: Range = { min: 4, max: 16 };
const comparison: Range = scale(sum(addressSize, addressSize), stringFactor);
/** A comparison of prefixes masks one of them and compares their lengths. */
const prefixComparison: Range = sum(comparison, scale(addressSize, stringFactor), fixed(1));

const textEstimate = (args: readonly EstimatedArgument[]): Range => scale(sizeOf(args, 1), stringFactor);

const ipCosts: Costs = {
  cost: ([value]) => comparing(value as Value, 2),
  estimate: () => ({ cost: comparison }),
};
const ipTextCosts: Costs = {
  cost: (args) => comparing(args[0] as Value, 2) + readingCost(args, 1),
  estimate: (args) => ({ cost: sum(comparison, textEstimate(args)) }),
};
const cidrCosts: Costs = {
  cost: ([value]) => comparing(value as Value, 2) + comparing(value as Value, 1) + 1,
  estimate: () => ({ cost: prefixComparison }),
};
const cidrTextCosts: Costs = {
  cost: (args) => cidrCosts.cost(args, null) + readingCost(args, 1),
  estimate: (args) => ({ cost: sum(prefixComparison, textEstimate(args)) }),
};

export const cidrLibrary: Library = {
  name: `${expressionTypes}.net.cidr`,
  types: { [cidrType.name]: cidrType },
  functions: {
    cidr: [functionOf('string_to_cidr', [stringType], cidrType, (text) => cidrOf(text as string), reading())],
    isCIDR: [functionOf('is_cidr', [stringType], boolType, isCidr, reading())],
    containsIP: [
      methodOf('cidr_contains_ip_string', [cidrType, stringType], boolType, containsIpText, ipTextCosts),
      methodOf('cidr_contains_ip_ip', [cidrType, ipType], boolType, containsIp, ipCosts),
    ],
    containsCIDR: [
      methodOf(
        'cidr_contains_cidr_string',
        [cidrType, stringType],
        boolType,
        (value, text) => containsCidr(value, cidrOf(text as string)),
        cidrTextCosts,
      ),
      methodOf(
        'cidr_contains_cidr',
        [cidrType, cidrType],
        boolType,
        (value, other) => containsCidr(value, own(other)),
        cidrCosts,
      ),
    ],
    ip: [methodOf('cidr_ip', [cidrType], ipType, (value) => new IpValue(own(value).prefix.address))],
    prefixLength: [methodOf('cidr_prefix_length', [cidrType], intType, (value) => own(value).prefix.bits)],
    masked: [methodOf('cidr_masked', [cidrType], cidrType, mask)],
    string: [functionOf('cidr_to_string', [cidrType], stringType, (value) => format(own(value)))],
  },
};
