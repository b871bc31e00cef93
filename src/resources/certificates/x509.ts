/** Validation of certificates and certificate requests in PEM. */
import { Pace, type Steps } from '../../meta/index.ts';
import {
  checkRequestSignature,
  eachPemBlock,
  firstPemBlock,
  isCertificate,
  onlyPemBlock,
  requestType,
} from '../../pki/index.ts';

/** Reading a certificate takes as long as visiting this number of values. */
export const certificateVisits = 100;

/** The error of a certificate request; its signature proves possession of the private key. */
export function requestProblem(text: string): string | undefined {
  if (firstPemBlock(text)?.type !== requestType) return `PEM block type must be ${requestType}`;
  // The signer must not find another request in the text than the approver.
  const block = onlyPemBlock(text);
  return block === undefined
    ? `must be one ${requestType} PEM block and nothing around it`
    : checkRequestSignature(block.bytes);
}

/** The error of a bundle of certificates, in steps of a few certificates. */
export function* certificateProblem(text: string): Steps<string | undefined> {
  let isEmpty = true;
  const pace = new Pace();
  for (const { type, hasHeaders, bytes } of eachPemBlock(text)) {
    if (pace.over(certificateVisits)) yield;
    isEmpty = false;
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    if (bytes.length === 0) return 'found CERTIFICATE PEM block containing 0 certificates';
    if (!isCertificate(bytes)) return 'x509: malformed certificate';
  }
  return isEmpty ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}
