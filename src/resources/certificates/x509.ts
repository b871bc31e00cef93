/** PEM certificates and certificate signing requests. */
import { constants, createPublicKey, verify, X509Certificate } from 'node:crypto';
import { onlyPemBlock, pemBlocks } from '../../meta/index.ts';
import { type DerValue, insideDer, readDer } from './der.ts';

/** The error of a PEM certificate signing request; its signature proves possession of the key. */
export function requestFault(text: string): string | undefined {
  if (pemBlocks(text)[0]?.type !== requestType) return `PEM block type must be ${requestType}`;
  // Exactly one block: approver and signer must see the same request.
  const block = onlyPemBlock(text);
  return block === undefined
    ? `must be one ${requestType} PEM block and nothing around it`
    : signatureFault(block.bytes);
}

/**
 * The organizations of the subject of a PEM request (RFC 2986); undefined when it cannot be parsed. The signature is
 * not verified.
 */
export function requestedOrganizations(text: string): readonly string[] | undefined {
  const block = onlyPemBlock(text);
  if (block?.type !== requestType) return undefined;
  const der = block.bytes;
  const within = (value: DerValue | undefined, tag: number) => (value?.tag === tag ? insideDer(der, value) : undefined);
  const whole = readDer(der, 0);
  if (whole?.end !== der.length) return undefined;
  const [info] = within(whole, SEQUENCE) ?? [];
  const [, subject] = within(info, SEQUENCE) ?? [];
  const out: string[] = [];
  for (const relative of within(subject, SEQUENCE) ?? [undefined]) {
    for (const attribute of within(relative, SET) ?? [undefined]) {
      const [type, value] = within(attribute, SEQUENCE) ?? [];
      if (type?.tag !== OBJECT_ID || value === undefined) return undefined;
      if (der.toString('hex', type.body, type.end) !== organization) continue;
      const text = textOf(value.tag, der.subarray(value.body, value.end));
      if (text === undefined) return undefined;
      out.push(text);
    }
  }
  return out;
}

const requestType = 'CERTIFICATE REQUEST';
/** 2.5.4.10 */
const organization = '55040a';

/**
 * Tags of strings in ASCII or UTF-8: UTF8String, NumericString, PrintableString, TeletexString, IA5String and so on.
 */
const byteTexts = new Set([0x0c, 0x12, 0x13, 0x14, 0x16, 0x1a, 0x1b]);
/** BMPString: two bytes per character. */
const BMP_STRING = 0x1e;

/** The decoded string; undefined for other types and for encodings that parsers read differently. */
function textOf(tag: number, bytes: Buffer): string | undefined {
  if (byteTexts.has(tag)) return bytes.toString();
  if (tag !== BMP_STRING || bytes.length % 2 !== 0) return undefined;
  return Buffer.from(bytes).swap16().toString('utf16le');
}

/** The error of PEM certificates; other blocks are rejected, text between the blocks is allowed. */
export function certificateFault(text: string): string | undefined {
  const blocks = pemBlocks(text);
  for (const { type, hasHeaders, bytes } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    if (bytes.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates';
    if (!isCertificate(bytes)) return 'x509: malformed certificate';
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}

/** Whether the bytes are exactly one certificate. */
export const isCertificate = (der: Buffer): boolean => readCertificate(der) !== undefined;

/** The certificate; undefined unless the bytes are exactly one. */
export function readCertificate(der: Buffer): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(der);
    return certificate.raw.length === der.length ? certificate : undefined;
  } catch {
    return undefined;
  }
}

const digests: { readonly [algorithm: string]: string | null } = {
  '2a8648ce3d0401': 'sha1',
  '2a8648ce3d040302': 'sha256',
  '2a8648ce3d040303': 'sha384',
  '2a8648ce3d040304': 'sha512',
  '2a864886f70d010105': 'sha1',
  '2a864886f70d01010b': 'sha256',
  '2a864886f70d01010c': 'sha384',
  '2a864886f70d01010d': 'sha512',
  // Ed25519 has a digest of its own.
  '2b6570': null,
};
/** RSASSA-PSS: its parameters name the digest. */
const PSS = '2a864886f70d01010a';
const pssDigests: readonly (readonly [algorithm: string, digest: string])[] = [
  ['608648016503040201', 'sha256'],
  ['608648016503040202', 'sha384'],
  ['608648016503040203', 'sha512'],
];

const MALFORMED = 'asn1: structure error: the block holds no certificate request';

function signatureFault(der: Buffer): string | undefined {
  const whole = readDer(der, 0);
  if (whole?.tag !== SEQUENCE || whole.end !== der.length) return MALFORMED;
  const [info, algorithm, signature] = insideDer(der, whole) ?? [];
  if (info?.tag !== SEQUENCE || algorithm?.tag !== SEQUENCE || signature?.tag !== BIT_STRING) return MALFORMED;
  const [version, , key] = insideDer(der, info) ?? [];
  const [id, parameters] = insideDer(der, algorithm) ?? [];
  if (version?.tag !== INTEGER || key?.tag !== SEQUENCE || id?.tag !== OBJECT_ID) return MALFORMED;
  const name = der.toString('hex', id.body, id.end);
  const shown = parameters === undefined ? '' : der.toString('hex', parameters.start, parameters.end);
  const digest = name === PSS ? pssDigests.find(([oid]) => shown.includes(oid))?.[1] : digests[name];
  if (digest === undefined) return 'x509: cannot verify signature: algorithm unimplemented';
  const signed = der.subarray(info.start, info.end);
  // The first byte of a bit string is the number of unused bits.
  const proof = der.subarray(signature.body + 1, signature.end);
  try {
    const spki = createPublicKey({ key: der.subarray(key.start, key.end), format: 'der', type: 'spki' });
    const padding = name === PSS ? { padding: constants.RSA_PKCS1_PSS_PADDING } : {};
    if (verify(digest, signed, { key: spki, ...padding }, proof)) return undefined;
  } catch {
    return 'x509: unsupported public key';
  }
  return 'x509: the signature does not fit the key';
}

const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OBJECT_ID = 0x06;
const SEQUENCE = 0x30;
const SET = 0x31;
