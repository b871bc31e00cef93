/** The authorizers of a server, from its flags or the file of `--authorization-config`. */
import {
  type AuthorizationConfiguration,
  authorizationFormat,
  type Condition,
  compileCondition,
  defaultTtls,
  misnamed,
  type ReviewVersion,
  type WebhookConfiguration,
} from '../../access/index.ts';
import { type Names, parseDuration } from '../../meta/index.ts';
import { decodeConfiguration } from '../../schema/index.ts';
import type { AuthorizationSettings } from '../settings/authorization-flags.ts';
import { type AuthorizationMode, isMode, modesOf } from '../settings/authorization-modes.ts';
import {
  accessTypeProblem,
  decodingProblem,
  parseDocument,
  rejectFieldErrors,
} from '../settings/configuration-file.ts';
import { StartError } from '../start-error.ts';
import { checkKubeconfigPath, type Kubeconfig } from './authorization-webhook.ts';

/** The configuration of a webhook. */
export interface ConfiguredWebhook {
  readonly kubeconfig: Kubeconfig;
  readonly version: ReviewVersion;
  readonly timeoutMs: number;
  readonly authorizedMs: number;
  readonly unauthorizedMs: number;
  readonly failurePolicy: 'NoOpinion' | 'Deny';
  readonly conditions: readonly Condition[];
}

/** The configuration of an authorizer. */
export type ConfiguredAuthorizer =
  | { readonly type: Exclude<AuthorizationMode, 'Webhook'>; readonly name: string }
  | { readonly type: 'Webhook'; readonly name: string; readonly webhook: ConfiguredWebhook };

const msOf = (text: string): number => Number(parseDuration(text) / 1_000_000n);

/** Timeout of the webhook that flags configure (ms). */
const flagsTimeoutMs = 30_000;

/** The authorizers of the flags. */
export function configuredByFlags(settings: AuthorizationSettings, names: Names): ConfiguredAuthorizer[] {
  const { authorizationKubeconfig: path, authorizationMode } = settings;
  const modes = path !== undefined && authorizationMode === undefined ? [] : modesOf(settings);
  const configured = modes
    .filter(isMode)
    .map(
      (type): ConfiguredAuthorizer =>
        type === 'Webhook'
          ? { type, name: 'default', webhook: webhookOfFlags(settings) }
          : { type, name: type.toLowerCase() },
    );
  if (path === undefined) return configured;
  return [...configured, { type: 'Webhook', name: 'delegated', webhook: delegated(path, names) }];
}

/** How long decisions of another API server are cached (ms). */
const delegatedMs = 10_000;

/** The authorizer that asks another API server. */
const delegated = (path: string, { domain }: Names): ConfiguredWebhook => ({
  kubeconfig: {
    setting: '--authorization-kubeconfig',
    path,
    endpoint: `/apis/authorization.${domain}/v1/subjectaccessreviews`,
  },
  version: 'v1',
  timeoutMs: flagsTimeoutMs,
  authorizedMs: delegatedMs,
  unauthorizedMs: delegatedMs,
  failurePolicy: 'NoOpinion',
  conditions: [],
});

const webhookOfFlags = (settings: AuthorizationSettings): ConfiguredWebhook => ({
  kubeconfig: {
    setting: '--authorization-webhook-config-file',
    path: settings.authorizationWebhookConfigFile ?? '',
  },
  version: settings.authorizationWebhookVersion === 'v1' ? 'v1' : 'v1beta1',
  timeoutMs: flagsTimeoutMs,
  authorizedMs: settings.authorizationWebhookCacheAuthorizedTtl ?? msOf(defaultTtls.authorized),
  unauthorizedMs: settings.authorizationWebhookCacheUnauthorizedTtl ?? msOf(defaultTtls.unauthorized),
  failurePolicy: 'NoOpinion',
  conditions: [],
});

/** Parses a configuration file. @throws StartError that names every problem */
export async function configuredByText(path: string, text: string, names: Names): Promise<ConfiguredAuthorizer[]> {
  const document = parseDocument('--authorization-config', path, text);
  const errorsOf = (configuration: AuthorizationConfiguration) =>
    authorizationFormat.check?.(configuration, names) ?? [];
  if (document.value === null) rejectFieldErrors(document.where, errorsOf({}));
  const { kinds, schema } = authorizationFormat;
  const failed = `${document.where}: failed to load AuthorizationConfiguration from file`;
  const wrongType = accessTypeProblem('AuthorizationConfiguration', { kinds, schema }, document.value, text);
  if (wrongType !== undefined) throw new StartError(`${failed}: ${wrongType}`);
  const decoded = decodeConfiguration<AuthorizationConfiguration>({ kinds, schema }, document.value, names);
  if ('problems' in decoded) {
    throw new StartError(`${failed}: ${decodingProblem(decoded.problems)}`);
  }
  const configuration = decoded.value;
  rejectFieldErrors(document.where, errorsOf(configuration));
  const { authorizers = [] } = configuration;
  const checked = authorizers.map(async ({ webhook }, i) => {
    const file = webhook?.connectionInfo?.kubeConfigFile ?? undefined;
    return file === undefined ? [] : checkKubeconfigPath(`authorizers[${i}].connectionInfo.kubeConfigFile`, file);
  });
  rejectFieldErrors(document.where, (await Promise.all(checked)).flat());
  const wrong = misnamed(configuration);
  if (wrong !== undefined) throw new StartError(`${document.where}: ${wrong}`);
  return authorizers.map(configured);
}

type Checked = NonNullable<AuthorizationConfiguration['authorizers']>[number];

/** The configuration of an authorizer that has been validated. */
function configured({ type = '', name = '', webhook }: Checked, index: number): ConfiguredAuthorizer {
  const { kubeConfigFile } = webhook?.connectionInfo ?? {};
  if (webhook === undefined || webhook === null) return { type: type as Exclude<AuthorizationMode, 'Webhook'>, name };
  const kubeconfig = { setting: `authorizers[${index}].connectionInfo.kubeConfigFile`, path: kubeConfigFile ?? '' };
  return { type: 'Webhook', name, webhook: { kubeconfig, ...settingsOf(webhook) } };
}

function settingsOf(webhook: WebhookConfiguration): Omit<ConfiguredWebhook, 'kubeconfig'> {
  const { timeout = '0s', matchConditions = [], authorizedTTL = '0s', unauthorizedTTL = '0s' } = webhook;
  const { subjectAccessReviewVersion: version, failurePolicy } = webhook;
  return {
    version: version === 'v1' ? 'v1' : 'v1beta1',
    timeoutMs: msOf(timeout),
    authorizedMs: msOf(authorizedTTL) || msOf(defaultTtls.authorized),
    unauthorizedMs: msOf(unauthorizedTTL) || msOf(defaultTtls.unauthorized),
    failurePolicy: failurePolicy === 'NoOpinion' ? 'NoOpinion' : 'Deny',
    conditions: matchConditions
      .map(({ expression = '' }) => compileCondition(expression))
      .filter((condition) => typeof condition !== 'string'),
  };
}
