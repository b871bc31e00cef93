import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { PriorityLevelConfiguration } from '../types/flowcontrol-v1.ts';
import { defaultPriorityLevel, validatePriorityLevel, validateStatus } from './priority-level-rules.ts';

export const priorityLevelConfigurations = resource({
  group: 'flowcontrol.apiserver.{domain}',
  plural: 'prioritylevelconfigurations',
  kind: 'PriorityLevelConfiguration',
  schema: PriorityLevelConfiguration,
  namespaced: false,
  status: true,
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
    generation: true,
    defaults: ({ spec }) => defaultPriorityLevel(spec ?? {}),
    validate: ({ metadata, spec = {}, status }) => [
      ...validatePriorityLevel(spec, metadata.name ?? ''),
      ...validateStatus(status),
    ],
  },
});
