import { age, name } from '../cells.ts';
import { resource } from '../define.ts';
import { ValidatingWebhookConfiguration } from '../types/admissionregistration-v1.ts';

export const validatingWebhookConfigurations = resource({
  group: 'admissionregistration.{domain}',
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  schema: ValidatingWebhookConfiguration,
  categories: ['api-extensions'],
  namespaced: false,
  columns: [name, ['Webhooks', ({ webhooks }) => webhooks?.length ?? 0, 'integer'], age],
  strategy: { generation: true, unconditionalUpdate: false },
});
