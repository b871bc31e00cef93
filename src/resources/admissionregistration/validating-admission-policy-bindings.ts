import { age, name, orUnset } from '../cells.ts';
import { resource } from '../define.ts';
import { ValidatingAdmissionPolicyBinding } from '../types/admissionregistration-v1.ts';
import { validateBinding } from './policy-rules.ts';
import { defaultMatch } from './rule-rules.ts';

export const validatingAdmissionPolicyBindings = resource({
  group: 'admissionregistration.{domain}',
  plural: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
  schema: ValidatingAdmissionPolicyBinding,
  notYet: 'this server does not enforce admission policies yet',
  categories: ['api-extensions'],
  namespaced: false,
  columns: [
    name,
    ['PolicyName', ({ spec }) => spec?.policyName ?? ''],
    [
      'ParamRef',
      ({ spec: { paramRef } = {} }) => {
        if (paramRef === undefined) return orUnset('');
        if (!paramRef.name) return '*';
        return paramRef.namespace ? `${paramRef.namespace}/${paramRef.name}` : `*/${paramRef.name}`;
      },
    ],
    age,
  ],
  strategy: {
    bareFinalizers: true,
    generation: true,
    unconditionalUpdate: false,
    defaults: ({ spec }) => defaultMatch(spec?.matchResources),
    validate: ({ spec = {} }) => validateBinding(spec),
  },
});
