/** Public key infrastructure: PEM, DER, X.509 certificates, certificate requests and the validation of client certificates. */
export { findBundleError } from './certificate-bundle.ts';
export {
  checkRequestSignature,
  type RequestedCertificate,
  type RequestedSubject,
  readCertificateRequest,
  requestedSubject,
  requestType,
} from './certificate-request.ts';
export { eachPemBlock, firstPemBlock, formatPem, onlyPemBlock, pemBlocks } from './pem.ts';
export { signRequest } from './sign-request.ts';
export { TrustPool, type Validity } from './trust-pool.ts';
export { type CertificateRequest, type CertKeyPair, isCertificate, issueCertificate, readCertificate } from './x509.ts';
