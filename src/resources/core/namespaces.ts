import { dns1123Label } from '../../meta/index.ts';
import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { Namespace } from '../types/core-v1.ts';

export const namespaces = resource({
  group: '',
  plural: 'namespaces',
  kind: 'Namespace',
  schema: Namespace,
  shortNames: ['ns'],
  namespaced: false,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  status: true,
  subresources: [{ name: 'finalize', verbs: ['update'], kind: 'Namespace' }],
  columns: [name, ['Status', ({ status }) => status?.phase ?? ''], age],
  selectableFields: [{ path: 'status.phase', value: ({ status }) => status?.phase ?? '' }],
  strategy: {
    nameRule: dns1123Label,
    defaults: (namespace, { names }) => {
      // The label by which selectors find a namespace is always its name.
      namespace.metadata.labels = {
        ...namespace.metadata.labels,
        [`${names.labels}/metadata.name`]: namespace.metadata.name ?? '',
      };
    },
    prepareCreate: (namespace, { names }) => {
      namespace.status = { phase: 'Active' };
      const finalizers = new Set(namespace.spec?.finalizers ?? []);
      namespace.spec = { ...namespace.spec, finalizers: [...finalizers.add(names.product)] };
    },
    // Finalizers in the spec change through the `finalize` subresource alone.
    prepareUpdate: (namespace, old) => {
      namespace.spec = { ...namespace.spec, finalizers: old.spec?.finalizers ?? [] };
    },
  },
});
