import { type FieldError, fieldError, immutable } from '../../meta/index.ts';
import { ServiceCIDR } from '../../types/networking-v1.ts';
import { ServiceCIDR as V1beta1 } from '../../types/networking-v1beta1.ts';
import { canonicalNetwork, isDualStack } from '../shared/addresses.ts';
import { age, name } from '../shared/columns.ts';
import { resource } from '../shared/define.ts';
import { byRule, eachOf } from '../shared/field-rules.ts';

export const serviceCidrs = resource({
  group: 'networking.{domain}',
  plural: 'servicecidrs',
  kind: 'ServiceCIDR',
  schema: ServiceCIDR,
  lifecycle: { introduced: '1.33' },
  versions: [
    { version: 'v1beta1', schema: V1beta1, lifecycle: { introduced: '1.31', deprecated: '1.34', removed: '1.37' } },
  ],
  namespaced: false,
  status: { resetFields: [['metadata'], ['spec']] },
  columns: [name, ['CIDRs', ({ spec }) => (spec?.cidrs ?? []).join(',')], age],
  strategy: {
    metadataChecks: [0, 1],
    validate: ({ metadata, spec }) => (metadata.resourceVersion ? [] : validateRanges(spec?.cidrs ?? [])),
    validateUpdate: ({ spec }, old) => validateChange(spec?.cidrs ?? [], old.spec?.cidrs ?? []),
  },
});

const path = 'spec.cidrs';

function validateRanges(ranges: readonly string[]): FieldError[] {
  if (ranges.length === 0) return [fieldError.required(path, 'at least one CIDR required')];
  if (ranges.length > 2) return [fieldError.invalid(path, { CIDRs: [...ranges] }, 'may only hold up to 2 values')];
  const errors = eachOf(ranges, path, (range, at) => byRule(at, range, canonicalNetwork));
  if (errors.length > 0 || ranges.length < 2 || isDualStack(ranges)) return errors;
  const why = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
  return [fieldError.invalid(path, [...ranges], why)];
}

/** Validates an update of `cidrs`: only a second family may be added, and no other change is validated further. */
function validateChange(ranges: readonly string[], old: readonly string[]): FieldError[] {
  if (ranges.length === old.length) {
    return old.flatMap((range, i) => (range === ranges[i] ? [] : [immutable(`${path}[${i}]`, ranges[i])]));
  }
  if (old.length === 1 && ranges.length === 2) {
    return ranges[0] === old[0] ? validateRanges(ranges) : [immutable(`${path}[0]`, ranges[0])];
  }
  return [immutable(path, ranges.length === 0 ? null : [...ranges])];
}
