/** The beta version of certificate signing requests. */
import { type ApiObject, at, isJsonObject, type JsonObject, type Names } from '../../meta/index.ts';
import { readCertificateRequest } from '../../pki/index.ts';
import type { Strategy, Subresource } from '../../registry/index.ts';
import { nodeClientProblem, nodeServingProblem } from '../../rules/index.ts';
import * as v1 from '../../types/certificates-v1.ts';
import { approval, signingRequestValidation } from '../certificates/certificate-signing-requests.ts';
import type { Tolerance } from '../certificates/certificate-signing-requests.validation.ts';
import type { OlderKind } from './declare.ts';
import { typesIn } from './types.ts';

const { signerName } = v1.CertificateSigningRequestSpec.fields;
const { status } = v1.CertificateSigningRequestCondition.fields;

const v1beta1 = typesIn('certificates/v1beta1', {
  CertificateSigningRequestSpec: {
    ...v1.CertificateSigningRequestSpec.fields,
    signerName: { ...signerName, required: false, always: false, nullable: true },
  },
  CertificateSigningRequestCondition: {
    ...v1.CertificateSigningRequestCondition.fields,
    status: { ...status, required: false },
  },
});

function setDefaults(request: ApiObject, names: Names): void {
  const spec = request['spec'];
  if (isJsonObject(spec)) {
    spec['usages'] ??= ['digital signature', 'key encipherment'];
    spec['signerName'] ??= defaultSigner(spec, names);
  }
  const conditions = at(request, 'status', 'conditions');
  for (const condition of Array.isArray(conditions) ? conditions : []) {
    if (isJsonObject(condition)) condition['status'] ||= 'True';
  }
}

/** The signer of the node certificate that is requested; `legacy-unknown` for anything else. */
function defaultSigner({ request, usages }: JsonObject, { labels }: Names): string {
  const text = typeof request === 'string' ? request : '';
  const requested = readCertificateRequest(Buffer.from(text, 'base64').toString('latin1'));
  const asked = Array.isArray(usages) ? usages.map(String) : [];
  if (requested !== undefined) {
    if (nodeClientProblem(requested, asked) === undefined) return `${labels}/kube-apiserver-client-kubelet`;
    if (nodeServingProblem(requested, asked) === undefined) return `${labels}/kubelet-serving`;
  }
  return `${labels}/legacy-unknown`;
}

const tolerance: Tolerance = {
  legacySigner: true,
  unknownUsages: true,
  duplicateUsages: true,
  conditionsWithoutType: true,
  duplicateConditions: true,
  anyCertificate: true,
  changedCertificate: true,
};

export const certificates: readonly OlderKind[] = [
  {
    group: 'certificates.{domain}',
    plural: 'certificatesigningrequests',
    versions: [
      {
        version: 'v1beta1',
        schema: v1beta1(v1.CertificateSigningRequest),
        lifecycle: { introduced: '1.12', deprecated: '1.19', removed: '1.22' },
        changes: [],
        defaults: setDefaults,
        strategy: (ofKind) => ({ ...ofKind, ...(signingRequestValidation(tolerance) as unknown as Partial<Strategy>) }),
        subresources: [approval(tolerance) as unknown as Subresource],
      },
    ],
  },
];
