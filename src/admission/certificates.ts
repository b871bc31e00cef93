import { jsonEqual } from '../meta/index.ts';
import { fieldsOf, forbidden, on, specOf, textOf } from './fields.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from './types.ts';

type World = Pick<PluginInitializer, 'names' | 'authorize'>;

const requestsOf = (domain: string) => `certificatesigningrequests.certificates.${domain}`;

/** Only who may approve for a signer approves or denies what that signer is asked for. */
export function certificateApproval(world: World): AdmissionPlugin {
  return {
    name: 'CertificateApproval',
    handles: on(['UPDATE'], `${requestsOf(world.names.domain)}/approval`),
    validate: (request) => checkSigner(world, request, 'approve'),
  };
}

/** Only who may sign for a signer issues certificates in its name, or tells that it failed. */
export function certificateSigning(world: World): AdmissionPlugin {
  return {
    name: 'CertificateSigning',
    handles: on(['UPDATE'], `${requestsOf(world.names.domain)}/status`),
    validate: (request) => {
      const { certificate, conditions = [] } = fieldsOf(request.object?.['status']);
      const before = fieldsOf(request.oldObject?.['status']);
      if (jsonEqual(certificate, before['certificate']) && jsonEqual(conditions, before['conditions'] ?? [])) return;
      return checkSigner(world, request, 'sign');
    },
  };
}

/** Nobody becomes an administrator by asking for a client certificate. */
export function certificateSubjectRestriction({
  names,
  organizationsOf,
}: Pick<PluginInitializer, 'names' | 'organizationsOf'>): AdmissionPlugin {
  const signer = `${names.labels}/kube-apiserver-client`;
  return {
    name: 'CertificateSubjectRestriction',
    handles: on(['CREATE'], requestsOf(names.domain)),
    validate: (request) => {
      const { signerName, request: encoded } = specOf(request.object);
      if (signerName !== signer) return;
      const pem = Buffer.from(textOf(encoded), 'base64').toString('latin1');
      const organizations = organizationsOf(pem);
      if (organizations === undefined) throw forbidden(request, 'failed to parse CSR: it cannot be read');
      if (!organizations.includes('system:masters')) return;
      throw forbidden(request, `use of ${signer} signer with system:masters group is not allowed`);
    },
  };
}

/** May the user act for the signer, by its own name or for all of its domain? */
async function checkSigner({ authorize, names }: World, request: AdmissionRequest, verb: string): Promise<void> {
  const signer = textOf(specOf(request.oldObject)['signerName']);
  const wish = {
    verb,
    group: `certificates.${names.domain}`,
    version: '*',
    resource: 'signers',
    subresource: '',
    namespace: '',
  };
  const [domain = ''] = signer.split('/');
  for (const name of [signer, `${domain}/*`]) {
    if ((await authorize(request.user, { ...wish, name })).allowed) return;
  }
  throw forbidden(request, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`);
}
