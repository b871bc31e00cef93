import { ValidatingAdmissionPolicy } from '../../types/admissionregistration-v1.ts';
import { ValidatingAdmissionPolicy as V1beta1 } from '../../types/admissionregistration-v1beta1.ts';
import { age, name } from '../shared/columns.ts';
import { validateConditions } from '../shared/conditions.ts';
import { resource } from '../shared/define.ts';
import { formatParamKind } from './admission-policies.columns.ts';
import { validatePolicy } from './admission-policies.validation.ts';
import { defaultMatch } from './match-resources.validation.ts';

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
