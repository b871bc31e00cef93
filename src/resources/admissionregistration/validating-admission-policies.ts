import { age, name, orUnset } from '../cells.ts';
import { resource } from '../define.ts';
import { ValidatingAdmissionPolicy } from '../types/admissionregistration-v1.ts';
import { validateConditions } from '../validate/conditions.ts';
import { validatePolicy } from './policy-rules.ts';
import { defaultMatch } from './rule-rules.ts';

export const validatingAdmissionPolicies = resource({
  group: 'admissionregistration.{domain}',
  plural: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
  schema: ValidatingAdmissionPolicy,
  notYet: 'this server does not enforce admission policies yet',
  categories: ['api-extensions'],
  namespaced: false,
  status: { keeps: [['metadata'], ['spec']] },
  columns: [
    name,
    ['Validations', ({ spec }) => spec?.validations?.length ?? 0, 'integer'],
    [
      'ParamKind',
      ({ spec }) => orUnset(spec?.paramKind === undefined ? '' : `${spec.paramKind.apiVersion}/${spec.paramKind.kind}`),
    ],
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
    validate: ({ metadata, spec = {}, status }) => [
      ...validatePolicy(spec, metadata.name ?? ''),
      ...validateConditions(status?.conditions, 'status.conditions'),
    ],
  },
});
