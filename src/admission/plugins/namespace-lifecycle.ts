import { type Names, StatusError, statusError } from '../../meta/index.ts';
import { forbidden } from '../request.ts';
import type { AdmissionPlugin, AdmissionRequest, NamespaceLookup, NamespaceState } from '../types.ts';

const namespaces = { group: '', resource: 'namespaces' };

/**
 * Rejects writes in a namespace that does not exist, creation in a namespace that is terminating, and deletion of the
 * system namespaces. It runs in the mutating phase, before the other plugins. A creation is guarded by the state of the
 * namespace: none is stored after any server has marked the namespace as terminating.
 */
export function namespaceLifecycle(lookup: NamespaceLookup, names: Names): AdmissionPlugin {
  const immortalNamespaces = new Set(['default', names.systemNamespace, names.publicNamespace]);
  const reviews = `authorization.${names.domain}`;
  return {
    name: 'NamespaceLifecycle',
    handles: ({ operation }) => operation !== 'CONNECT',
    mutate: (request) => {
      const { operation, resource, namespace, subresource } = request;
      if (resource.group === '' && resource.resource === 'namespaces') {
        if (operation === 'DELETE' && subresource === '' && immortalNamespaces.has(request.name)) {
          throw statusError.forbidden(namespaces, request.name, 'this namespace may not be deleted');
        }
        return undefined;
      }
      if (namespace === '' || operation === 'DELETE' || resource.group === reviews) return undefined;
      const decide = (found: NamespaceState | undefined): Promise<void> | undefined => {
        // One that is terminating may be gone, and created again, by now.
        if (operation === 'CREATE' && found?.terminating === true) return checkLatest(request, lookup);
        return check(request, found);
      };
      const found = lookup(namespace);
      return found instanceof Promise ? found.then(decide) : decide(found);
    },
  };
}

async function checkLatest(request: AdmissionRequest, lookup: NamespaceLookup): Promise<void> {
  check(request, await lookup(request.namespace, true));
}

function check(request: AdmissionRequest, found: NamespaceState | undefined): undefined {
  const { namespace, operation } = request;
  if (found === undefined) throw statusError.notFound(namespaces, namespace);
  if (operation !== 'CREATE') return undefined;
  if (!found.terminating) {
    request.guardNamespace?.(found.revision);
    return undefined;
  }
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const { code, reason, message, details } = forbidden(request, why);
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  };
  throw new StatusError(code, reason, message, { ...details, causes: [cause] });
}
