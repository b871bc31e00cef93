import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { der } from './der.ts';
import { formatPem } from './pem.ts';
import {
  type Forged,
  type ForgedRequest,
  forge,
  judged,
  nameOf,
  newKey,
  ofAuthority,
  ofClient,
  says,
} from './testing/forge.ts';
import { TrustPool } from './trust-pool.ts';
import { extension, oid } from './x509.ts';

const second = 1_000;
const named = (commonName: string) => nameOf([oid.commonName, der.utf8(commonName)]);
const authority = (name: string, issuer?: Forged, more: Partial<ForgedRequest> = {}) =>
  forge({ subject: named(name), extensions: ofAuthority(), ...more }, issuer);
const client = (issuer?: Forged, more: Partial<ForgedRequest> = {}) =>
  forge({ extensions: ofClient(), ...more }, issuer);
const rsa = (modulusLength: number, publicExponent?: number) =>
  generateKeyPairSync('rsa', { modulusLength, ...(publicExponent && { publicExponent }) }).privateKey;

const root = authority('root');
const middle = authority('middle', root);
const pool = new TrustPool(formatPem('CERTIFICATE', root.certificate.raw));

const isTrusted = (chain: readonly Forged[], trusting = pool) =>
  trusting
    .validate(chain.map(({ certificate }) => certificate))
    .some(({ from, until }) => from <= judged && judged <= until);

/** A client below an authority that the root has signed. */
function below(more: Partial<ForgedRequest>): readonly Forged[] {
  const issuer = authority('middle', root, more);
  return [client(issuer), issuer];
}

/** An element whose length takes a byte more than DER allows, which OpenSSL reads nevertheless. */
function inBer(element: Buffer): Buffer {
  const header = element[1] ?? 0;
  const content = element.subarray(header < 0x80 ? 2 : 2 + (header & 0x7f));
  const length = Buffer.from([0x83, 0, content.length >> 8, content.length & 0xff]);
  return Buffer.concat([element.subarray(0, 1), length, content]);
}

const unknownCritical = () => extension('1.2.3.4.5', der.octets(Buffer.from('x')), true);
const names = (tree: number) =>
  extension(
    '2.5.29.30',
    der.sequence(der.explicit(tree, der.sequence(der.implicit(2, Buffer.from('a.example'))))),
    true,
  );

const forServersOnly = [says.noAuthority(), says.signsData(), says.forServers()];

const distrusted: readonly (readonly [string, () => readonly Forged[]])[] = [
  ['whose intermediate certificate is missing', () => [client(middle)]],
  ['whose intermediate certificate expired a second ago', () => below({ notAfter: judged - second })],
  ['whose intermediate certificate is not valid for another second', () => below({ notBefore: judged + second })],
  ['whose intermediate certificate is not an authority', () => below({ extensions: ofClient() })],
  ['whose intermediate certificate has no basic constraints', () => below({ extensions: [says.signsCertificates()] })],
  [
    'whose intermediate certificate may not sign certificates',
    () => below({ extensions: [says.authority(), says.signsData()] }),
  ],
  [
    'whose intermediate certificate is for servers only',
    () => below({ extensions: [...ofAuthority(), says.forServers()] }),
  ],
  ['whose intermediate certificate permits names', () => below({ extensions: [...ofAuthority(), names(0)] })],
  ['whose intermediate certificate excludes names', () => below({ extensions: [...ofAuthority(), names(1)] })],
  [
    'whose intermediate certificate has an unknown critical extension',
    () => below({ extensions: [...ofAuthority(), unknownCritical()] }),
  ],
  [
    'with more authorities than the path length of one above them',
    () => {
      const first = authority('first', root, { extensions: [says.authority(0), says.signsCertificates()] });
      const then = authority('then', first);
      return [client(then), then, first];
    },
  ],
  ['that expired a second ago', () => [client(root, { notAfter: judged - second })]],
  ['that is not valid for another second', () => [client(root, { notBefore: judged + second })]],
  ['that ends before it begins', () => [client(root, { notBefore: judged + second, notAfter: judged - second })]],
  ['that is for servers only', () => [client(root, { extensions: forServersOnly })]],
  ['with an unknown critical extension', () => [client(root, { extensions: [...ofClient(), unknownCritical()] })]],
  ['that signed itself with the subject of the authority', () => [client(undefined, { subject: root.subject })]],
  [
    'of an authority that has the subject of the root and another key',
    () => {
      const impostor = authority('root');
      return [client(impostor), impostor];
    },
  ],
  [
    'of an authority with the subject and the key identifier of the root',
    () => {
      const impostor = forge({ subject: root.subject, extensions: [...ofAuthority()], key: newKey() });
      return [client({ ...root, key: impostor.key }), impostor, root];
    },
  ],
  ['with a SHA-1 signature', () => [client(root, { digest: 'sha1' })]],
  ['whose intermediate certificate has a SHA-1 signature', () => below({ digest: 'sha1' })],
  ['whose intermediate certificate has an RSA key of 512 bits', () => below({ key: rsa(512) })],
  ['whose intermediate certificate has an RSA key of 1,023 bits', () => below({ key: rsa(1_023) })],
  // The exponent of a key decides how long a check of its signatures takes.
  ['whose intermediate certificate has an RSA exponent above 31 bits', () => below({ key: rsa(2_048, 2 ** 32 - 5) })],
  // A restriction that is not understood must not count as none.
  [
    'for servers only, whose extensions are not in DER',
    () => [client(root, { extensions: forServersOnly, wrapExtensions: (list) => inBer(der.explicit(3, list)) })],
  ],
  [
    'for servers only, whose list of extensions is not in DER',
    () => [client(root, { extensions: forServersOnly, wrapExtensions: (list) => der.explicit(3, inBer(list)) })],
  ],
  [
    'for servers only, one extension of which is not in DER',
    () => [client(root, { extensions: forServersOnly.map(inBer) })],
  ],
  ['with two different extended key usages', () => [client(root, { extensions: [says.forServers(), ...ofClient()] })]],
  [
    'with an empty extended key usage',
    () => [client(root, { extensions: [extension(oid.extendedKeyUsage, der.sequence())] })],
  ],
  [
    'with an extended key usage that is not a list',
    () => [client(root, { extensions: [extension(oid.extendedKeyUsage, der.objectId(oid.clientAuth))] })],
  ],
];

describe('a client certificate is not trusted', () => {
  it.each(distrusted)('%s', (_, make) => {
    expect(isTrusted(make())).toBe(false);
  });
});

describe('a client certificate is trusted', () => {
  it.each<[string, () => readonly Forged[]]>([
    ['that the authority has signed', () => [client(root)]],
    ['through an intermediate certificate', () => [client(middle), middle]],
    ['in the last second of its validity', () => [client(root, { notAfter: judged })]],
    ['in the first second of its validity', () => [client(root, { notBefore: judged })]],
    [
      'with an unknown extension that is not critical',
      () => [client(root, { extensions: [...ofClient(), extension('1.2.3.4.5', der.octets(Buffer.from('x')))] })],
    ],
    ['through an intermediate certificate with an RSA key of 1,024 bits', () => below({ key: rsa(1_024) })],
    [
      'with the largest path that its authority allows',
      () => {
        const first = authority('first', root, { extensions: [says.authority(1), says.signsCertificates()] });
        const then = authority('then', first);
        return [client(then), then, first];
      },
    ],
  ])('%s', (_, make) => {
    expect(isTrusted(make())).toBe(true);
  });
});
