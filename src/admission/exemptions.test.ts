import { expect, it } from 'vitest';
import { exemptFromPolicies, exemptFromWebhooks } from './exemptions.ts';
import { names } from './testing/initializer.ts';

const [webhooks, policies] = [exemptFromWebhooks(names), exemptFromPolicies(names)];

it.each<[string, boolean, boolean]>([
  ['validatingwebhookconfigurations.admissionregistration.k8s.io', true, false],
  ['mutatingwebhookconfigurations.admissionregistration.k8s.io', true, false],
  ['validatingadmissionpolicies.admissionregistration.k8s.io', true, true],
  ['mutatingadmissionpolicybindings.admissionregistration.k8s.io', true, true],
  ['validatingwebhookconfigurations.example.com', false, false],
  ['tokenreviews.authentication.k8s.io', false, true],
  ['selfsubjectaccessreviews.authorization.k8s.io', false, true],
  ['pods', false, false],
])('%s: exempt from webhooks: %s, from policies: %s', (resource, fromWebhooks, fromPolicies) => {
  expect([webhooks.has(resource), policies.has(resource)]).toEqual([fromWebhooks, fromPolicies]);
});
