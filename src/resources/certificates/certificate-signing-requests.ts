import { formatAge } from '../../meta/index.ts';
import { age, name, orNone } from '../cells.ts';
import { type ObjectOf, resource } from '../define.ts';
import { CertificateSigningRequest } from '../types/certificates-v1.ts';
import { keepDecisions, stampConditions, validateRequest, validateStatusUpdate } from './rules.ts';

type Request = ObjectOf<typeof CertificateSigningRequest>;

export const certificateSigningRequests = resource({
  group: 'certificates.{domain}',
  plural: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  schema: CertificateSigningRequest,
  shortNames: ['csr'],
  namespaced: false,
  keeps: [['spec']],
  status: { keeps: [['spec'], ['status', 'conditions']] },
  subresources: [
    {
      name: 'approval',
      verbs: ['get', 'patch', 'update'],
      kind: 'CertificateSigningRequest',
      keeps: [['spec'], ['status', 'certificate']],
      part: {
        take: (request, { status: sent = {} }, { now }) => {
          const { conditions: _, ...kept } = request.status ?? {};
          const status = sent.conditions === undefined ? kept : { ...kept, conditions: sent.conditions };
          stampConditions(status, request.status ?? {}, now);
          request.status = status;
        },
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
    // Any name goes: requests are often named after what they ask for.
    nameRule: () => [],
    // What is asked for never changes.
    prepareUpdate: (request, old) => {
      if (old.spec !== undefined) request.spec = old.spec;
    },
    prepareStatusUpdate: (request, old, { now }) => {
      request.status ??= {};
      keepDecisions(request.status, old.status ?? {}, now);
    },
    validate: (request, { names }) => validateRequest(request, names),
    validateUpdate: ({ status = {} }, old) => validateStatusUpdate(status, old.status ?? {}),
  },
});

function condition({ status }: Request): string {
  const types = new Set((status?.conditions ?? []).map(({ type }) => type));
  const words = types.has('Denied') ? ['Denied'] : types.has('Approved') ? ['Approved'] : ['Pending'];
  if (types.has('Failed')) words.push('Failed');
  if (status?.certificate) words.push('Issued');
  return words.join(',');
}
