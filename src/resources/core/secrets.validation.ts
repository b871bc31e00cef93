/** Validation of JSON and of key pairs in secrets. */
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { textNestsDeeper } from '../../meta/index.ts';
import { pemBlocks } from '../../pki/index.ts';

const END = 'unexpected end of JSON input';
/** The maximum nesting that Go's `encoding/json` reads. */
const maxNesting = 10_000;

/** The reason why a text is not a JSON object, in the words of Go's `encoding/json`; undefined when it is one. */
export function jsonProblem(text: string): string | undefined {
  if (textNestsDeeper(text, maxNesting)) return 'exceeded max depth';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return (
      syntaxProblem(text.trimStart()) ?? (/end of|unterminated/i.test(String(error)) ? END : 'must be a JSON object')
    );
  }
  if (typeof value === 'object' && !Array.isArray(value)) return undefined;
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
}

const literals = ['true', 'false', 'null'];

/** The syntax error at the beginning of a text, if there is one. */
function syntaxProblem(text: string): string | undefined {
  const unexpected = (at: string, where: string) =>
    at === '' ? END : `invalid character ${at === "'" ? "'\\''" : `'${at.charAt(0)}'`} ${where}`;
  const literal = literals.find((word) => word.charAt(0) === text.charAt(0));
  if (literal !== undefined) {
    const same = literal.split('').findIndex((letter, i) => text.charAt(i) !== letter);
    if (same < 0) return unexpected(text.slice(literal.length).trimStart().charAt(0), 'after top-level value');
    return unexpected(text.charAt(same), `in literal ${literal} (expecting '${literal.charAt(same)}')`);
  }
  if (!/^[{["\-0-9]/.test(text)) return unexpected(text.charAt(0), 'looking for beginning of value');
  if (!text.startsWith('{')) return undefined;
  const next = text.slice(1).trimStart().charAt(0);
  return next === '"' ? undefined : unexpected(next, 'looking for beginning of object key string');
}

/** Warnings for a PEM certificate and key that do not form a pair. */
export function keyPairWarnings(certificates: string, key: string): string[] {
  const blocks = pemBlocks(certificates);
  const certificate = blocks.find(({ type }) => type === 'CERTIFICATE');
  if (certificate === undefined) return [`tls: ${missingCertificate(blocks.map(({ type }) => type))}`];
  const keys = pemBlocks(key);
  const own = keys.find(({ type }) => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY'));
  if (own === undefined) return [`tls: ${missingKey(keys.map(({ type }) => type))}`];
  const inCertificate = readKey(() => new X509Certificate(certificate.bytes).publicKey);
  if (inCertificate === undefined) return ['x509: malformed certificate'];
  const ofKey = readKey(() => createPublicKey(createPrivateKey(own.text)));
  if (ofKey === undefined) return ['tls: failed to parse private key'];
  if (ofKey.asymmetricKeyType !== inCertificate.asymmetricKeyType) {
    return ['tls: private key type does not match public key type'];
  }
  return ofKey.equals(inCertificate) ? [] : ['tls: private key does not match public key'];
}

function readKey(read: () => KeyObject): KeyObject | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function missingCertificate(skipped: readonly string[]): string {
  if (skipped.length === 0) return 'failed to find any PEM data in certificate input';
  if (skipped.length === 1 && skipped[0]?.endsWith('PRIVATE KEY') === true) {
    return 'failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
  }
  return `failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${skipped.join(' ')}]`;
}

function missingKey(skipped: readonly string[]): string {
  if (skipped.length === 0) return 'failed to find any PEM data in key input';
  if (skipped.length === 1 && skipped[0] === 'CERTIFICATE') {
    return 'found a certificate rather than a key in the PEM for the private key';
  }
  return `failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${skipped.join(' ')}]`;
}
