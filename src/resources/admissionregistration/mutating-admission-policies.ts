import { MutatingAdmissionPolicy } from '../../types/admissionregistration-v1alpha1.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { validateMutatingPolicy } from './admission-policies.validation.ts';
import { validateMutatingPolicyExpressions } from './expressions.validation.ts';
import { defaultPolicy, groupDefaults, paramKindColumn, strategyDefaults } from './shared.ts';

export const mutatingAdmissionPolicies = resource({
  ...groupDefaults,
  plural: 'mutatingadmissionpolicies',
  kind: 'MutatingAdmissionPolicy',
  version: 'v1alpha1',
  schema: MutatingAdmissionPolicy,
  lifecycle: { introduced: '1.32', deprecated: '1.35', removed: '1.38' },
  columns: [name, ['Mutations', ({ spec }) => spec?.mutations?.length ?? 0, 'integer'], paramKindColumn, age],
  strategy: {
    ...strategyDefaults,
    defaults: defaultPolicy,
    validate: ({ spec = {} }) => validateMutatingPolicy(spec),
    validateInSteps: ({ spec = {} }, old, { compatible }) =>
      validateMutatingPolicyExpressions(spec, old && (old.spec ?? {}), compatible),
  },
});
