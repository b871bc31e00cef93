import { immutable } from '../../meta/index.ts';
import { ReplicaSet } from '../../types/apps-v1.ts';
import { dropVolumes } from '../pod-template/dropped-volumes.ts';
import { defaultTemplate } from '../pod-template/pod-spec.defaults.ts';
import { same, validateCounts, validateWorkload, workloadWarnings } from '../pod-template/workloads.validation.ts';
import { age, containerNames, formatSelector, imageNames, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { podContext } from '../shared/field-rules.ts';

export const replicaSets = resource({
  group: 'apps',
  plural: 'replicasets',
  kind: 'ReplicaSet',
  schema: ReplicaSet,
  lifecycle: { introduced: '1.9' },
  shortNames: ['rs'],
  categories: ['all'],
  status: true,
  scale: true,
  columns: [
    name,
    ['Desired', ({ spec }) => spec?.replicas ?? 0, 'integer'],
    ['Current', ({ status }) => status?.replicas ?? 0, 'integer'],
    ['Ready', ({ status }) => status?.readyReplicas ?? 0, 'integer'],
    age,
    ['Containers', ({ spec }) => containerNames(spec?.template?.spec?.containers), 'wide'],
    ['Images', ({ spec }) => imageNames(spec?.template?.spec?.containers), 'wide'],
    ['Selector', ({ spec }) => formatSelector(spec?.selector), 'wide'],
  ],
  strategy: {
    metadataChecks: [0, 1],
    generation: true,
    defaults: ({ spec = {} }) => {
      spec.replicas ??= 1;
      defaultTemplate(spec.template);
    },
    prepareCreate: ({ spec }) => dropVolumes(spec?.template?.spec),
    prepareUpdate: ({ spec }) => dropVolumes(spec?.template?.spec),
    validate: ({ metadata, spec = {} }, context) =>
      validateWorkload(spec, 'ReplicaSet', podContext({ metadata }, context)),
    validateUpdate: ({ spec, status = {} }, old) => {
      if (!same(status, old.status)) return validateCounts(status, parts, 'readyReplicas');
      return same(spec?.selector, old.spec?.selector) ? [] : [immutable('spec.selector', spec?.selector)];
    },
    warnings: (set, old, { names }) => workloadWarnings(set, old, names),
  },
});

const parts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const;
