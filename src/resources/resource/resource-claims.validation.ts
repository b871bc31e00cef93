/** Validation of the spec of a claim in v1beta2 form. */
import { type FieldError, fieldError } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { ResourceClaimSpec as StoredSpec } from '../../types/resource-v1beta1.ts';
import type {
  DeviceConstraint,
  DeviceRequest,
  DeviceSubRequest,
  ExactDeviceRequest,
  ResourceClaimSpec,
} from '../../types/resource-v1beta2.ts';
import { oneOf, unique } from '../shared/field-rules.ts';
import {
  MAX_CONFIGS,
  MAX_TOLERATIONS,
  validateClass,
  validateConfiguration,
  validateLabel,
  validateList,
  validateNamed,
  validateQualified,
  validateSelectors,
  validateToleration,
} from './devices.validation.ts';

const MAX_REQUESTS = 32;
const MAX_CONSTRAINTS = 32;
const MAX_ALTERNATIVES = 8;

/** Names of requests, with the names of their subrequests. */
export type RequestNames = ReadonlyMap<string, ReadonlySet<string>>;

export const requestNamesOf = ({ devices }: ResourceClaimSpec): RequestNames =>
  new Map(
    (devices?.requests ?? []).map(({ name = '', firstAvailable = [] }) => [
      name,
      new Set(firstAvailable.map((one) => one.name ?? '')),
    ]),
  );

/** Defaults the allocation mode and the count to one device. */
export function defaultRequests({ devices }: StoredSpec): void {
  for (const request of devices?.requests ?? []) {
    if ((request.deviceClassName ?? '') !== '') defaultCount(request);
    for (const alternative of request.firstAvailable ?? []) defaultCount(alternative);
  }
}

function defaultCount(request: { allocationMode?: string; count?: number }): void {
  if ((request.allocationMode ?? '') === '') request.allocationMode = 'ExactCount';
  if (request.allocationMode === 'ExactCount') request.count ||= 1;
}

/** Validates a claim spec; `stored`: it has not changed since it was stored. */
export function validateClaimSpec(spec: ResourceClaimSpec, path: string, stored: boolean): FieldError[] {
  const { requests, constraints, config } = spec.devices ?? {};
  const names = requestNamesOf(spec);
  const at = `${path}.devices`;
  return [
    ...validateNamed(requests, MAX_REQUESTS, `${at}.requests`, validateRequest),
    ...validateList(constraints, MAX_CONSTRAINTS, `${at}.constraints`, (constraint, place) =>
      validateConstraint(constraint, place, names),
    ),
    ...validateList(config, MAX_CONFIGS, `${at}.config`, (one, place) => [
      ...validateReferences(one.requests, `${place}.requests`, names),
      ...validateConfiguration(one, place, stored),
    ]),
  ];
}

function validateRequest(request: Infer<typeof DeviceRequest>, path: string): FieldError[] {
  const { name = '', exactly, firstAvailable = [] } = request;
  const errors = validateLabel(name, `${path}.name`);
  errors.push(...validateNamed(firstAvailable, MAX_ALTERNATIVES, `${path}.firstAvailable`, validateAlternative));
  if (exactly !== undefined) errors.push(...validateExactRequest(exactly, `${path}.exactly`));
  const why = 'exactly one of `exactly` or `firstAvailable` is required';
  if (exactly === undefined && firstAvailable.length === 0) errors.push(fieldError.required(path, why));
  if (exactly !== undefined && firstAvailable.length > 0) {
    errors.push(fieldError.invalid(path, null, `${why}, but multiple fields are set`));
  }
  return errors;
}

const validateAlternative = (request: Infer<typeof DeviceSubRequest>, path: string): FieldError[] => [
  ...validateLabel(request.name ?? '', `${path}.name`),
  ...validateExactRequest(request, path),
];

function validateExactRequest(
  request: Infer<typeof ExactDeviceRequest> | Infer<typeof DeviceSubRequest>,
  path: string,
): FieldError[] {
  const { deviceClassName = '', allocationMode = '', count = 0 } = request;
  const errors = validateClass(deviceClassName, `${path}.deviceClassName`);
  errors.push(...validateSelectors(request.selectors, `${path}.selectors`));
  if (allocationMode === 'All') {
    const why = "must not be specified when allocationMode is 'All'";
    if (count !== 0) errors.push(fieldError.invalid(`${path}.count`, count, why));
  } else if (allocationMode === 'ExactCount') {
    if (count <= 0) errors.push(fieldError.invalid(`${path}.count`, count, 'must be greater than zero'));
  } else errors.push(...oneOf(`${path}.allocationMode`, allocationMode, ['All', 'ExactCount']));
  errors.push(...validateList(request.tolerations, MAX_TOLERATIONS, `${path}.tolerations`, validateToleration));
  return errors;
}

function validateConstraint(
  { requests, matchAttribute: attribute }: Infer<typeof DeviceConstraint>,
  path: string,
  names: RequestNames,
): FieldError[] {
  const errors = validateReferences(requests, `${path}.requests`, names);
  const at = `${path}.matchAttribute`;
  if (attribute === undefined) return [...errors, fieldError.required(at)];
  errors.push(...validateQualified(attribute, at));
  return attribute === '' || attribute.includes('/')
    ? errors
    : [...errors, fieldError.invalid(at, attribute, 'must include a domain')];
}

export const validateReferences = (
  references: readonly string[] | undefined,
  path: string,
  names: RequestNames,
): FieldError[] => [
  ...validateList(references, MAX_REQUESTS, path, (name, at) => validateReference(name, at, names)),
  ...unique(references, path, (name) => name),
];

/** Validates a reference to a request or subrequest: `request/subrequest`. */
export function validateReference(reference: string, path: string, names: RequestNames): FieldError[] {
  const why = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
  const parts = reference.split('/', 3);
  if (parts.length > 2) return [fieldError.invalid(path, reference, why)];
  const [request = '', alternative] = parts;
  const errors = parts.flatMap((part) => validateLabel(part, path));
  const subrequests = names.get(request);
  if (subrequests !== undefined && (alternative === undefined || subrequests.has(alternative))) return errors;
  return [...errors, fieldError.invalid(path, reference, why)];
}
