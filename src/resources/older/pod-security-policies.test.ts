import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import type { ResourceDefinition } from '../../registry/index.ts';
import { builtinResources, resourcesOf } from '../index.ts';
import { cellsOf, created, onCreate, type ReportedError, sorted } from '../testing/kind.ts';
import { duplicate, forbidden, invalid, missing, required, says, unsupported } from '../testing/messages.ts';
import { withOlderVersions } from './index.ts';

const isPolicy = ({ group, plural }: ResourceDefinition) => group === 'policy' && plural === 'podsecuritypolicies';
const podSecurityPolicies = withOlderVersions(builtinResources).find(isPolicy) as ResourceDefinition;

const rules = {
  seLinux: { rule: 'RunAsAny' },
  runAsUser: { rule: 'RunAsAny' },
  supplementalGroups: { rule: 'RunAsAny' },
  fsGroup: { rule: 'RunAsAny' },
};

const ranges = (...pairs: [min: number, max: number][]) => pairs.map(([min, max]) => ({ min, max }));

describe('the spec of a pod security policy', () => {
  it.each<[string, JsonObject, ...ReportedError[]]>([
    ['may have rules only', {}],
    [
      'has known rules',
      { seLinux: { rule: 'MustRunAsNonRoot' }, runAsUser: {}, runAsGroup: { rule: 'Odd', ranges: ranges([1, 2]) } },
      ['spec.seLinux.rule', 'NotSupported', unsupported('MustRunAsNonRoot', 'MustRunAs', 'RunAsAny')],
      ['spec.runAsUser.rule', 'NotSupported', unsupported('', 'MustRunAs', 'MustRunAsNonRoot', 'RunAsAny')],
      ['spec.runAsGroup.rule', 'NotSupported', unsupported('Odd', 'MayRunAs', 'MustRunAs', 'RunAsAny')],
    ],
    [
      'has a rule for groups',
      { supplementalGroups: { rule: 'MustRunAsNonRoot' }, fsGroup: {} },
      [
        'spec.supplementalGroups.rule',
        'NotSupported',
        unsupported('MustRunAsNonRoot', 'MayRunAs', 'MustRunAs', 'RunAsAny'),
      ],
      ['spec.fsGroup.rule', 'NotSupported', unsupported('', 'MayRunAs', 'MustRunAs', 'RunAsAny')],
    ],
    [
      'has ranges of IDs that are not empty',
      {
        runAsUser: { rule: 'MustRunAs', ranges: ranges([0, 0], [-1, 2], [5, 4]) },
        fsGroup: { rule: 'MayRunAs', ranges: ranges([1, -1]) },
      },
      ['spec.runAsUser.ranges[1].min', 'Invalid', invalid(-1, 'min cannot be negative')],
      ['spec.runAsUser.ranges[2].min', 'Invalid', invalid(5, 'min cannot be greater than max')],
      ['spec.fsGroup.ranges[0].max', 'Invalid', invalid(-1, 'max cannot be negative')],
      ['spec.fsGroup.ranges[0].min', 'Invalid', invalid(1, 'min cannot be greater than max')],
    ],
    [
      'has ranges of primary groups where the rule uses them',
      { runAsGroup: { rule: 'MayRunAs' } },
      ['spec.runAsGroup.ranges', 'Required', required('must have at least one range')],
    ],
    [
      'has no ranges of primary groups where the rule ignores them',
      { runAsGroup: { rule: 'RunAsAny', ranges: ranges([1, 2]) } },
      ['spec.runAsGroup.ranges', 'Invalid', invalid(ranges([1, 2]), 'must be empty where the rule is RunAsAny')],
    ],
    ['may allow all volumes', { volumes: ['*', 'ephemeral'] }],
    [
      'names types of volumes',
      { volumes: ['hostPath', 'image'] },
      [
        'spec.volumes[1]',
        'NotSupported',
        expect.stringContaining('"*", "awsElasticBlockStore", "azureDisk"') as string,
      ],
    ],
    [
      'drops no capability that it adds or allows',
      {
        requiredDropCapabilities: ['A', 'B'],
        defaultAddCapabilities: ['C', 'A'],
        allowedCapabilities: ['B'],
      },
      [
        'spec.defaultAddCapabilities[1]',
        'Invalid',
        invalid('A', 'capability is listed in defaultAddCapabilities and requiredDropCapabilities'),
      ],
      [
        'spec.allowedCapabilities[0]',
        'Invalid',
        invalid('B', 'capability is listed in allowedCapabilities and requiredDropCapabilities'),
      ],
    ],
    [
      'drops nothing where it allows all capabilities',
      { requiredDropCapabilities: ['A'], allowedCapabilities: ['*'] },
      [
        'spec.requiredDropCapabilities',
        'Invalid',
        invalid(['A'], 'must be empty when all capabilities are allowed by a wildcard'),
      ],
    ],
    [
      'escalates privileges by default only where it allows that',
      { defaultAllowPrivilegeEscalation: true, allowPrivilegeEscalation: false },
      [
        'spec.defaultAllowPrivilegeEscalation',
        'Invalid',
        invalid(
          true,
          'Cannot set DefaultAllowPrivilegeEscalation to true without also setting AllowPrivilegeEscalation to true',
        ),
      ],
    ],
    ['may escalate privileges by default', { defaultAllowPrivilegeEscalation: true }],
    [
      'names paths, drivers and mounts of /proc',
      {
        allowedHostPaths: [{ pathPrefix: '/a' }, {}, { pathPrefix: '/a/../b' }],
        allowedFlexVolumes: [{}],
        allowedCSIDrivers: [{ name: 'a_b' }, {}],
        allowedProcMountTypes: ['Default', 'Odd'],
      },
      ['spec.allowedHostPaths[1].pathPrefix', 'Required', missing],
      ['spec.allowedHostPaths[2].pathPrefix', 'Invalid', invalid('/a/../b', "must not contain '..'")],
      ['spec.allowedFlexVolumes[0].driver', 'Required', missing],
      ['spec.allowedCSIDrivers[0].name', 'Invalid', invalid('a_b', says.subdomain)],
      ['spec.allowedCSIDrivers[1].name', 'Required', missing],
      ['spec.allowedProcMountTypes[1]', 'NotSupported', unsupported('Odd', 'Default', 'Unmasked')],
    ],
    [
      'names runtime classes once, the default among them',
      { runtimeClass: { allowedRuntimeClassNames: ['a', 'A', 'a'], defaultRuntimeClassName: 'b' } },
      ['spec.runtimeClass.allowedRuntimeClassNames[1]', 'Invalid', invalid('A', says.subdomain)],
      ['spec.runtimeClass.allowedRuntimeClassNames[2]', 'Duplicate', duplicate('a')],
      ['spec.runtimeClass.allowedRuntimeClassNames', 'Required', required('default "b" must be allowed')],
    ],
    [
      'may allow all runtime classes',
      { runtimeClass: { allowedRuntimeClassNames: ['*'], defaultRuntimeClassName: 'b' } },
    ],
    [
      'names no runtime classes where it allows all of them',
      { runtimeClass: { allowedRuntimeClassNames: ['*', 'a'] } },
      [
        'spec.runtimeClass.allowedRuntimeClassNames',
        'Invalid',
        invalid(['*', 'a'], "if '*' is present, must not specify other RuntimeClass names"),
      ],
    ],
  ])('%s', (_, spec, ...expected) => {
    expect(onCreate(podSecurityPolicies, { spec: { ...rules, ...spec } })).toEqual(sorted(expected));
  });
});

const overlaps = (sysctl: string, other: string) => invalid(sysctl, `sysctl overlaps with ${other}`);

describe('the sysctls of a pod security policy', () => {
  it.each<[string, string[], string[], ...ReportedError[]]>([
    ['are names and patterns', ['a', 'net.ipv4.*', 'net/ipv6/*', 'kernel.shm_rmid*'], ['b.c-d']],
    [
      'have the form of sysctls',
      ['', 'A', 'a*b'],
      ['a..b'],
      ['spec.allowedUnsafeSysctls[0]', 'Invalid', invalid('', 'empty sysctl not allowed')],
      ...(['A', 'a*b', 'a..b'] as const).map(
        (sysctl, i): ReportedError => [
          i === 2 ? 'spec.forbiddenSysctls[0]' : `spec.allowedUnsafeSysctls[${i + 1}]`,
          'Invalid',
          expect.stringContaining(`${JSON.stringify(sysctl)}: must have at most 253 characters`) as string,
        ],
      ),
    ],
    [
      'are allowed or forbidden, and not both',
      ['a', 'b.*', 'c.d', 'e.f.*'],
      ['a', 'b.x', 'c.*', 'e.*', 'g'],
      ['spec.allowedUnsafeSysctls[0]', 'Invalid', overlaps('a', 'a')],
      ['spec.forbiddenSysctls[1]', 'Invalid', overlaps('b.x', 'b.*')],
      ['spec.allowedUnsafeSysctls[2]', 'Invalid', overlaps('c.d', 'c.*')],
      ['spec.allowedUnsafeSysctls[3]', 'Invalid', overlaps('e.f.*', 'e.*')],
    ],
    [
      'are a wildcard or a list',
      ['*', 'a'],
      [],
      ['spec.allowedUnsafeSysctls', 'Forbidden', forbidden("if '*' is present, must not specify other sysctls")],
    ],
  ])('%s', (_, allowedUnsafeSysctls, forbiddenSysctls, ...expected) => {
    const spec = { ...rules, allowedUnsafeSysctls, forbiddenSysctls };
    expect(onCreate(podSecurityPolicies, { spec })).toEqual(sorted(expected));
  });
});

describe('the annotations of a pod security policy', () => {
  const appArmor = 'apparmor.security.beta.kubernetes.io';
  const seccomp = 'seccomp.security.alpha.kubernetes.io';

  it('name profiles', () => {
    const annotations = {
      [`${appArmor}/defaultProfileName`]: 'runtime/default',
      [`${appArmor}/allowedProfileNames`]: 'runtime/default,localhost/a',
      [`${seccomp}/defaultProfileName`]: 'docker/default',
      [`${seccomp}/allowedProfileNames`]: '*,localhost/a',
    };
    expect(onCreate(podSecurityPolicies, { metadata: { annotations }, spec: rules })).toEqual([]);
  });

  it('name no others', () => {
    const annotations = {
      [`${appArmor}/defaultProfileName`]: 'odd',
      [`${appArmor}/allowedProfileNames`]: 'unconfined,*',
      [`${seccomp}/defaultProfileName`]: '*',
      [`${seccomp}/allowedProfileNames`]: 'localhost/../a',
    };
    expect(onCreate(podSecurityPolicies, { metadata: { annotations }, spec: rules })).toEqual(
      sorted([
        [
          `metadata.annotations[${appArmor}/defaultProfileName]`,
          'Invalid',
          invalid('odd', 'invalid AppArmor profile name: "odd"'),
        ],
        [
          `metadata.annotations[${appArmor}/allowedProfileNames]`,
          'Invalid',
          invalid('*', 'invalid AppArmor profile name: "*"'),
        ],
        [
          `metadata.annotations[${seccomp}/defaultProfileName]`,
          'Invalid',
          invalid('*', 'must be a valid seccomp profile'),
        ],
        [`metadata.annotations[${seccomp}/allowedProfileNames]`, 'Invalid', invalid('../a', "must not contain '..'")],
      ]),
    );
  });
});

describe('a pod security policy', () => {
  it('allows privilege escalation by default', () => {
    expect(created(podSecurityPolicies, { spec: rules })['spec']).toMatchObject({ allowPrivilegeEscalation: true });
  });

  it('is shown with the columns of release 1.24', () => {
    const spec = {
      ...rules,
      privileged: true,
      allowedCapabilities: ['NET_ADMIN', 'SYS_TIME'],
      fsGroup: { rule: 'MustRunAs', ranges: ranges([1, 2]) },
      volumes: ['configMap', 'emptyDir'],
    };
    expect(cellsOf(podSecurityPolicies, { metadata: { name: 'p' }, spec })).toEqual({
      Name: 'p',
      Priv: 'true',
      Caps: 'NET_ADMIN,SYS_TIME',
      SELinux: 'RunAsAny',
      RunAsUser: 'RunAsAny',
      FsGroup: 'MustRunAs',
      SupGroup: 'RunAsAny',
      ReadOnlyRootFs: 'false',
      Volumes: 'configMap,emptyDir',
    });
  });

  it('does not exist in a control plane without workloads', () => {
    expect(withOlderVersions(resourcesOf('generic')).filter(({ plural }) => plural === 'podsecuritypolicies')).toEqual(
      [],
    );
  });
});
