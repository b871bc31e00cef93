import { isIP } from 'node:net';
import type { networkInterfaces } from 'node:os';
import { readIp } from '../meta/index.ts';
import type { ServerSettings } from './flags.ts';

export type Interfaces = ReturnType<typeof networkInterfaces>;

/**
 * Under which address others reach the server: the one of the settings, or else the one where it listens, or else the
 * first of the machine that others can reach, of the family of its services if there is one. Undefined: there is none.
 */
export function advertisedAddress(
  settings: Pick<ServerSettings, 'advertiseAddress' | 'bindAddress' | 'serviceClusterIpRange'>,
  interfaces: Interfaces,
): string | undefined {
  const { advertiseAddress, bindAddress, serviceClusterIpRange } = settings;
  const given = advertiseAddress ?? bindAddress;
  if (isReachable(given)) return given;
  const addresses = Object.values(interfaces)
    .flatMap((list) => list ?? [])
    .filter(({ internal, address }) => !internal && isReachable(address))
    .map(({ address }) => address);
  const family = isIP(serviceClusterIpRange[0]?.address ?? '');
  return addresses.find((address) => isIP(address) === family) ?? addresses[0];
}

/** Neither a loopback nor a link-local address, and not the one that stands for all. */
function isReachable(address: string): boolean {
  const ip = readIp(address);
  if (ip === undefined || ip.bits === 0n) return false;
  return ip.size === 32
    ? ip.bits >> 24n !== 127n && ip.bits >> 16n !== 0xa9fen
    : ip.bits !== 1n && ip.bits >> 118n !== 0x3fan;
}
