import { type Json, jsonEqual } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { CertificateSigningRequest } from '../../types/certificates-v1.ts';
import { ClusterTrustBundle } from '../../types/certificates-v1alpha1.ts';
import { forbidden, on, typedRequest } from '../request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from '../types.ts';

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

/** A ClusterTrustBundle of a signer needs the verb `attest` on the signer, unless only its owners and finalizers change. */
export function trustBundleAttest(initializer: Initializer & Pick<PluginInitializer, 'features'>): AdmissionPlugin {
  return {
    name: 'ClusterTrustBundleAttest',
    handles: (place) =>
      initializer.features.ClusterTrustBundle &&
      on(['CREATE', 'UPDATE'], `clustertrustbundles.certificates.${initializer.names.domain}`)(place),
    validate: async (request) => {
      const { object, oldObject } = typedRequest(ClusterTrustBundle, request);
      const signer = object?.spec?.signerName ?? '';
      if (signer === '' || (object !== undefined && oldObject !== undefined && sameButForCollector(object, oldObject)))
        return;
      if (await mayUseSigner(initializer, request, 'attest', signer)) return;
      throw forbidden(request, `user not permitted to attest for signerName ${JSON.stringify(signer)}`);
    },
  };
}

type Bundle = ObjectOf<typeof ClusterTrustBundle>;

const collected = ['ownerReferences', 'finalizers', 'managedFields', 'resourceVersion'];

/** Whether objects differ at most in what the garbage collector changes, and in who manages their fields. */
function sameButForCollector(a: Bundle, b: Bundle): boolean {
  const rest = ({ metadata, spec }: Bundle): Json[] => [
    Object.fromEntries(Object.entries(metadata).filter(([field]) => !collected.includes(field))),
    spec ?? {},
  ];
  return jsonEqual(rest(a), rest(b));
}

/** @throws StatusError 403 unless the user may use the verb on the signer of the request */
async function authorizeSigner(initializer: Initializer, request: AdmissionRequest, verb: string): Promise<void> {
  const signer = typedRequest(CertificateSigningRequest, request).oldObject?.spec?.signerName ?? '';
  if (await mayUseSigner(initializer, request, verb, signer)) return;
  throw forbidden(request, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`);
}

/** Whether the user may use the verb on the signer by name, or on `<domain>/*`. */
async function mayUseSigner(
  { authorize, names }: Initializer,
  { user }: AdmissionRequest,
  verb: string,
  signer: string,
): Promise<boolean> {
  const attributes = {
    verb,
    group: `certificates.${names.domain}`,
    version: '*',
    resource: 'signers',
    subresource: '',
    namespace: '',
  };
  const [domain = ''] = signer.split('/', 1);
  for (const name of [signer, `${domain}/*`]) {
    if ((await authorize(user, { ...attributes, name })).allowed) return true;
  }
  return false;
}
