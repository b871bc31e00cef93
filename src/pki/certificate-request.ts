/** PKCS #10 certificate requests (RFC 2986). */
import { isAscii, isUtf8 } from 'node:buffer';
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { type DerElement, derChildren, derTag, readDer } from './der.ts';
import { onlyPemBlock } from './pem.ts';

/** The type of PEM blocks with requests. */
export const requestType = 'CERTIFICATE REQUEST';

/** Object identifiers in hex: of the common name and the organization of a subject, and of what a request asks for. */
const commonNameOid = '550403';
const organizationOid = '55040a';
const extensionRequestOid = '2a864886f70d01090e';
const alternativeNamesOid = '551d11';

/** An attribute of a subject. */
export interface SubjectAttribute {
  /** The object identifier in hex. */
  readonly type: string;
  readonly value: string;
}

/** The types of alternative names, by their tags. */
const alternativeNames = { 130: 'dns', 129: 'email', 135: 'ip', 134: 'uri' } as const;

export interface AlternativeName {
  readonly type: (typeof alternativeNames)[keyof typeof alternativeNames];
  /** Four or sixteen bytes for an IP address, ASCII for other types. */
  readonly bytes: Buffer;
}

/** The contents of a certificate request. */
export interface RequestedCertificate {
  readonly subject: readonly SubjectAttribute[];
  /** The last common name of the subject; empty without one. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** The SubjectPublicKeyInfo in DER. */
  readonly publicKey: Buffer;
  readonly alternativeNames: readonly AlternativeName[];
}

/** signature is not verified. */
export function readCertificateRequest(text: string): RequestedCertificate | undefined {
  const parts = infoOf(text);
  const subject = parts && subjectOf(parts);
  const names = parts && alternativeNamesOf(parts);
  const [, , key] = parts?.info ?? [];
  if (parts === undefined || subject === undefined || names === undefined || key?.tag !== derTag.sequence) {
    return undefined;
  }
  return {
    subject,
    commonName: valuesOf(subject, commonNameOid).at(-1) ?? '',
    organizations: valuesOf(subject, organizationOid),
    publicKey: parts.der.subarray(key.start, key.end),
    alternativeNames: names,
  };
}

/** The subject of a certificate request. */
export interface RequestedSubject {
  /** The last common name; empty without one. */
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/**
 * Returns the subject of a request in PEM as issued certificates have it; undefined when the request is malformed. The
 * signature is not verified.
 */
export function requestedSubject(text: string): RequestedSubject | undefined {
  const parts = infoOf(text);
  const subject = parts && subjectOf(parts);
  if (subject === undefined) return undefined;
  const commonName = valuesOf(subject, commonNameOid).at(-1) ?? '';
  return { commonName, organizations: valuesOf(subject, organizationOid) };
}

const valuesOf = (subject: readonly SubjectAttribute[], oid: string): string[] =>
  subject.filter(({ type }) => type === oid).map(({ value }) => value);

/** A request in DER, and its version, subject, public key and attributes. */
interface RequestParts {
  readonly der: Buffer;
  readonly info: readonly DerElement[];
}

function infoOf(text: string): RequestParts | undefined {
  const block = onlyPemBlock(text);
  if (block?.type !== requestType) return undefined;
  const der = block.bytes;
  const root = readDer(der, 0);
  if (root?.end !== der.length) return undefined;
  const [whole] = childrenOf(der, root, derTag.sequence) ?? [];
  const info = childrenOf(der, whole, derTag.sequence);
  return info && { der, info };
}

/** Returns the elements inside an element with this tag. */
const childrenOf = (der: Buffer, element: DerElement | undefined, tag: number): DerElement[] | undefined =>
  element?.tag === tag ? derChildren(der, element) : undefined;

/** The most attributes of a subject: they are read in one step. */
const maxAttributes = 2_000;

function subjectOf({ der, info: [, subject] }: RequestParts): SubjectAttribute[] | undefined {
  const found: SubjectAttribute[] = [];
  let attributes = 0;
  for (const relativeName of childrenOf(der, subject, derTag.sequence) ?? [undefined]) {
    for (const attribute of childrenOf(der, relativeName, derTag.set) ?? [undefined]) {
      if (++attributes > maxAttributes) return undefined;
      const [type, content] = childrenOf(der, attribute, derTag.sequence) ?? [];
      if (type?.tag !== derTag.objectId || content === undefined) return undefined;
      const value = decodeString(content.tag, der.subarray(content.body, content.end));
      const oid = der.toString('hex', type.body, type.end);
      if (value !== undefined) found.push({ type: oid, value });
      else if (oid === organizationOid || oid === commonNameOid) return undefined;
    }
  }
  return found;
}

function alternativeNamesOf({ der, info: [, , , attributes] }: RequestParts): AlternativeName[] | undefined {
  const names: AlternativeName[] = [];
  let extensions = 0;
  for (const attribute of attributes === undefined ? [] : (childrenOf(der, attributes, 0xa0) ?? [undefined])) {
    const [type, values] = childrenOf(der, attribute, derTag.sequence) ?? [];
    if (type?.tag !== derTag.objectId) return undefined;
    if (der.toString('hex', type.body, type.end) !== extensionRequestOid) continue;
    const [requested] = childrenOf(der, values, derTag.set) ?? [];
    for (const extension of childrenOf(der, requested, derTag.sequence) ?? [undefined]) {
      const [id, ...rest] = childrenOf(der, extension, derTag.sequence) ?? [];
      const value = rest.at(-1);
      if (id?.tag !== derTag.objectId || value?.tag !== derTag.octets) return undefined;
      if (der.toString('hex', id.body, id.end) !== alternativeNamesOid) continue;
      // Parsers disagree on which of two extensions of a type counts.
      if (++extensions > 1) return undefined;
      const list = childrenOf(der, readDer(der, value.body), derTag.sequence);
      for (const name of list ?? [undefined]) {
        if (name === undefined || name.end > value.end) return undefined;
        const kind = (alternativeNames as { readonly [tag: number]: AlternativeName['type'] })[name.tag];
        const bytes = der.subarray(name.body, name.end);
        if (kind !== undefined && !isName(kind, bytes)) return undefined;
        if (kind !== undefined) names.push({ type: kind, bytes });
      }
    }
  }
  return names;
}

const isName = (type: AlternativeName['type'], bytes: Buffer): boolean =>
  type === 'ip' ? bytes.length === 4 || bytes.length === 16 : isAscii(bytes);

/** String types in ASCII or UTF-8: UTF8String, NumericString, PrintableString, TeletexString, IA5String, and others. */
const byteStrings = new Set([0x0c, 0x12, 0x13, 0x14, 0x16, 0x1a, 0x1b]);
/** UTF-16 in big-endian order. */
const bmpString = 0x1e;

/** Undefined for other types, and for string types that not all parsers decode alike. */
function decodeString(tag: number, bytes: Buffer): string | undefined {
  if (byteStrings.has(tag)) return isUtf8(bytes) ? bytes.toString() : undefined;
  if (tag !== bmpString || bytes.length % 2 !== 0) return undefined;
  return Buffer.from(bytes).swap16().toString('utf16le');
}

/** The digest of each signature algorithm, by its object identifier. */
const digests: { readonly [algorithm: string]: string | null } = {
  '2a8648ce3d0401': 'sha1',
  '2a8648ce3d040302': 'sha256',
  '2a8648ce3d040303': 'sha384',
  '2a8648ce3d040304': 'sha512',
  '2a864886f70d010105': 'sha1',
  '2a864886f70d01010b': 'sha256',
  '2a864886f70d01010c': 'sha384',
  '2a864886f70d01010d': 'sha512',
  // Ed25519 has its own digest.
  '2b6570': null,
};
/** RSASSA-PSS, whose parameters name the digest. */
const pss = '2a864886f70d01010a';
const pssDigests: readonly (readonly [algorithm: string, digest: string])[] = [
  ['608648016503040201', 'sha256'],
  ['608648016503040202', 'sha384'],
  ['608648016503040203', 'sha512'],
];

/** Maximum size (bits) and exponent of RSA keys. The time of a check depends on both. */
const mostBits = 8_192;
const largestExponent = 2n ** 31n - 1n;

/** Returns the reason why a key is not accepted; undefined for a key whose signatures are checked. */
function keyProblem({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject) {
  if (type !== 'rsa' && type !== 'ec' && type !== 'ed25519') return 'x509: unsupported public key';
  const { modulusLength = 0, publicExponent = 0n } = details;
  if (modulusLength > mostBits) return `x509: RSA keys may have ${mostBits} bits, this one has ${modulusLength}`;
  return publicExponent > largestExponent ? 'crypto/rsa: public exponent too large' : undefined;
}

const malformed = 'asn1: structure error: the block holds no certificate request';

/** Verifies the signature of a request in DER with its own public key. Returns the error; undefined when it is valid. */
export function checkRequestSignature(der: Buffer): string | undefined {
  const root = readDer(der, 0);
  if (root?.tag !== derTag.sequence || root.end !== der.length) return malformed;
  const [info, algorithm, signature] = derChildren(der, root) ?? [];
  if (info?.tag !== derTag.sequence || algorithm?.tag !== derTag.sequence || signature?.tag !== derTag.bitString) {
    return malformed;
  }
  const [version, , key] = derChildren(der, info) ?? [];
  const [id, parameters] = derChildren(der, algorithm) ?? [];
  if (version?.tag !== derTag.integer || key?.tag !== derTag.sequence || id?.tag !== derTag.objectId) return malformed;
  const oid = der.toString('hex', id.body, id.end);
  const parameterBytes = parameters === undefined ? '' : der.toString('hex', parameters.start, parameters.end);
  const digest = oid === pss ? pssDigests.find(([name]) => parameterBytes.includes(name))?.[1] : digests[oid];
  if (digest === undefined) return 'x509: cannot verify signature: algorithm unimplemented';
  const signed = der.subarray(info.start, info.end);
  // The first byte of a bit string is the number of unused bits.
  const value = der.subarray(signature.body + 1, signature.end);
  try {
    const publicKey = createPublicKey({ key: der.subarray(key.start, key.end), format: 'der', type: 'spki' });
    const problem = keyProblem(publicKey);
    if (problem !== undefined) return problem;
    const padding = oid === pss ? { padding: constants.RSA_PKCS1_PSS_PADDING } : {};
    if (verify(digest, signed, { key: publicKey, ...padding }, value)) return undefined;
  } catch {
    return 'x509: unsupported public key';
  }
  return 'x509: the signature does not fit the key';
}
