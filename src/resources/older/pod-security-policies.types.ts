/** The types of pod security policies in policy/v1beta1. */
import { bool, field, type Infer, int32, int64, list, string, struct } from '../../schema/index.ts';
import { SELinuxOptions } from '../../types/core-v1.ts';
import { ObjectMeta, typeMeta } from '../../types/meta-v1.ts';

/** The rules of each strategy. */
export const strategyRules = {
  seLinux: ['MustRunAs', 'RunAsAny'],
  runAsUser: ['MustRunAs', 'MustRunAsNonRoot', 'RunAsAny'],
  runAsGroup: ['MayRunAs', 'MustRunAs', 'RunAsAny'],
  supplementalGroups: ['MayRunAs', 'MustRunAs', 'RunAsAny'],
  fsGroup: ['MayRunAs', 'MustRunAs', 'RunAsAny'],
} as const;

const volumeTypes = [
  '*',
  'awsElasticBlockStore',
  'azureDisk',
  'azureFile',
  'cephFS',
  'cinder',
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'fc',
  'flexVolume',
  'flocker',
  'gcePersistentDisk',
  'gitRepo',
  'glusterfs',
  'hostPath',
  'iscsi',
  'nfs',
  'persistentVolumeClaim',
  'photonPersistentDisk',
  'portworxVolume',
  'projected',
  'quobyte',
  'rbd',
  'scaleIO',
  'secret',
  'storageos',
  'vsphereVolume',
];

const bound = { required: true, emptyOk: true, always: true };

const HostPortRange = struct('policy/v1beta1.HostPortRange', {
  min: field(1, int32, bound),
  max: field(2, int32, bound),
});

const IDRange = struct('policy/v1beta1.IDRange', {
  min: field(1, int64, bound),
  max: field(2, int64, bound),
});
export type IDRange = Infer<typeof IDRange>;

/** The rule of a strategy, which the validation of the kind checks: it must not be empty. */
const rule = (strategy: keyof typeof strategyRules, options: { required?: boolean; always?: boolean } = {}) =>
  field(1, string, { known: strategyRules[strategy], checkedByKind: true, emptyOk: true, ...options });
const ranges = field(2, list(IDRange));
const required = { required: true, always: true };

const SELinuxStrategyOptions = struct('policy/v1beta1.SELinuxStrategyOptions', {
  rule: rule('seLinux', required),
  seLinuxOptions: field(2, SELinuxOptions, { nullable: true }),
});

const RunAsUserStrategyOptions = struct('policy/v1beta1.RunAsUserStrategyOptions', {
  rule: rule('runAsUser', required),
  ranges,
});

const RunAsGroupStrategyOptions = struct('policy/v1beta1.RunAsGroupStrategyOptions', {
  rule: rule('runAsGroup', required),
  ranges,
});

const SupplementalGroupsStrategyOptions = struct('policy/v1beta1.SupplementalGroupsStrategyOptions', {
  rule: rule('supplementalGroups'),
  ranges,
});

const FSGroupStrategyOptions = struct('policy/v1beta1.FSGroupStrategyOptions', { rule: rule('fsGroup'), ranges });

const AllowedHostPath = struct('policy/v1beta1.AllowedHostPath', {
  pathPrefix: field(1, string),
  readOnly: field(2, bool),
});

const AllowedFlexVolume = struct('policy/v1beta1.AllowedFlexVolume', {
  driver: field(1, string, { required: true, always: true }),
});

const AllowedCSIDriver = struct('policy/v1beta1.AllowedCSIDriver', {
  name: field(1, string, { required: true, always: true }),
});

const RuntimeClassStrategyOptions = struct('policy/v1beta1.RuntimeClassStrategyOptions', {
  allowedRuntimeClassNames: field(1, list(string), { required: true, emptyOk: true, always: true }),
  defaultRuntimeClassName: field(2, string, { nullable: true }),
});

const PodSecurityPolicySpec = struct('policy/v1beta1.PodSecurityPolicySpec', {
  privileged: field(1, bool),
  defaultAddCapabilities: field(2, list(string)),
  requiredDropCapabilities: field(3, list(string)),
  allowedCapabilities: field(4, list(string)),
  volumes: field(5, list(string), { known: volumeTypes }),
  hostNetwork: field(6, bool),
  hostPorts: field(7, list(HostPortRange)),
  hostPID: field(8, bool),
  hostIPC: field(9, bool),
  seLinux: field(10, SELinuxStrategyOptions, bound),
  runAsUser: field(11, RunAsUserStrategyOptions, bound),
  runAsGroup: field(22, RunAsGroupStrategyOptions, { nullable: true }),
  supplementalGroups: field(12, SupplementalGroupsStrategyOptions, bound),
  fsGroup: field(13, FSGroupStrategyOptions, bound),
  readOnlyRootFilesystem: field(14, bool),
  defaultAllowPrivilegeEscalation: field(15, bool, { nullable: true }),
  allowPrivilegeEscalation: field(16, bool, { nullable: true, default: true }),
  allowedHostPaths: field(17, list(AllowedHostPath)),
  allowedFlexVolumes: field(18, list(AllowedFlexVolume)),
  allowedCSIDrivers: field(23, list(AllowedCSIDriver)),
  allowedUnsafeSysctls: field(19, list(string)),
  forbiddenSysctls: field(20, list(string)),
  allowedProcMountTypes: field(21, list(string), { known: ['Default', 'Unmasked'], gate: 'ProcMountType' }),
  runtimeClass: field(24, RuntimeClassStrategyOptions, { nullable: true }),
});
export type PodSecurityPolicySpec = Infer<typeof PodSecurityPolicySpec>;

export const PodSecurityPolicy = struct('policy/v1beta1.PodSecurityPolicy', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, PodSecurityPolicySpec),
});
