/** Certificate requests of tests. */
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { addressBytes } from '../../meta/index.ts';
import { der } from '../der.ts';
import { formatPem } from '../pem.ts';

export interface TestRequest {
  /** Attributes by their object identifiers, each a relative name of its own. */
  readonly subject?: readonly (readonly [oid: string, value: string])[];
  readonly dns?: readonly string[];
  readonly emails?: readonly string[];
  readonly ips?: readonly string[];
  readonly uris?: readonly string[];
  /** Default: a new ECDSA key. */
  readonly key?: KeyObject;
}

export const commonName = (value: string) => ['2.5.4.3', value] as const;
export const organization = (value: string) => ['2.5.4.10', value] as const;

/** A signed request in PEM. */
export function certificateRequest({
  subject = [],
  dns = [],
  emails = [],
  ips = [],
  uris = [],
  key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
}: TestRequest): string {
  const names = [
    ...dns.map((name) => der.implicit(2, Buffer.from(name))),
    ...emails.map((name) => der.implicit(1, Buffer.from(name))),
    ...ips.map((name) => der.implicit(7, addressBytes(name))),
    ...uris.map((name) => der.implicit(6, Buffer.from(name))),
  ];
  const extension = der.sequence(der.objectId('2.5.29.17'), der.octets(der.sequence(...names)));
  const extensions = der.sequence(der.objectId('1.2.840.113549.1.9.14'), der.set(der.sequence(extension)));
  const info = der.sequence(
    der.unsigned(Buffer.from([0])),
    der.sequence(...subject.map(([type, value]) => der.set(der.sequence(der.objectId(type), der.utf8(value))))),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    der.explicit(0, ...(names.length === 0 ? [] : [extensions])),
  );
  const algorithm = der.sequence(der.objectId('1.2.840.10045.4.3.2'));
  const request = der.sequence(info, algorithm, der.bitString(sign('sha256', info, key)));
  return formatPem('CERTIFICATE REQUEST', request);
}
