import { MutatingAdmissionPolicyBinding } from '../../types/admissionregistration-v1alpha1.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { formatParamRef } from './admission-policies.columns.ts';
import { validateMutatingBinding } from './admission-policies.validation.ts';
import { defaultMatch } from './match-resources.validation.ts';

export const mutatingAdmissionPolicyBindings = resource({
  group: 'admissionregistration.{domain}',
  plural: 'mutatingadmissionpolicybindings',
  kind: 'MutatingAdmissionPolicyBinding',
  version: 'v1alpha1',
  schema: MutatingAdmissionPolicyBinding,
  categories: ['api-extensions'],
  namespaced: false,
  columns: [
    name,
    ['PolicyName', ({ spec }) => spec?.policyName ?? ''],
    ['ParamRef', ({ spec }) => formatParamRef(spec?.paramRef)],
    age,
  ],
  strategy: {
    bareFinalizers: true,
    generation: true,
    unconditionalUpdate: false,
    defaults: ({ spec }) => defaultMatch(spec?.matchResources),
    validate: ({ spec = {} }) => validateMutatingBinding(spec),
  },
});
