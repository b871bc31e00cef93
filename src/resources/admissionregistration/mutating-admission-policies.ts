import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { MutatingAdmissionPolicy } from '../types/admissionregistration-v1alpha1.ts';
import { formatParamKind } from './policy-cells.ts';
import { validateMutatingPolicy } from './policy-rules.ts';
import { defaultMatch } from './rule-rules.ts';

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
