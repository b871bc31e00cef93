import { jsonEqual } from '../meta/index.ts';
import { CertificateSigningRequest } from '../types/certificates-v1.ts';
import { forbidden, on, typedRequest } from './request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from './types.ts';

type Initializer = Pick<PluginInitializer, 'names' | 'authorize'>;

const csrResource = (domain: string) => `certificatesigningrequests.certificates.${domain}`;

/** Updates of `/approval` need the verb `approve` on the signer of the request. */
export function certificateApproval(initializer: Initializer): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    handles: on(['UPDATE'], `${csrResource(initializer.names.domain)}/approval`),
    validate: (request) => authorizeSigner(initializer, request, 'approve'),
  };
}

/** Setting the certificate or the conditions in `/status` needs the verb `sign` on the signer of the request. */
export function certificateSigning(initializer: Initializer): AdmissionPlugin {
  return {
    name: 'CertificateSigning',
    handles: on(['UPDATE'], `${csrResource(initializer.names.domain)}/status`),
    validate: (request) => {
      const { object, oldObject } = typedRequest(CertificateSigningRequest, request);
      const { certificate, conditions = [] } = object?.status ?? {};
      const before = oldObject?.status ?? {};
      if (jsonEqual(certificate, before.certificate) && jsonEqual(conditions, before.conditions ?? [])) return;
      return authorizeSigner(initializer, request, 'sign');
    },
  };
}

/** A request to the API server client signer must not ask for the group `system:masters`. */
export function certificateSubjectRestriction({
  names,
  requestedSubject,
}: Pick<PluginInitializer, 'names' | 'requestedSubject'>): AdmissionPlugin {
  const signer = `${names.labels}/kube-apiserver-client`;
  return {
    name: 'CertificateSubjectRestriction',
    handles: on(['CREATE'], csrResource(names.domain)),
    validate: (request) => {
      const { signerName, request: encoded } = typedRequest(CertificateSigningRequest, request).object?.spec ?? {};
      if (signerName !== signer) return;
      const pem = Buffer.from(encoded ?? '', 'base64').toString('latin1');
      const subject = requestedSubject(pem);
      if (subject === undefined) throw forbidden(request, 'failed to parse CSR: it cannot be read');
      if (!subject.organizations.includes('system:masters')) return;
      throw forbidden(request, `use of ${signer} signer with system:masters group is not allowed`);
    },
  };
}

/** @throws StatusError 403 unless the user may use the verb on the signer by name, or on `<domain>/*` */
async function authorizeSigner(
  { authorize, names }: Initializer,
  request: AdmissionRequest,
  verb: string,
): Promise<void> {
  const signer = typedRequest(CertificateSigningRequest, request).oldObject?.spec?.signerName ?? '';
  const attributes = {
    verb,
    group: `certificates.${names.domain}`,
    version: '*',
    resource: 'signers',
    subresource: '',
    namespace: '',
  };
  const [domain = ''] = signer.split('/');
  for (const name of [signer, `${domain}/*`]) {
    if ((await authorize(request.user, { ...attributes, name })).allowed) return;
  }
  throw forbidden(request, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`);
}
