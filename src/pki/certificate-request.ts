/** PKCS #10 certificate requests (RFC 2986). */
import { constants, createPublicKey, verify } from 'node:crypto';
import { type DerElement, derChildren, derTag, readDer } from './der.ts';
import { onlyPemBlock } from './pem.ts';

/** The type of their PEM blocks. */
export const requestType = 'CERTIFICATE REQUEST';

/** The object identifiers 2.5.4.3 and 2.5.4.10. */
const commonNameOid = '550403';
const organizationOid = '55040a';

/** The subject of a certificate request. */
export interface RequestedSubject {
  /** The last one; empty when there is none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** The subject of a request in PEM; undefined when it cannot be parsed. The signature is not verified. */
export function requestedSubject(text: string): RequestedSubject | undefined {
  const block = onlyPemBlock(text);
  if (block?.type !== requestType) return undefined;
  const der = block.bytes;
  const childrenOf = (element: DerElement | undefined, tag: number) =>
    element?.tag === tag ? derChildren(der, element) : undefined;
  const root = readDer(der, 0);
  if (root?.end !== der.length) return undefined;
  const [info] = childrenOf(root, derTag.sequence) ?? [];
  const [, subject] = childrenOf(info, derTag.sequence) ?? [];
  const organizations: string[] = [];
  let commonName = '';
  for (const relativeName of childrenOf(subject, derTag.sequence) ?? [undefined]) {
    for (const attribute of childrenOf(relativeName, derTag.set) ?? [undefined]) {
      const [type, value] = childrenOf(attribute, derTag.sequence) ?? [];
      if (type?.tag !== derTag.objectId || value === undefined) return undefined;
      const oid = der.toString('hex', type.body, type.end);
      if (oid !== organizationOid && oid !== commonNameOid) continue;
      const decoded = decodeString(value.tag, der.subarray(value.body, value.end));
      if (decoded === undefined) return undefined;
      if (oid === commonNameOid) commonName = decoded;
      else organizations.push(decoded);
    }
  }
  return { commonName, organizations };
}

/** String types in ASCII or UTF-8: UTF8String, NumericString, PrintableString, TeletexString, IA5String, and others. */
const byteStrings = new Set([0x0c, 0x12, 0x13, 0x14, 0x16, 0x1a, 0x1b]);
/** UTF-16 in big-endian order. */
const bmpString = 0x1e;

/** Undefined for other types, and for string types that not all parsers decode alike. */
function decodeString(tag: number, bytes: Buffer): string | undefined {
  if (byteStrings.has(tag)) return bytes.toString();
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
    const padding = oid === pss ? { padding: constants.RSA_PKCS1_PSS_PADDING } : {};
    if (verify(digest, signed, { key: publicKey, ...padding }, value)) return undefined;
  } catch {
    return 'x509: unsupported public key';
  }
  return 'x509: the signature does not fit the key';
}
