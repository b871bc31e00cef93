import { age, name } from '../cells.ts';
import { eachOf } from '../core/pod-spec/field-rules.ts';
import { resource } from '../define.ts';
import { ValidatingWebhookConfiguration } from '../types/admissionregistration-v1.ts';
import { defaultWebhook, validateWebhook } from './webhook-rules.ts';

export const validatingWebhookConfigurations = resource({
  group: 'admissionregistration.{domain}',
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  schema: ValidatingWebhookConfiguration,
  notYet: 'this server does not call webhooks yet',
  categories: ['api-extensions'],
  namespaced: false,
  columns: [name, ['Webhooks', ({ webhooks }) => webhooks?.length ?? 0, 'integer'], age],
  strategy: {
    metadataChecks: [1, 0],
    bareFinalizers: true,
    generation: true,
    unconditionalUpdate: false,
    defaults: ({ webhooks = [] }) => {
      for (const webhook of webhooks) defaultWebhook(webhook);
    },
    validate: ({ webhooks }) => eachOf(webhooks, 'webhooks', validateWebhook),
  },
});
