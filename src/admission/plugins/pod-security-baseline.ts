import { getKey } from '../../meta/index.ts';
import type {
  Container,
  EphemeralContainer,
  PodSecurityContext,
  PodSpec,
  SecurityContext,
} from '../../types/core-v1.ts';
import { formatContainers, formatSetters, ordered, plural, quoted, type Violation } from './pod-security-messages.ts';

export type AnyContainer = Container | EphemeralContainer;

/** The parts of a pod that checks evaluate. */
export interface PodAttributes {
  readonly spec: PodSpec;
  readonly annotations: { readonly [key: string]: string };
  /** All containers, in the order in which messages name them. */
  readonly containers: readonly AnyContainer[];
  /** Domain of the product's labels and annotations. */
  readonly labels: string;
}

export type Check = (pod: PodAttributes) => Violation | undefined;

/** Fields that the security contexts of pods and containers both have. */
export type SharedField = keyof PodSecurityContext & keyof SecurityContext;

/** The containers whose security context sets a field to a disallowed value, and whether that of the pod does. */
export function violatingSetters<F extends SharedField>(
  { spec, containers }: PodAttributes,
  field: F,
  isDisallowed: (value: NonNullable<SecurityContext[F]>) => boolean,
) {
  const wrong = (context: Pick<SecurityContext, F> | undefined) => {
    const value = context?.[field];
    return value !== undefined && value !== null && isDisallowed(value);
  };
  return {
    pod: wrong(spec.securityContext),
    containers: containers.filter(({ securityContext }) => wrong(securityContext)),
  };
}

/** The same for the `type` of a field, with the disallowed types sorted. */
function disallowedTypes(
  pod: PodAttributes,
  field: 'appArmorProfile' | 'seccompProfile',
  isDisallowed: (value: string) => boolean,
) {
  const values: string[] = [];
  const setters = violatingSetters(pod, field, ({ type = '' }) => {
    if (isDisallowed(type)) values.push(type);
    return isDisallowed(type);
  });
  return { setters, values: ordered(values) };
}

const hostNamespaces: Check = ({ spec }) => {
  const used = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field] === true);
  if (used.length === 0) return undefined;
  return { reason: 'host namespaces', detail: used.map((field) => `${field}=true`).join(', ') };
};

const privileged: Check = ({ containers }) => {
  const found = containers.filter(({ securityContext }) => securityContext?.privileged === true);
  if (found.length === 0) return undefined;
  return { reason: 'privileged', detail: `${formatContainers(found)} must not set securityContext.privileged=true` };
};

/** Capabilities that container runtimes add by default. */
const defaultCapabilities = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);

/** Names the containers that add capabilities outside of the allowed ones; undefined when none does. */
export function forbiddenCapabilities(
  containers: readonly AnyContainer[],
  allowed: ReadonlySet<string>,
): string | undefined {
  const added = ({ securityContext }: AnyContainer) =>
    (securityContext?.capabilities?.add ?? []).filter((name) => !allowed.has(name));
  const found = containers.filter((container) => added(container).length > 0);
  if (found.length === 0) return undefined;
  const which = quoted(ordered(found.flatMap(added)));
  return `${formatContainers(found)} must not include ${which} in securityContext.capabilities.add`;
}

const capabilities: Check = ({ containers }) => {
  const detail = forbiddenCapabilities(containers, defaultCapabilities);
  return detail === undefined ? undefined : { reason: 'non-default capabilities', detail };
};

const hostPathVolumes: Check = ({ spec }) => {
  const found = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined);
  if (found.length === 0) return undefined;
  const names = quoted(found.map(({ name = '' }) => name));
  return { reason: 'hostPath volumes', detail: `${plural('volume', 'volumes', found.length)} ${names}` };
};

const hostPorts: Check = ({ containers }) => {
  const portsOf = ({ ports }: AnyContainer) => (ports ?? []).flatMap(({ hostPort }) => hostPort || []).map(String);
  const found = containers.filter((container) => portsOf(container).length > 0);
  if (found.length === 0) return undefined;
  const ports = ordered(found.flatMap(portsOf));
  const words = `${plural('uses', 'use', found.length)} ${plural('hostPort', 'hostPorts', ports.length)}`;
  return { reason: 'hostPort', detail: `${formatContainers(found)} ${words} ${ports.join(', ')}` };
};

/** The `host` fields of the probes and lifecycle handlers of a container. */
const hostsOf = ({ livenessProbe, readinessProbe, startupProbe, lifecycle }: AnyContainer): string[] =>
  [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop].flatMap((handler) =>
    [handler?.httpGet?.host, handler?.tcpSocket?.host].flatMap((host) => host || []),
  );

const probeHosts: Check = ({ containers }) => {
  const hosts = ordered(containers.flatMap(hostsOf));
  if (hosts.length === 0) return undefined;
  const reason = 'probe or lifecycle host';
  const names = ordered(containers.filter((one) => hostsOf(one).length > 0).map(({ name = '' }) => name));
  const who = `${plural('container', 'containers', names.length)} ${quoted(names)} ${plural('uses', 'use', names.length)}`;
  return { reason, detail: `${who} ${plural(reason, `${reason}s`, hosts.length)} ${quoted(hosts)}` };
};

const appArmor: Check = (pod) => {
  const { setters, values } = disallowedTypes(pod, 'appArmorProfile', (type) => !profileTypes.has(type));
  const prefix = `container.apparmor.security.beta.${pod.labels}/`;
  const annotations = Object.entries(pod.annotations)
    .filter(([key, value]) => key.startsWith(prefix) && !/^$|^runtime\/default$|^localhost\//.test(value))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort();
  const who = [formatSetters(setters.pod, setters.containers)].filter((text) => text !== '');
  if (annotations.length > 0) who.push(plural('annotation', 'annotations', annotations.length));
  if (who.length === 0) return undefined;
  const all = [...values, ...annotations];
  return {
    reason: plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', all.length),
    detail: `${who.join(' and ')} must not set AppArmor profile type to ${quoted(all)}`,
  };
};

/** Allowed types of AppArmor and seccomp profiles. */
const profileTypes = new Set(['RuntimeDefault', 'Localhost']);

/** Allows the SELinux types of the baseline level and `types`. */
const seLinux =
  (...types: readonly string[]): Check =>
  (pod) => {
    const allowed = new Set(['', 'container_t', 'container_init_t', 'container_kvm_t', ...types]);
    const bad: NonNullable<SecurityContext['seLinuxOptions']>[] = [];
    const { pod: byPod, containers } = violatingSetters(pod, 'seLinuxOptions', (options) => {
      const { type = '', user = '', role = '' } = options;
      const wrong = !allowed.has(type) || user !== '' || role !== '';
      if (wrong) bad.push(options);
      return wrong;
    });
    if (bad.length === 0) return undefined;
    const disallowedTypes = ordered(bad.map(({ type = '' }) => type).filter((type) => !allowed.has(type)));
    const data = [
      ...(disallowedTypes.length === 0
        ? []
        : [`${plural('type', 'types', disallowedTypes.length)} ${quoted(disallowedTypes)}`]),
      ...(bad.some(({ user }) => user) ? ['user may not be set'] : []),
      ...(bad.some(({ role }) => role) ? ['role may not be set'] : []),
    ];
    const who = formatSetters(byPod, containers);
    return {
      reason: 'seLinuxOptions',
      detail: `${who} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`,
    };
  };

export const procMount: Check = ({ containers }) => {
  const mountOf = ({ securityContext }: AnyContainer) => securityContext?.procMount ?? 'Default';
  const found = containers.filter((container) => mountOf(container) !== 'Default');
  if (found.length === 0) return undefined;
  const types = quoted(ordered(found.map(mountOf)));
  return {
    reason: 'procMount',
    detail: `${formatContainers(found)} must not set securityContext.procMount to ${types}`,
  };
};

/** A pod in a user namespace (`hostUsers: false`) is exempt. */
export const exceptInUserNamespace =
  (check: Check): Check =>
  (pod) =>
    pod.spec.hostUsers === false ? undefined : check(pod);

/** Seccomp profiles in annotations, before v1.19. */
const seccompAnnotations: Check = ({ annotations, containers, labels }) => {
  const keys = [
    `seccomp.security.alpha.${labels}/pod`,
    ...containers.map(({ name = '' }) => `container.seccomp.security.alpha.${labels}/${name}`),
  ];
  const wrong = keys.flatMap((key) => {
    const value = getKey(annotations, key);
    if (value === undefined || /^runtime\/default$|^docker\/default$|^localhost\//.test(value)) return [];
    return `${key}=${JSON.stringify(value)}`;
  });
  const found = ordered(wrong);
  if (found.length === 0) return undefined;
  const word = plural('annotation', 'annotations', found.length);
  return { reason: 'seccompProfile', detail: `forbidden ${word} ${found.join(', ')}` };
};

/** A seccomp profile that is set must not be Unconfined. */
export const seccompProfiles: Check = (pod) => {
  const { setters, values } = disallowedTypes(pod, 'seccompProfile', (type) => !profileTypes.has(type));
  if (values.length === 0) return undefined;
  const who = formatSetters(setters.pod, setters.containers);
  return {
    reason: 'seccompProfile',
    detail: `${who} must not set securityContext.seccompProfile.type to ${quoted(values)}`,
  };
};

/** Sysctls that are namespaced to the pod and safe. */
const safeSysctls = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
];
const sysctlsOf27 = ['net.ipv4.ip_local_reserved_ports'];
const sysctlsOf29 = [
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
];
const sysctlsOf32 = ['net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'];

const sysctls =
  (...more: readonly string[]): Check =>
  ({ spec }) => {
    const allowed = new Set([...safeSysctls, ...more]);
    const names = (spec.securityContext?.sysctls ?? []).map(({ name = '' }) => name);
    const found = names.filter((name) => !allowed.has(name));
    return found.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: found.join(', ') };
  };

const windowsHostProcess: Check = (pod) => {
  const { pod: byPod, containers } = violatingSetters(pod, 'windowsOptions', ({ hostProcess }) => hostProcess === true);
  const who = formatSetters(byPod, containers);
  if (who === '') return undefined;
  return { reason: 'hostProcess', detail: `${who} must not set securityContext.windowsOptions.hostProcess=true` };
};

/** A check as of a minor version. */
export interface VersionedCheck {
  readonly id: string;
  readonly since: number;
  readonly check: Check;
  /** The check of the baseline level that this one overrides. */
  readonly replaces?: string;
}

/** The checks of the baseline level, in the order of violations in messages; those of one id by version. */
export const baselineChecks: readonly VersionedCheck[] = [
  { id: 'appArmorProfile', since: 0, check: appArmor },
  { id: 'capabilities_baseline', since: 0, check: capabilities },
  { id: 'hostNamespaces', since: 0, check: hostNamespaces },
  { id: 'hostPathVolumes', since: 0, check: hostPathVolumes },
  { id: 'hostPorts', since: 0, check: hostPorts },
  { id: 'hostProbesAndHostLifecycle', since: 34, check: probeHosts },
  { id: 'privileged', since: 0, check: privileged },
  { id: 'procMount', since: 0, check: procMount },
  { id: 'procMount', since: 35, check: exceptInUserNamespace(procMount) },
  { id: 'seLinuxOptions', since: 0, check: seLinux() },
  { id: 'seLinuxOptions', since: 31, check: seLinux('container_engine_t') },
  { id: 'seccompProfile_baseline', since: 0, check: seccompAnnotations },
  { id: 'seccompProfile_baseline', since: 19, check: seccompProfiles },
  { id: 'sysctls', since: 0, check: sysctls() },
  { id: 'sysctls', since: 27, check: sysctls(...sysctlsOf27) },
  { id: 'sysctls', since: 29, check: sysctls(...sysctlsOf27, ...sysctlsOf29) },
  { id: 'sysctls', since: 32, check: sysctls(...sysctlsOf27, ...sysctlsOf29, ...sysctlsOf32) },
  { id: 'windowsHostProcess', since: 0, check: windowsHostProcess },
];
