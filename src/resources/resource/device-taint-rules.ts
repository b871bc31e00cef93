import { type FieldError, formatTime } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import { DeviceTaintRule, type DeviceTaintSelector } from '../../types/resource-v1alpha3.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { validateExpressions } from './device-selectors.validation.ts';
import {
  validateClass,
  validateDriver,
  validateLabel,
  validatePool,
  validateSelectors,
  validateTaint,
} from './devices.validation.ts';

export const deviceTaintRules = resource({
  group: 'resource.{domain}',
  plural: 'devicetaintrules',
  kind: 'DeviceTaintRule',
  version: 'v1alpha3',
  schema: DeviceTaintRule,
  lifecycle: { introduced: '1.33', deprecated: '1.36', removed: '1.39' },
  gate: 'DRADeviceTaints',
  namespaced: false,
  columns: [name, age],
  strategy: {
    generation: true,
    defaults: ({ spec }, { now }) => {
      if (spec?.taint !== undefined) spec.taint.timeAdded ??= formatTime(now);
    },
    validateInSteps: ({ spec }, old, { compatible }) => {
      const selectors = spec?.deviceSelector?.selectors;
      const path = 'spec.deviceSelector.selectors';
      return validateExpressions([[selectors, path]], old?.spec?.deviceSelector?.selectors, compatible);
    },
    validate: ({ spec: { deviceSelector, taint = {} } = {} }) => [
      ...(deviceSelector === undefined ? [] : validateSelector(deviceSelector, 'spec.deviceSelector')),
      ...validateTaint(taint, 'spec.taint'),
    ],
  },
});

const rules = {
  deviceClassName: validateClass,
  driver: validateDriver,
  pool: validatePool,
  device: validateLabel,
};

/** Validates a device selector; its fields are ANDed. */
function validateSelector(selector: Infer<typeof DeviceTaintSelector>, path: string): FieldError[] {
  const errors = Object.entries(rules).flatMap(([field, rule]) => {
    const value = selector[field as keyof typeof rules];
    return value === undefined ? [] : rule(value, `${path}.${field}`);
  });
  return [...errors, ...validateSelectors(selector.selectors, `${path}.selectors`)];
}
