import {
  configMapKey,
  dns1123Label,
  dns1123Subdomain,
  errorsInSteps,
  type FieldError,
  fieldError,
  getKey,
  isJsonObject,
  type Json,
  labelValue,
  type Names,
  qualifiedName,
  warned,
} from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import { NodeConfigSource, type NodeSpec, type NodeStatus, type Taint } from '../../types/core-v1.ts';
import { validateAmount } from '../pod-template/resources.ts';
import { cidrWarnings, isDualStack, validateCidr } from '../shared/addresses.ts';
import { byRule, byRuleAsOne, duplicateOf, eachOf, oneOf, same, unique } from '../shared/field-rules.ts';
import { internalForm } from '../shared/internal-go-form.ts';
import { readJsonObject } from './secrets.validation.ts';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Validates taints, capacity, allocatable and pod CIDRs. */
export function validateNode(spec: NodeSpec, status: NodeStatus, names: Names): FieldError[] {
  const amounts = (['capacity', 'allocatable'] as const).flatMap((field) =>
    Object.entries(status[field] ?? {}).flatMap(([resource, amount]) =>
      validateAmount(resource, amount, `status.${field}.${resource}`, names),
    ),
  );
  return [...validateTaints(spec.taints ?? []), ...amounts, ...validateRanges(spec.podCIDRs ?? [])];
}

/** Warnings for fields that have no effect any more. */
export const nodeWarnings = ({ configSource, externalID, podCIDRs }: NodeSpec, { product }: Names): string[] => [
  ...(configSource === undefined ? [] : ['spec.configSource: the feature is removed']),
  ...(externalID
    ? [
        `spec.externalID: this field is deprecated, and is unused by ${product.charAt(0).toUpperCase()}${product.slice(1)}`,
      ]
    : []),
  ...warned(podCIDRs).flatMap((range, i) => {
    const path = `spec.podCIDRs[${i}]`;
    return validateCidr(path, range).length > 0 ? [] : cidrWarnings(path, range);
  }),
];

function validateTaints(taints: readonly Infer<typeof Taint>[]): FieldError[] {
  const seen = new Set<string>();
  return eachOf(taints, 'metadata.taints', ({ key = '', value = '', effect = '', timeAdded }, path) => {
    const errors = [
      ...byRule(`${path}.key`, key, qualifiedName),
      ...byRuleAsOne(`${path}.value`, value, labelValue, ';'),
      ...(effect === '' ? [fieldError.required(`${path}.effect`)] : oneOf(`${path}.effect`, effect, effects)),
    ];
    const identity = `${effect} ${key}`;
    if (seen.has(identity)) {
      const printedValue = { Key: key, Value: value, Effect: effect, TimeAdded: timeAdded ?? null };
      errors.push(duplicateOf(path, printedValue, 'taints must be unique by key and effect pair'));
    }
    seen.add(identity);
    return errors;
  });
}

function validateRanges(ranges: readonly string[]): FieldError[] {
  const path = 'spec.podCIDRs';
  const errors = eachOf(ranges, path, (range, at) => validateCidr(at, range));
  if (ranges.length < 2) return errors;
  const odd = ranges.find((range) => validateCidr(path, range).length > 0);
  if (odd !== undefined) {
    const why = `failed to parse cidr value:${JSON.stringify(odd)} with error:invalid CIDR address: ${odd}`;
    errors.push(fieldError.internal(path, `invalid PodCIDRs. failed to check with dual stack with error:${why}`));
  }
  if (ranges.length > 2 || odd !== undefined || !isDualStack(ranges)) {
    errors.push(fieldError.invalid(path, [...ranges], 'may specify no more than one CIDR for each IP family'));
  }
  return [...errors, ...unique(ranges, path, (range) => range)];
}

/** Validates an update of a node: pod CIDRs and `providerID` are immutable once set. */
export function validateNodeUpdate(spec: NodeSpec, status: NodeStatus, old: NodeSpec): FieldError[] {
  const seen = new Set<string>();
  const errors = eachOf(status.addresses, 'status.addresses', ({ type = '', address = '' }, path) => {
    const identity = `${type} ${address}`;
    if (seen.has(identity)) return [fieldError.duplicate(path, { Type: type, Address: address })];
    seen.add(identity);
    return [];
  });
  const ranges = spec.podCIDRs ?? [];
  const before = old.podCIDRs ?? [];
  const changes = ranges.length === before.length ? before.filter((range, i) => range !== ranges[i]) : ['length'];
  if (before.length > 0) {
    const why = 'node updates may not change podCIDR except from "" to valid';
    for (const _ of changes) errors.push(fieldError.forbidden('spec.podCIDRs', why));
  }
  if ((old.providerID ?? '') !== '' && old.providerID !== spec.providerID) {
    const why = 'node updates may not change providerID except from "" to valid';
    errors.push(fieldError.forbidden('spec.providerID', why));
  }
  errors.push(...validateConfigSource(spec.configSource, 'spec.configSource', false));
  const { assigned, active, lastKnownGood } = status.config ?? {};
  for (const [name, source] of Object.entries({ assigned, active, lastKnownGood })) {
    errors.push(...validateConfigSource(source, `status.config.${name}`, true));
  }
  // Errors of taints are reported twice.
  if (!same(spec, old)) errors.push(...validateTaints(spec.taints ?? []));
  if ((old.externalID ?? '') !== (spec.externalID ?? '')) {
    errors.push(fieldError.forbidden('spec.externalID', 'may not be updated'));
  }
  return errors;
}

/** Validates a node config source: only the status may name the version of the config map. */
function validateConfigSource(source: NodeSpec['configSource'], path: string, inStatus: boolean): FieldError[] {
  if (source === undefined) return [];
  const { configMap: map } = source;
  if (map === undefined) {
    const why = 'exactly one reference subfield must be non-nil';
    return [fieldError.invalid(path, internalForm(source, NodeConfigSource), why)];
  }
  const at = `${path}.configMap`;
  const errors: FieldError[] = [];
  for (const field of ['uid', 'resourceVersion'] as const) {
    if (inStatus && !map[field]) errors.push(fieldError.required(`${at}.${field}`, `${field} must be set in status`));
    else if (!inStatus && map[field])
      errors.push(fieldError.forbidden(`${at}.${field}`, `${field} must not be set in spec`));
  }
  for (const [field, rule] of [
    ['namespace', dns1123Label],
    ['name', dns1123Subdomain],
    ['kubeletConfigKey', configMapKey],
  ] as const) {
    const value = map[field] ?? '';
    if (value === '') errors.push(fieldError.required(`${at}.${field}`, `${field} must be set`));
    else errors.push(...byRule(`${at}.${field}`, value, rule));
  }
  return errors;
}

/** Validates the alpha annotation `preferAvoidPods`. */
export function validateNodeAnnotations(annotations: Record<string, string>, { labels }: Names): FieldError[] {
  const key = `scheduler.alpha.${labels}/preferAvoidPods`;
  const path = 'metadata.annotations';
  const text = getKey(annotations, key) ?? '';
  if (text === '') return [];
  return errorsInSteps(function* () {
    const read = yield* readJsonObject(text);
    if (read.problem !== undefined) return [fieldError.invalid(`${path}.AvoidPods`, key, read.problem)];
    const avoided = inner(read.value, 'preferAvoidPods');
    return eachOf(Array.isArray(avoided) ? avoided : [], `${path}.${key}`, (entry, at) => {
      const controller = inner(inner(entry, 'podSignature'), 'podController');
      if (controller === undefined || controller === null) return [fieldError.required(`${at}.PodSignature`)];
      if (inner(controller, 'controller') === true) return [];
      return [fieldError.invalid(`${at}.PodSignature.PodController.Controller`, false, 'must point to a controller')];
    });
  });
}

/** The own property of a JSON value; undefined when it has none or is not an object. */
const inner = (value: Json | undefined, name: string): Json | undefined =>
  isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
