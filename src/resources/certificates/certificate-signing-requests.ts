import { formatAge, pathSegmentName, type User } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { CertificateSigningRequest, type CertificateSigningRequestSpec } from '../../types/certificates-v1.ts';
import { age, name, orNone } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import {
  keepApproval,
  setConditionTimes,
  validateApprovalKept,
  validateRequest,
  validateStatusUpdate,
} from './certificate-signing-requests.validation.ts';

type Request = ObjectOf<typeof CertificateSigningRequest>;

export const certificateSigningRequests = resource({
  group: 'certificates.{domain}',
  plural: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  schema: CertificateSigningRequest,
  lifecycle: { introduced: '1.19' },
  shortNames: ['csr'],
  namespaced: false,
  resetFields: [['spec']],
  status: { resetFields: [['spec'], ['status', 'conditions']], metadataChecks: [1, 1] },
  subresources: [
    {
      name: 'approval',
      type: 'partialUpdate',
      verbs: ['get', 'patch', 'update'],
      kind: 'CertificateSigningRequest',
      metadataChecks: [1, 1],
      resetFields: [['spec'], ['status', 'certificate']],
      partialUpdate: {
        apply: (request, { status = {} }, { now }) => {
          const { conditions: _, ...others } = request.status ?? {};
          setConditionTimes(status, request.status ?? {}, now);
          request.status = { ...others, ...(status.conditions === undefined ? {} : { conditions: status.conditions }) };
        },
        validate: (request, old, { names }) => [
          ...validateRequest(request, names),
          ...validateApprovalKept(request.status ?? {}, old.status ?? {}),
        ],
      },
    },
  ],
  columns: [
    name,
    age,
    ['SignerName', ({ spec }) => orNone(spec?.signerName)],
    ['Requestor', ({ spec }) => spec?.username ?? ''],
    [
      'RequestedDuration',
      ({ spec }) =>
        spec?.expirationSeconds === undefined
          ? '<none>'
          : formatAge(new Date(0).toISOString(), spec.expirationSeconds * 1000),
    ],
    ['Condition', condition],
  ],
  selectableFields: [{ path: 'spec.signerName', value: ({ spec }) => spec?.signerName ?? '' }],
  strategy: {
    // Request names may contain any character that is valid in a path.
    nameRule: pathSegmentName,
    // The requester is set from the authenticated user.
    prepareCreate: (request, { requester }) => {
      const { username: _, uid: __, groups: ___, extra: ____, ...requestedSpec } = request.spec ?? {};
      request.spec = { ...requestedSpec, ...requesterFields(requester) };
    },
    // The spec is immutable.
    prepareUpdate: (request, old) => {
      if (old.spec !== undefined) request.spec = old.spec;
    },
    prepareStatusUpdate: (request, old, { now }) => {
      request.status ??= {};
      keepApproval(request.status, old.status ?? {});
      setConditionTimes(request.status, old.status ?? {}, now);
    },
    validate: (request, { names }) => validateRequest(request, names),
    validateUpdate: ({ status = {} }, old) => validateStatusUpdate(status, old.status ?? {}),
  },
});

const requesterFields = ({ name, uid = '', groups, extra = {} }: User): CertificateSigningRequestSpec => ({
  ...(name === '' ? {} : { username: name }),
  ...(uid === '' ? {} : { uid }),
  ...(groups.length === 0 ? {} : { groups: [...groups] }),
  ...(Object.keys(extra).length === 0
    ? {}
    : { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) }),
});

function condition({ status }: Request): string {
  const types = new Set((status?.conditions ?? []).map(({ type }) => type));
  const words = types.has('Denied') ? ['Denied'] : types.has('Approved') ? ['Approved'] : ['Pending'];
  if (types.has('Failed')) words.push('Failed');
  if (status?.certificate) words.push('Issued');
  return words.join(',');
}
