import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { MutatingAdmissionPolicyBinding } from '../types/admissionregistration-v1alpha1.ts';
import { formatParamRef } from './policy-cells.ts';
import { validateMutatingBinding } from './policy-rules.ts';
import { defaultMatch } from './rule-rules.ts';

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
