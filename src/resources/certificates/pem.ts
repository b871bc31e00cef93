/** Certificates and requests for them, as text: blocks of PEM around DER. */
import { constants, createPublicKey, verify, X509Certificate } from 'node:crypto';

interface Block {
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly der: Buffer;
}

const blockForm = /-----BEGIN ([^\n-]+)-----[ \t\r]*\n((?:[^\n:-]+:[^\n]*\n)*)([A-Za-z0-9+/=\s]*)-----END \1-----/g;

const blocksOf = (text: string): Block[] =>
  [...text.matchAll(blockForm)].map(([, type = '', headers = '', body = '']) => ({
    type,
    hasHeaders: headers !== '',
    der: Buffer.from(body, 'base64'),
  }));

/** What is wrong with the text of a request; its signature proves that who asks holds the key. */
export function requestFault(text: string): string | undefined {
  const [block] = blocksOf(text);
  if (block?.type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST';
  return signatureFault(block.der);
}

/** What is wrong with the text of certificates: blocks of them, and no others. */
export function certificateFault(text: string): string | undefined {
  const blocks = blocksOf(text);
  for (const { type, hasHeaders, der } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    if (der.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates';
    if (!isCertificate(der)) return 'x509: malformed certificate';
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}

function isCertificate(der: Buffer): boolean {
  try {
    return new X509Certificate(der).raw.length === der.length;
  } catch {
    return false;
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
  // Ed25519 digests by itself.
  '2b6570': null,
};
/** RSA with padding that is not always the same; its parameters name the digest. */
const PSS = '2a864886f70d01010a';
const pssDigests: readonly (readonly [algorithm: string, digest: string])[] = [
  ['608648016503040201', 'sha256'],
  ['608648016503040202', 'sha384'],
  ['608648016503040203', 'sha512'],
];

const MALFORMED = 'asn1: structure error: the block holds no certificate request';

function signatureFault(der: Buffer): string | undefined {
  const whole = read(der, 0);
  if (whole?.tag !== SEQUENCE || whole.end !== der.length) return MALFORMED;
  const [info, algorithm, signature] = inside(der, whole) ?? [];
  if (info?.tag !== SEQUENCE || algorithm?.tag !== SEQUENCE || signature?.tag !== BIT_STRING) return MALFORMED;
  const [version, , key] = inside(der, info) ?? [];
  const [id, parameters] = inside(der, algorithm) ?? [];
  if (version?.tag !== INTEGER || key?.tag !== SEQUENCE || id?.tag !== OBJECT_ID) return MALFORMED;
  const name = der.toString('hex', id.body, id.end);
  const shown = parameters === undefined ? '' : der.toString('hex', parameters.start, parameters.end);
  const digest = name === PSS ? pssDigests.find(([oid]) => shown.includes(oid))?.[1] : digests[name];
  if (digest === undefined) return 'x509: cannot verify signature: algorithm unimplemented';
  const signed = der.subarray(info.start, info.end);
  // The first byte of a bit string tells how many bits of the last are unused.
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

/** One value of DER: where it begins, where what it holds begins, where both end. */
interface Value {
  readonly tag: number;
  readonly start: number;
  readonly body: number;
  readonly end: number;
}

function read(der: Buffer, start: number): Value | undefined {
  const [tag, first] = [der[start], der[start + 1]];
  if (tag === undefined || first === undefined) return undefined;
  const more = first < 0x80 ? 0 : first & 0x7f;
  const body = start + 2 + more;
  if (more > 4 || first === 0x80 || body > der.length) return undefined;
  const end = body + (more === 0 ? first : der.readUIntBE(start + 2, more));
  return end > der.length ? undefined : { tag, start, body, end };
}

/** The values that another holds; undefined when it holds something else. */
function inside(der: Buffer, { body, end }: Value): Value[] | undefined {
  const found: Value[] = [];
  for (let next = body; next < end; ) {
    const value = read(der, next);
    if (value === undefined || value.end > end) return undefined;
    found.push(value);
    next = value.end;
  }
  return found;
}
