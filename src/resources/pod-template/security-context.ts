import { type FieldError, fieldError } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import {
  type AppArmorProfile,
  type PodSpec,
  SeccompProfile,
  SecurityContext,
  type WindowsSecurityContextOptions,
} from '../../types/core-v1.ts';
import { descendingPath, eachOf, oneOf, type PodValidationContext, within } from '../shared/field-rules.ts';
import { internalForm } from '../shared/internal-go-form.ts';
import { validateWindowsOptions } from './windows.ts';

/** The highest UID or GID. */
export const MAX_ID = 2_147_483_647;
const MAX_PATH = 4095;

export type SeccompProfileOf = Infer<typeof SeccompProfile>;
export type AppArmorProfileOf = Infer<typeof AppArmorProfile>;

/** Validates `securityContext` of a container; `hostUsers`: the pod uses the user namespace of the host. */
export function validateContainerSecurity(
  context: SecurityContext | undefined,
  hostUsers: boolean,
  path: string,
  { allowPrivileged = false }: PodValidationContext,
): FieldError[] {
  if (context === undefined) return [];
  const { privileged, procMount, capabilities } = context;
  const errors: FieldError[] = [];
  if (privileged === true && !allowPrivileged) {
    errors.push(fieldError.forbidden(`${path}.privileged`, 'disallowed by cluster policy'));
  }
  if (hostUsers && procMount === 'Unmasked') {
    const why = '`hostUsers` must be false to use `Unmasked`';
    errors.push(fieldError.invalid(`${path}.procMount`, procMount, why));
  }
  errors.push(...validateSeccomp(context.seccompProfile, `${path}.seccompProfile`));
  if (context.allowPrivilegeEscalation === false) {
    const clash = (why: string) => errors.push(fieldError.invalid(path, internalForm(context, SecurityContext), why));
    if (privileged === true) clash('cannot set `allowPrivilegeEscalation` to false and `privileged` to true');
    for (const capability of capabilities?.add ?? []) {
      if (capability !== 'CAP_SYS_ADMIN') continue;
      clash('cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN');
    }
  }
  return [
    ...errors,
    ...validateWindowsOptions(context.windowsOptions, `${path}.windowsOptions`),
    ...validateAppArmor(context.appArmorProfile, `${path}.appArmorProfile`),
  ];
}

const groupPolicies = ['Merge', 'Strict'];
const fsGroupPolicies = ['Always', 'OnRootMismatch'];
/** `MountOption` needs the feature SELinuxMount, which is not on; stored objects may have it from a server that has it. */
const newSeLinuxPolicies = ['Recursive'];
const seLinuxPolicies = ['MountOption', 'Recursive'];

/** Validates `securityContext` of a pod. */
export function validatePodSecurity(
  spec: PodSpec,
  path: string,
  { creates = false }: Pick<PodValidationContext, 'creates'>,
): FieldError[] {
  const context = spec.securityContext;
  if (context === undefined) return [];
  const { fsGroupChangePolicy: fsGroups, supplementalGroupsPolicy: groups, seLinuxChangePolicy: seLinux } = context;
  const errors = eachOf(context.supplementalGroups, `${path}.supplementalGroups`, (id, at) =>
    within(at, id, 0, MAX_ID),
  );
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    const why = 'ShareProcessNamespace and HostPID cannot both be enabled';
    errors.push(fieldError.invalid(`${path}.shareProcessNamespace`, true, why));
  }
  errors.push(...validateSysctls(spec, `${path}.sysctls`));
  if (fsGroups !== undefined) errors.push(...oneOf(`${path}.fsGroupChangePolicy`, fsGroups, fsGroupPolicies));
  return [
    ...errors,
    ...validateSeccomp(context.seccompProfile, `${path}.seccompProfile`),
    ...validateWindowsOptions(context.windowsOptions, `${path}.windowsOptions`),
    ...validateAppArmor(context.appArmorProfile, `${path}.appArmorProfile`),
    ...(groups === undefined ? [] : oneOf(`${path}.supplementalGroupsPolicy`, groups, groupPolicies)),
    ...(seLinux === undefined
      ? []
      : oneOf(`${path}.seLinuxChangePolicy`, seLinux, creates ? newSeLinuxPolicies : seLinuxPolicies)),
  ];
}

/** A part of the name of a sysctl, as messages show it. */
export const SYSCTL_PART = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
export const MAX_SYSCTL = 253;
/** A linear-time form of the pattern: each text matches in one way only. */
const sysctlName = /^[a-z0-9]+(?:[-_]+[a-z0-9]+)*(?:[./][a-z0-9]+(?:[-_]+[a-z0-9]+)*)*$/;
const sysctlRule = `must have at most ${MAX_SYSCTL} characters and match regex ^(${SYSCTL_PART}[\\./])*${SYSCTL_PART}$`;

/** Sysctls of the IPC namespace. */
const ipcSysctl = /^(?:kernel\.sem$|kernel\.shm|kernel\.msg|fs\.mqueue\.)/;
const netSysctl = /^net\./;

function validateSysctls(spec: PodSpec, path: string): FieldError[] {
  const seen = new Set<string>();
  return eachOf(spec.securityContext?.sysctls, path, ({ name = '' }, at) => {
    if (name === '') return [];
    const errors: FieldError[] = [];
    const field = `${at}.name`;
    if (name.length > MAX_SYSCTL || !sysctlName.test(name)) errors.push(fieldError.invalid(field, name, sysctlRule));
    else if (seen.has(name)) errors.push(fieldError.duplicate(field, name));
    seen.add(name);
    const dotted = withDots(name.slice(0, MAX_SYSCTL));
    if (spec.hostNetwork === true && netSysctl.test(dotted)) {
      errors.push(fieldError.invalid(field, name, "may not be specified when 'hostNetwork' is true"));
    } else if (spec.hostIPC === true && ipcSysctl.test(dotted)) {
      errors.push(fieldError.invalid(field, name, "may not be specified when 'hostIPC' is true"));
    }
    return errors;
  });
}

/** A sysctl name with dots as separators: when the first separator is a slash, dots and slashes are swapped. */
function withDots(name: string): string {
  const first = /[./]/.exec(name)?.[0];
  if (first !== '/') return name;
  return name.replace(/[./]/g, (sign) => (sign === '.' ? '/' : '.'));
}

function validateSeccomp(profile: SeccompProfileOf | undefined, path: string): FieldError[] {
  if (profile === undefined) return [];
  const { type = '', localhostProfile: local } = profile;
  const field = `${path}.localhostProfile`;
  const errors: FieldError[] = [];
  if (type === '') errors.push(fieldError.required(`${path}.type`, 'type is required when seccompProfile is set'));
  if (type === 'Localhost') {
    if (local === undefined) errors.push(fieldError.required(field, 'must be set when seccomp type is Localhost'));
    else errors.push(...descendingPath(field, local));
  } else if (local !== undefined) {
    const why = 'can only be set when seccomp type is Localhost';
    errors.push(fieldError.invalid(field, internalForm(profile, SeccompProfile), why));
  }
  return errors;
}

export function validateAppArmor(profile: AppArmorProfileOf | undefined, path: string): FieldError[] {
  if (profile === undefined) return [];
  const { type = '', localhostProfile: local } = profile;
  const field = `${path}.localhostProfile`;
  if (type === '') return [fieldError.required(`${path}.type`, 'type is required when appArmorProfile is set')];
  if (type === 'RuntimeDefault' || type === 'Unconfined') {
    const why = 'can only be set when AppArmor type is Localhost';
    return local === undefined ? [] : [fieldError.invalid(field, local, why)];
  }
  if (type !== 'Localhost') return [];
  if (local === undefined || local === '') {
    return [fieldError.required(field, 'must be set when AppArmor type is Localhost')];
  }
  const errors: FieldError[] = [];
  if (local.trim() !== local) errors.push(fieldError.invalid(field, local, 'must not be padded with whitespace'));
  if (Buffer.byteLength(local) > MAX_PATH) errors.push(fieldError.tooLong(field, MAX_PATH));
  return errors;
}

/** Rejects host namespaces in a pod with a user namespace of its own. */
export function validateHostUsers(spec: PodSpec, path: string): FieldError[] {
  if (spec.hostUsers !== false) return [];
  const shared = [
    ['hostNetwork', spec.hostNetwork],
    ['HostPID', spec.hostPID],
    ['HostIPC', spec.hostIPC],
  ] as const;
  return shared
    .filter(([, on]) => on === true)
    .map(([field]) => fieldError.forbidden(`${path}.${field}`, 'when `pod.Spec.HostUsers` is false'));
}

type Windows = Infer<typeof WindowsSecurityContextOptions>;

/** Validates Windows HostProcess containers: all containers of a pod or none, and with the host network. */
export function validateHostProcesses(
  spec: PodSpec,
  containers: readonly (readonly [path: string, context: SecurityContext | undefined])[],
  path: string,
  { allowPrivileged = false }: PodValidationContext,
): FieldError[] {
  const whole = spec.securityContext?.windowsOptions?.hostProcess;
  const errors: FieldError[] = [];
  let count = 0;
  for (const [at, context] of containers) {
    const options: Windows = context?.windowsOptions ?? {};
    const own = options.hostProcess;
    if (whole !== undefined && own !== undefined && whole !== own) {
      const why = `pod hostProcess value must be identical if both are specified, was ${whole}`;
      errors.push(fieldError.invalid(`${at}.securityContext.windowsOptions.hostProcess`, own, why));
    }
    if (own ?? whole ?? false) count++;
  }
  if (count === 0) return errors;
  if (count !== containers.length) {
    const why = 'If pod contains any hostProcess containers then all containers must be HostProcess containers';
    errors.push(fieldError.invalid(path, '', why));
  }
  if (spec.hostNetwork !== true) {
    const why = 'hostNetwork must be true if pod contains any hostProcess containers';
    errors.push(fieldError.invalid(`${path}.hostNetwork`, false, why));
  }
  if (!allowPrivileged) {
    errors.push(fieldError.forbidden(path, 'hostProcess containers are disallowed by cluster policy'));
  }
  return errors;
}
