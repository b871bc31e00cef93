import { CustomResources, customResource } from '../extensions/index.ts';
import type { Names } from '../meta/index.ts';
import type { Registry } from '../registry/index.ts';
import type { Dependencies } from './dependencies.ts';

type Options = Pick<Dependencies, 'clock' | 'log'> & { readonly registry: Registry; readonly names: Names };

/** Serves the custom resources of the definitions in the store. */
export function createCustomResources({ registry, names, clock, log }: Options): CustomResources {
  const { features } = registry;
  return new CustomResources({
    ...{ registry, names, clock },
    define: (definition, version) => customResource(definition, version, { names, features }),
    report: (text, fields) => log.error(text, fields),
  });
}
