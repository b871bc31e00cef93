/** The usages of certificate signing requests in certificates (RFC 5280, 4.2.1.3 and 4.2.1.12). */
import { statusError } from '../../meta/index.ts';

/** The bit of each usage. */
const bits: ReadonlyMap<string, number> = new Map([
  ['signing', 0],
  ['digital signature', 0],
  ['content commitment', 1],
  ['key encipherment', 2],
  ['data encipherment', 3],
  ['key agreement', 4],
  ['cert sign', 5],
  ['crl sign', 6],
  ['encipher only', 7],
  ['decipher only', 8],
]);

/** The object identifier of each extended usage, in the order in which certificates list them. */
const extended: ReadonlyMap<string, string> = new Map([
  ['any', '2.5.29.37.0'],
  ['server auth', '1.3.6.1.5.5.7.3.1'],
  ['client auth', '1.3.6.1.5.5.7.3.2'],
  ['code signing', '1.3.6.1.5.5.7.3.3'],
  ['email protection', '1.3.6.1.5.5.7.3.4'],
  ['s/mime', '1.3.6.1.5.5.7.3.4'],
  ['ipsec end system', '1.3.6.1.5.5.7.3.5'],
  ['ipsec tunnel', '1.3.6.1.5.5.7.3.6'],
  ['ipsec user', '1.3.6.1.5.5.7.3.7'],
  ['timestamping', '1.3.6.1.5.5.7.3.8'],
  ['ocsp signing', '1.3.6.1.5.5.7.3.9'],
  ['microsoft sgc', '1.3.6.1.4.1.311.10.3.3'],
  ['netscape sgc', '2.16.840.1.113730.4.1'],
]);

/** The key usage and the extended key usage of a certificate, each usage once. @throws StatusError for unknown usages */
export function keyUsages(usages: readonly string[]) {
  const unknown = usages.filter((usage) => !bits.has(usage) && !extended.has(usage));
  if (unknown.length > 0) throw statusError.internal(`unrecognized usage values: ${JSON.stringify(unknown)}`);
  return {
    keyUsage: [...new Set(usages.flatMap((usage) => bits.get(usage) ?? []))],
    extendedKeyUsage: [...new Set([...extended].filter(([usage]) => usages.includes(usage)).map(([, oid]) => oid))],
  };
}
