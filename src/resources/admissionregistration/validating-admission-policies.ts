import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { ValidatingAdmissionPolicy } from '../types/admissionregistration-v1.ts';
import { ValidatingAdmissionPolicy as V1beta1 } from '../types/admissionregistration-v1beta1.ts';
import { validateConditions } from '../validate/conditions.ts';
import { formatParamKind } from './policy-cells.ts';
import { validatePolicy } from './policy-rules.ts';
import { defaultMatch } from './rule-rules.ts';

export const validatingAdmissionPolicies = resource({
  group: 'admissionregistration.{domain}',
  plural: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
  schema: ValidatingAdmissionPolicy,
  versions: [{ version: 'v1beta1', schema: V1beta1, deprecated: { since: '1.31', removed: '1.34' } }],
  notYet: 'this server does not enforce admission policies yet',
  categories: ['api-extensions'],
  namespaced: false,
  status: { resetFields: [['metadata'], ['spec']], metadataChecks: [0, 0] },
  columns: [
    name,
    ['Validations', ({ spec }) => spec?.validations?.length ?? 0, 'integer'],
    ['ParamKind', ({ spec }) => formatParamKind(spec?.paramKind)],
    age,
  ],
  strategy: {
    metadataChecks: [1, 0],
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
