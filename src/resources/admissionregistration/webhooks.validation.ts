import { dns1123Subdomain, type FieldError, fieldError } from '../../meta/index.ts';
import type { MutatingWebhook, ValidatingWebhook } from '../../types/admissionregistration-v1.ts';
import { byRuleAsOne, eachOf, oneOf, selector, validateReviewVersions } from '../shared/field-rules.ts';
import { defaultPort, validateClient } from '../shared/webhook-client.ts';
import { validateConditions, validateRule } from './match-resources.validation.ts';

type Webhook = ValidatingWebhook & Partial<Pick<MutatingWebhook, 'reinvocationPolicy'>>;

const reviewVersions = ['v1', 'v1beta1'];
const noSideEffects = ['None', 'NoneOnDryRun'];
const allSideEffects = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];

/** Fields that webhooks must have and those of v1beta1 need not have. */
export interface WebhookRules {
  readonly noSideEffects: boolean;
  readonly knownReviewVersion: boolean;
  readonly uniqueNames: boolean;
}

const allRules: WebhookRules = { noSideEffects: true, knownReviewVersion: true, uniqueNames: true };

/** The rules that stored webhooks follow: an update need not follow others. */
export function rulesOf(webhooks: readonly Webhook[] = []): WebhookRules {
  return {
    noSideEffects: webhooks.every(({ sideEffects }) => noSideEffects.includes(sideEffects ?? '')),
    knownReviewVersion: webhooks.every(({ admissionReviewVersions = [] }) => hasKnownVersion(admissionReviewVersions)),
    uniqueNames: new Set(webhooks.map(({ name }) => name)).size === webhooks.length,
  };
}

export function defaultWebhook(webhook: Webhook): void {
  webhook.failurePolicy ??= 'Fail';
  webhook.matchPolicy ??= 'Equivalent';
  webhook.namespaceSelector ??= {};
  webhook.objectSelector ??= {};
  webhook.timeoutSeconds ??= 10;
  for (const rule of webhook.rules ?? []) rule.scope ??= '*';
  defaultPort(webhook.clientConfig?.service);
}

export function validateWebhooks(webhooks: readonly Webhook[] = [], rules = allRules): FieldError[] {
  const seen = new Set<string>();
  return eachOf(webhooks, 'webhooks', (webhook, path) => {
    const errors = validateWebhook(webhook, path, rules);
    const { name = '' } = webhook;
    if (rules.uniqueNames && name !== '' && seen.has(name)) errors.push(fieldError.duplicate(`${path}.name`, name));
    seen.add(name);
    return errors;
  });
}

function validateWebhook(webhook: Webhook, path: string, rules: WebhookRules): FieldError[] {
  const { name = '', timeoutSeconds: seconds = 1 } = webhook;
  const effects: string | null | undefined = webhook.sideEffects;
  const errors = name === '' ? [] : validateName(name, `${path}.name`);
  const at = `${path}.sideEffects`;
  const allowed = rules.noSideEffects ? noSideEffects : allSideEffects;
  if ((effects ?? null) === null) errors.push(fieldError.required(at, `must specify one of ${allowed.join(', ')}`));
  else errors.push(...oneOf(at, effects ?? '', allowed));
  if (seconds < 1 || seconds > 30) {
    const why = 'the timeout value must be between 1 and 30 seconds';
    errors.push(fieldError.invalid(`${path}.timeoutSeconds`, seconds, why));
  }
  return [
    ...errors,
    ...eachOf(webhook.rules, `${path}.rules`, validateRule),
    ...selector(webhook.namespaceSelector, `${path}.namespaceSelector`),
    ...selector(webhook.objectSelector, `${path}.objectSelector`),
    ...validateClient(webhook.clientConfig, `${path}.clientConfig`),
    ...validateConditions(webhook.matchConditions, `${path}.matchConditions`),
    ...validateVersions(webhook.admissionReviewVersions ?? [], `${path}.admissionReviewVersions`, rules),
  ];
}

/** Requires a fully qualified name: a subdomain of at least three segments. */
function validateName(name: string, path: string): FieldError[] {
  const errors = byRuleAsOne(path, name, dns1123Subdomain);
  if (errors.length > 0 || name.split('.').length >= 3) return errors;
  return [fieldError.invalid(path, name, 'should be a domain with at least three segments separated by dots')];
}

function validateVersions(versions: readonly string[], path: string, rules: WebhookRules): FieldError[] {
  const supported = reviewVersions.join(', ');
  if (versions.length === 0) return [fieldError.required(path, `must specify one of ${supported}`)];
  const errors = validateReviewVersions(versions, path);
  if (!rules.knownReviewVersion || hasKnownVersion(versions)) return errors;
  return [...errors, fieldError.invalid(path, [...versions], `must include at least one of ${supported}`)];
}

const hasKnownVersion = (versions: readonly string[]): boolean =>
  versions.some((version) => reviewVersions.includes(version));
