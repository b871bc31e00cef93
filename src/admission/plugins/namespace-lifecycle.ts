import { type Names, StatusError, statusError } from '../../meta/index.ts';
import { whenKnown } from '../chain.ts';
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
  const checkLatest = async (request: AdmissionRequest) => check(await lookup(request.namespace, true), request);
  const checkOrReadAgain = (cached: NamespaceState | undefined, request: AdmissionRequest) => {
    // A namespace that is terminating in the cache may be deleted, and created again, in the store.
    if (request.operation === 'CREATE' && cached?.terminating === true) return checkLatest(request);
    return check(cached, request);
  };
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
      return whenKnown(lookup(namespace), request, checkOrReadAgain);
    },
  };
}

/** @throws StatusError 404 for a namespace that does not exist, 403 for a creation in one that is terminating */
function check(state: NamespaceState | undefined, request: AdmissionRequest): void {
  const { namespace, operation } = request;
  if (state === undefined) throw statusError.notFound(namespaces, namespace);
  if (operation !== 'CREATE') return;
  if (!state.terminating) {
    request.guardNamespace?.(state.revision);
    return;
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
