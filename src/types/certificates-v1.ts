/** The types of certificates/v1. */
import { bytes, field, type Infer, int32, list, map, string, struct, time } from '../schema/index.ts';
import { conditionStatuses, ObjectMeta, typeMeta } from './meta-v1.ts';

/** The usages of a certificate that a request can ask for. */
export const keyUsages: readonly string[] = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

export const CertificateSigningRequestSpec = struct('certificates/v1.CertificateSigningRequestSpec', {
  request: field(1, bytes, { required: true, emptyOk: true, always: true, listType: 'atomic' }),
  signerName: field(7, string, { required: true, always: true }),
  expirationSeconds: field(8, int32, { nullable: true }),
  usages: field(5, list(string), {
    known: keyUsages,
    checkedByKind: true,
    listType: 'atomic',
  }),
  username: field(2, string),
  uid: field(3, string),
  groups: field(4, list(string), { listType: 'atomic' }),
  extra: field(6, map(list(string))),
});
export type CertificateSigningRequestSpec = Infer<typeof CertificateSigningRequestSpec>;

export const CertificateSigningRequestCondition = struct('certificates/v1.CertificateSigningRequestCondition', {
  type: field(1, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['Approved', 'Denied', 'Failed'],
    open: true,
  }),
  status: field(6, string, { required: true, emptyOk: true, always: true, known: conditionStatuses, open: true }),
  reason: field(2, string),
  message: field(3, string),
  lastUpdateTime: field(4, time),
  lastTransitionTime: field(5, time),
});

export const CertificateSigningRequestStatus = struct('certificates/v1.CertificateSigningRequestStatus', {
  conditions: field(1, list(CertificateSigningRequestCondition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
  }),
  certificate: field(2, bytes, { listType: 'atomic' }),
});
export type CertificateSigningRequestStatus = Infer<typeof CertificateSigningRequestStatus>;

export const CertificateSigningRequest = struct('certificates/v1.CertificateSigningRequest', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, CertificateSigningRequestSpec, { required: true, always: true }),
  status: field(3, CertificateSigningRequestStatus),
});
export type CertificateSigningRequest = Infer<typeof CertificateSigningRequest>;
