import { StatusError, statusError } from '../../meta/index.ts';
import { forbidden } from '../request.ts';
import type { AdmissionPlace, AdmissionPlugin, AdmissionRequest, PluginInitializer } from '../types.ts';

const notOfNamespaces = ({ resource }: AdmissionPlace) => resource !== 'namespaces';

/** Creates the namespace of an object to be created if it does not exist. */
export function namespaceAutoProvision({
  namespace: lookup,
  createNamespace,
}: Pick<PluginInitializer, 'namespace' | 'createNamespace'>): AdmissionPlugin {
  return {
    name: 'NamespaceAutoProvision',
    handles: (place) => place.operation === 'CREATE' && notOfNamespaces(place),
    mutate: async (request) => {
      const { namespace, dryRun } = request;
      if (dryRun || namespace === '' || (await lookup(namespace)) !== undefined) return;
      try {
        await createNamespace(namespace);
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        if (error.code !== 409) throw forbidden(request, error.message);
      }
    },
  };
}

/** Rejects writes and deletions in a namespace that does not exist. */
export function namespaceExists({ namespace: lookup }: Pick<PluginInitializer, 'namespace'>): AdmissionPlugin {
  return {
    name: 'NamespaceExists',
    handles: (place) => place.operation !== 'CONNECT' && notOfNamespaces(place),
    validate: async ({ namespace }: AdmissionRequest) => {
      if (namespace === '' || (await lookup(namespace)) !== undefined) return;
      throw statusError.notFound({ group: '', resource: 'namespaces' }, namespace);
    },
  };
}
