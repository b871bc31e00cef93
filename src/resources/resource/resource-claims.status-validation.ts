/** Validation of the status of resource claims. */
import { canonicalIp, type FieldError, fieldError, formatCidr, parseCidr } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  NetworkDeviceData,
  ResourceClaimConsumerReference,
  ResourceClaimStatus,
} from '../../types/resource-v1beta1.ts';
import { validateNodeSelector } from '../pod-template/affinity.ts';
import { validateConditions } from '../shared/conditions.ts';
import { oneOf, same, unchanged, unique } from '../shared/field-rules.ts';
import {
  MAX_CONFIGS,
  validateConfiguration,
  validateDriver,
  validateLabel,
  validateList,
  validateParameters,
  validatePool,
} from './devices.validation.ts';
import { type RequestNames, validateReference, validateReferences } from './resource-claims.validation.ts';

const MAX_RESULTS = 32;
const MAX_CONSUMERS = 256;
const MAX_CONDITIONS = 8;
const MAX_ADDRESSES = 16;
const MAX_INTERFACE = 256;
const MAX_HARDWARE_ADDRESS = 128;

interface DeviceId {
  readonly driver?: string;
  readonly pool?: string;
  readonly device?: string;
}
const idOf = ({ driver = '', pool = '', device = '' }: DeviceId): string => `${driver}/${pool}/${device}`;

/** Validates the status; a claim that is being deleted (`deleted`) must not get new consumers. */
export function validateClaimStatus(
  status: ResourceClaimStatus,
  old: ResourceClaimStatus,
  names: RequestNames,
  deleted: boolean,
): FieldError[] {
  const { allocation, reservedFor = [], devices } = status;
  const path = 'status';
  const allocated = new Set((allocation?.devices?.results ?? []).map(idOf));
  const errors = [
    ...validateList(reservedFor, MAX_CONSUMERS, `${path}.reservedFor`, validateConsumer),
    ...unique(reservedFor, `${path}.reservedFor`, ({ uid = '' }) => uid, '.uid'),
    ...validateList(devices, Number.POSITIVE_INFINITY, `${path}.devices`, (device, at) =>
      validateDevice(device, at, allocated),
    ),
    ...unique(devices, `${path}.devices`, idOf, '.deviceID'),
  ];
  if (reservedFor.length > 0 && allocation === undefined) {
    errors.push(fieldError.forbidden(`${path}.reservedFor`, 'may not be specified when `allocated` is not set'));
  } else if (deleted && reservedFor.some((user) => !(old.reservedFor ?? []).some((before) => same(user, before)))) {
    const why = 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set';
    errors.push(fieldError.forbidden(`${path}.reservedFor`, why));
  }
  if (allocation === undefined) return errors;
  if (old.allocation !== undefined) return [...errors, ...unchanged(`${path}.allocation`, allocation, old.allocation)];
  return [...errors, ...validateAllocation(allocation, `${path}.allocation`, names)];
}

function validateConsumer(consumer: Infer<typeof ResourceClaimConsumerReference>, path: string): FieldError[] {
  return (['resource', 'name', 'uid'] as const)
    .filter((field) => (consumer[field] ?? '') === '')
    .map((field) => fieldError.required(`${path}.${field}`));
}

function validateAllocation(
  { devices: { results, config } = {}, nodeSelector }: Infer<typeof AllocationResult>,
  path: string,
  names: RequestNames,
): FieldError[] {
  return [
    ...validateList(results, MAX_RESULTS, `${path}.devices.results`, (result, at) => [
      ...validateReference(result.request ?? '', `${at}.request`, names),
      ...validateId(result, at),
    ]),
    // Configurations of the classes and of the claim.
    ...validateList(config, 2 * MAX_CONFIGS, `${path}.devices.config`, (one, at) => [
      ...((one.source ?? '') === ''
        ? [fieldError.required(`${at}.source`)]
        : oneOf(`${at}.source`, one.source ?? '', ['FromClaim', 'FromClass'])),
      ...validateReferences(one.requests, `${at}.requests`, names),
      ...validateConfiguration(one, at, false),
    ]),
    ...(nodeSelector === undefined ? [] : validateNodeSelector(nodeSelector, `${path}.nodeSelector`)),
  ];
}

const validateId = ({ driver = '', pool = '', device = '' }: DeviceId, path: string): FieldError[] => [
  ...validateDriver(driver, `${path}.driver`),
  ...validatePool(pool, `${path}.pool`),
  ...validateLabel(device, `${path}.device`),
];

function validateDevice(
  device: Infer<typeof AllocatedDeviceStatus>,
  path: string,
  allocated: ReadonlySet<string>,
): FieldError[] {
  const { conditions, data, networkData } = device;
  const errors = validateId(device, path);
  if (!allocated.has(idOf(device))) {
    errors.push(fieldError.invalid(path, idOf(device), 'must be an allocated device in the claim'));
  }
  if ((conditions ?? []).length > MAX_CONDITIONS) {
    errors.push(fieldError.tooMany(`${path}.conditions`, conditions?.length ?? 0, MAX_CONDITIONS));
  }
  return [
    ...errors,
    ...validateConditions(conditions ?? [], `${path}.conditions`),
    ...(data === undefined ? [] : validateParameters(data, `${path}.data`, false)),
    ...(networkData === undefined ? [] : validateNetwork(networkData, `${path}.networkData`)),
  ];
}

function validateNetwork(network: Infer<typeof NetworkDeviceData>, path: string): FieldError[] {
  const { interfaceName = '', hardwareAddress = '', ips } = network;
  const errors: FieldError[] = [];
  if (Buffer.byteLength(interfaceName) > MAX_INTERFACE) {
    errors.push(fieldError.tooLong(`${path}.interfaceName`, MAX_INTERFACE));
  }
  if (Buffer.byteLength(hardwareAddress) > MAX_HARDWARE_ADDRESS) {
    errors.push(fieldError.tooLong(`${path}.hardwareAddress`, MAX_HARDWARE_ADDRESS));
  }
  return [
    ...errors,
    ...validateList(ips, MAX_ADDRESSES, `${path}.ips`, validateInterfaceAddress),
    ...unique(ips, `${path}.ips`, (address) => address),
  ];
}

/** Validates an interface address in canonical CIDR form. */
function validateInterfaceAddress(text: string, path: string): FieldError[] {
  const cidr = parseCidr(text);
  if (cidr === undefined) {
    const why = 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)';
    return [fieldError.invalid(path, text, why)];
  }
  const canonical = formatCidr({ ...cidr, address: canonicalIp(cidr.address) });
  return canonical === text
    ? []
    : [fieldError.invalid(path, text, `must be in canonical form (${JSON.stringify(canonical)})`)];
}
