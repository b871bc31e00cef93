/** Validation of JSON and of key pairs in secrets. */
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { parseAnyJsonInSteps } from '../../codec/index.ts';
import { isJsonObject, type Json, jsonType, StatusError, type Steps } from '../../meta/index.ts';
import { pemBlocks } from '../../pki/index.ts';

/** The value of a text, or its problem in the words of Go's `encoding/json`. */
type Read = { readonly value: Json; readonly problem?: undefined } | { readonly problem: string };

/** Parses a text that must be a JSON object or null, in steps: it may be as long as a body. */
export function* readJsonObject(text: string): Steps<Read> {
  try {
    const { value } = yield* parseAnyJsonInSteps(Buffer.from(text));
    if (value === null || isJsonObject(value)) return { value };
    return { problem: `json: cannot unmarshal ${jsonType(value)} into Go value of type map[string]interface {}` };
  } catch (error) {
    if (error instanceof StatusError) return { problem: error.message };
    throw error;
  }
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
