import type { RegisteredWebhook } from '../admission/index.ts';
import { CustomResources, customResources } from '../extensions/index.ts';
import type { Metrics } from '../http/index.ts';
import type { ByteString, Names } from '../meta/index.ts';
import type { Registry } from '../registry/index.ts';
import type { Dependencies } from './dependencies.ts';
import type { RegisteredWebhooks } from './webhooks/registered-webhooks.ts';

type Options = Pick<Dependencies, 'clock' | 'random' | 'log'> & {
  readonly registry: Registry;
  readonly names: Names;
  readonly webhooks: RegisteredWebhooks;
  readonly metrics: Metrics;
};

/** Timeout of a conversion (ms), and maximum number of concurrent calls of a webhook. */
const conversionMs = 30_000;
const maxConversions = 16;

/** Serves the custom resources of the stored definitions. */
export function createCustomResources({ registry, names, webhooks, metrics, ...outside }: Options): CustomResources {
  const { features } = registry;
  const { clock, random, log } = outside;
  const observe: Metrics['converted'] = (...conversion) => metrics.converted(...conversion);
  const postTo = (registration: RegisteredWebhook) => {
    const call = webhooks.postTo(registration, maxConversions);
    return (body: ByteString) => call(body, conversionMs);
  };
  return new CustomResources({
    registry,
    names,
    clock,
    define: (definition) =>
      customResources(definition, { names, features, conversion: { random, clock, observe, postTo } }),
    report: (text, fields) => log.error(text, fields),
  });
}
