import { MutatingAdmissionPolicyBinding } from '../../types/admissionregistration-v1alpha1.ts';
import { resource } from '../shared/define.ts';
import { validateMutatingBinding } from './admission-policies.validation.ts';
import { defaultMatch } from './match-resources.validation.ts';
import { bindingColumns, groupDefaults, strategyDefaults } from './shared.ts';

export const mutatingAdmissionPolicyBindings = resource({
  ...groupDefaults,
  plural: 'mutatingadmissionpolicybindings',
  kind: 'MutatingAdmissionPolicyBinding',
  version: 'v1alpha1',
  schema: MutatingAdmissionPolicyBinding,
  lifecycle: { introduced: '1.32', deprecated: '1.35', removed: '1.38' },
  columns: bindingColumns,
  strategy: {
    ...strategyDefaults,
    defaults: ({ spec }) => defaultMatch(spec?.matchResources),
    validate: ({ spec = {} }) => validateMutatingBinding(spec),
  },
});
