import { MutatingWebhookConfiguration } from '../../types/admissionregistration-v1.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { eachOf } from '../shared/field-rules.ts';
import { defaultWebhook, validateWebhook } from './webhooks.validation.ts';

export const mutatingWebhookConfigurations = resource({
  group: 'admissionregistration.{domain}',
  plural: 'mutatingwebhookconfigurations',
  kind: 'MutatingWebhookConfiguration',
  schema: MutatingWebhookConfiguration,
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
      for (const webhook of webhooks) {
        defaultWebhook(webhook);
        webhook.reinvocationPolicy ??= 'Never';
      }
    },
    validate: ({ webhooks }) => eachOf(webhooks, 'webhooks', validateWebhook),
  },
});
