/** IP addresses: `ip('192.0.2.1')` and their classes. */
import { expressionTypes, formatIp, type IpNumber, quote } from '../../meta/index.ts';
import type { Library } from '../library.ts';
import { boolType, intType, opaqueType, stringType } from '../types.ts';
import { CelError, OpaqueValue, type Value } from '../values.ts';
import { reading } from './costs.ts';
import { AddressError, mapsIpv4, parseAddress } from './go-address.ts';
import { functionOf, methodOf, succeeds } from './overloads.ts';

export const ipType = opaqueType('net.IP');

export class IpValue extends OpaqueValue {
  readonly typeName = ipType.name;
  readonly address: IpNumber;

  constructor(address: IpNumber) {
    super();
    this.address = address;
  }

  equals(other: OpaqueValue): boolean {
    return (
      other instanceof IpValue && other.address.bits === this.address.bits && other.address.size === this.address.size
    );
  }
}

/** @throws CelError */
export function ipOf(text: string): IpValue {
  const { address, zone } = parsed(text);
  if (zone !== '') throw new CelError(`IP address ${quote(text)} with zone value is not allowed`);
  if (mapsIpv4(address)) throw new CelError(`IPv4-mapped IPv6 address ${quote(text)} is not allowed`);
  return new IpValue(address);
}

function parsed(text: string): ReturnType<typeof parseAddress> {
  try {
    return parseAddress(text);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw new CelError(`IP Address ${quote(text)} parse error during conversion from string: ${error.message}`);
  }
}

export const isIp = succeeds((text) => ipOf(text as string));

/** The first bits of an address, as a number. */
const first = ({ bits, size }: IpNumber, count: number): number => Number(bits >> BigInt(size - count));

const isUnspecified = ({ bits }: IpNumber): boolean => bits === 0n;
const isLoopback = (address: IpNumber): boolean =>
  address.size === 32 ? first(address, 8) === 127 : address.bits === 1n;
const isMulticast = (address: IpNumber): boolean =>
  address.size === 32 ? first(address, 4) === 0xe : first(address, 8) === 0xff;
const isLinkLocalMulticast = (address: IpNumber): boolean =>
  address.size === 32 ? first(address, 24) === 0xe00000 : (first(address, 16) & 0xff0f) === 0xff02;
const isLinkLocalUnicast = (address: IpNumber): boolean =>
  address.size === 32 ? first(address, 16) === 0xa9fe : first(address, 10) === 0x3fa;
const isBroadcast = ({ bits, size }: IpNumber): boolean => size === 32 && bits === 0xffffffffn;
const isGlobalUnicast = (address: IpNumber): boolean =>
  ![isUnspecified, isBroadcast, isLoopback, isMulticast, isLinkLocalUnicast].some((is) => is(address));

const own = (value: Value): IpNumber => (value as IpValue).address;

const question = (id: string, is: (address: IpNumber) => boolean) =>
  methodOf(id, [ipType], boolType, (value) => is(own(value)));

export const ipLibrary: Library = {
  name: `${expressionTypes}.net.ip`,
  types: { [ipType.name]: ipType },
  functions: {
    ip: [functionOf('string_to_ip', [stringType], ipType, (text) => ipOf(text as string), reading())],
    isIP: [functionOf('is_ip', [stringType], boolType, isIp, reading())],
    'ip.isCanonical': [
      functionOf(
        'ip_is_canonical',
        [stringType],
        boolType,
        (text) => formatIp(ipOf(text as string).address) === text,
        reading(2),
      ),
    ],
    family: [methodOf('ip_family', [ipType], intType, (value) => (own(value).size === 32 ? 4 : 6))],
    isUnspecified: [question('ip_is_unspecified', isUnspecified)],
    isLoopback: [question('ip_is_loopback', isLoopback)],
    isLinkLocalMulticast: [question('ip_is_link_local_multicast', isLinkLocalMulticast)],
    isLinkLocalUnicast: [question('ip_is_link_local_unicast', isLinkLocalUnicast)],
    isGlobalUnicast: [question('ip_is_global_unicast', isGlobalUnicast)],
    string: [functionOf('ip_to_string', [ipType], stringType, (value) => formatIp(own(value)))],
  },
};
