import { type FieldError, formatAge, pathSegmentName, type User } from '../../meta/index.ts';
import type { StrategyContext, Subresource } from '../../registry/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { CertificateSigningRequest, type CertificateSigningRequestSpec } from '../../types/certificates-v1.ts';
import { age, name, orNone } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { isNew } from '../shared/field-rules.ts';
import {
  keepApproval,
  setConditionTimes,
  type Tolerance,
  toleranceOf,
  validateApprovalKept,
  validateRequest,
  validateStatusUpdate,
} from './certificate-signing-requests.validation.ts';

type Request = ObjectOf<typeof CertificateSigningRequest>;

/** The validation of requests, which accepts `tolerance` and what an update leaves as it is. */
export const signingRequestValidation = (tolerance: Tolerance) => ({
  validate: (request: Request, { names }: StrategyContext): FieldError[] =>
    isNew(request) ? validateRequest(request, names, tolerance) : [],
  validateUpdate: (request: Request, old: Request, { names }: StrategyContext): FieldError[] => [
    ...validateRequest(request, names, { ...toleranceOf(old, request, names), ...tolerance }),
    ...validateStatusUpdate(request.status ?? {}, old.status ?? {}, tolerance),
  ],
});

/** The `approval` subresource, which accepts the same. */
export const approval = (tolerance: Tolerance): Subresource<Request> => ({
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
      ...validateRequest(request, names, { ...toleranceOf(old, request, names), ...tolerance }),
      ...validateApprovalKept(request.status ?? {}, old.status ?? {}),
    ],
  },
});

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
  subresources: [approval({})],
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
    ...signingRequestValidation({}),
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
