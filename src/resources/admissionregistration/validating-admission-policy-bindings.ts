import { ValidatingAdmissionPolicyBinding } from '../../types/admissionregistration-v1.ts';
import { ValidatingAdmissionPolicyBinding as V1beta1 } from '../../types/admissionregistration-v1beta1.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { formatParamRef } from './admission-policies.columns.ts';
import { validateBinding } from './admission-policies.validation.ts';
import { defaultMatch } from './match-resources.validation.ts';

export const validatingAdmissionPolicyBindings = resource({
  group: 'admissionregistration.{domain}',
  plural: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
  schema: ValidatingAdmissionPolicyBinding,
  versions: [{ version: 'v1beta1', schema: V1beta1, deprecated: { since: '1.31', removed: '1.34' } }],
  notYet: 'this server does not enforce admission policies yet',
  categories: ['api-extensions'],
  namespaced: false,
  columns: [
    name,
    ['PolicyName', ({ spec }) => spec?.policyName ?? ''],
    ['ParamRef', ({ spec }) => formatParamRef(spec?.paramRef)],
    age,
  ],
  strategy: {
    metadataChecks: [1, 0],
    bareFinalizers: true,
    generation: true,
    unconditionalUpdate: false,
    defaults: ({ spec }) => defaultMatch(spec?.matchResources),
    validate: ({ spec = {} }) => validateBinding(spec),
  },
});
