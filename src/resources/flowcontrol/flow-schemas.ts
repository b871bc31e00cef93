import { age, name, orNone } from '../cells.ts';
import { resource } from '../define.ts';
import { FlowSchema } from '../types/flowcontrol-v1.ts';
import { validateFlowSchema } from './flow-schema-rules.ts';
import { validateStatus } from './priority-level-rules.ts';

export const flowSchemas = resource({
  group: 'flowcontrol.apiserver.{domain}',
  plural: 'flowschemas',
  kind: 'FlowSchema',
  schema: FlowSchema,
  namespaced: false,
  status: true,
  columns: [
    name,
    ['PriorityLevel', ({ spec }) => spec?.priorityLevelConfiguration?.name ?? ''],
    ['MatchingPrecedence', ({ spec }) => spec?.matchingPrecedence ?? 0],
    ['DistinguisherMethod', ({ spec }) => orNone(spec?.distinguisherMethod?.type)],
    age,
    ['MissingPL', ({ status }) => status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?'],
  ],
  strategy: {
    generation: true,
    defaults: (flow) => {
      flow.spec ??= {};
      flow.spec.matchingPrecedence ||= 1000;
    },
    validate: ({ metadata, spec = {}, status }) => [
      ...validateFlowSchema(spec, metadata.name ?? ''),
      ...validateStatus(status),
    ],
  },
});
