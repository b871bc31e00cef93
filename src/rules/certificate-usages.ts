/** Which certificate requests fit the signers of the cluster. */
import { nodePrefix } from '../meta/index.ts';
import type { RequestedCertificate } from '../pki/index.ts';

const nodeGroup = 'system:nodes';

/** Key encipherment is for RSA keys only, and may be left out. */
function usageProblem(usages: readonly string[], auth: 'client auth' | 'server auth'): string | undefined {
  const required = [auth, 'digital signature', 'key encipherment'].sort();
  const requestedUsages = new Set(usages);
  const all = requestedUsages.has('key encipherment')
    ? required
    : required.filter((usage) => usage !== 'key encipherment');
  const fits = requestedUsages.size === all.length && all.every((usage) => requestedUsages.has(usage));
  return fits ? undefined : `usages did not match [${required.join(' ')}]`;
}

const has = (
  { alternativeNames }: RequestedCertificate,
  type: RequestedCertificate['alternativeNames'][number]['type'],
) => alternativeNames.some((name) => name.type === type);

const isOfNodes = ({ organizations: [first, ...more] }: RequestedCertificate): boolean =>
  first === nodeGroup && more.length === 0;

const commonNameProblem = ({ commonName }: RequestedCertificate) =>
  commonName.startsWith(nodePrefix) ? undefined : `subject common name does not begin with ${nodePrefix}`;

/** Why a request is not one for the client certificate of a node. */
export function nodeClientProblem(requested: RequestedCertificate, usages: readonly string[]): string | undefined {
  if (!isOfNodes(requested)) return `subject organization is not ${nodeGroup}`;
  if (has(requested, 'dns')) return 'DNS subjectAltNames are not allowed';
  if (has(requested, 'email')) return 'Email subjectAltNames are not allowed';
  if (has(requested, 'ip')) return 'IP subjectAltNames are not allowed';
  if (has(requested, 'uri')) return 'URI subjectAltNames are not allowed';
  return commonNameProblem(requested) ?? usageProblem(usages, 'client auth');
}

/** Why a request is not one for the serving certificate of a node. */
export function nodeServingProblem(requested: RequestedCertificate, usages: readonly string[]): string | undefined {
  if (!isOfNodes(requested)) return `subject organization is not ${nodeGroup}`;
  if (!has(requested, 'dns') && !has(requested, 'ip')) return 'DNS or IP subjectAltName is required';
  if (has(requested, 'email')) return 'Email subjectAltNames are not allowed';
  if (has(requested, 'uri')) return 'URI subjectAltNames are not allowed';
  return usageProblem(usages, 'server auth') ?? commonNameProblem(requested);
}

/** Why a request is not one for a client certificate. */
export function clientProblem(_: RequestedCertificate, usages: readonly string[]): string | undefined {
  const optional = ['digital signature', 'key encipherment'];
  const other = usages.find((usage) => usage !== 'client auth' && !optional.includes(usage));
  if (other !== undefined) return `invalid usage for client certificate: ${other}`;
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth';
}
