/** The objects to which webhooks and policies never apply: without them, a mistake in a policy could not be undone. */
import type { Names } from '../meta/index.ts';

const policies: readonly string[] = ['validating', 'mutating'].flatMap((kind) => [
  `${kind}admissionpolicies`,
  `${kind}admissionpolicybindings`,
]);
const webhookConfigurations: readonly string[] = ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'];
const accessReviews: readonly string[] = [
  'localsubjectaccessreviews',
  'selfsubjectaccessreviews',
  'selfsubjectrulesreviews',
  'subjectaccessreviews',
];

const namesIn = (group: string, resources: readonly string[]): string[] =>
  resources.map((resource) => `${resource}.${group}`);

/** The resources of which webhooks are not told: all configurations of webhooks and policies. */
export const exemptFromWebhooks = ({ domain }: Names): ReadonlySet<string> =>
  new Set(namesIn(`admissionregistration.${domain}`, [...policies, ...webhookConfigurations]));

/** The resources that policies do not apply to: policies, and reviews, which a cluster cannot do without. */
export const exemptFromPolicies = ({ domain }: Names): ReadonlySet<string> =>
  new Set([
    ...namesIn(`admissionregistration.${domain}`, policies),
    ...namesIn(`authorization.${domain}`, accessReviews),
    ...namesIn(`authentication.${domain}`, ['selfsubjectreviews', 'tokenreviews']),
  ]);
