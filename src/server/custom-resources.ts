import { CustomResources, customResources } from '../extensions/index.ts';
import type { Metrics } from '../http/index.ts';
import type { Names } from '../meta/index.ts';
import type { Registry } from '../registry/index.ts';
import type { Dependencies } from './dependencies.ts';
import type { RegisteredWebhooks, WebhookRegistration } from './registered-webhooks.ts';

type Options = Pick<Dependencies, 'clock' | 'random' | 'log'> & {
  readonly registry: Registry;
  readonly names: Names;
  readonly webhooks: RegisteredWebhooks;
  readonly metrics: Metrics;
};

/** The timeout of a conversion (seconds). */
const conversionSeconds = 30;

/** Serves the custom resources of the definitions in the store. */
export function createCustomResources({ registry, names, webhooks, metrics, ...outside }: Options): CustomResources {
  const { features } = registry;
  const { clock, random, log } = outside;
  const observe: Metrics['converted'] = (...seen) => metrics.converted(...seen);
  const postTo = (registration: WebhookRegistration) => webhooks.postTo(registration, conversionSeconds);
  return new CustomResources({
    ...{ registry, names, clock },
    define: (definition) =>
      customResources(definition, { names, features, conversion: { random, clock, observe, postTo } }),
    report: (text, fields) => log.error(text, fields),
  });
}
