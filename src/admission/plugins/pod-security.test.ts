import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import {
  fakeInitializer,
  names,
  old,
  outcome,
  podOf,
  requestFor,
  type StoredObject,
  stored,
} from '../testing/initializer.ts';
import { podSecurity } from './pod-security.ts';
import { evaluatePod, type Level } from './pod-security-checks.ts';
import { formatDetails } from './pod-security-messages.ts';

const latest = Number.POSITIVE_INFINITY;
const find = (level: Level, spec: JsonObject, annotations: { [key: string]: string } = {}, minor = latest) =>
  formatDetails(evaluatePod(level, minor, spec, annotations, names));

const context = (securityContext: JsonObject) => ({ securityContext });
const container = (securityContext: JsonObject, name = 'c') => ({ name, securityContext });
/** The security context that the restricted level requires of each container. */
const tight: JsonObject = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};

describe('baseline', () => {
  const cases: [string, JsonObject, string][] = [
    ['a plain pod', { containers: [{ name: 'c' }] }, ''],
    [
      'namespaces of the host',
      { hostPID: true, hostNetwork: true },
      'host namespaces (hostNetwork=true, hostPID=true)',
    ],
    [
      'privileged',
      { containers: [container({ privileged: true })], initContainers: [container({ privileged: true }, 'i')] },
      'privileged (containers "i", "c" must not set securityContext.privileged=true)',
    ],
    [
      'an ephemeral container',
      { ephemeralContainers: [container({ privileged: true }, 'e')] },
      'privileged (container "e" must not set securityContext.privileged=true)',
    ],
    [
      'capabilities',
      { containers: [container({ capabilities: { add: ['SYS_TIME', 'CHOWN', 'NET_RAW'] } })] },
      'non-default capabilities (container "c" must not include "NET_RAW", "SYS_TIME" in securityContext.capabilities.add)',
    ],
    [
      'paths of the host',
      {
        volumes: [
          { name: 'a', hostPath: { path: '/' } },
          { name: 'b', emptyDir: {} },
          { name: 'd', hostPath: { path: '/' } },
        ],
      },
      'hostPath volumes (volumes "a", "d")',
    ],
    [
      'one port of the host',
      { containers: [{ name: 'c', ports: [{ containerPort: 1, hostPort: 80 }, { containerPort: 2 }] }] },
      'hostPort (container "c" uses hostPort 80)',
    ],
    [
      'ports of the host',
      {
        containers: [
          { name: 'a', ports: [{ hostPort: 90 }, { hostPort: 80 }] },
          { name: 'b', ports: [{ hostPort: 80 }] },
        ],
      },
      'hostPort (containers "a", "b" use hostPorts 80, 90)',
    ],
    [
      'AppArmor',
      {
        ...context({ appArmorProfile: { type: 'Unconfined' } }),
        containers: [container({ appArmorProfile: { type: 'Unconfined' } })],
      },
      'forbidden AppArmor profile (pod and container "c" must not set AppArmor profile type to "Unconfined")',
    ],
    [
      'SELinux',
      {
        ...context({ seLinuxOptions: { type: 'spc_t', user: 'u' } }),
        containers: [container({ seLinuxOptions: { role: 'r', type: 'container_engine_t' } })],
      },
      'seLinuxOptions (pod and container "c" set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set; role may not be set)',
    ],
    [
      'a host of its own in a probe',
      {
        containers: [
          { name: 'c', livenessProbe: { httpGet: { port: 1, host: 'localhost' } }, startupProbe: { httpGet: {} } },
        ],
      },
      'probe or lifecycle host (container "c" uses probe or lifecycle host "localhost")',
    ],
    [
      'hosts in probes and handlers, in order',
      {
        initContainers: [{ name: 'z', lifecycle: { preStop: { tcpSocket: { host: '::1' } } } }],
        containers: [{ name: 'c', readinessProbe: { tcpSocket: { host: '127.0.0.1' } } }],
      },
      'probe or lifecycle host (containers "c", "z" use probe or lifecycle hosts "127.0.0.1", "::1")',
    ],
    ['proc in a namespace of users', { hostUsers: false, containers: [container({ procMount: 'Unmasked' })] }, ''],
    [
      'proc',
      { containers: [container({ procMount: 'Unmasked' })] },
      'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
    ],
    [
      'seccomp',
      { ...context({ seccompProfile: { type: 'Unconfined' } }) },
      'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [
      'sysctls',
      context({ sysctls: [{ name: 'kernel.msgmax' }, { name: 'net.ipv4.tcp_rmem' }, { name: 'net.core.somaxconn' }] }),
      'forbidden sysctls (kernel.msgmax, net.core.somaxconn)',
    ],
    [
      'processes of a Windows host',
      {
        ...context({ windowsOptions: { hostProcess: true } }),
        containers: [container({ windowsOptions: { hostProcess: true } })],
      },
      'hostProcess (pod and container "c" must not set securityContext.windowsOptions.hostProcess=true)',
    ],
    [
      'several, in the order of their names',
      { hostIPC: true, volumes: [{ name: 'v', hostPath: {} }], containers: [container({ privileged: true })] },
      'host namespaces (hostIPC=true), hostPath volumes (volume "v"), privileged (container "c" must not set securityContext.privileged=true)',
    ],
  ];
  it.each(cases)('%s', (_, spec, violations) => {
    expect(find('baseline', spec)).toBe(violations);
    expect(find('privileged', spec)).toBe('');
  });

  it('checks AppArmor annotations', () => {
    const key = 'container.apparmor.security.beta.kubernetes.io/c';
    expect(find('baseline', {}, { [key]: 'unconfined' })).toBe(
      `forbidden AppArmor profile (annotation must not set AppArmor profile type to "${key}="unconfined"")`,
    );
    expect(find('baseline', {}, { [key]: 'localhost/p' })).toBe('');
    const seccomp = { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' };
    expect(find('baseline', {}, seccomp, 18)).toBe(
      'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
    );
    expect(find('baseline', {}, seccomp)).toBe('');
  });

  it('applies the checks of the pinned version', () => {
    const keepalive = context({ sysctls: [{ name: 'net.ipv4.tcp_fin_timeout' }] });
    expect(find('baseline', keepalive, {}, 28)).toBe('forbidden sysctls (net.ipv4.tcp_fin_timeout)');
    expect(find('baseline', keepalive, {}, 29)).toBe('');
    const engine = context({ seLinuxOptions: { type: 'container_engine_t' } });
    expect(find('baseline', engine, {}, 30)).toContain('type "container_engine_t"');
    expect(find('baseline', engine, {}, 31)).toBe('');
    const probe = { containers: [{ name: 'c', livenessProbe: { tcpSocket: { host: 'h' } } }] };
    expect(find('baseline', probe, {}, 33)).toBe('');
    expect(find('baseline', probe, {}, 34)).toContain('probe or lifecycle host');
    const proc = { hostUsers: false, containers: [container({ procMount: 'Unmasked' })] };
    expect(find('baseline', proc, {}, 34)).toContain('procMount');
    expect(find('baseline', proc, {}, 35)).toBe('');
  });
});

describe('restricted', () => {
  const cases: [string, JsonObject, string][] = [
    ['a tight pod', { containers: [container(tight)] }, ''],
    [
      'what the pod says for its containers',
      {
        ...context({ runAsNonRoot: true, seccompProfile: { type: 'Localhost' } }),
        containers: [container({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } })],
      },
      '',
    ],
    [
      'a plain pod',
      { containers: [{ name: 'c' }] },
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    ],
    [
      'capabilities, told once',
      { containers: [container({ ...tight, capabilities: { add: ['SYS_TIME', 'NET_BIND_SERVICE'] } })] },
      'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]; container "c" must not include "SYS_TIME" in securityContext.capabilities.add)',
    ],
    [
      'volumes, told once',
      {
        containers: [container(tight)],
        volumes: [
          { name: 'a', hostPath: {} },
          { name: 'b', nfs: {} },
          { name: 'd', csi: {} },
        ],
      },
      'restricted volume types (volumes "a", "b" use restricted volume types "hostPath", "nfs")',
    ],
    [
      'one volume',
      { containers: [container(tight)], volumes: [{ name: 'a', future: {} }] },
      'restricted volume types (volume "a" uses restricted volume type "unknown")',
    ],
    [
      'root',
      {
        ...context({ runAsNonRoot: false, runAsUser: 0 }),
        containers: [container(tight, 'a'), container({ ...tight, runAsUser: 0, runAsNonRoot: false }, 'b')],
      },
      'runAsNonRoot != true (pod and container "b" must not set securityContext.runAsNonRoot=false), runAsUser=0 (pod and container "b" must not set runAsUser=0)',
    ],
    [
      'root in a namespace of users',
      { hostUsers: false, ...context({ runAsUser: 0 }), containers: [container({ ...tight, runAsNonRoot: false })] },
      '',
    ],
    [
      'proc in a namespace of users, told once',
      { hostUsers: false, containers: [container({ ...tight, procMount: 'Unmasked' })] },
      'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
    ],
    [
      'seccomp, told once',
      { containers: [container({ ...tight, seccompProfile: { type: 'Unconfined' } })] },
      'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [
      'the baseline first',
      { hostNetwork: true, containers: [container({ ...tight, allowPrivilegeEscalation: true })] },
      'host namespaces (hostNetwork=true), allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false)',
    ],
  ];
  it.each(cases)('%s', (_, spec, violations) => {
    expect(find('restricted', spec)).toBe(violations);
  });

  it('exempts Windows pods from Linux checks', () => {
    const spec = { os: { name: 'windows' }, containers: [container({ runAsNonRoot: true })] };
    expect(find('restricted', spec)).toBe('');
    expect(find('restricted', spec, {}, 24)).toContain('allowPrivilegeEscalation');
  });

  it('applies the checks of the pinned version', () => {
    const spec = { containers: [{ name: 'c' }] };
    expect(find('restricted', spec, {}, 7)).toBe(
      'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
    );
    expect(find('restricted', spec, {}, 18)).not.toContain('seccomp');
    expect(find('restricted', context({ runAsUser: 0, runAsNonRoot: true }), {}, 22)).toBe('');
    const root = { hostUsers: false, containers: [container({ ...tight, runAsUser: 0, runAsNonRoot: false })] };
    expect(find('restricted', root, {}, 34)).toBe(
      'runAsNonRoot != true (container "c" must not set securityContext.runAsNonRoot=false), runAsUser=0 (container "c" must not set runAsUser=0)',
    );
    // The image volume type is allowed in every version.
    const image = { containers: [container(tight)], volumes: [{ name: 'v', image: { reference: 'r' } }] };
    expect(find('restricted', image, {}, 25)).toBe('');
  });
});

const label = (mode: string) => `pod-security.kubernetes.io/${mode}`;
const namespace = (labels: JsonObject) => stored('namespaces', 'n', { metadata: { labels } });

describe('the policy of a namespace', () => {
  const write = async (labels: JsonObject, resource: string, object: JsonObject, before?: JsonObject) => {
    const warnings: string[] = [];
    const part = before === undefined ? { warnings } : { warnings, oldObject: old(before) };
    const found = await outcome(podSecurity(fakeInitializer([namespace(labels)])), requestFor(resource, object, part));
    return { refused: typeof found === 'string' ? found : undefined, warnings };
  };
  const network = podOf({}, { hostNetwork: true });

  it('rejects pods that violate the enforce level', async () => {
    const found = await write({ [label('enforce')]: 'baseline' }, 'pods', network);
    expect(found).toEqual({
      refused: 'violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)',
      warnings: [],
    });
    const versioned = { [label('enforce')]: 'baseline', [label('enforce-version')]: 'v1.25' };
    expect((await write(versioned, 'pods', network)).refused).toContain('violates PodSecurity "baseline:v1.25": ');
    expect(await write({}, 'pods', network)).toEqual({ refused: undefined, warnings: [] });
  });

  it('warns of pods and templates that violate the warn level', async () => {
    const labels = { [label('enforce')]: 'privileged', [label('warn')]: 'baseline' };
    expect(await write(labels, 'pods', network)).toEqual({
      refused: undefined,
      warnings: ['would violate PodSecurity "baseline:latest": host namespaces (hostNetwork=true)'],
    });
  });

  it.each([
    ['podtemplates', (template: JsonObject) => ({ template })],
    ['replicationcontrollers', (template: JsonObject) => ({ spec: { template } })],
    ['deployments.apps', (template: JsonObject) => ({ spec: { template } })],
    ['jobs.batch', (template: JsonObject) => ({ spec: { template } })],
    ['cronjobs.batch', (template: JsonObject) => ({ spec: { jobTemplate: { spec: { template } } } })],
  ])('warns of pod templates in %s, also of the enforce level', async (resource, around) => {
    expect(await write({ [label('enforce')]: 'baseline' }, resource, around(network))).toEqual({
      refused: undefined,
      warnings: ['would violate PodSecurity "baseline:latest": host namespaces (hostNetwork=true)'],
    });
    expect((await write({ [label('enforce')]: 'baseline' }, resource, {})).warnings).toEqual([]);
  });

  it('checks updates that change images or containers only', async () => {
    const labels = { [label('enforce')]: 'baseline' };
    const before = podOf({ image: 'a' }, { hostNetwork: true });
    expect((await write(labels, 'pods', before, before)).refused).toBeUndefined();
    expect((await write(labels, 'pods', podOf({ image: 'b' }, { hostNetwork: true }), before)).refused).toContain(
      'violates PodSecurity',
    );
  });

  it('enforces restricted when the label is invalid', async () => {
    expect((await write({ [label('enforce')]: 'none' }, 'pods', podOf())).refused).toContain(
      'violates PodSecurity "restricted:latest": ',
    );
  });
});

describe('the audit annotations', () => {
  const annotationsOf = async (labels: JsonObject, resource: string, object: JsonObject, before?: JsonObject) => {
    const annotations: JsonObject = {};
    const annotate = (key: string, value: string) => {
      expect(Object.hasOwn(annotations, key)).toBe(false);
      annotations[key] = value;
    };
    const part = before === undefined ? { annotate } : { annotate, oldObject: old(before) };
    await outcome(podSecurity(fakeInitializer([namespace(labels)])), requestFor(resource, object, part));
    return annotations;
  };
  const network = podOf({}, { hostNetwork: true });
  const template = { spec: { template: network } };
  const enforced = (policy: string) => ({ [label('enforce-policy')]: policy });
  const violates = (policy: string) => ({
    [label('audit-violations')]: `would violate PodSecurity "${policy}": host namespaces (hostNetwork=true)`,
  });

  it('name the enforced policy, and what violates the audit level', async () => {
    expect(await annotationsOf({ [label('audit')]: 'baseline' }, 'pods', network)).toEqual({
      ...enforced('privileged:latest'),
      ...violates('baseline:latest'),
    });
    const versioned = { [label('audit')]: 'baseline', [label('audit-version')]: 'v1.25' };
    expect(await annotationsOf(versioned, 'pods', network)).toMatchObject(violates('baseline:v1.25'));
    const fine = { [label('enforce')]: 'baseline', [label('audit')]: 'baseline' };
    expect(await annotationsOf(fine, 'pods', podOf())).toEqual(enforced('baseline:latest'));
  });

  it('are those of a pod that is rejected, too', async () => {
    const labels = { [label('enforce')]: 'baseline', [label('audit')]: 'baseline' };
    expect(await annotationsOf(labels, 'pods', network)).toEqual({
      ...enforced('baseline:latest'),
      ...violates('baseline:latest'),
    });
  });

  it('name no enforced policy for pod templates', async () => {
    const labels = { [label('enforce')]: 'baseline', [label('audit')]: 'baseline' };
    expect(await annotationsOf(labels, 'deployments.apps', template)).toEqual(violates('baseline:latest'));
    expect(await annotationsOf({}, 'deployments.apps', template)).toEqual({});
  });

  it('name the policy privileged:latest where nothing is enforced, audited or warned of', async () => {
    const labels = { [label('enforce-version')]: 'v1.25' };
    expect(await annotationsOf(labels, 'pods', network)).toEqual(enforced('privileged:latest'));
    expect(await annotationsOf(labels, 'pods', network, network)).toEqual(enforced('privileged:latest'));
  });

  it('are none of an update that cannot add a violation', async () => {
    expect(await annotationsOf({ [label('audit')]: 'baseline' }, 'pods', network, network)).toEqual({});
  });

  it('name the errors in the labels of the namespace', async () => {
    const labels = { [label('enforce')]: 'none', [label('warn-version')]: '1.2' };
    const error =
      'Failed to parse policy: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "none": must be one of privileged, baseline, restricted, metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: "1.2": must be "latest" or "v1.x"]';
    expect(await annotationsOf(labels, 'pods', podOf())).toEqual({
      ...enforced('restricted:latest'),
      [label('error')]: error,
    });
    const one = { [label('audit')]: 'none' };
    expect(await annotationsOf(one, 'deployments.apps', template)).toEqual({
      [label('error')]:
        'Failed to parse policy: metadata.labels[pod-security.kubernetes.io/audit]: Invalid value: "none": must be one of privileged, baseline, restricted',
    });
  });
});

describe('an update of a namespace', () => {
  const write = async (labels: JsonObject, before: JsonObject | undefined, pods: StoredObject[] = []) => {
    const warnings: string[] = [];
    const request = requestFor(
      'namespaces',
      { metadata: { name: 'n', labels } },
      {
        name: 'n',
        namespace: '',
        kind: { group: '', version: 'v1', kind: 'Namespace' },
        warnings,
        ...(before === undefined ? {} : { oldObject: old({ metadata: { labels: before } }) }),
      },
    );
    const found = await outcome(podSecurity(fakeInitializer(pods)), request);
    return { refused: typeof found === 'string' ? found : undefined, warnings };
  };

  it('with invalid labels is rejected', async () => {
    const wrong = { [label('enforce')]: 'none', [label('warn-version')]: '1.2' };
    const message =
      '?? Namespace "n" is invalid: [metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "none": must be one of privileged, baseline, restricted, metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: "1.2": must be "latest" or "v1.x"]';
    expect((await write(wrong, undefined)).refused).toBe(message);
    expect((await write(wrong, {})).refused).toBe(message);
    // Errors that the old object already had are ignored.
    expect((await write(wrong, wrong)).refused).toBeUndefined();
    expect((await write({ [label('audit-version')]: 'v1.33' }, undefined)).refused).toBeUndefined();
  });

  it('warns of existing pods that violate the new enforce level', async () => {
    const pod = (name: string, spec: JsonObject) => stored('pods', name, { spec }, 'n');
    const pods = [
      pod('b', { hostNetwork: true }),
      pod('a', { hostNetwork: true }),
      pod('fine', {}),
      pod('p', { containers: [container({ privileged: true })] }),
    ];
    const baseline = { [label('enforce')]: 'baseline' };
    expect((await write(baseline, {}, pods)).warnings).toEqual([
      'existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"',
      'a (and 1 other pod): host namespaces',
      'p: privileged',
    ]);
    expect((await write(baseline, baseline, pods)).warnings).toEqual([]);
    expect((await write(baseline, { [label('enforce')]: 'restricted' }, pods)).warnings).toEqual([]);
    expect((await write({}, baseline, pods)).warnings).toEqual([]);
  });
});
