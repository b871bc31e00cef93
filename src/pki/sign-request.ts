/** Certificates for certificate requests, signed by an authority (RFC 5280). */
import { createPrivateKey, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { statusError } from '../meta/index.ts';
import type { AlternativeName, RequestedCertificate, SubjectAttribute } from './certificate-request.ts';
import { type DerElement, der, derChildren, derTag, readDer } from './der.ts';
import { formatPem, pemBlocks } from './pem.ts';
import { type CertKeyPair, extension, oid, serialNumber } from './x509.ts';

/** The properties of a certificate that the authority decides. */
export interface IssuedCertificate {
  /** Bits of the key usage. */
  readonly keyUsage: readonly number[];
  /** Object identifiers of the extended key usage, in dotted form. */
  readonly extendedKeyUsage: readonly string[];
  /** Milliseconds since 1970. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/**
 * Issues a certificate in PEM for the subject, the public key and the alternative names of a request. Ignores its other
 * extensions. The certificate is not an authority. @throws StatusError 500 when the authority cannot sign
 */
export function signRequest(request: RequestedCertificate, issuer: CertKeyPair, issued: IssuedCertificate): string {
  const block = pemBlocks(issuer.cert).find(({ type }) => type === 'CERTIFICATE');
  if (block === undefined) throw statusError.internal('the signing authority has no certificate in PEM');
  const authority = authorityOf(new X509Certificate(block.bytes).raw);
  const key = createPrivateKey(issuer.key);
  const { algorithm, digest } = algorithmOf(key);
  const subject = subjectOf(request.subject);
  const isNameless = subject.length === der.sequence().length;
  const body = der.sequence(
    der.explicit(0, der.unsigned(Buffer.from([2]))),
    der.unsigned(serialNumber()),
    algorithm,
    authority.name,
    der.sequence(der.time(issued.notBefore), der.time(issued.notAfter)),
    subject,
    request.publicKey,
    der.explicit(3, der.sequence(...extensionsOf(request, issued, authority.keyId, isNameless))),
  );
  const certificate = der.sequence(body, algorithm, der.bitString(sign(digest, body, key)));
  return formatPem('CERTIFICATE', certificate);
}

function extensionsOf(
  { alternativeNames }: RequestedCertificate,
  { keyUsage, extendedKeyUsage }: IssuedCertificate,
  authorityKeyId: Buffer | undefined,
  namesAreCritical: boolean,
): Buffer[] {
  return [
    ...(keyUsage.length === 0 ? [] : [extension(oid.keyUsage, der.bits(...keyUsage), true)]),
    ...(extendedKeyUsage.length === 0
      ? []
      : [extension(oid.extendedKeyUsage, der.sequence(...extendedKeyUsage.map(der.objectId)))]),
    extension(oid.basicConstraints, der.sequence(), true),
    ...(authorityKeyId === undefined
      ? []
      : [extension(oid.authorityKeyId, der.sequence(der.implicit(0, authorityKeyId)))]),
    ...(alternativeNames.length === 0
      ? []
      : [extension(oid.subjectAltName, namesOf(alternativeNames), namesAreCritical)]),
  ];
}

/** The tags of alternative names, in the order in which they are written. */
const nameTags = { dns: 2, email: 1, ip: 7, uri: 6 } as const;
/** The prefix of an IPv4 address in sixteen bytes. */
const mapped = Buffer.from('00000000000000000000ffff', 'hex');

function namesOf(names: readonly AlternativeName[]): Buffer {
  const order = Object.keys(nameTags);
  const sorted = names.toSorted((a, b) => order.indexOf(a.type) - order.indexOf(b.type));
  return der.sequence(
    ...sorted.map(({ type, bytes }) => {
      const isMapped = type === 'ip' && bytes.length === 16 && bytes.subarray(0, 12).equals(mapped);
      return der.implicit(nameTags[type], isMapped ? bytes.subarray(12) : bytes);
    }),
  );
}

/** The attributes of a subject in the order of their relative names; false: only the last one counts. */
const subjectTypes: readonly (readonly [type: string, oid: string, many: boolean])[] = [
  ['550406', '2.5.4.6', true],
  ['55040a', oid.organization, true],
  ['55040b', '2.5.4.11', true],
  ['550407', '2.5.4.7', true],
  ['550408', '2.5.4.8', true],
  ['550409', '2.5.4.9', true],
  ['550411', '2.5.4.17', true],
  ['550403', oid.commonName, false],
  ['550405', '2.5.4.5', false],
];

/** Returns a relative name for each type with all its values; attributes of other types are omitted. */
function subjectOf(attributes: readonly SubjectAttribute[]): Buffer {
  const names: Buffer[] = [];
  for (const [type, dotted, many] of subjectTypes) {
    const found = attributes.filter((attribute) => attribute.type === type).map(({ value }) => value);
    const values = many ? found : found.slice(-1).filter((value) => value !== '');
    const encoded = values.map((value) => der.sequence(der.objectId(dotted), stringOf(value)));
    if (encoded.length > 0) names.push(der.set(...encoded.sort((a, b) => a.compare(b))));
  }
  return der.sequence(...names);
}

const stringOf = (text: string): Buffer =>
  /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(text) ? der.printable(text) : der.utf8(text);

/** The name and the key identifier of an authority. */
function authorityOf(raw: Buffer): { readonly name: Buffer; readonly keyId: Buffer | undefined } {
  const inside = (element: DerElement | undefined) => (element === undefined ? [] : (derChildren(raw, element) ?? []));
  const [body] = inside(readDer(raw, 0));
  const parts = inside(body);
  // The version comes first, unless it is the first one.
  const name = parts[parts[0]?.tag === 0xa0 ? 5 : 4];
  if (name?.tag !== derTag.sequence) throw statusError.internal('the signing authority has no name');
  const [list] = inside(parts.find(({ tag }) => tag === 0xa3));
  let keyId: Buffer | undefined;
  for (const found of inside(list)) {
    const [type, ...rest] = inside(found);
    const value = rest.at(-1);
    if (type === undefined || value === undefined || raw.toString('hex', type.body, type.end) !== '551d0e') continue;
    const content = readDer(raw, value.body);
    if (content?.tag === derTag.octets) keyId = raw.subarray(content.body, content.end);
  }
  return { name: raw.subarray(name.start, name.end), keyId };
}

const curves: { readonly [curve: string]: readonly [algorithm: string, digest: string] } = {
  secp224r1: [oid.ecdsaWithSha256, 'sha256'],
  prime256v1: [oid.ecdsaWithSha256, 'sha256'],
  secp384r1: ['1.2.840.10045.4.3.3', 'sha384'],
  secp521r1: ['1.2.840.10045.4.3.4', 'sha512'],
};

/** The signature algorithm of a key, and its digest; null: it has its own. */
function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject) {
  if (type === 'rsa') {
    return { algorithm: der.sequence(der.objectId('1.2.840.113549.1.1.11'), der.null()), digest: 'sha256' };
  }
  if (type === 'ed25519') return { algorithm: der.sequence(der.objectId('1.3.101.112')), digest: null };
  const [id, digest] = curves[details?.namedCurve ?? ''] ?? [];
  if (id === undefined || digest === undefined) {
    throw statusError.internal(`the signing authority has a key of type ${type}: use RSA, ECDSA or Ed25519`);
  }
  return { algorithm: der.sequence(der.objectId(id)), digest };
}
