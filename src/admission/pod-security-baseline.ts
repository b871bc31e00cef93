import type { Json, JsonObject } from '../meta/index.ts';
import { fieldsOf, numberOf, objectsOf, textOf, textsOf } from './fields.ts';
import { ordered, plural, quoted, tellContainers, tellSetters, type Violation } from './pod-security-text.ts';

/** What checks look at. */
export interface PodView {
  readonly spec: JsonObject;
  readonly annotations: JsonObject;
  /** All containers, in the order in which they are told. */
  readonly containers: readonly JsonObject[];
  /** Prefix of labels and annotations. */
  readonly labels: string;
}

export type Check = (pod: PodView) => Violation | undefined;

export const contextOf = (holder: JsonObject): JsonObject => fieldsOf(holder['securityContext']);

/** The containers, and whether the pod itself, whose security context holds a field with a value that is not right. */
export function settersOf(pod: PodView, field: string, isWrong: (value: Json) => boolean) {
  const wrong = (holder: JsonObject) => {
    const value = contextOf(holder)[field];
    return value !== undefined && isWrong(value);
  };
  return { pod: wrong(pod.spec), containers: pod.containers.filter(wrong) };
}

/** The same for a field of the pod's and its containers' security contexts, with the wrong values in order. */
function wrongTypes(pod: PodView, field: string, isWrong: (value: string) => boolean) {
  const values: string[] = [];
  const setters = settersOf(pod, field, (value) => {
    const type = textOf(fieldsOf(value)['type']);
    if (isWrong(type)) values.push(type);
    return isWrong(type);
  });
  return { setters, values: ordered(values) };
}

const hostNamespaces: Check = ({ spec }) => {
  const used = ['hostNetwork', 'hostPID', 'hostIPC'].filter((field) => spec[field] === true);
  if (used.length === 0) return undefined;
  return { reason: 'host namespaces', detail: used.map((field) => `${field}=true`).join(', ') };
};

const privileged: Check = ({ containers }) => {
  const found = containers.filter((container) => contextOf(container)['privileged'] === true);
  if (found.length === 0) return undefined;
  return { reason: 'privileged', detail: `${tellContainers(found)} must not set securityContext.privileged=true` };
};

/** Capabilities that containers have anyway. */
const usualCapabilities = new Set([
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

/** Containers that add a capability other than the allowed ones, and which; undefined when none does. */
export function tellAdded(containers: readonly JsonObject[], allowed: ReadonlySet<string>): string | undefined {
  const added = (container: JsonObject) =>
    textsOf(fieldsOf(contextOf(container)['capabilities'])['add']).filter((name) => !allowed.has(name));
  const found = containers.filter((container) => added(container).length > 0);
  if (found.length === 0) return undefined;
  const which = quoted(ordered(found.flatMap(added)));
  return `${tellContainers(found)} must not include ${which} in securityContext.capabilities.add`;
}

const capabilities: Check = ({ containers }) => {
  const detail = tellAdded(containers, usualCapabilities);
  return detail === undefined ? undefined : { reason: 'non-default capabilities', detail };
};

const hostPathVolumes: Check = ({ spec }) => {
  const found = objectsOf(spec['volumes']).filter((volume) => volume['hostPath'] !== undefined);
  if (found.length === 0) return undefined;
  const names = quoted(found.map(({ name }) => textOf(name)));
  return { reason: 'hostPath volumes', detail: `${plural('volume', 'volumes', found.length)} ${names}` };
};

const hostPorts: Check = ({ containers }) => {
  const portsOf = (container: JsonObject) =>
    objectsOf(container['ports'])
      .flatMap(({ hostPort }) => numberOf(hostPort) || [])
      .map(String);
  const found = containers.filter((container) => portsOf(container).length > 0);
  if (found.length === 0) return undefined;
  const ports = ordered(found.flatMap(portsOf));
  const words = `${plural('uses', 'use', found.length)} ${plural('hostPort', 'hostPorts', ports.length)}`;
  return { reason: 'hostPort', detail: `${tellContainers(found)} ${words} ${ports.join(', ')}` };
};

/** Where a container calls, or is called, with a host of its own choosing. */
const hostsOf = (container: JsonObject): string[] => {
  const { postStart, preStop } = fieldsOf(container['lifecycle']);
  const { livenessProbe, readinessProbe, startupProbe } = container;
  return [livenessProbe, readinessProbe, startupProbe, postStart, preStop]
    .flatMap((handler) => ['httpGet', 'tcpSocket'].map((way) => textOf(fieldsOf(fieldsOf(handler)[way])['host'])))
    .filter((host) => host !== '');
};

const probeHosts: Check = ({ containers }) => {
  const hosts = ordered(containers.flatMap(hostsOf));
  if (hosts.length === 0) return undefined;
  const reason = 'probe or lifecycle host';
  const names = ordered(containers.filter((one) => hostsOf(one).length > 0).map(({ name }) => textOf(name)));
  const who = `${plural('container', 'containers', names.length)} ${quoted(names)} ${plural('uses', 'use', names.length)}`;
  return { reason, detail: `${who} ${plural(reason, `${reason}s`, hosts.length)} ${quoted(hosts)}` };
};

const appArmor: Check = (pod) => {
  const { setters, values } = wrongTypes(pod, 'appArmorProfile', (type) => !profileTypes.has(type));
  const prefix = `container.apparmor.security.beta.${pod.labels}/`;
  const annotations = Object.entries(pod.annotations)
    .filter(([key, value]) => key.startsWith(prefix) && !/^$|^runtime\/default$|^localhost\//.test(textOf(value)))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort();
  const who = [tellSetters(setters.pod, setters.containers)].filter((text) => text !== '');
  if (annotations.length > 0) who.push(plural('annotation', 'annotations', annotations.length));
  if (who.length === 0) return undefined;
  const all = [...values, ...annotations];
  return {
    reason: plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', all.length),
    detail: `${who.join(' and ')} must not set AppArmor profile type to ${quoted(all)}`,
  };
};

/** Profiles of confinement that may be named. */
const profileTypes = new Set(['RuntimeDefault', 'Localhost']);

/** Which types of process may be named, from which version on. */
const seLinux =
  (...types: readonly string[]): Check =>
  (pod) => {
    const allowed = new Set(['', 'container_t', 'container_init_t', 'container_kvm_t', ...types]);
    const bad: JsonObject[] = [];
    const { pod: byPod, containers } = settersOf(pod, 'seLinuxOptions', (value) => {
      const options = fieldsOf(value);
      const wrong =
        !allowed.has(textOf(options['type'])) || textOf(options['user']) !== '' || textOf(options['role']) !== '';
      if (wrong) bad.push(options);
      return wrong;
    });
    if (bad.length === 0) return undefined;
    const wrongTypes = ordered(bad.map(({ type }) => textOf(type)).filter((type) => !allowed.has(type)));
    const data = [
      ...(wrongTypes.length === 0 ? [] : [`${plural('type', 'types', wrongTypes.length)} ${quoted(wrongTypes)}`]),
      ...(bad.some(({ user }) => textOf(user) !== '') ? ['user may not be set'] : []),
      ...(bad.some(({ role }) => textOf(role) !== '') ? ['role may not be set'] : []),
    ];
    const who = tellSetters(byPod, containers);
    return {
      reason: 'seLinuxOptions',
      detail: `${who} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`,
    };
  };

export const procMount: Check = ({ containers }) => {
  const mountOf = (container: JsonObject) => textOf(contextOf(container)['procMount'] ?? 'Default');
  const found = containers.filter((container) => mountOf(container) !== 'Default');
  if (found.length === 0) return undefined;
  const types = quoted(ordered(found.map(mountOf)));
  return { reason: 'procMount', detail: `${tellContainers(found)} must not set securityContext.procMount to ${types}` };
};

/** Whoever is somebody else outside of the pod may be anybody within. */
export const exceptInUserNamespace =
  (check: Check): Check =>
  (pod) =>
    pod.spec['hostUsers'] === false ? undefined : check(pod);

/** Seccomp profiles that pods of old set by annotations. */
const seccompAnnotations: Check = ({ annotations, containers, labels }) => {
  const keys = [
    `seccomp.security.alpha.${labels}/pod`,
    ...containers.map(({ name }) => `container.seccomp.security.alpha.${labels}/${textOf(name)}`),
  ];
  const wrong = (key: string) =>
    Object.hasOwn(annotations, key) &&
    !/^runtime\/default$|^docker\/default$|^localhost\//.test(textOf(annotations[key]));
  const found = ordered(keys.filter(wrong).map((key) => `${key}=${JSON.stringify(annotations[key])}`));
  if (found.length === 0) return undefined;
  const word = plural('annotation', 'annotations', found.length);
  return { reason: 'seccompProfile', detail: `forbidden ${word} ${found.join(', ')}` };
};

/** Whoever names a seccomp profile names one that confines. */
export const seccompProfiles: Check = (pod) => {
  const { setters, values } = wrongTypes(pod, 'seccompProfile', (type) => !profileTypes.has(type));
  if (values.length === 0) return undefined;
  const who = tellSetters(setters.pod, setters.containers);
  return {
    reason: 'seccompProfile',
    detail: `${who} must not set securityContext.seccompProfile.type to ${quoted(values)}`,
  };
};

/** Kernel parameters that concern the pod alone. */
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
    const names = objectsOf(contextOf(spec)['sysctls']).map(({ name }) => textOf(name));
    const found = names.filter((name) => !allowed.has(name));
    return found.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: found.join(', ') };
  };

const windowsHostProcess: Check = (pod) => {
  const { pod: byPod, containers } = settersOf(
    pod,
    'windowsOptions',
    (value) => fieldsOf(value)['hostProcess'] === true,
  );
  const who = tellSetters(byPod, containers);
  if (who === '') return undefined;
  return { reason: 'hostProcess', detail: `${who} must not set securityContext.windowsOptions.hostProcess=true` };
};

/** A check by its name, as it has been since a minor version. */
export interface VersionedCheck {
  readonly id: string;
  readonly since: number;
  readonly check: Check;
  /** A check of the baseline that this one includes. */
  readonly replaces?: string;
}

/** The checks of the baseline, in the order in which findings are told; those of one name by version. */
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
