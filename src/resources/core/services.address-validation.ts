/** Validation of `clusterIPs` and of their updates. */
import { errorsNow, type FieldError, fieldError } from '../../meta/index.ts';
import type { ServiceSpec } from '../../types/core-v1.ts';
import { familyOf, isDualStack, validateIp } from '../shared/addresses.ts';
import { eachOf, oneOf } from '../shared/field-rules.ts';
import { isHeadless } from './services.defaults.ts';

const IPS = 'spec.clusterIPs';
const FAMILIES = 'spec.ipFamilies';
const POLICY = 'spec.ipFamilyPolicy';
const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

export function validateAddresses(spec: ServiceSpec): FieldError[] {
  if (spec.type === 'ExternalName') return [];
  const { clusterIP = '', clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const errors: FieldError[] = [];
  if (clusterIP === '') {
    if (clusterIPs.length > 0) {
      errors.push(fieldError.invalid(IPS, clusterIPs, 'must be empty when `clusterIP` is not specified'));
    }
  } else if (clusterIPs.length === 0) errors.push(fieldError.required(IPS));
  else if (clusterIPs[0] !== clusterIP) {
    errors.push(fieldError.invalid(IPS, clusterIPs, 'first value must match `clusterIP`'));
  }
  const seen = new Set<string>();
  errors.push(
    ...eachOf(ipFamilies, FAMILIES, (family, at) => {
      const ownErrors = oneOf(at, family, ['IPv4', 'IPv6']);
      if (seen.has(family)) ownErrors.push(fieldError.duplicate(at, family));
      seen.add(family);
      return ownErrors;
    }),
  );
  if (ipFamilyPolicy !== undefined) errors.push(...oneOf(POLICY, ipFamilyPolicy, policies));
  return [...errors, ...validateList(spec, clusterIPs, ipFamilies)];
}

function validateList(spec: ServiceSpec, ips: readonly string[], families: readonly string[]): FieldError[] {
  const list = [...ips];
  const ownErrors = errorsNow(
    eachOf(ips, IPS, (ip, at, i) => {
      if (i > 0 || ip !== 'None') return validateIp(at, ip);
      return ips.length > 1 ? [fieldError.invalid(IPS, list, "'None' must be the first and only value")] : [];
    }),
  );
  const errors = [...ownErrors];
  if (ips.length > 2) errors.push(fieldError.invalid(IPS, list, 'may only hold up to 2 values'));
  if (ownErrors.length > 0) return errors;
  if (ips.length > 1 && !isDualStack(ips)) {
    errors.push(fieldError.invalid(IPS, list, 'may specify no more than one IP for each IP family'));
  }
  if (isHeadless(spec)) return errors;
  ips.slice(0, families.length).forEach((ip, i) => {
    const family = families[i] as string;
    if ((family !== 'IPv4' && family !== 'IPv6') || familyOf(ip) === family) return;
    const article = `expected an ${family} value as indicated by \`ipFamilies[${i}]\``;
    errors.push(fieldError.invalid(`${IPS}[${i}]`, ip, article));
  });
  return errors;
}

/** Validates an update: the secondary cluster IP may be added or removed, the primary one is immutable. */
export function validateAddressUpdate(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.type === 'ExternalName' || old.type === 'ExternalName') return errors;
  const [headless, before] = [isHeadless(spec), isHeadless(old)];
  if (!headless || !before) errors.push(...validateChange(IPS, 'clusterIP', spec, spec.clusterIPs, old.clusterIPs));
  if (!headless && !before) errors.push(...validateChange(FAMILIES, 'ipFamily', spec, spec.ipFamilies, old.ipFamilies));
  return errors;
}

function validateChange(
  path: string,
  what: string,
  { ipFamilyPolicy: policy, clusterIPs = [] }: ServiceSpec,
  list: readonly string[] = [],
  old: readonly string[] = [],
): FieldError[] {
  const refuse = (i: number, values: readonly string[], why: string) =>
    fieldError.invalid(`${path}[${i}]`, values.length === 0 ? null : [...values], why);
  const once = 'may not change once set';
  if (list.length === old.length) {
    return old.flatMap((one, i) => (one === list[i] ? [] : [refuse(path === IPS ? i : 0, list, once)]));
  }
  const errors: FieldError[] = [];
  // Families follow from the cluster IPs: only an empty `clusterIPs` unsets the primary one.
  if (list.length < old.length && clusterIPs.length === 0)
    errors.push(refuse(0, list, `primary ${what} can not be unset`));
  if (list.length > 0 && old.length > 0 && list[0] !== old[0]) errors.push(refuse(0, clusterIPs, once));
  if (list.length < old.length && list.length === 1 && policy !== 'SingleStack') {
    const why = `must be set to 'SingleStack' when releasing the secondary ${what}`;
    errors.push(fieldError.invalid(POLICY, policy, why));
  }
  return errors;
}
