import { age, name, orNone } from '../cells.ts';
import { resource } from '../define.ts';
import { FlowSchema } from '../types/flowcontrol-v1.ts';

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
    ['MatchingPrecedence', ({ spec }) => spec?.matchingPrecedence ?? 0, 'integer'],
    ['DistinguisherMethod', ({ spec }) => orNone(spec?.distinguisherMethod?.type)],
    age,
    ['MissingPL', ({ status }) => status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?'],
  ],
  strategy: { generation: true },
});
