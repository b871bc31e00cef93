import { ValidatingWebhookConfiguration } from '../../types/admissionregistration-v1.ts';
import { resource } from '../shared/define.ts';
import { isNew } from '../shared/field-rules.ts';
import { validateWebhookExpressions } from './expressions.validation.ts';
import { groupDefaults, strategyDefaults, webhookColumns } from './shared.ts';
import { defaultWebhook, rulesOf, validateWebhooks } from './webhooks.validation.ts';

export const validatingWebhookConfigurations = resource({
  ...groupDefaults,
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  schema: ValidatingWebhookConfiguration,
  lifecycle: { introduced: '1.16' },
  columns: webhookColumns,
  strategy: {
    ...strategyDefaults,
    metadataChecks: [1, 0],
    defaults: ({ webhooks = [] }) => {
      for (const webhook of webhooks) defaultWebhook(webhook);
    },
    validate: (configuration) => (isNew(configuration) ? validateWebhooks(configuration.webhooks) : []),
    validateUpdate: ({ webhooks }, old) => validateWebhooks(webhooks, rulesOf(old.webhooks)),
    validateInSteps: ({ webhooks }, old, { compatible }) =>
      validateWebhookExpressions(webhooks, old && (old.webhooks ?? []), compatible),
  },
});
