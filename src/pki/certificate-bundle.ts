import { pemBlocks } from './pem.ts';
import { isCertificate } from './x509.ts';

/** Maximum number of blocks that are read of a bundle without a valid certificate. */
const maxRead = 100;

/** Returns the reason why a PEM text has no certificate, in the words of Go's `x509`; undefined when it has one. */
export function findBundleError(pem: string): string | undefined {
  const blocks = pemBlocks(pem);
  const certificates = blocks.filter(({ type, hasHeaders }) => type === 'CERTIFICATE' && !hasHeaders);
  if (certificates.slice(0, maxRead).some(({ bytes }) => isCertificate(bytes))) return undefined;
  if (certificates.length > 0) return 'failed to parse certificate: x509: malformed certificate';
  const last = blocks.at(-1)?.text;
  return last !== undefined && pem.endsWith(last)
    ? 'no valid certificate authority data seen'
    : 'unable to parse bytes as PEM block';
}
