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
    `Authorizers, asked in this order until one allows or denies: ${names}, each at most once. Without any it is \`RBAC\`. What none of them allows is denied. \`RBAC\` allows what roles grant, \`ABAC\` what the policies of \`--authorization-policy-file\` grant. \`Webhook\` asks the webhook of \`--authorization-webhook-config-file\`. \`Node\` lets kubelets read and write what belongs to their node and its pods. Members of \`system:masters\` are always allowed. With \`AlwaysAllow\` requests without credentials are refused.`,
  ),
  authorizationConfig: flag(
    'Identity',
    type.file,
    undefined,
    'The authorizers in a file, as in [access-authorization.md](access-authorization.md), in place of `--authorization-mode` and the flags of the webhook. A changed file takes effect within a minute; one that is invalid does not.',
  ),
  authorizationPolicyFile: flag(
    'Identity',
    type.file,
    undefined,
    'The policies of the authorization mode `ABAC`, one JSON object a line.',
  ),
  authorizationWebhookConfigFile: flag(
    'Identity',
    type.file,
    undefined,
    'A kubeconfig that leads to the webhook of the authorization mode `Webhook`, as in [access-authorization.md](access-authorization.md).',
  ),
  authorizationWebhookVersion: flag(
    'Identity',
    type.optionalText,
    undefined,
    'The version of the SubjectAccessReview that this webhook is sent and answers: `v1beta1`, which is the default, or `v1`.',
  ),
  authorizationWebhookCacheAuthorizedTtl: flag(
    'Identity',
    type.optionalLifetime,
    undefined,
    'How long the webhook is not asked again what it has allowed; five minutes by default. 0: it is asked each time.',
  ),
  authorizationWebhookCacheUnauthorizedTtl: flag(
    'Identity',
    type.optionalLifetime,
    undefined,
    'How long the webhook is not asked again what it has not allowed; 30 seconds by default. 0: it is asked each time.',
  ),
};

/** The settings of authorization. */
export interface AuthorizationSettings {
  readonly authorizationMode: readonly string[] | undefined;
  readonly authorizationConfig: string | undefined;
  readonly authorizationPolicyFile: string | undefined;
  readonly authorizationWebhookConfigFile: string | undefined;
  readonly authorizationWebhookVersion: string | undefined;
  readonly authorizationWebhookCacheAuthorizedTtl: number | undefined;
  readonly authorizationWebhookCacheUnauthorizedTtl: number | undefined;
}

/** What prevents the start; undefined: the settings of authorization are valid. */
export function authorizationProblem(settings: AuthorizationSettings): string | undefined {
  const { authorizationConfig, authorizationPolicyFile: policies, authorizationMode } = settings;
  const { authorizationWebhookConfigFile: webhook, authorizationWebhookVersion: version = 'v1beta1' } = settings;
  if (authorizationConfig !== undefined) {
    const others = [
      authorizationMode,
      webhook,
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
