import { type Names, StatusError, statusError } from '../meta/index.ts';
import { forbidden } from './fields.ts';
import type { AdmissionPlugin, AdmissionRequest, NamespaceLookup } from './types.ts';

const namespaces = { group: '', resource: 'namespaces' };

/**
 * Nothing is written into a namespace that does not exist, nothing is created in one that is being terminated, and
 * the namespaces that the server itself needs are not deleted. It refuses before others look at the object.
 */
export function namespaceLifecycle(lookup: NamespaceLookup, names: Names): AdmissionPlugin {
  const immortal = new Set(['default', names.systemNamespace, names.publicNamespace]);
  const reviews = `authorization.${names.domain}`;
  return {
    name: 'NamespaceLifecycle',
    handles: ({ operation }) => operation !== 'CONNECT',
    mutate: (request) => {
      const { operation, resource, namespace, subresource } = request;
      if (resource.group === '' && resource.resource === 'namespaces') {
        if (operation === 'DELETE' && subresource === '' && immortal.has(request.name)) {
          throw statusError.forbidden(namespaces, request.name, 'this namespace may not be deleted');
        }
        return undefined;
      }
      if (namespace === '' || operation === 'DELETE' || resource.group === reviews) return undefined;
      const found = lookup(namespace);
      if (found instanceof Promise) return found.then((namespace) => check(request, namespace));
      return check(request, found);
    },
  };
}

function check(request: AdmissionRequest, found: { readonly terminating: boolean } | undefined): void {
  const { namespace, operation } = request;
  if (found === undefined) throw statusError.notFound(namespaces, namespace);
  if (operation !== 'CREATE' || !found.terminating) return;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const { code, reason, message, details } = forbidden(request, why);
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  };
  throw new StatusError(code, reason, message, { ...details, causes: [cause] });
}
