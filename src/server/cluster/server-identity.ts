/** The identity of an API server among the servers of a store. */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Random } from '../../meta/index.ts';
import { defaultSettings, type ServerSettings } from '../settings/flags.ts';

/**
 * Returns `apiserver-` and a digest of the host name and of a port other than the default one, so that several servers of a
 * host differ. A server on a free port has a new identity at every start.
 */
export function createServerIdentity({ securePort }: Pick<ServerSettings, 'securePort'>, random: Random): string {
  const host = hostname();
  const port = securePort === 0 ? random.uuid() : String(securePort);
  const own = securePort === defaultSettings.securePort ? host : `${host}:${port}`;
  return `apiserver-${base32(createHash('sha256').update(own).digest().subarray(0, 16))}`;
}

/** Base32 (RFC 4648) in lower case, without padding. */
function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const digits = bits.match(/.{1,5}/g) ?? [];
  return digits.map((five) => 'abcdefghijklmnopqrstuvwxyz234567'[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
}
