/** The parts that the controllers of certificate signing requests share. */
import { statusError } from '../../meta/index.ts';
import { type RequestedCertificate, readCertificateRequest } from '../../pki/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import type { CertificateSigningRequest } from '../../types/certificates-v1.ts';

export type SigningRequest = ObjectOf<typeof CertificateSigningRequest>;

/** The certificate that is asked for. @throws StatusError when the request cannot be parsed */
export function requestedCertificate({ metadata: { name = '' }, spec }: SigningRequest): RequestedCertificate {
  const requested = readCertificateRequest(Buffer.from(spec?.request ?? '', 'base64').toString('latin1'));
  if (requested !== undefined) return requested;
  throw statusError.internal(`unable to parse csr ${JSON.stringify(name)}`);
}

export const isIssued = ({ status }: SigningRequest): boolean => (status?.certificate ?? '') !== '';

export const hasCondition = ({ status }: SigningRequest, type: 'Approved' | 'Denied' | 'Failed'): boolean =>
  (status?.conditions ?? []).some((condition) => condition.type === type);
