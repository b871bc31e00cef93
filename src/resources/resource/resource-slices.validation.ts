/** Validation of the spec of a resource slice in v1beta2 form. */
import { dns1123Subdomain, type FieldError, fieldError } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { NodeSelector } from '../../types/core-v1.ts';
import type {
  CounterSet,
  Device,
  DeviceAttribute,
  DeviceCounterConsumption,
  ResourcePool,
  ResourceSliceSpec,
} from '../../types/resource-v1beta2.ts';
import { parseSemver } from '../coordination/semver.ts';
import { validateNodeSelector } from '../pod-template/affinity.ts';
import { byRule, unchanged, unique } from '../shared/field-rules.ts';
import {
  MAX_TAINTS,
  validateDriver,
  validateLabel,
  validateList,
  validateNamed,
  validatePool,
  validateQualified,
  validateTaint,
} from './devices.validation.ts';

const MAX_DEVICES = 128;
const MAX_ATTRIBUTES = 32;
const MAX_VALUE = 64;
const MAX_SHARED_COUNTERS = 32;
const MAX_CONSUMED_COUNTERS = 1024;

export function validateSlice(spec: ResourceSliceSpec): FieldError[] {
  const { driver = '', pool = {}, sharedCounters = [], perDeviceNodeSelection = false } = spec;
  // An empty list is printed as null.
  const devices = spec.devices ?? [];
  const sets = new Map(sharedCounters.map(({ name = '', counters = {} }) => [name, new Set(Object.keys(counters))]));
  const errors = [
    ...validateDriver(driver, 'spec.driver'),
    ...validatePoolState(pool),
    ...validatePlaces(spec),
    ...validateNamed(devices, MAX_DEVICES, 'spec.devices', (device, path) =>
      validateDevice(device, path, sets, perDeviceNodeSelection),
    ),
    ...validateNamed(sharedCounters, Number.POSITIVE_INFINITY, 'spec.sharedCounters', validateSet),
  ];
  const consumed = devices
    .flatMap(({ consumesCounters = [] }) => consumesCounters)
    .reduce((sum, { counters = {} }) => sum + Object.keys(counters).length, 0);
  if (consumed > MAX_CONSUMED_COUNTERS) {
    const why = `the total number of counters in devices must not exceed ${MAX_CONSUMED_COUNTERS}`;
    errors.push(fieldError.invalid('spec.devices', consumed, why));
  }
  const shared = [...sets.values()].reduce((sum, { size }) => sum + size, 0);
  if (shared > MAX_SHARED_COUNTERS) {
    const why = `the total number of shared counters must not exceed ${MAX_SHARED_COUNTERS}`;
    errors.push(fieldError.invalid('spec.sharedCounters', shared, why));
  }
  return errors;
}

export const validateSliceUpdate = (spec: ResourceSliceSpec, old: ResourceSliceSpec): FieldError[] => [
  ...unchanged('spec.pool.name', spec.pool?.name, old.pool?.name),
  ...unchanged('spec.driver', spec.driver, old.driver),
  ...unchanged('spec.nodeName', spec.nodeName, old.nodeName),
];

function validatePoolState({ name = '', generation = 0, resourceSliceCount: count = 0 }: Infer<typeof ResourcePool>) {
  const errors = validatePool(name, 'spec.pool.name');
  if (count <= 0) errors.push(fieldError.invalid('spec.pool.resourceSliceCount', count, 'must be greater than zero'));
  if (generation < 0) {
    errors.push(fieldError.invalid('spec.pool.generation', generation, 'must be greater than or equal to zero'));
  }
  return errors;
}

/** The fields that say from which nodes devices are accessible. */
interface Places {
  readonly nodeName?: string;
  readonly nodeSelector?: NodeSelector;
  readonly allNodes?: boolean;
}

const isSet = (value: unknown): boolean => value !== undefined && value !== '' && value !== false;

/** Requires exactly one node selection in the slice. */
function validatePlaces(spec: ResourceSliceSpec): FieldError[] {
  const { nodeName, nodeSelector, allNodes, perDeviceNodeSelection } = spec;
  const errors = validateNodes(spec, 'spec');
  if (nodeSelector !== undefined && nodeSelector.nodeSelectorTerms?.length !== 1) {
    const terms = nodeSelector.nodeSelectorTerms ?? null;
    const why = 'must have exactly one node selector term';
    errors.push(fieldError.invalid('spec.nodeSelector.nodeSelectorTerms', terms, why));
  }
  const ways = [nodeName, nodeSelector, allNodes, perDeviceNodeSelection].filter(isSet).length;
  const why = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';
  if (ways === 0) return [...errors, fieldError.required('spec', why)];
  return ways === 1 ? errors : [...errors, fieldError.invalid('spec', null, `${why}, but multiple fields are set`)];
}

const validateNodes = ({ nodeName = '', nodeSelector }: Places, path: string): FieldError[] => [
  ...(nodeName === '' ? [] : byRule(`${path}.nodeName`, nodeName, dns1123Subdomain)),
  ...(nodeSelector === undefined ? [] : validateNodeSelector(nodeSelector, `${path}.nodeSelector`)),
];

/** Requires a node selection in each device with `perDeviceNodeSelection`. */
function validateDevicePlaces(device: Places, path: string, isAsked: boolean): FieldError[] {
  const ways = [device.nodeName, device.nodeSelector, device.allNodes].filter(isSet).length;
  if (!isAsked) {
    const why =
      '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set in the ResourceSlice spec';
    return ways === 0 ? [] : [fieldError.invalid(path, null, why)];
  }
  const errors = validateNodes(device, path);
  const why =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set in the ResourceSlice spec';
  if (ways === 0) return [...errors, fieldError.required(path, why)];
  return ways === 1 ? errors : [...errors, fieldError.invalid(path, null, why)];
}

type CounterNames = ReadonlyMap<string, ReadonlySet<string>>;

function validateDevice(
  device: Infer<typeof Device>,
  path: string,
  sets: CounterNames,
  placesAsked: boolean,
): FieldError[] {
  const { name = '', attributes = {}, capacity = {}, consumesCounters, taints } = device;
  const errors = validateLabel(name, `${path}.name`);
  for (const [key, attribute] of Object.entries(attributes)) {
    const at = `${path}.attributes[${key}]`;
    errors.push(...validateQualified(key, at), ...validateAttribute(attribute, at));
  }
  for (const key of Object.keys(capacity)) errors.push(...validateQualified(key, `${path}.capacity[${key}]`));
  const count = Object.keys(attributes).length + Object.keys(capacity).length;
  if (count > MAX_ATTRIBUTES) {
    const why = `the total number of attributes and capacities must not exceed ${MAX_ATTRIBUTES}`;
    errors.push(fieldError.invalid(path, count, why));
  }
  return [
    ...errors,
    ...validateList(consumesCounters, Number.POSITIVE_INFINITY, `${path}.consumesCounters`, (one, at) =>
      validateConsumption(one, at, sets),
    ),
    ...unique(consumesCounters, `${path}.consumesCounters`, ({ counterSet = '' }) => counterSet, '.counterSet'),
    ...validateList(taints, MAX_TAINTS, `${path}.taints`, validateTaint),
    ...validateDevicePlaces(device, path, placesAsked),
  ];
}

/** Validates an attribute: exactly one typed value. */
function validateAttribute(attribute: Infer<typeof DeviceAttribute>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['string', 'version'] as const) {
    const value = attribute[field];
    if (value === undefined) continue;
    if (field === 'version' && parseSemver(value) === undefined) {
      const why = 'must be a string compatible with semver.org spec 2.0.0';
      errors.push(fieldError.invalid(`${path}.version`, value, why));
    }
    if (Buffer.byteLength(value) > MAX_VALUE) errors.push(fieldError.tooLong(`${path}.${field}`, MAX_VALUE));
  }
  const values = Object.values(attribute).filter((value) => value !== undefined).length;
  const why = 'exactly one value must be specified';
  if (values === 0) return [...errors, fieldError.required(path, why)];
  return values === 1 ? errors : [...errors, fieldError.invalid(path, attribute, why)];
}

function validateConsumption(
  { counterSet = '', counters = {} }: Infer<typeof DeviceCounterConsumption>,
  path: string,
  sets: CounterNames,
): FieldError[] {
  const names = Object.keys(counters);
  const errors = counterSet === '' ? [fieldError.required(`${path}.counterSet`)] : [];
  if (names.length === 0) errors.push(fieldError.required(`${path}.counters`));
  const counterNames = sets.get(counterSet);
  if (counterSet !== '' && counterNames === undefined) {
    const why = 'must reference a counterSet defined in the ResourceSlice sharedCounters';
    return [...errors, fieldError.invalid(`${path}.counterSet`, counterSet, why)];
  }
  const why = 'must reference a counter defined in the ResourceSlice sharedCounters';
  const unknown = names.filter((name) => counterNames !== undefined && !counterNames.has(name));
  return [...errors, ...unknown.map((name) => fieldError.invalid(`${path}.counters`, name, why))];
}

function validateSet({ name = '', counters = {} }: Infer<typeof CounterSet>, path: string): FieldError[] {
  const names = Object.keys(counters);
  return [
    ...(name === '' ? [fieldError.required(`${path}.name`)] : validateLabel(name, `${path}.name`)),
    ...(names.length === 0 ? [fieldError.required(`${path}.counters`)] : []),
    ...names.flatMap((key) => validateLabel(key, `${path}.counters[${key}]`)),
  ];
}
