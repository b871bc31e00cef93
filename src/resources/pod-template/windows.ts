import { dns1123Subdomain, type FieldError, fieldError } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { PodSpec, WindowsSecurityContextOptions } from '../../types/core-v1.ts';
import { byRule } from '../shared/field-rules.ts';

const MAX_SPEC_KIB = 64;
const MAX_DOMAIN = 256;
const MAX_USER = 104;

const netBiosName = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const dnsName = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

/** Validates `windowsOptions` of a container or pod. */
export function validateWindowsOptions(
  options: Infer<typeof WindowsSecurityContextOptions> | undefined,
  path: string,
): FieldError[] {
  const { gmsaCredentialSpecName: name, gmsaCredentialSpec: text, runAsUserName: user } = options ?? {};
  const errors = name === undefined ? [] : byRule(`${path}.gmsaCredentialSpecName`, name, dns1123Subdomain);
  if (text !== undefined) {
    const wrong = (why: string) => errors.push(fieldError.invalid(`${path}.gmsaCredentialSpec`, text, why));
    if (text === '') wrong('gmsaCredentialSpec cannot be an empty string');
    else if (Buffer.byteLength(text) > MAX_SPEC_KIB * 1024) {
      wrong(`gmsaCredentialSpec size must be under ${MAX_SPEC_KIB} KiB`);
    }
  }
  if (user === undefined) return errors;
  return [
    ...errors,
    ...userNameProblems(user).map((why) => fieldError.invalid(`${path}.runAsUserName`, user, `runAsUserName${why}`)),
  ];
}

/** Errors of a user name, `DOMAIN\user` or `user`; each continues the field name. */
function userNameProblems(name: string): string[] {
  if (name === '') return [' cannot be an empty string'];
  if (Buffer.from(name).some((byte) => byte < 0x20 || byte === 0x7f)) return [' cannot contain control characters'];
  const parts = name.split('\\', 3);
  if (parts.length > 2) return [' cannot contain more than one backslash'];
  const user = parts.at(-1) as string;
  const domain = parts.length === 2 ? (parts[0] as string) : undefined;
  const problems: string[] = [];
  const bytes = Buffer.byteLength(user);
  if (domain !== undefined && Buffer.byteLength(domain) >= MAX_DOMAIN) {
    problems.push(`'s Domain length must be under ${MAX_DOMAIN} characters`);
  }
  if (domain !== undefined && !netBiosName.test(domain) && !dnsName.test(domain)) {
    problems.push("'s Domain doesn't match the NetBios nor the DNS format");
  }
  if (bytes === 0) problems.push("'s User cannot be empty");
  else if (bytes > MAX_USER) problems.push(`'s User length must not be longer than ${MAX_USER} characters`);
  if (/^[. ]+$/.test(user)) problems.push("'s User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    problems.push(`'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]`);
  }
  return problems;
}

const linuxOnly = {
  pod: [
    'appArmorProfile',
    'seLinuxOptions',
    'seccompProfile',
    'fsGroup',
    'fsGroupChangePolicy',
    'sysctls',
    'runAsUser',
    'runAsGroup',
    'supplementalGroups',
    'supplementalGroupsPolicy',
    'seLinuxChangePolicy',
  ],
  spec: ['hostUsers', 'hostPID', 'hostIPC', 'shareProcessNamespace'],
  container: [
    'appArmorProfile',
    'seLinuxOptions',
    'seccompProfile',
    'capabilities',
    'readOnlyRootFilesystem',
    'privileged',
    'allowPrivilegeEscalation',
    'procMount',
    'runAsUser',
    'runAsGroup',
  ],
} as const;

/**
 * Rejects security settings that the OS of the pod does not support; `containers` are the security contexts of the
 * containers with their paths.
 */
export function validateOs(
  spec: PodSpec,
  containers: readonly (readonly [path: string, context: object | undefined])[],
  path: string,
): FieldError[] {
  if (spec.os === undefined) return [];
  const { name = '' } = spec.os;
  if (name === '') return [fieldError.required(`${path}.os.name`)];
  if (name !== 'linux' && name !== 'windows')
    return [fieldError.notSupported(`${path}.os`, name, ['linux', 'windows'])];
  const contexts = [[path, spec.securityContext], ...containers] as const;
  if (name === 'linux') {
    return contexts
      .filter(([, context]) => context !== undefined && 'windowsOptions' in context)
      .map(([at]) =>
        fieldError.forbidden(`${at}.securityContext.windowsOptions`, 'windows options cannot be set for a linux pod'),
      );
  }
  const refuse = (at: string, holder: object | undefined, fields: readonly string[]): FieldError[] =>
    fields
      .filter((field) => holder !== undefined && Object.hasOwn(holder, field))
      .map((field) => fieldError.forbidden(`${at}.${field}`, 'cannot be set for a windows pod'));
  return [
    ...refuse(`${path}.securityContext`, spec.securityContext, linuxOnly.pod),
    ...refuse(path, spec, linuxOnly.spec),
    ...containers.flatMap(([at, context]) => refuse(`${at}.securityContext`, context, linuxOnly.container)),
  ];
}
