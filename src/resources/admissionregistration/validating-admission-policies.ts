import { ValidatingAdmissionPolicy } from '../../types/admissionregistration-v1.ts';
import { ValidatingAdmissionPolicy as V1beta1 } from '../../types/admissionregistration-v1beta1.ts';
import { age, name } from '../shared/columns.ts';
import { validateConditions } from '../shared/conditions.ts';
import { resource } from '../shared/define.ts';
import { validatePolicy, validateTypeChecking } from './admission-policies.validation.ts';
import { validatePolicyExpressions } from './expressions.validation.ts';
import { defaultPolicy, groupDefaults, paramKindColumn, strategyDefaults } from './shared.ts';

export const validatingAdmissionPolicies = resource({
  ...groupDefaults,
  plural: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
  schema: ValidatingAdmissionPolicy,
  lifecycle: { introduced: '1.30' },
  versions: [
    { version: 'v1beta1', schema: V1beta1, lifecycle: { introduced: '1.28', deprecated: '1.31', removed: '1.34' } },
  ],
  status: { resetFields: [['metadata'], ['spec']], metadataChecks: [0, 0] },
  columns: [name, ['Validations', ({ spec }) => spec?.validations?.length ?? 0, 'integer'], paramKindColumn, age],
  strategy: {
    ...strategyDefaults,
    metadataChecks: [1, 0],
    defaults: defaultPolicy,
    validate: ({ metadata, spec = {}, status }) => [
      ...validatePolicy(spec, metadata.name ?? ''),
      ...validateTypeChecking(status?.typeChecking ?? {}),
      ...validateConditions(status?.conditions, 'status.conditions'),
    ],
    validateInSteps: ({ spec = {} }, old, { compatible }) =>
      validatePolicyExpressions(spec, old && (old.spec ?? {}), compatible),
  },
});
