/** The file of `--authorization-config`. */
import { dns1123Subdomain, type FieldError, fieldError, formatDuration, parseDuration } from '../../meta/index.ts';
import {
  type ConfigurationFormat,
  duration,
  field,
  type Infer,
  list,
  string,
  struct,
  versionedKinds,
} from '../../schema/index.ts';
import { compileCondition } from './conditions.ts';
import { reviewVersions } from './review.ts';

/** Absent and zero are not the same. */
const pointer = { nullable: true } as const;

const MatchCondition = struct('apiserver/v1.WebhookMatchCondition', { expression: field(1, string) });

const ConnectionInfo = struct('apiserver/v1.WebhookConnectionInfo', {
  type: field(1, string),
  kubeConfigFile: field(2, string, pointer),
});

const WebhookConfiguration = struct('apiserver/v1.WebhookConfiguration', {
  authorizedTTL: field(1, duration),
  unauthorizedTTL: field(2, duration),
  timeout: field(3, duration),
  subjectAccessReviewVersion: field(4, string),
  matchConditionSubjectAccessReviewVersion: field(5, string),
  failurePolicy: field(6, string),
  connectionInfo: field(7, ConnectionInfo),
  matchConditions: field(8, list(MatchCondition)),
});
export type WebhookConfiguration = Infer<typeof WebhookConfiguration>;

const AuthorizerConfiguration = struct('apiserver/v1.AuthorizerConfiguration', {
  type: field(1, string),
  name: field(2, string),
  webhook: field(3, WebhookConfiguration, pointer),
});
type AuthorizerConfiguration = Infer<typeof AuthorizerConfiguration>;

const AuthorizationConfiguration = struct('apiserver/v1.AuthorizationConfiguration', {
  apiVersion: field(1, string),
  kind: field(2, string),
  authorizers: field(3, list(AuthorizerConfiguration)),
});
export type AuthorizationConfiguration = Infer<typeof AuthorizationConfiguration>;

/** How long answers are kept unless the configuration says so. */
export const defaultTtls = { authorized: '5m0s', unauthorized: '30s' } as const;

/** The types of authorizers, in the order in which messages list them. */
const types = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook'] as const;
const failurePolicies = ['NoOpinion', 'Deny'] as const;
const connectionTypes = ['InClusterConfig', 'KubeConfigFile'] as const;
const maxTimeout = '30s';
const maxConditions = 64;

export const authorizationFormat: ConfigurationFormat<AuthorizationConfiguration> = {
  kinds: versionedKinds('apiserver.config', 'AuthorizationConfiguration', 'v1', 'v1beta1', 'v1alpha1'),
  schema: AuthorizationConfiguration,
  check({ authorizers = [] }) {
    if (authorizers.length === 0) {
      return [fieldError.required('authorizers', 'at least one authorization mode must be defined')];
    }
    const seen = { types: new Set<string>(), names: new Set<string>() };
    return authorizers.flatMap((authorizer, i) => checkAuthorizer(authorizer, `authorizers[${i}]`, seen));
  },
};

interface Seen {
  readonly types: Set<string>;
  readonly names: Set<string>;
}

const isOneOf = (words: readonly string[], text: string): boolean => words.includes(text);

function checkAuthorizer(authorizer: AuthorizerConfiguration, at: string, seen: Seen): FieldError[] {
  const { type = '', name = '', webhook } = authorizer;
  if (type === '') return [fieldError.required(`${at}.type`)];
  if (!isOneOf(types, type)) return [fieldError.notSupported(`${at}.type`, type, types)];
  if (type !== 'Webhook' && seen.types.has(type)) return [fieldError.duplicate(`${at}.type`, type)];
  seen.types.add(type);
  const found = checkName(name, `${at}.name`, seen.names);
  seen.names.add(name);
  if (type === 'Webhook') {
    if (webhook === undefined || webhook === null) {
      return [...found, fieldError.required(`${at}.webhook`, 'required when type=Webhook')];
    }
    return [...found, ...checkWebhook(webhook, at)];
  }
  if (webhook === undefined || webhook === null) return found;
  return [...found, fieldError.invalid(`${at}.webhook`, 'non-null', 'may only be specified when type=Webhook')];
}

function checkName(name: string, at: string, seen: ReadonlySet<string>): FieldError[] {
  if (name === '') return [fieldError.required(at)];
  if (seen.has(name)) return [fieldError.duplicate(at, name)];
  const problems = dns1123Subdomain(name);
  if (problems.length === 0) return [];
  return [fieldError.invalid(at, name, `authorizer name is invalid: ${problems.join(', ')}`)];
}

/** The fields of a webhook are named below the authorizer, as the reference server does. */
function checkWebhook(webhook: WebhookConfiguration, at: string): FieldError[] {
  const { authorizedTTL, unauthorizedTTL, timeout, connectionInfo, matchConditions = [] } = webhook;
  const { subjectAccessReviewVersion: version, failurePolicy } = webhook;
  return [
    ...checkTimeout(timeout, `${at}.timeout`),
    ...checkTtl(authorizedTTL, `${at}.authorizedTTL`),
    ...checkTtl(unauthorizedTTL, `${at}.unauthorizedTTL`),
    ...checkWord(version, `${at}.subjectAccessReviewVersion`, reviewVersions),
    ...checkConditionVersion(webhook, `${at}.matchConditionSubjectAccessReviewVersion`),
    ...checkWord(failurePolicy, `${at}.failurePolicy`, failurePolicies),
    ...checkConnection(connectionInfo, `${at}.connectionInfo`),
    ...checkConditions(matchConditions, `${at}.matchConditions`),
  ];
}

const nanosecondsOf = (text = '0s'): bigint => parseDuration(text);

function checkTimeout(timeout: string | undefined, at: string): FieldError[] {
  const value = nanosecondsOf(timeout);
  if (value === 0n) return [fieldError.required(at)];
  if (value > 0n && value <= parseDuration(maxTimeout)) return [];
  return [fieldError.invalid(at, formatDuration(value), `must be > 0s and <= ${maxTimeout}`)];
}

/** Zero is the default. */
function checkTtl(ttl: string | undefined, at: string): FieldError[] {
  const value = nanosecondsOf(ttl);
  return value < 0n ? [fieldError.invalid(at, formatDuration(value), 'must be > 0s')] : [];
}

function checkWord(word: string | undefined, at: string, words: readonly string[]): FieldError[] {
  if (word === undefined || word === '') return [fieldError.required(at)];
  return isOneOf(words, word) ? [] : [fieldError.notSupported(at, word, words)];
}

function checkConditionVersion(webhook: WebhookConfiguration, at: string): FieldError[] {
  const { matchConditionSubjectAccessReviewVersion: version = '', matchConditions = [] } = webhook;
  if (version === 'v1') return [];
  if (version !== '') return [fieldError.notSupported(at, version, ['v1'])];
  return matchConditions.length === 0 ? [] : [fieldError.required(at, 'required if match conditions are specified')];
}

function checkConnection(connection: WebhookConfiguration['connectionInfo'], at: string): FieldError[] {
  const { type = '', kubeConfigFile } = connection ?? {};
  const file = kubeConfigFile ?? undefined;
  if (type === '') return [fieldError.required(`${at}.type`)];
  if (!isOneOf(connectionTypes, type)) {
    const given = { Type: type, KubeConfigFile: file ?? null };
    return [fieldError.notSupported(`${at}.type`, given, connectionTypes)];
  }
  if (type === 'InClusterConfig') {
    if (file !== undefined) {
      return [fieldError.invalid(`${at}.kubeConfigFile`, file, 'can only be set when type=KubeConfigFile')];
    }
    return [fieldError.invalid(`${at}.type`, type, 'is not for the API server itself: use KubeConfigFile')];
  }
  if (file === undefined || file === '') return [fieldError.required(`${at}.kubeConfigFile`)];
  return file.startsWith('/') ? [] : [fieldError.invalid(`${at}.kubeConfigFile`, file, 'must be an absolute path')];
}

function checkConditions(conditions: readonly { readonly expression?: string }[], at: string): FieldError[] {
  if (conditions.length > maxConditions) return [fieldError.tooMany(at, conditions.length, maxConditions)];
  const seen = new Set<string>();
  return conditions.flatMap(({ expression = '' }, i) => {
    const where = `${at}[${i}].expression`;
    if (expression.trim() === '') return [fieldError.required(where)];
    if (seen.has(expression)) return [fieldError.duplicate(where, expression)];
    seen.add(expression);
    const compiled = compileCondition(expression);
    return typeof compiled === 'string' ? [fieldError.invalid(where, expression, compiled)] : [];
  });
}

/** The first authorizer that has another name than its type in small letters; only webhooks have names of their own. */
export function misnamed({ authorizers = [] }: AuthorizationConfiguration): string | undefined {
  for (const { type = '', name = '' } of authorizers) {
    const expectedName = type.toLowerCase();
    if (type !== 'Webhook' && name !== expectedName)
      return `expected name ${expectedName} for authorizer ${type} instead of ${name}`;
  }
  return undefined;
}
