import { isIP } from 'node:net';
import type { networkInterfaces } from 'node:os';
import { readIp } from '../../meta/index.ts';
import type { ServerSettings } from '../settings/flags.ts';

export type Interfaces = ReturnType<typeof networkInterfaces>;

/**
 * Returns the address that the server advertises: --advertise-address, else --bind-address if others can reach it, else the
 * first reachable address of the host, preferably of the primary service IP family. Undefined when there is none.
 */
export function advertisedAddress(
  settings: Pick<ServerSettings, 'advertiseAddress' | 'bindAddress' | 'serviceClusterIpRange'>,
  interfaces: Interfaces,
): string | undefined {
  const { advertiseAddress, bindAddress, serviceClusterIpRange } = settings;
  const configuredAddress = advertiseAddress ?? bindAddress;
  if (isReachable(configuredAddress)) return configuredAddress;
  const addresses = Object.values(interfaces)
    .flatMap((list) => list ?? [])
    .filter(({ internal, address }) => !internal && isReachable(address))
    .map(({ address }) => address);
  const family = isIP(serviceClusterIpRange[0]?.address ?? '');
  return addresses.find((address) => isIP(address) === family) ?? addresses[0];
}

/** Not loopback, link-local or unspecified. */
function isReachable(address: string): boolean {
  const ip = readIp(address);
  if (ip === undefined || ip.bits === 0n) return false;
  return ip.size === 32
    ? ip.bits >> 24n !== 127n && ip.bits >> 16n !== 0xa9fen
    : ip.bits !== 1n && ip.bits >> 118n !== 0x3fan;
}
