import { reviewVersions } from '../../access/index.ts';
import { aggregateMessages } from '../../meta/index.ts';
import { authorizationModes, modesOf, modesProblem, modesType } from './authorization-modes.ts';
import { flag } from './flag.ts';
import * as type from './flag-types.ts';

const names = authorizationModes.map((mode) => `\`${mode}\``).join(', ');

/** The flags of authorization. */
export const authorizationFlags = {
  authorizationMode: flag(
    'Identity',
    modesType,
    undefined as readonly string[] | undefined,
    `Ordered list of authorizers: ${names}, each at most once; \`RBAC\` if not set. The first one that allows or denies a request decides; a request that none allows is denied. \`RBAC\` grants the permissions of roles, \`ABAC\` those of the policies in \`--authorization-policy-file\`. \`Webhook\` calls the webhook of \`--authorization-webhook-config-file\`. \`Node\` lets kubelets read and write the objects of their node and its pods. Members of \`system:masters\` are always allowed. With \`AlwaysAllow\`, requests without credentials are rejected.`,
  ),
  authorizationConfig: flag(
    'Identity',
    type.file,
    undefined,
    'File that configures the authorizers ([access-authorization.md](access-authorization.md)), in place of `--authorization-mode` and the webhook flags. A changed file takes effect within a minute; an invalid one does not.',
  ),
  authorizationPolicyFile: flag(
    'Identity',
    type.file,
    undefined,
    'File with the policies of the authorization mode `ABAC`: one JSON object per line.',
  ),
  authorizationWebhookConfigFile: flag(
    'Identity',
    type.file,
    undefined,
    'Kubeconfig of the webhook of the authorization mode `Webhook` ([access-authorization.md](access-authorization.md)).',
  ),
  authorizationWebhookVersion: flag(
    'Identity',
    type.optionalText,
    undefined,
    'Version of the SubjectAccessReview that the webhook receives and returns: `v1beta1` (the default) or `v1`.',
  ),
  authorizationWebhookCacheAuthorizedTtl: flag(
    'Identity',
    type.optionalLifetime,
    undefined,
    'How long a decision of the webhook to allow a request is cached; five minutes by default, 0 disables the cache.',
  ),
  authorizationKubeconfig: flag(
    'Identity',
    type.file,
    undefined,
    'Kubeconfig of an API server that authorizes the requests that no other authorizer allows or denies (SubjectAccessReview), for an extension API server ([aggregation.md](aggregation.md)). Without `--authorization-mode` it authorizes all requests.',
  ),
  authorizationWebhookCacheUnauthorizedTtl: flag(
    'Identity',
    type.optionalLifetime,
    undefined,
    'How long a decision of the webhook not to allow a request is cached; 30 seconds by default, 0 disables the cache.',
  ),
};

/** The settings of authorization. */
export interface AuthorizationSettings {
  readonly authorizationMode: readonly string[] | undefined;
  readonly authorizationConfig: string | undefined;
  readonly authorizationPolicyFile: string | undefined;
  readonly authorizationWebhookConfigFile: string | undefined;
  readonly authorizationKubeconfig?: string | undefined;
  readonly authorizationWebhookVersion: string | undefined;
  readonly authorizationWebhookCacheAuthorizedTtl: number | undefined;
  readonly authorizationWebhookCacheUnauthorizedTtl: number | undefined;
}

/** The problem of the authorization settings; undefined when they are valid. */
export function authorizationProblem(settings: AuthorizationSettings): string | undefined {
  const { authorizationConfig, authorizationPolicyFile: policies, authorizationMode } = settings;
  const { authorizationWebhookConfigFile: webhook, authorizationWebhookVersion: version = 'v1beta1' } = settings;
  if (authorizationConfig !== undefined) {
    const others = [
      authorizationMode,
      webhook,
      settings.authorizationKubeconfig,
      settings.authorizationWebhookVersion,
      settings.authorizationWebhookCacheAuthorizedTtl,
      settings.authorizationWebhookCacheUnauthorizedTtl,
    ];
    if (others.every((value) => value === undefined)) return undefined;
    const flags = '--authorization-mode or --authorization-webhook-*';
    return `--authorization-config can not be specified when ${flags} flags are defined: write what they say into the file`;
  }
  const modes = modesOf(settings);
  const wrong = modesProblem(modes);
  if (wrong !== undefined) return wrong;
  const problems: string[] = [];
  if (modes.includes('ABAC') && policies === undefined) {
    problems.push("authorization-mode ABAC's authorization policy file not passed");
  }
  if (modes.includes('Webhook') && webhook === undefined) {
    problems.push("authorization-mode Webhook's authorization config file not passed");
  }
  if (policies !== undefined && !modes.includes('ABAC')) {
    problems.push('cannot specify --authorization-policy-file without mode ABAC');
  }
  if (webhook !== undefined && !modes.includes('Webhook')) {
    problems.push('cannot specify --authorization-webhook-config-file without mode Webhook');
  }
  if (modes.includes('Webhook') && !(reviewVersions as readonly string[]).includes(version)) {
    const supported = reviewVersions.map((one) => `"${one}"`).join(', ');
    problems.push(
      `invalid authorization config: unsupported webhook authorizer version ${JSON.stringify(version)}, supported versions are ${supported}: --authorization-webhook-version`,
    );
  }
  return problems.length === 0 ? undefined : aggregateMessages(problems);
}
