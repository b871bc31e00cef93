import { describe, expect, test } from 'vitest';
import type { ApiObject, Json, JsonObject } from '../../meta/index.ts';
import { daemonSets } from '../apps/daemon-sets.ts';
import { deployments } from '../apps/deployments.ts';
import { replicaSets } from '../apps/replica-sets.ts';
import { statefulSets } from '../apps/stateful-sets.ts';
import { cronJobs } from '../batch/cron-jobs.ts';
import { jobs } from '../batch/jobs.ts';
import { podTemplates } from '../core/pod-templates.ts';
import { pods } from '../core/pods.ts';
import { replicationControllers } from '../core/replication-controllers.ts';
import {
  created,
  type ReportedError,
  validateOnCreate,
  validateOnUpdate,
  warningsOnCreate,
  wording,
} from './testing/validate.ts';

// Fields and texts are those of the reference server.
type Row = readonly [title: string, spec: JsonObject, ...found: ReportedError[]];

const containers = [{ name: 'c', image: 'i' }];
const errorsOf = (spec: JsonObject, metadata: JsonObject = {}) =>
  validateOnCreate(pods, { metadata, spec: { containers, ...spec } });

function check(rows: readonly Row[]): void {
  test.each(rows.map(([title, spec, ...found]) => ({ title, spec, found })))('$title', ({ spec, found }) => {
    expect(errorsOf(spec)).toEqual(found);
  });
}

describe('names and simple fields', () => {
  check([
    ['valid', { hostname: 'h', subdomain: 's', nodeName: 'n.x', priorityClassName: 'p' }],
    ['no containers', { containers: [] }, ['Required', 'spec.containers', 'Required value']],
    [
      'an unknown restart policy',
      { restartPolicy: 'Maybe' },
      [
        'NotSupported',
        'spec.restartPolicy',
        'Unsupported value: "Maybe": supported values: "Always", "OnFailure", "Never"',
      ],
    ],
    [
      'an unknown DNS policy',
      { dnsPolicy: 'X' },
      [
        'NotSupported',
        'spec.dnsPolicy',
        'Unsupported value: "X": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
      ],
    ],
    [
      'activeDeadlineSeconds of 0',
      { activeDeadlineSeconds: 0 },
      ['Invalid', 'spec.activeDeadlineSeconds', 'Invalid value: 0: must be between 1 and 2147483647, inclusive'],
    ],
    [
      'a host name with dots',
      { hostname: 'a.b' },
      ['Invalid', 'spec.hostname', 'Invalid value: "a.b": must not contain dots'],
    ],
    ['a bad node name', { nodeName: 'N' }, ['Invalid', 'spec.nodeName', `Invalid value: "N": ${wording.subdomain}`]],
    [
      'an invalid service account name',
      { serviceAccountName: 'A' },
      ['Invalid', 'spec.serviceAccountName', `Invalid value: "A": ${wording.subdomain}`],
    ],
    [
      'an empty runtime class',
      { runtimeClassName: '' },
      ['Invalid', 'spec.runtimeClassName', `Invalid value: "": ${wording.subdomain}`],
    ],
    [
      'an invalid node selector label',
      { nodeSelector: { 'a b': 'c' } },
      ['Invalid', 'spec.nodeSelector', `Invalid value: "a b": ${wording.qualified}`],
    ],
    [
      'an unknown preemption policy',
      { preemptionPolicy: 'X' },
      [
        'NotSupported',
        'spec.preemptionPolicy',
        'Unsupported value: "X": supported values: "PreemptLowerPriority", "Never"',
      ],
    ],
    [
      'an invalid readiness gate',
      { readinessGates: [{ conditionType: 'a b' }] },
      ['Invalid', 'spec.readinessGates[0].conditionType', `Invalid value: "a b": ${wording.qualified}`],
    ],
    [
      'a duplicate scheduling gate',
      { schedulingGates: [{ name: 'a' }, { name: 'a' }] },
      ['Duplicate', 'spec.schedulingGates[1]', 'Duplicate value: "a"'],
    ],
    [
      'nodeName with scheduling gates',
      { nodeName: 'n', schedulingGates: [{ name: 'a' }] },
      ['Forbidden', 'spec.nodeName', 'Forbidden: cannot be set until all schedulingGates have been cleared'],
    ],
    [
      'a resource claim without a source',
      { resourceClaims: [{ name: 'r' }] },
      [
        'Invalid',
        'spec.resourceClaims[0]',
        'Invalid value: {"Name":"r","ResourceClaimName":null,"ResourceClaimTemplateName":null}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`',
      ],
    ],
    [
      'an overhead of an unknown resource',
      { overhead: { gpu: '1' } },
      [
        'Invalid',
        'spec.overhead.limits[gpu]',
        'Invalid value: "gpu": must be a standard resource type or fully qualified',
      ],
      ['Invalid', 'spec.overhead.limits[gpu]', 'Invalid value: "gpu": must be a standard resource for containers'],
    ],
  ]);
});

describe('DNS, host aliases and host names', () => {
  check([
    ['valid', { dnsPolicy: 'None', dnsConfig: { nameservers: ['1.1.1.1'], searches: ['_a.b.', '.'] } }],
    [
      'DNS policy None without a configuration',
      { dnsPolicy: 'None' },
      ['Required', 'spec.dnsConfig', 'Required value: must provide `dnsConfig` when `dnsPolicy` is None'],
    ],
    [
      'DNS policy None without a nameserver',
      { dnsPolicy: 'None', dnsConfig: { searches: ['a'] } },
      [
        'Required',
        'spec.dnsConfig.nameservers',
        'Required value: must provide at least one DNS nameserver when `dnsPolicy` is None',
      ],
    ],
    [
      'too many nameservers',
      { dnsConfig: { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'] } },
      [
        'Invalid',
        'spec.dnsConfig.nameservers',
        'Invalid value: ["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]: must not have more than 3 nameservers',
      ],
    ],
    [
      'an invalid nameserver',
      { dnsConfig: { nameservers: ['one'] } },
      ['Invalid', 'spec.dnsConfig.nameservers[0]', `Invalid value: "one": ${wording.ip}`],
    ],
    [
      'an option without a name',
      { dnsConfig: { options: [{ value: 'x' }] } },
      ['Required', 'spec.dnsConfig.options[0]', 'Required value: must not be empty'],
    ],
    [
      'a host alias without an IP',
      { hostAliases: [{ ip: 'x', hostnames: ['A'] }] },
      ['Invalid', 'spec.hostAliases[0].ip', `Invalid value: "x": ${wording.ip}`],
      ['Invalid', 'spec.hostAliases[0].hostnames[0]', `Invalid value: "A": ${wording.subdomain}`],
    ],
    [
      'no containerPort with hostNetwork',
      { hostNetwork: true, containers: [{ name: 'c', image: 'i', ports: [{}] }] },
      ['Required', 'spec.containers[0].ports[0].containerPort', 'Required value'],
    ],
    [
      'hostPort differs from containerPort with hostNetwork',
      { hostNetwork: true, containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 1, hostPort: 2 }] }] },
      [
        'Invalid',
        'spec.containers[0].ports[0].hostPort',
        'Invalid value: 2: must match `containerPort` when `hostNetwork` is true',
      ],
    ],
  ]);
});

describe('tolerations', () => {
  const T = 'spec.tolerations[0]';
  check([
    ['valid', { tolerations: [{ operator: 'Exists' }, { key: 'k', value: 'v', effect: 'NoSchedule' }] }],
    [
      'no key without Exists',
      { tolerations: [{ value: 'v' }] },
      [
        'Invalid',
        `${T}.operator`,
        'Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
      ],
    ],
    [
      'tolerationSeconds without NoExecute',
      { tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 1 }] },
      [
        'Invalid',
        `${T}.effect`,
        'Invalid value: "NoSchedule": effect must be \'NoExecute\' when `tolerationSeconds` is set',
      ],
    ],
    [
      'a value with Exists',
      { tolerations: [{ key: 'k', operator: 'Exists', value: 'v' }] },
      ['Invalid', `${T}.operator`, 'Invalid value: "v": value must be empty when `operator` is \'Exists\''],
    ],
    [
      'an unknown operator',
      { tolerations: [{ key: 'k', operator: 'Like' }] },
      ['NotSupported', `${T}.operator`, 'Unsupported value: "Like": supported values: "Equal", "Exists"'],
    ],
    [
      'an unknown effect',
      { tolerations: [{ key: 'k', operator: 'Exists', effect: 'X' }] },
      [
        'NotSupported',
        `${T}.effect`,
        'Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      ],
    ],
    [
      'an invalid value',
      { tolerations: [{ key: 'k', value: 'a b' }] },
      ['Invalid', `${T}.operator`, `Invalid value: "a b": ${wording.labelValue}`],
    ],
  ]);
});

describe('affinity and topology spread constraints', () => {
  const nodes = (term: JsonObject) => ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } },
  });
  const N = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
  const near = (term: JsonObject) => ({
    affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
  });
  const P = 'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]';
  const spread = (one: JsonObject) => ({
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule', ...one }],
  });
  const S = 'spec.topologySpreadConstraints[0]';
  check([
    ['valid', nodes({ matchExpressions: [{ key: 'k', operator: 'Gt', values: ['1'] }] })],
    [
      'no terms',
      { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: {} } } },
      ['Required', N, 'Required value: must have at least one node selector term'],
    ],
    [
      'In without values',
      nodes({ matchExpressions: [{ key: 'k', operator: 'In' }] }),
      [
        'Required',
        `${N}[0].matchExpressions[0].values`,
        "Required value: must be specified when `operator` is 'In' or 'NotIn'",
      ],
    ],
    [
      'Gt with several values',
      nodes({ matchExpressions: [{ key: 'k', operator: 'Lt', values: ['1', '2'] }] }),
      [
        'Required',
        `${N}[0].matchExpressions[0].values`,
        "Required value: must be specified single value when `operator` is 'Lt' or 'Gt'",
      ],
    ],
    [
      'values with Exists',
      nodes({ matchExpressions: [{ key: 'k', operator: 'Exists', values: ['1'] }] }),
      [
        'Forbidden',
        `${N}[0].matchExpressions[0].values`,
        "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      ],
    ],
    [
      'an unknown operator',
      nodes({ matchExpressions: [{ key: 'k', operator: 'Like' }] }),
      ['Invalid', `${N}[0].matchExpressions[0].operator`, 'Invalid value: "Like": not a valid selector operator'],
    ],
    [
      'an unsupported field',
      nodes({ matchFields: [{ key: 'spec.x', operator: 'In', values: ['1'] }] }),
      ['Invalid', `${N}[0].matchFields[0].key`, 'Invalid value: "spec.x": not a valid field selector key'],
    ],
    [
      'weights out of range',
      {
        affinity: {
          nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, preference: {} }] },
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, podAffinityTerm: { topologyKey: 'z' } }],
          },
        },
      },
      [
        'Invalid',
        'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight',
        'Invalid value: 101: must be in the range 1-100',
      ],
      [
        'Invalid',
        'spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight',
        'Invalid value: 0: must be in the range 1-100',
      ],
    ],
    [
      'no topologyKey',
      near({ labelSelector: {} }),
      ['Required', `${P}.topologyKey`, 'Required value: can not be empty'],
      ['Invalid', `${P}.topologyKey`, 'Invalid value: "": name part must be non-empty'],
      ['Invalid', `${P}.topologyKey`, `Invalid value: "": ${wording.qualified}`],
    ],
    [
      'an invalid namespace',
      near({ topologyKey: 'z', namespaces: ['A'] }),
      ['Invalid', `${P}.namespace`, `Invalid value: "A": ${wording.label}`],
    ],
    [
      'matchLabelKeys without a label selector',
      near({ topologyKey: 'z', matchLabelKeys: ['a'] }),
      ['Forbidden', `${P}.matchLabelKeys`, 'Forbidden: must not be specified when labelSelector is not set'],
    ],
    [
      'a key in matchLabelKeys and mismatchLabelKeys',
      near({ topologyKey: 'z', labelSelector: {}, matchLabelKeys: ['a'], mismatchLabelKeys: ['a'] }),
      ['Invalid', `${P}.matchLabelKeys[0]`, 'Invalid value: "a": exists in both matchLabelKeys and mismatchLabelKeys'],
    ],
    ['no skew', spread({ maxSkew: 0 }), ['Invalid', `${S}.maxSkew`, 'Invalid value: 0: must be greater than zero']],
    [
      'a maxSkew of 0',
      spread({ topologyKey: '' }),
      ['Required', `${S}.topologyKey`, 'Required value: can not be empty'],
    ],
    [
      'no topologyKey and no whenUnsatisfiable',
      spread({ whenUnsatisfiable: '' }),
      [
        'NotSupported',
        `${S}.whenUnsatisfiable`,
        'Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnyway"',
      ],
    ],
    [
      'minDomains with ScheduleAnyway',
      spread({ whenUnsatisfiable: 'ScheduleAnyway', minDomains: 2 }),
      [
        'Invalid',
        `${S}.minDomains`,
        'Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway',
      ],
    ],
    [
      'a duplicate constraint',
      {
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' },
          { maxSkew: 2, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' },
        ],
      },
      ['Duplicate', `${S}.{topologyKey, whenUnsatisfiable}`, 'Duplicate value: "{z, DoNotSchedule}"'],
    ],
    [
      'matchLabelKeys without a label selector',
      spread({ matchLabelKeys: ['a'] }),
      ['Forbidden', `${S}.matchLabelKeys`, 'Forbidden: must not be specified when labelSelector is not set'],
    ],
    [
      'matchLabelKeys that are no labels, without a label selector',
      spread({ matchLabelKeys: ['a b'] }),
      ['Forbidden', `${S}.matchLabelKeys`, 'Forbidden: must not be specified when labelSelector is not set'],
      ['Invalid', `${S}.matchLabelKeys[0]`, expect.stringContaining('Invalid value: "a b": name part must')],
    ],
  ]);
  test('matchLabelKeys are merged into the label selector once', () => {
    const metadata = { labels: { a: 'b' } };
    const wanted = (labelSelector: JsonObject) => spread({ labelSelector, matchLabelKeys: ['a', 'z'] });
    const pod = created(pods, { metadata, spec: { containers, ...wanted({ matchLabels: { c: 'd' } }) } });
    expect(pod['spec']).toMatchObject({
      topologySpreadConstraints: [
        {
          labelSelector: {
            matchLabels: { c: 'd' },
            matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }],
          },
        },
      ],
    });
    expect(errorsOf(wanted({ matchLabels: { a: 'x' } }), metadata)).toEqual([
      ['Invalid', `${S}[0]`, 'Invalid value: "a": exists in both matchLabelKeys and labelSelector'],
    ]);
  });
});

describe('host namespaces and sysctls', () => {
  check([
    [
      'an invalid sysctl name',
      { securityContext: { sysctls: [{ name: 'a b', value: '1' }] } },
      [
        'Invalid',
        'spec.securityContext.sysctls[0].name',
        'Invalid value: "a b": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
      ],
    ],
    [
      'a duplicate sysctl',
      {
        securityContext: {
          sysctls: [
            { name: 'kernel.sem', value: '1' },
            { name: 'kernel.sem', value: '2' },
          ],
        },
      },
      ['Duplicate', 'spec.securityContext.sysctls[1].name', 'Duplicate value: "kernel.sem"'],
    ],
    [
      'a network sysctl with hostNetwork',
      { hostNetwork: true, securityContext: { sysctls: [{ name: 'net/ipv4.x', value: '1' }] } },
      [
        'Invalid',
        'spec.securityContext.sysctls[0].name',
        'Invalid value: "net/ipv4.x": may not be specified when \'hostNetwork\' is true',
      ],
    ],
    [
      'shareProcessNamespace with hostPID',
      { hostPID: true, shareProcessNamespace: true },
      [
        'Invalid',
        'spec.securityContext.shareProcessNamespace',
        'Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled',
      ],
    ],
    [
      'a user namespace with hostNetwork',
      { hostUsers: false, hostNetwork: true },
      ['Forbidden', 'spec.hostNetwork', 'Forbidden: when `pod.Spec.HostUsers` is false'],
    ],
    [
      'an unknown fsGroupChangePolicy',
      { securityContext: { fsGroupChangePolicy: 'X' } },
      [
        'NotSupported',
        'spec.securityContext.fsGroupChangePolicy',
        'Unsupported value: "X": supported values: "Always", "OnRootMismatch"',
      ],
    ],
    ['a supported seLinuxChangePolicy', { securityContext: { seLinuxChangePolicy: 'Recursive' } }],
    [
      'a seLinuxChangePolicy of a later release',
      { securityContext: { seLinuxChangePolicy: 'MountOption' } },
      [
        'NotSupported',
        'spec.securityContext.seLinuxChangePolicy',
        'Unsupported value: "MountOption": supported values: "Recursive"',
      ],
    ],
    [
      'a negative fsGroup',
      { securityContext: { supplementalGroups: [-1] } },
      [
        'Invalid',
        'spec.securityContext.supplementalGroups[0]',
        'Invalid value: -1: must be between 0 and 2147483647, inclusive',
      ],
    ],
  ]);
});

describe('operating systems', () => {
  check([
    ['no name', { os: {} }, ['Required', 'spec.os.name', 'Required value']],
    [
      'an unknown OS',
      { os: { name: 'plan9' } },
      ['NotSupported', 'spec.os', 'Unsupported value: "plan9": supported values: "linux", "windows"'],
    ],
    [
      'windowsOptions on linux',
      { os: { name: 'linux' }, securityContext: { windowsOptions: {} } },
      ['Forbidden', 'spec.securityContext.windowsOptions', 'Forbidden: windows options cannot be set for a linux pod'],
    ],
    [
      'linux options on windows',
      {
        os: { name: 'windows' },
        hostPID: true,
        securityContext: { runAsUser: 1 },
        containers: [{ name: 'c', image: 'i', securityContext: { readOnlyRootFilesystem: false } }],
      },
      ['Forbidden', 'spec.securityContext.runAsUser', 'Forbidden: cannot be set for a windows pod'],
      ['Forbidden', 'spec.hostPID', 'Forbidden: cannot be set for a windows pod'],
      [
        'Forbidden',
        'spec.containers[0].securityContext.readOnlyRootFilesystem',
        'Forbidden: cannot be set for a windows pod',
      ],
    ],
  ]);
});

describe('the pod as a whole', () => {
  check([
    [
      'requests below those of the containers',
      {
        containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '2' } } }],
        resources: { requests: { cpu: '1' } },
      },
      [
        'Invalid',
        'spec.resources.requests[cpu]',
        'Invalid value: "1": must be greater than or equal to aggregate container requests of 2',
      ],
    ],
    [
      'limits of huge pages below those of the containers',
      {
        containers: [
          {
            name: 'c',
            image: 'i',
            resources: { limits: { 'hugepages-2Mi': '4Mi', cpu: '2' }, requests: { cpu: '2' } },
          },
        ],
        resources: { limits: { 'hugepages-2Mi': '2Mi', memory: '1Gi' }, requests: { 'hugepages-2Mi': '2Mi' } },
      },
      [
        'Invalid',
        'spec.resources.requests[hugepages-2Mi]',
        'Invalid value: "2Mi": must be greater than or equal to aggregate container requests of 4Mi',
      ],
      [
        'Invalid',
        'spec.resources.limits[hugepages-2Mi]',
        'Invalid value: "2Mi": must be greater than or equal to aggregate container limits of 4Mi',
      ],
      [
        'Invalid',
        'spec.resources.containers[0][hugepages-2Mi].limits',
        'Invalid value: "4Mi": must be less than or equal to pod limits of 2Mi',
      ],
    ],
    [
      'pod-level resources on windows',
      { os: { name: 'windows' }, resources: { limits: { gpu: '1' } } },
      ['Forbidden', 'spec.resources', 'Forbidden: may not be set for a windows pod'],
    ],
    [
      'a resource of containers only',
      { resources: { limits: { 'ephemeral-storage': '1' } } },
      [
        'NotSupported',
        'spec.resources.limits[ephemeral-storage]',
        'Unsupported value: "ephemeral-storage": supported values: "cpu", "hugepages-", "memory"',
      ],
    ],
  ]);
});

describe('annotations', () => {
  const A = 'metadata.annotations';
  test.each<{ title: string; annotations: JsonObject; found: ReportedError[] }>([
    {
      title: 'an invalid pod deletion cost',
      annotations: { 'controller.kubernetes.io/pod-deletion-cost': '+1' },
      found: [
        ['Invalid', `${A}[controller.kubernetes.io/pod-deletion-cost]`, 'Invalid value: "+1": must be a 32bit integer'],
      ],
    },
    {
      title: 'a mirror annotation without nodeName',
      annotations: { 'kubernetes.io/config.mirror': 'x' },
      found: [
        [
          'Invalid',
          `${A}[kubernetes.io/config.mirror]`,
          'Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
        ],
      ],
    },
    {
      title: 'a profile of an unknown container',
      annotations: { 'container.apparmor.security.beta.kubernetes.io/x': 'odd' },
      found: [
        [
          'Invalid',
          `${A}[container.apparmor.security.beta.kubernetes.io/x]`,
          'Invalid value: "x": container not found',
        ],
        [
          'Invalid',
          `${A}[container.apparmor.security.beta.kubernetes.io/x]`,
          'Invalid value: "odd": invalid AppArmor profile name: "odd"',
        ],
      ],
    },
    {
      title: 'an unknown seccomp profile',
      annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'odd' },
      found: [
        [
          'Invalid',
          `${A}.seccomp.security.alpha.kubernetes.io/pod`,
          'Invalid value: "odd": must be a valid seccomp profile',
        ],
      ],
    },
  ])('$title', ({ annotations, found }) => {
    expect(errorsOf({}, { annotations })).toEqual(found);
  });

  const key = 'scheduler.alpha.kubernetes.io/tolerations';
  const noKey = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
  const inText = (message: string): ReportedError => ['Invalid', A, `Invalid value: "${key}": ${message}`];
  const at = (field: string, message: string): ReportedError => ['Invalid', `${A}.${key}[0].${field}`, message];
  const texts: readonly (readonly [text: string, ...found: ReportedError[]])[] = [
    [''],
    ['null'],
    ['[]'],
    ['[{"operator":"Exists"}]'],
    ['[{"Operator":"Exists"}]'],
    ['[{"key":"a","operator":"Equal","value":"x","unknown":1}]'],
    ['[{}]', at('operator', `Invalid value: "": ${noKey}`)],
    ['[null]', at('operator', `Invalid value: "": ${noKey}`)],
    ['[{"key":"a b","operator":"Exists"}]', at('key', `Invalid value: "a b": ${wording.qualified}`)],
    [
      '[{"operator":"Exists","value":"v"}]',
      at('operator', `Invalid value: "v": value must be empty when \`operator\` is 'Exists'`),
    ],
    [
      '[{"operator":"Exists","tolerationSeconds":3}]',
      at('effect', `Invalid value: "": effect must be 'NoExecute' when \`tolerationSeconds\` is set`),
    ],
    [
      '[{"key":"a","value":"b c","effect":"No"}]',
      at('operator', `Invalid value: "b c": ${wording.labelValue}`),
      [
        'NotSupported',
        `${A}.${key}[0].effect`,
        'Unsupported value: "No": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      ],
    ],
    ['x', inText("invalid character 'x' looking for beginning of value")],
    ['{}', inText('json: cannot unmarshal object into Go value of type []core.Toleration')],
    ['[1]', inText('json: cannot unmarshal number into Go value of type core.Toleration')],
    ['[{"key":1}]', inText('json: cannot unmarshal number into Go struct field Toleration.Key of type string')],
  ];
  test.each(texts.map(([text, ...found]) => ({ text, found })))('tolerations $text', ({ text, found }) => {
    expect(errorsOf({}, { annotations: { [key]: text } })).toEqual(found);
  });
});

describe('templates', () => {
  test('are validated with the path of the template', () => {
    const template = { metadata: { labels: { 'a b': 'c' } }, spec: { containers: [{ name: 'c' }] } };
    expect(validateOnCreate(podTemplates, { template })).toEqual([
      ['Invalid', 'template.labels', `Invalid value: "a b": ${wording.qualified}`],
      ['Required', 'template.spec.containers[0].image', 'Required value'],
    ]);
  });

  test('have no ephemeral containers', () => {
    const spec = { containers, ephemeralContainers: [{ name: 'e', image: 'i' }] };
    expect(validateOnCreate(podTemplates, { template: { spec } })).toEqual([
      ['Forbidden', 'template.spec.ephemeralContainers', 'Forbidden: ephemeral containers not allowed in pod template'],
    ]);
  });
});

describe('defaults', () => {
  const spec = (given: JsonObject): JsonObject =>
    created(pods, { spec: { containers, ...given } })['spec'] as JsonObject;

  test('requests default to limits', () => {
    const resources = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } };
    const made = spec({ containers: [{ name: 'c', image: 'i', resources }] });
    expect(made).toMatchObject({
      containers: [{ resources: { ...resources, requests: { cpu: '500m', memory: '1Gi' } } }],
    });
  });

  test('quantities are rounded up to milli units', () => {
    const resources = { requests: { cpu: '1500u' } };
    expect(spec({ containers: [{ name: 'c', image: 'i', resources }] })).toMatchObject({
      containers: [{ resources: { requests: { cpu: '2m' } } }],
    });
  });

  test('serviceAccount is used when serviceAccountName is not set', () => {
    expect(spec({ serviceAccount: 'x' })).toMatchObject({ serviceAccount: 'x', serviceAccountName: 'x' });
    expect(spec({ serviceAccount: 'x', serviceAccountName: 'y' })).toMatchObject({
      serviceAccount: 'y',
      serviceAccountName: 'y',
    });
  });

  test('with hostNetwork hostPort defaults to containerPort', () => {
    const made = spec({ hostNetwork: true, containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }] });
    expect(made).toMatchObject({ containers: [{ ports: [{ containerPort: 80, hostPort: 80, protocol: 'TCP' }] }] });
  });

  test('probes have defaults', () => {
    const made = spec({ containers: [{ name: 'c', image: 'i', livenessProbe: { httpGet: { port: 80 } } }] });
    expect(made).toMatchObject({
      containers: [
        {
          livenessProbe: {
            httpGet: { path: '/', port: 80, scheme: 'HTTP' },
            failureThreshold: 3,
            periodSeconds: 10,
            successThreshold: 1,
            timeoutSeconds: 1,
          },
        },
      ],
    });
  });

  test('volumes have default modes', () => {
    const sources = [
      { serviceAccountToken: { path: 't' } },
      { downwardAPI: { items: [{ path: 'n', fieldRef: { fieldPath: 'metadata.name' } }] } },
    ];
    const volumes = [
      { name: 'a' },
      { name: 'b', secret: { secretName: 's' } },
      { name: 'c', hostPath: { path: '/x' } },
      { name: 'd', projected: { sources } },
    ];
    expect(spec({ volumes })).toMatchObject({
      volumes: [
        { emptyDir: {} },
        { secret: { defaultMode: 420 } },
        { hostPath: { path: '/x', type: '' } },
        {
          projected: {
            defaultMode: 420,
            sources: [
              { serviceAccountToken: { path: 't', expirationSeconds: 3600 } },
              { downwardAPI: { items: [{ fieldRef: { apiVersion: 'v1' } }] } },
            ],
          },
        },
      ],
    });
  });

  test('pod-level requests default to the sum of the containers', () => {
    const container = (name: string, cpu: string) => ({ name, image: 'i', resources: { requests: { cpu } } });
    const made = spec({
      containers: [container('a', '1'), container('b', '500m')],
      initContainers: [container('c', '2')],
      resources: { limits: { cpu: '4', memory: '1Gi' } },
    });
    expect(made).toMatchObject({ resources: { requests: { cpu: '2', memory: '1Gi' } } });
  });

  test('a pod with scheduling gates has a PodScheduled condition since its creation', () => {
    expect(created(pods, { spec: { containers, schedulingGates: [{ name: 'g' }] } })['status']).toEqual({
      phase: 'Pending',
      conditions: [
        {
          lastProbeTime: null,
          lastTransitionTime: '2024-01-01T00:00:00Z',
          type: 'PodScheduled',
          status: 'False',
          reason: 'SchedulingGated',
          message: 'Scheduling is blocked due to non-empty scheduling gates',
        },
      ],
      qosClass: 'BestEffort',
    });
  });

  test('matchLabelKeys and mismatchLabelKeys become label selector expressions', () => {
    const term = {
      topologyKey: 'z',
      labelSelector: { matchLabels: { x: 'y' } },
      matchLabelKeys: ['a', 'none'],
      mismatchLabelKeys: ['b'],
    };
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    const made = created(pods, { metadata: { labels: { a: '1', b: '2' } }, spec: { containers, affinity } });
    expect(made).toMatchObject({
      spec: {
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              {
                labelSelector: {
                  matchLabels: { x: 'y' },
                  matchExpressions: [
                    { key: 'a', operator: 'In', values: ['1'] },
                    { key: 'b', operator: 'NotIn', values: ['2'] },
                  ],
                },
              },
            ],
          },
        },
      },
    });
  });
});

describe('QoS class', () => {
  const full = { cpu: '1', memory: '1Gi' };
  test.each([
    ['BestEffort', {}],
    ['Burstable', { requests: { cpu: '1' } }],
    ['Burstable', { limits: { cpu: '1' } }],
    ['Burstable', { limits: full, requests: { cpu: '500m' } }],
    ['Guaranteed', { limits: full }],
    ['Guaranteed', { limits: full, requests: full }],
  ])('%s: %j', (qosClass, resources) => {
    const made = created(pods, { spec: { containers: [{ name: 'c', image: 'i', resources }] } });
    expect(made['status']).toMatchObject({ qosClass });
  });
});

describe('warnings', () => {
  test.each<{ title: string; spec: JsonObject; said: string[] }>([
    { title: 'no warnings', spec: {}, said: [] },
    {
      title: 'a variable set twice',
      spec: {
        containers: [
          {
            name: 'c',
            image: 'i',
            env: [
              { name: 'A', value: '1' },
              { name: 'A', value: '2' },
              { name: 'A', value: 'x$(A)' },
            ],
          },
        ],
      },
      said: ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
    },
    {
      title: 'a duplicate port',
      spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 1 }, { containerPort: 1 }] }] },
      said: ['spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]'],
    },
    {
      title: 'a fractional byte value',
      spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { memory: '100m' } } }] },
      said: [
        'spec.containers[0].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer',
      ],
    },
    {
      title: 'a deprecated node label',
      spec: { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } },
      said: ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
    },
    {
      title: 'duplicate pull secrets and host aliases',
      spec: { imagePullSecrets: [{ name: 'a' }, { name: 'a' }], hostAliases: [{ ip: '1.1.1.1' }, { ip: '1.1.1.1' }] },
      said: ['spec.hostAliases[1].ip: duplicate ip "1.1.1.1"', 'spec.imagePullSecrets[1].name: duplicate name "a"'],
    },
    {
      title: 'a removed volume source',
      spec: { volumes: [{ name: 'v', glusterfs: { endpoints: 'e', path: 'p' } }] },
      said: ['spec.volumes[0].glusterfs: deprecated in v1.25, non-functional in v1.26+'],
    },
    {
      title: 'a spread constraint without a label selector',
      spec: { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' }] },
      said: ['spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod'],
    },
    {
      title: 'a negative grace period',
      spec: { terminationGracePeriodSeconds: -1 },
      said: ['spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1'],
    },
    {
      title: 'a port name used twice',
      spec: {
        initContainers: [
          { name: 'i', image: 'i', restartPolicy: 'Always', ports: [{ name: 'web', containerPort: 80 }] },
        ],
        containers: [{ name: 'c', image: 'i', ports: [{ name: 'web', containerPort: 81 }] }],
      },
      said: [
        'spec.containers[0].ports[0]: duplicate port name "web" with spec.initContainers[0].ports[0], services and probes that select ports by name will use spec.initContainers[0].ports[0]',
      ],
    },
    {
      title: 'non-canonical IPs',
      spec: { dnsConfig: { nameservers: ['1.2.3.4', '2001:DB8::1'] }, hostAliases: [{ ip: '::ffff:1.2.3.4' }] },
      said: [
        'spec.dnsConfig.nameservers[1]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
        'spec.hostAliases[0].ip: non-standard IP address "::ffff:1.2.3.4" will be considered invalid in a future Kubernetes release: use "1.2.3.4"',
      ],
    },
    {
      title: 'overlapping paths in one source',
      spec: {
        volumes: [
          {
            name: 'v',
            configMap: {
              name: 'm',
              items: [
                { key: 'a', path: 'x' },
                { key: 'b', path: 'x/y/' },
                { key: 'c', path: 'xy' },
              ],
            },
          },
          {
            name: 'w',
            secret: {
              secretName: 's',
              items: [
                { key: 'a', path: 'x/y' },
                { key: 'b', path: 'x' },
              ],
            },
          },
        ],
      },
      said: [
        'volume "v" (ConfigMap "m"): overlapping paths: "x/y" with "x"',
        'volume "w" (Secret "s"): overlapping paths: "x" with "x/y"',
      ],
    },
    {
      title: 'overlapping paths in several sources, and no sources',
      spec: {
        volumes: [
          {
            name: 'v',
            projected: {
              sources: [
                { clusterTrustBundle: { signerName: 'a/b', path: 'x/x' } },
                { downwardAPI: { items: [{ path: 'x', fieldRef: { fieldPath: 'metadata.name' } }] } },
                { secret: { name: 's', items: [{ key: 'k', path: 'x' }] } },
                { configMap: { name: 'm', items: [{ key: 'k', path: 'y' }] } },
                { serviceAccountToken: { path: 'y' } },
                {},
              ],
            },
          },
        ],
      },
      said: [
        'volume "v" (Projected) has no sources provided',
        'volume "v" (Projected): overlapping paths: "x" (DownwardAPI) with "x/x" (ClusterTrustBundle "a/b")',
        'volume "v" (Projected): overlapping paths: "x" (Secret "s") with "x/x" (ClusterTrustBundle "a/b")',
        'volume "v" (Projected): overlapping paths: "x" (Secret "s") with "x" (DownwardAPI)',
        'volume "v" (Projected): overlapping paths: "y" (ServiceAccountToken) with "y" (ConfigMap "m")',
      ],
    },
  ])('$title', ({ spec, said }) => {
    expect(warningsOnCreate(pods, { spec: { containers, ...spec } })).toEqual(said);
  });

  test('a name that is not a DNS label', () => {
    expect(warningsOnCreate(pods, { metadata: { name: 'a.b' }, spec: { containers } })).toEqual([
      "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
    ]);
  });
});

describe('AppArmor profiles by annotation', () => {
  const key = 'container.apparmor.security.beta.kubernetes.io/c';
  const warning = `metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`;
  const unconfined = { securityContext: { appArmorProfile: { type: 'Unconfined' } } };
  const rows: readonly (readonly [title: string, text: string, spec: JsonObject, field: Json, warnings: string[]])[] = [
    ['become fields', 'runtime/default', { containers }, { type: 'RuntimeDefault' }, [warning]],
    ['of type Localhost', 'localhost/p', { containers }, { type: 'Localhost', localhostProfile: 'p' }, [warning]],
    ['with an invalid value do not', 'localhost/', { containers }, null, [warning]],
    ['of the pod are not copied to containers', 'unconfined', { containers, ...unconfined }, null, []],
    [
      'do not replace a field',
      'unconfined',
      { containers: [{ ...containers[0], ...unconfined }] },
      { type: 'Unconfined' },
      [],
    ],
    ['are ignored on Windows', 'unconfined', { containers, os: { name: 'windows' } }, null, []],
  ];
  test.each(rows)('%s', (_, text, spec, field, warnings) => {
    const pod = { metadata: { annotations: { [key]: text } }, spec };
    const { containers: [made] = [] } = created(pods, pod)['spec'] as {
      containers?: { securityContext?: JsonObject }[];
    };
    expect(made?.securityContext?.['appArmorProfile'] ?? null).toEqual(field);
    expect(warningsOnCreate(pods, pod)).toEqual(warnings);
  });
});

describe('a policy that new objects may not have', () => {
  const spec = { containers, securityContext: { seLinuxChangePolicy: 'MountOption' } };
  const template = { metadata: { labels: { a: 'b' } }, spec };
  const selector = { matchLabels: { a: 'b' } };
  const ofJob = { template: { ...template, spec: { ...spec, restartPolicy: 'Never' } } };
  test.each([
    ['pods', pods, { spec }, 'spec'],
    ['pod templates', podTemplates, { template }, 'template.spec'],
    ['replication controllers', replicationControllers, { spec: { template } }, 'spec.template.spec'],
    ['replica sets', replicaSets, { spec: { selector, template } }, 'spec.template.spec'],
    ['deployments', deployments, { spec: { selector, template } }, 'spec.template.spec'],
    ['daemon sets', daemonSets, { spec: { selector, template } }, 'spec.template.spec'],
    ['stateful sets', statefulSets, { spec: { selector, template } }, 'spec.template.spec'],
    ['jobs', jobs, { spec: ofJob }, 'spec.template.spec'],
    [
      'cron jobs',
      cronJobs,
      { spec: { schedule: '* * * * *', jobTemplate: { spec: ofJob } } },
      'spec.jobTemplate.spec.template.spec',
    ],
  ])('is refused in %s, and tolerated in stored ones', (_, kind, object, path) => {
    expect(validateOnCreate(kind, object)).toEqual([
      [
        'NotSupported',
        `${path}.securityContext.seLinuxChangePolicy`,
        'Unsupported value: "MountOption": supported values: "Recursive"',
      ],
    ]);
    const annotate = ({ metadata }: ApiObject) => Object.assign(metadata, { annotations: { x: 'y' } });
    expect(validateOnUpdate(kind, object, annotate)).toEqual([]);
  });
});
