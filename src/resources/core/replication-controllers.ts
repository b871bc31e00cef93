import { type FieldError, fieldError, selectorFromObject } from '../../meta/index.ts';
import type { StrategyContext } from '../../registry/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { ReplicationController } from '../../types/core-v1.ts';
import { dropVolumes } from '../pod-template/dropped-volumes.ts';
import { defaultTemplate } from '../pod-template/pod-spec.defaults.ts';
import {
  same,
  validateCounts,
  validateSelected,
  validateWorkloadTemplate,
  workloadWarnings,
} from '../pod-template/workloads.validation.ts';
import { age, containerNames, formatLabels, imageNames, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { nonNegative, podContext } from '../shared/field-rules.ts';

export const replicationControllers = resource({
  group: '',
  plural: 'replicationcontrollers',
  kind: 'ReplicationController',
  schema: ReplicationController,
  lifecycle: { introduced: '1.0' },
  shortNames: ['rc'],
  categories: ['all'],
  status: true,
  scale: ({ spec }) => (spec?.selector === undefined ? '' : selectorFromObject({ matchLabels: spec.selector }).text),
  columns: [
    name,
    ['Desired', ({ spec }) => spec?.replicas ?? 0, 'integer'],
    ['Current', ({ status }) => status?.replicas ?? 0, 'integer'],
    ['Ready', ({ status }) => status?.readyReplicas ?? 0, 'integer'],
    age,
    ['Containers', ({ spec }) => containerNames(spec?.template?.spec?.containers), 'wide'],
    ['Images', ({ spec }) => imageNames(spec?.template?.spec?.containers), 'wide'],
    ['Selector', ({ spec }) => formatLabels(spec?.selector), 'wide'],
  ],
  selectableFields: [{ path: 'status.replicas', value: ({ status }) => String(status?.replicas ?? 0) }],
  strategy: {
    metadataChecks: [0, 1],
    generation: true,
    garbageCollectionPolicy: 'OrphanDependents',
    defaults: (controller) => {
      const { metadata, spec = {} } = controller;
      const { labels } = spec.template?.metadata ?? {};
      if (labels !== undefined && Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
      if (labels !== undefined && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
      defaultTemplate(spec.template);
    },
    prepareCreate: ({ spec }) => dropVolumes(spec?.template?.spec),
    prepareUpdate: ({ spec }) => dropVolumes(spec?.template?.spec),
    validate: validateSpec,
    validateUpdate: ({ status = {} }, old) =>
      same(status, old.status) ? [] : validateCounts(status, parts, 'readyReplicas'),
    warnings: (controller, old, { names }) => workloadWarnings(controller, old, names),
  },
});

const parts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const;

function validateSpec(
  { metadata, spec = {} }: ObjectOf<typeof ReplicationController>,
  context: StrategyContext,
): FieldError[] {
  const { selector = {}, template, replicas = 0, minReadySeconds = 0 } = spec;
  const selects = Object.keys(selector).length > 0;
  const errors = nonNegative('spec.minReadySeconds', minReadySeconds);
  if (!selects) errors.push(fieldError.required('spec.selector'));
  errors.push(...nonNegative('spec.replicas', replicas));
  if (template === undefined || template === null) return [...errors, fieldError.required('spec.template')];
  if (selects) errors.push(...validateSelected({ matchLabels: selector }, template, 'spec.template'));
  const rules = podContext({ metadata }, context);
  return [...errors, ...validateWorkloadTemplate(template, 'spec.template', 'ReplicationController', rules)];
}
