import { MutatingAdmissionPolicy } from '../../types/admissionregistration-v1alpha1.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { formatParamKind } from './admission-policies.columns.ts';
import { validateMutatingPolicy } from './admission-policies.validation.ts';
import { defaultMatch } from './match-resources.validation.ts';

export const mutatingAdmissionPolicies = resource({
  group: 'admissionregistration.{domain}',
  plural: 'mutatingadmissionpolicies',
  kind: 'MutatingAdmissionPolicy',
  version: 'v1alpha1',
  schema: MutatingAdmissionPolicy,
  categories: ['api-extensions'],
  namespaced: false,
  columns: [
    name,
    ['Mutations', ({ spec }) => spec?.mutations?.length ?? 0, 'integer'],
    ['ParamKind', ({ spec }) => formatParamKind(spec?.paramKind)],
    age,
  ],
  strategy: {
    bareFinalizers: true,
    generation: true,
    unconditionalUpdate: false,
    defaults: (policy) => {
      policy.spec ??= {};
      policy.spec.failurePolicy ??= 'Fail';
      defaultMatch(policy.spec.matchConstraints);
    },
    validate: ({ spec = {} }) => validateMutatingPolicy(spec),
  },
});
