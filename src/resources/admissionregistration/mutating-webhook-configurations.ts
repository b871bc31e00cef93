import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { MutatingWebhookConfiguration } from '../types/admissionregistration-v1.ts';

export const mutatingWebhookConfigurations = resource({
  group: 'admissionregistration.{domain}',
  plural: 'mutatingwebhookconfigurations',
  kind: 'MutatingWebhookConfiguration',
  schema: MutatingWebhookConfiguration,
  categories: ['api-extensions'],
  namespaced: false,
  columns: [name, ['Webhooks', ({ webhooks }) => webhooks?.length ?? 0, 'integer'], age],
  strategy: { generation: true, unconditionalUpdate: false },
});
