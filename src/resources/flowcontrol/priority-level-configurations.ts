import { age, name, orNone } from '../cells.ts';
import { resource } from '../define.ts';
import { PriorityLevelConfiguration } from '../types/flowcontrol-v1.ts';
import { defaultPriorityLevel, validatePriorityLevel, validateStatus } from './priority-level-rules.ts';

export const priorityLevelConfigurations = resource({
  group: 'flowcontrol.apiserver.{domain}',
  plural: 'prioritylevelconfigurations',
  kind: 'PriorityLevelConfiguration',
  schema: PriorityLevelConfiguration,
  namespaced: false,
  status: { keeps: [['metadata'], ['spec']] },
  columns: [
    name,
    ['Type', ({ spec }) => spec?.type ?? ''],
    [
      'NominalConcurrencyShares',
      ({ spec }) => orNone((spec?.limited ?? spec?.exempt)?.nominalConcurrencyShares?.toString()),
    ],
    ['Queues', ({ spec }) => orNone(spec?.limited?.limitResponse?.queuing?.queues?.toString())],
    ['HandSize', ({ spec }) => orNone(spec?.limited?.limitResponse?.queuing?.handSize?.toString())],
    ['QueueLengthLimit', ({ spec }) => orNone(spec?.limited?.limitResponse?.queuing?.queueLengthLimit?.toString())],
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
