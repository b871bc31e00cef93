import { type FieldError, fieldError } from '../../meta/index.ts';
import { PriorityLevelConfiguration, PriorityLevelConfigurationSpec } from '../../types/flowcontrol-v1.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { same } from '../shared/field-rules.ts';
import { internalForm } from '../shared/internal-go-form.ts';
import { mandatoryLevels } from './bootstrap-objects.ts';
import {
  defaultPriorityLevel,
  validatePriorityLevel,
  validateStatus,
} from './priority-level-configurations.validation.ts';

export const priorityLevelConfigurations = resource({
  group: 'flowcontrol.apiserver.{domain}',
  plural: 'prioritylevelconfigurations',
  kind: 'PriorityLevelConfiguration',
  schema: PriorityLevelConfiguration,
  lifecycle: { introduced: '1.29' },
  followed: true,
  namespaced: false,
  status: { resetFields: [['metadata'], ['spec']], metadataChecks: [0, 0] },
  columns: [
    name,
    ['Type', ({ spec }) => spec?.type ?? ''],
    ['NominalConcurrencyShares', ({ spec }) => spec?.limited?.nominalConcurrencyShares ?? '<none>'],
    ['Queues', ({ spec }) => spec?.limited?.limitResponse?.queuing?.queues ?? '<none>'],
    ['HandSize', ({ spec }) => spec?.limited?.limitResponse?.queuing?.handSize ?? '<none>'],
    ['QueueLengthLimit', ({ spec }) => spec?.limited?.limitResponse?.queuing?.queueLengthLimit ?? '<none>'],
    age,
  ],
  strategy: {
    metadataChecks: [1, 0],
    generation: true,
    defaults: ({ spec }) => defaultPriorityLevel(spec ?? {}),
    validate: ({ metadata, spec = {}, status }) => [
      ...validatePriorityLevel(spec, metadata.name ?? ''),
      ...validateFixed(spec, metadata.name ?? ''),
      ...validateStatus(status),
    ],
  },
});

/** Requires the fixed spec of the mandatory levels, except for the `exempt` field. */
function validateFixed(spec: PriorityLevelConfigurationSpec, name: string): FieldError[] {
  const fixed = mandatoryLevels.get(name);
  const { exempt } = fixed ?? {};
  if (fixed === undefined || same(exempt === undefined ? spec : { ...spec, exempt }, fixed)) return [];
  const but = exempt === undefined ? '' : "except the 'spec.exempt' field ";
  const printedValue = internalForm(spec, PriorityLevelConfigurationSpec);
  return [fieldError.invalid('spec', printedValue, `spec of '${name}' ${but}must equal the fixed value`)];
}
