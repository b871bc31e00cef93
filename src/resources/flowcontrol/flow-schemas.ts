import { type FieldError, fieldError } from '../../meta/index.ts';
import { FlowSchema, FlowSchemaSpec } from '../../types/flowcontrol-v1.ts';
import { age, name, orNone } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { same } from '../shared/field-rules.ts';
import { internalForm } from '../shared/internal-go-form.ts';
import { mandatoryFlows } from './bootstrap-objects.ts';
import { validateFlowSchema } from './flow-schemas.validation.ts';
import { validateStatus } from './priority-level-configurations.validation.ts';

export const flowSchemas = resource({
  group: 'flowcontrol.apiserver.{domain}',
  plural: 'flowschemas',
  kind: 'FlowSchema',
  schema: FlowSchema,
  lifecycle: { introduced: '1.29' },
  followed: true,
  namespaced: false,
  status: { resetFields: [['metadata'], ['spec']], metadataChecks: [0, 0] },
  columns: [
    name,
    ['PriorityLevel', ({ spec }) => spec?.priorityLevelConfiguration?.name ?? ''],
    ['MatchingPrecedence', ({ spec }) => spec?.matchingPrecedence ?? 0],
    ['DistinguisherMethod', ({ spec }) => orNone(spec?.distinguisherMethod?.type)],
    age,
    ['MissingPL', ({ status }) => status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?'],
  ],
  strategy: {
    metadataChecks: [1, 0],
    generation: true,
    defaults: (flow) => {
      flow.spec ??= {};
      flow.spec.matchingPrecedence ||= 1000;
    },
    validate: ({ metadata, spec = {}, status }) => [
      ...validateFlowSchema(spec, metadata.name ?? ''),
      ...validateFixed(spec, metadata.name ?? ''),
      ...validateStatus(status),
    ],
  },
});

function validateFixed(spec: FlowSchemaSpec, name: string): FieldError[] {
  const fixed = mandatoryFlows.get(name);
  if (fixed === undefined || same(spec, fixed)) return [];
  return [
    fieldError.invalid('spec', internalForm(spec, FlowSchemaSpec), `spec of '${name}' must equal the fixed value`),
  ];
}
