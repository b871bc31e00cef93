import { DeviceClass as V1alpha3 } from '../../types/resource-v1alpha3.ts';
import { DeviceClass } from '../../types/resource-v1beta1.ts';
import { DeviceClass as V1beta2 } from '../../types/resource-v1beta2.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { isNew, same } from '../shared/field-rules.ts';
import { validateExpressions } from './device-selectors.validation.ts';
import { MAX_CONFIGS, validateConfiguration, validateList, validateSelectors } from './devices.validation.ts';

export const deviceClasses = resource({
  group: 'resource.{domain}',
  plural: 'deviceclasses',
  kind: 'DeviceClass',
  version: 'v1beta1',
  schema: DeviceClass,
  lifecycle: { introduced: '1.32', deprecated: '1.35', removed: '1.38' },
  versions: [
    { version: 'v1beta2', schema: V1beta2, lifecycle: { introduced: '1.33', deprecated: '1.36', removed: '1.39' } },
    {
      version: 'v1alpha3',
      schema: V1alpha3,
      lifecycle: {
        introduced: '1.31',
        deprecated: '1.34',
        removed: '1.37',
        replacement: 'resource.{domain}/v1beta1 DeviceClass',
      },
    },
  ],
  gate: 'DynamicResourceAllocation',
  namespaced: false,
  columns: [name, age],
  strategy: {
    generation: true,
    validate: ({ metadata, spec = {} }) => [
      ...validateSelectors(spec.selectors, 'spec.selectors'),
      ...(isNew({ metadata }) ? validateConfigs(spec.config, false) : []),
    ],
    validateInSteps: ({ spec }, old, { compatible }) =>
      validateExpressions([[spec?.selectors, 'spec.selectors']], old?.spec?.selectors, compatible),
    validateUpdate: ({ spec }, old) => validateConfigs(spec?.config, same(spec?.config, old.spec?.config)),
  },
});

const validateConfigs = (configs: Parameters<typeof validateConfiguration>[0][] | undefined, stored: boolean) =>
  validateList(configs, MAX_CONFIGS, 'spec.config', (config, path) => validateConfiguration(config, path, stored));
