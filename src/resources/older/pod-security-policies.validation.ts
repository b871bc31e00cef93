import {
  dns1123Subdomain,
  errorsOfEach,
  type FieldError,
  fieldError,
  getKey,
  type Names,
  type ObjectMeta,
} from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { validateDriverName } from '../core/persistent-volume-sources.ts';
import { validateAppArmorText, validateSeccompText } from '../pod-template/annotations.ts';
import { MAX_SYSCTL, SYSCTL_PART } from '../pod-template/security-context.ts';
import { byRule, eachOf, noBacksteps, oneOf } from '../shared/field-rules.ts';
import {
  type IDRange,
  type PodSecurityPolicy,
  type PodSecurityPolicySpec,
  strategyRules,
} from './pod-security-policies.types.ts';

/** In a list of what is allowed: everything. */
const everything = '*';

/** Validates a pod security policy by the rules of release 1.24, the last one that had them. */
export function validatePolicy(
  { metadata, spec = {} }: ObjectOf<typeof PodSecurityPolicy>,
  names: Names,
): FieldError[] {
  return [
    ...validateProfiles(metadata.annotations ?? {}, names),
    ...validateStrategies(spec),
    ...validateCapabilities(spec),
    ...validateEscalation(spec),
    ...eachOf(spec.allowedHostPaths, 'spec.allowedHostPaths', ({ pathPrefix = '' }, at) =>
      pathPrefix === '' ? [fieldError.required(`${at}.pathPrefix`)] : noBacksteps(`${at}.pathPrefix`, pathPrefix),
    ),
    ...eachOf(spec.allowedCSIDrivers, 'spec.allowedCSIDrivers', ({ name = '' }, at) =>
      validateDriverName(name, `${at}.name`),
    ),
    ...validateSysctls(spec),
    ...validateRuntimeClasses(spec.runtimeClass),
  ];
}

type ProfileRule = (profile: string, path: string) => FieldError[];

/** Validates the annotations that say which seccomp and AppArmor profiles pods get and may have. */
function validateProfiles(annotations: NonNullable<ObjectMeta['annotations']>, { labels }: Names): FieldError[] {
  const check = (key: string, profilesIn: (text: string) => readonly string[], rule: ProfileRule) => {
    const text = getKey(annotations, key) ?? '';
    return text === ''
      ? []
      : errorsOfEach(profilesIn(text), (profile) => rule(profile, `metadata.annotations[${key}]`));
  };
  const one = (text: string) => [text];
  const several = (text: string) => text.split(',');
  const seccompOrAny: ProfileRule = (profile, path) =>
    profile === everything ? [] : validateSeccompText(profile, path);
  return [
    ...check(`apparmor.security.beta.${labels}/defaultProfileName`, one, validateAppArmorText),
    ...check(`apparmor.security.beta.${labels}/allowedProfileNames`, several, validateAppArmorText),
    ...check(`seccomp.security.alpha.${labels}/defaultProfileName`, one, validateSeccompText),
    ...check(`seccomp.security.alpha.${labels}/allowedProfileNames`, several, seccompOrAny),
  ];
}

function validateStrategies(spec: PodSecurityPolicySpec): FieldError[] {
  const { seLinux, runAsUser, runAsGroup, supplementalGroups, fsGroup } = spec;
  const check = (name: keyof typeof strategyRules, strategy: { rule?: string; ranges?: IDRange[] } = {}) => [
    ...oneOf(`spec.${name}.rule`, strategy.rule ?? '', strategyRules[name]),
    ...eachOf(strategy.ranges, `spec.${name}.ranges`, validateRange),
  ];
  return [
    ...check('seLinux', seLinux),
    ...check('runAsUser', runAsUser),
    ...(runAsGroup === undefined ? [] : [...check('runAsGroup', runAsGroup), ...validateGroupRanges(runAsGroup)]),
    ...check('supplementalGroups', supplementalGroups),
    ...check('fsGroup', fsGroup),
  ];
}

function validateGroupRanges({ rule, ranges = [] }: NonNullable<PodSecurityPolicySpec['runAsGroup']>): FieldError[] {
  const field = 'spec.runAsGroup.ranges';
  if (rule === 'RunAsAny') {
    return ranges.length === 0 ? [] : [fieldError.invalid(field, ranges, 'must be empty where the rule is RunAsAny')];
  }
  return ranges.length > 0 ? [] : [fieldError.required(field, 'must have at least one range')];
}

function validateRange({ min = 0, max = 0 }: IDRange, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (min < 0) errors.push(fieldError.invalid(`${path}.min`, min, 'min cannot be negative'));
  if (max < 0) errors.push(fieldError.invalid(`${path}.max`, max, 'max cannot be negative'));
  if (min > max) errors.push(fieldError.invalid(`${path}.min`, min, 'min cannot be greater than max'));
  return errors;
}

function validateCapabilities(spec: PodSecurityPolicySpec): FieldError[] {
  const { requiredDropCapabilities: dropped = [], allowedCapabilities = [] } = spec;
  if (dropped.length === 0) return [];
  const errors: FieldError[] = [];
  if (allowedCapabilities.includes(everything)) {
    const why = 'must be empty when all capabilities are allowed by a wildcard';
    errors.push(fieldError.invalid('spec.requiredDropCapabilities', dropped, why));
  }
  const isDropped = new Set(dropped);
  const notDropped = (field: 'defaultAddCapabilities' | 'allowedCapabilities') =>
    eachOf(spec[field], `spec.${field}`, (capability, at) =>
      isDropped.has(capability)
        ? [fieldError.invalid(at, capability, `capability is listed in ${field} and requiredDropCapabilities`)]
        : [],
    );
  return [...errors, ...notDropped('defaultAddCapabilities'), ...notDropped('allowedCapabilities')];
}

function validateEscalation({
  defaultAllowPrivilegeEscalation: byDefault,
  allowPrivilegeEscalation: allowed,
}: PodSecurityPolicySpec): FieldError[] {
  if (byDefault !== true || allowed !== false) return [];
  const why =
    'Cannot set DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation to true';
  return [fieldError.invalid('spec.defaultAllowPrivilegeEscalation', byDefault, why)];
}

/** A linear-time form of the pattern of {@link sysctlRule}. */
const sysctlPattern =
  /^(?:[a-z0-9]+(?:[-_]+[a-z0-9]+)*[./])*(?:[a-z0-9]+(?:[-_]+[a-z0-9]+)*|[a-z0-9][-_a-z0-9]*\*|\*)$/;
const sysctlRule = `must have at most ${MAX_SYSCTL} characters and match regex ^(${SYSCTL_PART}[\\./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]$`;

function validateSysctls({ allowedUnsafeSysctls: allowed = [], forbiddenSysctls = [] }: PodSecurityPolicySpec) {
  const overlapping = (sysctl: string, others: ReadonlySet<string>, path: string) => {
    const other = sysctl.length > MAX_SYSCTL ? undefined : coverOf(sysctl, others);
    return other === undefined ? [] : [fieldError.invalid(path, sysctl, `sysctl overlaps with ${other}`)];
  };
  const [allAllowed, allForbidden] = [new Set(allowed), new Set(forbiddenSysctls)];
  return [
    ...validateSysctlList(allowed, 'spec.allowedUnsafeSysctls'),
    ...validateSysctlList(forbiddenSysctls, 'spec.forbiddenSysctls'),
    ...eachOf(allowed, 'spec.allowedUnsafeSysctls', (sysctl, at) => overlapping(sysctl, allForbidden, at)),
    // An entry that is in both lists is reported once.
    ...eachOf(forbiddenSysctls, 'spec.forbiddenSysctls', (sysctl, at) =>
      allAllowed.has(sysctl) ? [] : overlapping(sysctl, allAllowed, at),
    ),
  ];
}

function validateSysctlList(sysctls: readonly string[], path: string): FieldError[] {
  const errors = eachOf(sysctls, path, (sysctl, at) => {
    if (sysctl === '') return [fieldError.invalid(at, sysctl, 'empty sysctl not allowed')];
    const isValid = sysctl.length <= MAX_SYSCTL && sysctlPattern.test(sysctl);
    return isValid ? [] : [fieldError.invalid(at, sysctl, sysctlRule)];
  });
  if (sysctls.length < 2 || !sysctls.includes(everything)) return errors;
  return [...errors, fieldError.forbidden(path, "if '*' is present, must not specify other sysctls")];
}

/** The entry of a set that covers a sysctl or a pattern of sysctls: a pattern such as `net.*`, or the same entry. */
function coverOf(sysctl: string, others: ReadonlySet<string>): string | undefined {
  const prefix = sysctl.endsWith('*') ? sysctl.slice(0, -1) : sysctl;
  for (let length = 0; length <= prefix.length; length++) {
    const pattern = `${prefix.slice(0, length)}*`;
    if (others.has(pattern)) return pattern;
  }
  return others.has(sysctl) ? sysctl : undefined;
}

function validateRuntimeClasses(runtimeClass: PodSecurityPolicySpec['runtimeClass']): FieldError[] {
  if (runtimeClass === undefined) return [];
  const { allowedRuntimeClassNames: allowed = [], defaultRuntimeClassName: byDefault } = runtimeClass;
  const field = 'spec.runtimeClass.allowedRuntimeClassNames';
  const seen = new Set<string>();
  const errors = eachOf(allowed, field, (name, at) => {
    const found = name === everything ? [] : byRule(at, name, dns1123Subdomain);
    if (seen.has(name)) found.push(fieldError.duplicate(at, name));
    seen.add(name);
    return found;
  });
  if (byDefault !== undefined) {
    errors.push(...byRule('spec.runtimeClass.defaultRuntimeClassName', byDefault, dns1123Subdomain));
    if (!allowed.includes(byDefault) && !allowed.includes(everything)) {
      errors.push(fieldError.required(field, `default ${JSON.stringify(byDefault)} must be allowed`));
    }
  }
  if (allowed.length > 1 && allowed.includes(everything)) {
    const why = "if '*' is present, must not specify other RuntimeClass names";
    errors.push(fieldError.invalid(field, allowed, why));
  }
  return errors;
}
