/** Defaults of `ipFamilyPolicy` and `ipFamilies`, which depend on the service CIDRs of the server. */
import { errorsNow, type FieldError, fieldError } from '../../meta/index.ts';
import type { ServiceSpec } from '../../types/core-v1.ts';
import { familyOf } from '../shared/addresses.ts';
import { same } from '../shared/field-rules.ts';
import { validateAddresses } from './services.address-validation.ts';
import { hasClusterIp } from './services.defaults.ts';

const IPS = 'spec.clusterIPs';
const FAMILIES = 'spec.ipFamilies';
const POLICY = 'spec.ipFamilyPolicy';

const other = (family: string | undefined) => (family === 'IPv4' ? 'IPv6' : 'IPv4');
const isSelectorless = ({ clusterIP, selector = {} }: ServiceSpec): boolean =>
  clusterIP === 'None' && Object.keys(selector).length === 0;

/**
 * Whether a PreferDualStack service keeps its families: an update does not add or remove one because the server's CIDRs
 * have changed.
 */
export function keepsFamilies(spec: ServiceSpec, old: ServiceSpec | undefined): boolean {
  const preferred = 'PreferDualStack';
  return (
    old !== undefined &&
    hasClusterIp(spec) &&
    spec.type === old.type &&
    spec.ipFamilyPolicy === preferred &&
    (old.ipFamilyPolicy ?? preferred) === preferred &&
    same(spec.clusterIPs ?? [], old.clusterIPs ?? []) &&
    same(spec.ipFamilies ?? [], old.ipFamilies ?? [])
  );
}

/** Sets the policy and the families; `served` are the families of the server, the primary one first. */
export function chooseFamilies(
  spec: ServiceSpec,
  old: ServiceSpec | undefined,
  served: readonly string[],
): FieldError[] {
  if (!hasClusterIp(spec) || keepsFamilies(spec, old)) return [];
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (isSelectorless(spec) ? 'RequireDualStack' : 'SingleStack');
  const malformed = errorsNow(validateAddresses(spec));
  if (malformed.length > 0) return malformed;
  const contradicting = errorsNow([
    ...dropSecond(spec, old),
    ...checkPolicy(spec),
    ...familiesOfAddresses(spec, served),
  ]);
  if (contradicting.length > 0) return contradicting;
  const single = spec.ipFamilyPolicy === 'SingleStack';
  const families = [...(spec.ipFamilies ?? [])];
  if (!isSelectorless(spec)) {
    const unserved = checkServed(spec, families, served);
    if (unserved.length > 0) return unserved;
  }
  if (families.length === 0) families.push(served[0] ?? 'IPv4');
  // The endpoints of a headless service without a selector may be of any family.
  if (!single && families.length === 1 && (served.length === 2 || isSelectorless(spec))) {
    families.push(other(families[0]));
  }
  spec.ipFamilies = families;
  return [];
}

/** SingleStack releases the secondary cluster IP and family unless the client has changed them. */
function dropSecond(spec: ServiceSpec, old: ServiceSpec | undefined): FieldError[] {
  if (old === undefined) return [];
  const { clusterIPs: ips = [], ipFamilies: families = [], ipFamilyPolicy: policy } = spec;
  const { clusterIPs: oldIps = [], ipFamilies: oldFamilies = [] } = old;
  if (policy === 'SingleStack') {
    if (ips.length > 1 && same(ips, oldIps)) spec.clusterIPs = ips.slice(0, 1);
    if (families.length > 1 && same(families, oldFamilies)) spec.ipFamilies = families.slice(0, 1);
    return [];
  }
  const fewer = (list: readonly string[], before: readonly string[], what: string) =>
    list.length > 0 && list.length < before.length
      ? [fieldError.invalid(POLICY, policy, `must be 'SingleStack' to release the secondary ${what}`)]
      : [];
  return [...fewer(ips, oldIps, 'cluster IP'), ...fewer(families, oldFamilies, 'IP family')];
}

function checkPolicy({ ipFamilyPolicy: policy, clusterIPs = [], ipFamilies = [] }: ServiceSpec): FieldError[] {
  if (policy !== 'SingleStack') return [];
  const refuse = (what: string) =>
    fieldError.invalid(
      POLICY,
      policy,
      `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
    );
  return [
    ...(clusterIPs.length === 2 ? [refuse('cluster IPs')] : []),
    ...(ipFamilies.length === 2 ? [refuse('IP families')] : []),
  ];
}

/** Sets the families of the requested cluster IPs. */
function familiesOfAddresses(spec: ServiceSpec, served: readonly string[]): FieldError[] {
  const { clusterIPs = [] } = spec;
  const families = [...(spec.ipFamilies ?? [])];
  const errors: FieldError[] = [];
  for (const [i, ip] of clusterIPs.entries()) {
    if (ip === 'None') break;
    if (i < families.length) continue;
    const family = familyOf(ip) ?? '';
    if (served.includes(family)) families.push(family);
    else {
      errors.push(fieldError.invalid(`${IPS}[${i}]`, [...clusterIPs], `${family} is not configured on this cluster`));
    }
  }
  if (families.length > 0) spec.ipFamilies = families;
  return errors;
}

function checkServed(
  { ipFamilyPolicy: policy }: ServiceSpec,
  families: readonly string[],
  served: readonly string[],
): FieldError[] {
  const lacking =
    policy === 'RequireDualStack' && served.length < 2
      ? [fieldError.invalid(POLICY, policy, 'this cluster is not configured for dual-stack services')]
      : [];
  const unknown = families.flatMap((family, i) =>
    served.includes(family) ? [] : [fieldError.invalid(`${FAMILIES}[${i}]`, family, 'not configured on this cluster')],
  );
  return [...lacking, ...unknown];
}
