import { ValidatingAdmissionPolicyBinding } from '../../types/admissionregistration-v1.ts';
import { ValidatingAdmissionPolicyBinding as V1beta1 } from '../../types/admissionregistration-v1beta1.ts';
import { resource } from '../shared/define.ts';
import { validateBinding } from './admission-policies.validation.ts';
import { defaultMatch } from './match-resources.validation.ts';
import { bindingColumns, groupDefaults, strategyDefaults } from './shared.ts';

export const validatingAdmissionPolicyBindings = resource({
  ...groupDefaults,
  plural: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
  schema: ValidatingAdmissionPolicyBinding,
  lifecycle: { introduced: '1.30' },
  versions: [
    { version: 'v1beta1', schema: V1beta1, lifecycle: { introduced: '1.28', deprecated: '1.31', removed: '1.34' } },
  ],
  columns: bindingColumns,
  strategy: {
    ...strategyDefaults,
    metadataChecks: [1, 0],
    defaults: ({ spec }) => defaultMatch(spec?.matchResources),
    validate: ({ spec = {} }) => validateBinding(spec),
  },
});
