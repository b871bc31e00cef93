import { dns1123Label, type FieldError, fieldError, type Names, qualifiedName } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { Namespace } from '../../types/core-v1.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { byRule, eachOf, same } from '../shared/field-rules.ts';

type NamespaceObject = ObjectOf<typeof Namespace>;

export const namespaces = resource({
  group: '',
  plural: 'namespaces',
  kind: 'Namespace',
  schema: Namespace,
  lifecycle: { introduced: '1.0' },
  shortNames: ['ns'],
  namespaced: false,
  followed: true,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  status: true,
  subresources: [
    {
      name: 'finalize',
      type: 'partialUpdate',
      verbs: ['update'],
      kind: 'Namespace',
      resetFields: [['status']],
      partialUpdate: {
        apply: (namespace, { spec }) => {
          const finalizers = spec?.finalizers ?? [];
          namespace.spec = finalizers.length === 0 ? {} : { finalizers };
        },
        validate: ({ spec }, _, { names }) =>
          eachOf(spec?.finalizers, 'spec.finalizers', (finalizer, at) => validateFinalizer(finalizer, at, names)),
      },
    },
  ],
  columns: [name, ['Status', ({ status }) => status?.phase ?? ''], age],
  selectableFields: [{ path: 'status.phase', value: ({ status }) => status?.phase ?? '' }],
  strategy: {
    returnsDeleted: true,
    nameRule: dns1123Label,
    // A namespace is deleted once `spec.finalizers` is empty.
    termination: {
      begin: (namespace) => {
        namespace.status = { ...namespace.status, phase: 'Terminating' };
      },
      pending: ({ spec }) => (spec?.finalizers ?? []).length > 0,
      propagates: true,
    },
    defaults: (namespace, { names }) => {
      namespace.status = { ...namespace.status, phase: namespace.status?.phase || 'Active' };
      // The label `metadata.name` always equals the name.
      namespace.metadata.labels = {
        ...namespace.metadata.labels,
        [`${names.labels}/metadata.name`]: namespace.metadata.name ?? '',
      };
    },
    prepareCreate: (namespace, { names }) => {
      namespace.status = { phase: 'Active' };
      const requestedFinalizers = namespace.spec?.finalizers ?? [];
      const finalizers = requestedFinalizers.includes(names.product)
        ? requestedFinalizers
        : [...requestedFinalizers, names.product];
      namespace.spec = { ...namespace.spec, finalizers };
    },
    // The spec, which has finalizers alone, changes through the `finalize` subresource only.
    prepareUpdate: (namespace, old) => {
      namespace.spec = { ...old.spec };
    },
    validate: ({ spec }, { names }) =>
      (spec?.finalizers ?? []).flatMap((finalizer) => validateFinalizer(finalizer, 'spec.finalizers', names)),
    validateUpdate: (namespace, old) => (same(namespace.status, old.status) ? [] : validatePhase(namespace)),
  },
});

const validateFinalizer = (finalizer: string, path: string, { product }: Names): FieldError[] => [
  ...byRule(path, finalizer, qualifiedName),
  ...(finalizer.includes('/') || [product, 'orphan', 'foregroundDeletion'].includes(finalizer)
    ? []
    : [fieldError.invalid(path, finalizer, 'name is neither a standard finalizer name nor is it fully qualified')]),
];

function validatePhase({ metadata, status }: NamespaceObject): FieldError[] {
  const alive = metadata.deletionTimestamp === undefined;
  const { phase = '' } = status ?? {};
  if (phase === (alive ? 'Active' : 'Terminating')) return [];
  const why = alive
    ? "may only be 'Active' if `deletionTimestamp` is empty"
    : "may only be 'Terminating' if `deletionTimestamp` is not empty";
  return [fieldError.invalid('status.Phase', phase, why)];
}
