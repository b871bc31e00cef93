import { NetworkPolicy } from '../../types/networking-v1.ts';
import { age, formatSelector, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { defaultPolicy, networkPolicyWarnings, validatePolicy } from './network-policies.validation.ts';

export const networkPolicies = resource({
  group: 'networking.{domain}',
  plural: 'networkpolicies',
  kind: 'NetworkPolicy',
  schema: NetworkPolicy,
  lifecycle: { introduced: '1.7' },
  shortNames: ['netpol'],
  columns: [name, ['Pod-Selector', ({ spec }) => formatSelector(spec?.podSelector)], age],
  strategy: {
    metadataChecks: [0, 1],
    generation: true,
    defaults: (policy) => {
      policy.spec ??= {};
      defaultPolicy(policy.spec);
    },
    validate: ({ spec = {} }) => validatePolicy(spec),
    warnings: ({ spec = {} }) => networkPolicyWarnings(spec),
  },
});
