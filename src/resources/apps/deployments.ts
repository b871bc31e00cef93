import { type FieldError, fieldError, immutable } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import { Deployment, DeploymentStrategy } from '../../types/apps-v1.ts';
import { dropVolumes } from '../pod-template/dropped-volumes.ts';
import { defaultTemplate } from '../pod-template/pod-spec.defaults.ts';
import {
  same,
  validateCollisions,
  validateCounts,
  validateWorkload,
  workloadWarnings,
} from '../pod-template/workloads.validation.ts';
import { age, containerNames, formatSelector, imageNames, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { podContext } from '../shared/field-rules.ts';
import { internalForm } from '../shared/internal-go-form.ts';
import { intOrPercentValue, validateAtMost100Percent, validateIntOrPercent } from './rolling-update.validation.ts';

export const deployments = resource({
  group: 'apps',
  plural: 'deployments',
  kind: 'Deployment',
  schema: Deployment,
  lifecycle: { introduced: '1.9' },
  shortNames: ['deploy'],
  categories: ['all'],
  status: { resetFields: [['spec'], ['metadata', 'labels']] },
  scale: true,
  columns: [
    name,
    ['Ready', ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`],
    ['Up-to-date', ({ status }) => status?.updatedReplicas ?? 0],
    ['Available', ({ status }) => status?.availableReplicas ?? 0],
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
      spec.strategy ??= {};
      spec.strategy.type ||= 'RollingUpdate';
      if (spec.strategy.type === 'RollingUpdate') {
        spec.strategy.rollingUpdate ??= {};
        spec.strategy.rollingUpdate.maxUnavailable ??= '25%';
        spec.strategy.rollingUpdate.maxSurge ??= '25%';
      }
      spec.revisionHistoryLimit ??= 10;
      spec.progressDeadlineSeconds ??= 600;
      defaultTemplate(spec.template);
    },
    prepareCreate: ({ spec }) => dropVolumes(spec?.template?.spec),
    prepareUpdate: ({ metadata, spec }, { metadata: before }) => {
      dropVolumes(spec?.template?.spec);
      // A change of the annotations also increments the generation.
      if (!same(metadata.annotations, before.annotations)) metadata.generation = (before.generation ?? 0) + 1;
    },
    validate: ({ metadata, spec = {} }, context) => {
      const { progressDeadlineSeconds: deadline, minReadySeconds = 0 } = spec;
      const rules = podContext({ metadata }, context);
      const errors = [...validateWorkload(spec, 'ReplicaSet', rules), ...validateStrategy(spec.strategy ?? {})];
      if (deadline === undefined || deadline > minReadySeconds) return errors;
      const why = 'must be greater than minReadySeconds';
      return [...errors, fieldError.invalid('spec.progressDeadlineSeconds', deadline, why)];
    },
    validateUpdate: ({ spec = {}, status = {} }, old) => {
      const errors: FieldError[] = [];
      if (!same(spec.selector, old.spec?.selector)) errors.push(immutable('spec.selector', spec.selector));
      if (same(status, old.status)) return errors;
      return [
        ...errors,
        ...validateCounts(status, ['updatedReplicas', 'readyReplicas', 'availableReplicas'], 'readyReplicas'),
        ...validateCollisions(status, old.status ?? {}),
      ];
    },
    warnings: (deployment, old, { names }) => workloadWarnings(deployment, old, names),
  },
});

/** Validates the deployment strategy. */
function validateStrategy(strategy: Infer<typeof DeploymentStrategy>): FieldError[] {
  const { type = '', rollingUpdate } = strategy;
  const path = 'spec.strategy.rollingUpdate';
  if (type === 'Recreate') {
    const why = "may not be specified when strategy `type` is 'Recreate'";
    return rollingUpdate === undefined ? [] : [fieldError.forbidden(path, why)];
  }
  if (type !== 'RollingUpdate') {
    const printedValue = internalForm(strategy, DeploymentStrategy);
    return [fieldError.notSupported('spec.strategy', printedValue, ['Recreate', 'RollingUpdate'])];
  }
  const { maxUnavailable, maxSurge } = rollingUpdate ?? {};
  const field = `${path}.maxUnavailable`;
  const errors = [
    ...validateIntOrPercent(maxUnavailable, field),
    ...validateIntOrPercent(maxSurge, `${path}.maxSurge`),
  ];
  if (intOrPercentValue(maxUnavailable) === 0 && intOrPercentValue(maxSurge) === 0) {
    errors.push(fieldError.invalid(field, maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  }
  return [...errors, ...validateAtMost100Percent(maxUnavailable, field)];
}
