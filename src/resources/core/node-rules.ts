import { type FieldError, fieldError, labelValue, type Names, qualifiedName } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { NodeSpec, NodeStatus, Taint } from '../types/core-v1.ts';
import { isDualStack, validateCidr } from '../validate/addresses.ts';
import { byRuleAsOne, duplicateOf } from '../validate/common.ts';
import { byRule, eachOf, oneOf } from './pod-spec/findings.ts';
import { validateAmount } from './pod-spec/resources.ts';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** What is wrong with the wishes for a node and with the amounts that it reports. */
export function validateNode(spec: NodeSpec, status: NodeStatus, names: Names): FieldError[] {
  const amounts = (['capacity', 'allocatable'] as const).flatMap((field) =>
    Object.entries(status[field] ?? {}).flatMap(([resource, amount]) =>
      validateAmount(resource, amount, `status.${field}.${resource}`, names),
    ),
  );
  return [...validateTaints(spec.taints ?? []), ...amounts, ...validateRanges(spec.podCIDRs ?? [])];
}

function validateTaints(taints: readonly Infer<typeof Taint>[]): FieldError[] {
  const seen = new Set<string>();
  return eachOf(taints, 'metadata.taints', ({ key = '', value = '', effect = '', timeAdded }, path) => {
    const found = [
      ...byRule(`${path}.key`, key, qualifiedName),
      ...byRuleAsOne(`${path}.value`, value, labelValue, ';'),
      ...(effect === '' ? [fieldError.required(`${path}.effect`)] : oneOf(`${path}.effect`, effect, effects)),
    ];
    const identity = `${effect} ${key}`;
    if (seen.has(identity)) {
      const shown = { Key: key, Value: value, Effect: effect, TimeAdded: timeAdded ?? null };
      found.push(duplicateOf(path, shown, 'taints must be unique by key and effect pair'));
    }
    seen.add(identity);
    return found;
  });
}

function validateRanges(ranges: readonly string[]): FieldError[] {
  const path = 'spec.podCIDRs';
  const found = eachOf(ranges, path, (range, at) => validateCidr(at, range));
  if (ranges.length > 2 || (ranges.length === 2 && found.length === 0 && !isDualStack(ranges))) {
    found.push(fieldError.invalid(path, [...ranges], 'may specify no more than one CIDR for each IP family'));
  }
  return found;
}

/** What a change of a node may not do: its ranges and its identity at the provider are given once. */
export function validateNodeUpdate(spec: NodeSpec, status: NodeStatus, old: NodeSpec): FieldError[] {
  const seen = new Set<string>();
  const found = eachOf(status.addresses, 'status.addresses', ({ type = '', address = '' }, path) => {
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
    for (const _ of changes) found.push(fieldError.forbidden('spec.podCIDRs', why));
  }
  if ((old.providerID ?? '') !== '' && old.providerID !== spec.providerID) {
    const why = 'node updates may not change providerID except from "" to valid';
    found.push(fieldError.forbidden('spec.providerID', why));
  }
  if ((old.externalID ?? '') !== (spec.externalID ?? '')) {
    found.push(fieldError.forbidden('spec.externalID', 'may not be updated'));
  }
  return found;
}

/** One range and the list of them say the same; where they do not, the single one holds. */
export function alignRanges(spec: NodeSpec | undefined): void {
  if (spec === undefined) return;
  const first = spec.podCIDR ?? '';
  if (first !== '' && spec.podCIDRs?.[0] !== first) spec.podCIDRs = [first];
  const range = spec.podCIDRs?.[0];
  if (range !== undefined) spec.podCIDR = range;
}

/** What is not told to be reserved can be given out. */
export function defaultAllocatable(status: NodeStatus | undefined): void {
  if (status?.capacity !== undefined) status.allocatable ??= { ...status.capacity };
}
