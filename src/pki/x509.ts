/** X.509 certificates (RFC 5280). */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import { addressBytes } from '../meta/index.ts';
import { der } from './der.ts';
import { formatPem } from './pem.ts';

/** A certificate and its private key in PEM (ECDSA P-256 with SHA-256 where issued here). */
export interface CertKeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** A certificate authority, a serving certificate for `hosts`, or a client certificate. */
  readonly usage: 'authority' | 'server' | 'client';
  /** DNS names and IP addresses. */
  readonly hosts?: readonly string[];
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** The private key in PEM. Default: a new one. */
  readonly key?: string;
}

export const oid = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
};
const digitalSignature = 0;
const keyCertSign = 5;
const crlSign = 6;

/** Issues an X.509 v3 certificate (RFC 5280), signed by `issuer` or self-signed. */
export function issueCertificate(
  request: CertificateRequest,
  issuer?: CertKeyPair & { readonly name: string },
): CertKeyPair {
  const privateKey =
    request.key === undefined
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
      : createPrivateKey(request.key);
  const publicKey = createPublicKey(privateKey);
  const authorityKey = issuer === undefined ? publicKey : createPublicKey(issuer.key);
  const algorithm = der.sequence(der.objectId(oid.ecdsaWithSha256));
  const body = der.sequence(
    der.explicit(0, der.unsigned(Buffer.from([2]))),
    der.unsigned(serialNumber()),
    algorithm,
    issuer === undefined ? subjectOf(request) : subjectOf({ commonName: issuer.name }),
    der.sequence(der.time(request.notBefore), der.time(request.notAfter)),
    subjectOf(request),
    publicKey.export({ type: 'spki', format: 'der' }),
    der.explicit(3, der.sequence(...extensions(request, keyId(publicKey), keyId(authorityKey)))),
  );
  const signature = sign('sha256', body, issuer?.key ?? privateKey);
  const certificate = der.sequence(body, algorithm, der.bitString(signature));
  return {
    cert: formatPem('CERTIFICATE', certificate),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** 127 random bits, above 0. */
export function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

function subjectOf({
  commonName,
  organizations = [],
}: Pick<CertificateRequest, 'commonName' | 'organizations'>): Buffer {
  const attribute = (type: string, value: string) => der.set(der.sequence(der.objectId(type), der.utf8(value)));
  return der.sequence(
    ...organizations.map((organization) => attribute(oid.organization, organization)),
    attribute(oid.commonName, commonName),
  );
}

/** An extension with this object identifier. */
export const extension = (type: string, value: Buffer, critical = false): Buffer =>
  der.sequence(der.objectId(type), ...(critical ? [der.boolean(true)] : []), der.octets(value));

function extensions(request: CertificateRequest, subjectKeyId: Buffer, authorityKeyId: Buffer): Buffer[] {
  const authority = request.usage === 'authority';
  const usage = request.usage === 'server' ? oid.serverAuth : oid.clientAuth;
  const hosts = request.hosts ?? [];
  return [
    extension(oid.basicConstraints, authority ? der.sequence(der.boolean(true)) : der.sequence(), true),
    extension(oid.keyUsage, der.bits(digitalSignature, ...(authority ? [keyCertSign, crlSign] : [])), true),
    ...(authority ? [] : [extension(oid.extendedKeyUsage, der.sequence(der.objectId(usage)))]),
    extension(oid.subjectKeyId, der.octets(subjectKeyId)),
    extension(oid.authorityKeyId, der.sequence(der.implicit(0, authorityKeyId))),
    ...(hosts.length === 0 ? [] : [extension(oid.subjectAltName, der.sequence(...hosts.map(generalName)))]),
  ];
}

function generalName(host: string): Buffer {
  return isIP(host) === 0 ? der.implicit(2, Buffer.from(host, 'ascii')) : der.implicit(7, addressBytes(host));
}

/** The leftmost 160 bits of the SHA-256 of the public key (RFC 7093). */
function keyId(key: KeyObject): Buffer {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20);
}

/** Whether the bytes are one certificate in DER, without trailing data. */
export const isCertificate = (bytes: Buffer): boolean => readCertificate(bytes) !== undefined;

/** Parses a certificate in DER; undefined when it is malformed or followed by other data. */
export function readCertificate(bytes: Buffer): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(bytes);
    return certificate.raw.length === bytes.length ? certificate : undefined;
  } catch {
    return undefined;
  }
}
