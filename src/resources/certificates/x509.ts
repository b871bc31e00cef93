/** Validation of certificates and certificate requests in PEM. */
import { checkRequestSignature, isCertificate, onlyPemBlock, pemBlocks, requestType } from '../../pki/index.ts';

/** The error of a certificate request; its signature proves possession of the private key. */
export function requestProblem(text: string): string | undefined {
  if (pemBlocks(text)[0]?.type !== requestType) return `PEM block type must be ${requestType}`;
  // The signer must not find another request in the text than the approver.
  const block = onlyPemBlock(text);
  return block === undefined
    ? `must be one ${requestType} PEM block and nothing around it`
    : checkRequestSignature(block.bytes);
}

export function certificateProblem(text: string): string | undefined {
  const blocks = pemBlocks(text);
  for (const { type, hasHeaders, bytes } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    if (bytes.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates';
    if (!isCertificate(bytes)) return 'x509: malformed certificate';
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}
