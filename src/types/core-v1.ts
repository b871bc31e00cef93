/** The types of core/v1. */
import {
  bool,
  bytes,
  field,
  type Infer,
  inline,
  int32,
  int64,
  intOrString,
  list,
  map,
  microTime,
  quantity,
  shortList,
  string,
  struct,
  time,
} from '../schema/index.ts';
import { Condition, conditionStatuses, LabelSelector, ObjectMeta, OwnerReference, typeMeta } from './meta-v1.ts';

export const resourceNames = [
  'cpu',
  'memory',
  'storage',
  'ephemeral-storage',
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
];
export const signals = [
  'SIGABRT',
  'SIGALRM',
  'SIGBUS',
  'SIGCHLD',
  'SIGCLD',
  'SIGCONT',
  'SIGFPE',
  'SIGHUP',
  'SIGILL',
  'SIGINT',
  'SIGIO',
  'SIGIOT',
  'SIGKILL',
  'SIGPIPE',
  'SIGPOLL',
  'SIGPROF',
  'SIGPWR',
  'SIGQUIT',
  'SIGSEGV',
  'SIGSTKFLT',
  'SIGSTOP',
  'SIGSYS',
  'SIGTERM',
  'SIGTRAP',
  'SIGTSTP',
  'SIGTTIN',
  'SIGTTOU',
  'SIGURG',
  'SIGUSR1',
  'SIGUSR2',
  'SIGVTALRM',
  'SIGWINCH',
  'SIGXCPU',
  'SIGXFSZ',
  'SIGRTMIN',
  'SIGRTMIN+1',
  'SIGRTMIN+2',
  'SIGRTMIN+3',
  'SIGRTMIN+4',
  'SIGRTMIN+5',
  'SIGRTMIN+6',
  'SIGRTMIN+7',
  'SIGRTMIN+8',
  'SIGRTMIN+9',
  'SIGRTMIN+10',
  'SIGRTMIN+11',
  'SIGRTMIN+12',
  'SIGRTMIN+13',
  'SIGRTMIN+14',
  'SIGRTMIN+15',
  'SIGRTMAX-14',
  'SIGRTMAX-13',
  'SIGRTMAX-12',
  'SIGRTMAX-11',
  'SIGRTMAX-10',
  'SIGRTMAX-9',
  'SIGRTMAX-8',
  'SIGRTMAX-7',
  'SIGRTMAX-6',
  'SIGRTMAX-5',
  'SIGRTMAX-4',
  'SIGRTMAX-3',
  'SIGRTMAX-2',
  'SIGRTMAX-1',
  'SIGRTMAX',
];
export const podConditionTypes = [
  'ContainersReady',
  'Initialized',
  'Ready',
  'PodScheduled',
  'DisruptionTarget',
  'PodReadyToStartContainers',
  'PodResizePending',
  'PodResizeInProgress',
];
export const resourceQuotaScopes = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
];

// PersistentVolume

export const GCEPersistentDiskVolumeSource = struct('core/v1.GCEPersistentDiskVolumeSource', {
  pdName: field(1, string, { required: true, emptyOk: true, always: true }),
  fsType: field(2, string),
  partition: field(3, int32),
  readOnly: field(4, bool),
});

export const AWSElasticBlockStoreVolumeSource = struct('core/v1.AWSElasticBlockStoreVolumeSource', {
  volumeID: field(1, string, { required: true, always: true }),
  fsType: field(2, string),
  partition: field(3, int32),
  readOnly: field(4, bool),
});

export const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

export const HostPathVolumeSource = struct('core/v1.HostPathVolumeSource', {
  path: field(1, string, { required: true, always: true }),
  type: field(2, string, { nullable: true, known: hostPathTypes, checkedByKind: true }),
});

export const GlusterfsPersistentVolumeSource = struct('core/v1.GlusterfsPersistentVolumeSource', {
  endpoints: field(1, string, { required: true, always: true }),
  path: field(2, string, { required: true, always: true }),
  readOnly: field(3, bool),
  endpointsNamespace: field(4, string, { nullable: true }),
});

export const NFSVolumeSource = struct('core/v1.NFSVolumeSource', {
  server: field(1, string, { required: true, always: true }),
  path: field(2, string, { required: true, always: true }),
  readOnly: field(3, bool),
});

export const SecretReference = struct(
  'core/v1.SecretReference',
  {
    name: field(1, string),
    namespace: field(2, string),
  },
  { structType: 'atomic' },
);

export const RBDPersistentVolumeSource = struct('core/v1.RBDPersistentVolumeSource', {
  monitors: field(1, list(string), { required: true, always: true, listType: 'atomic' }),
  image: field(2, string, { required: true, always: true }),
  fsType: field(3, string),
  pool: field(4, string, { default: 'rbd' }),
  user: field(5, string, { default: 'admin' }),
  keyring: field(6, string, { default: '/etc/ceph/keyring' }),
  secretRef: field(7, SecretReference, { nullable: true }),
  readOnly: field(8, bool),
});

export const ISCSIPersistentVolumeSource = struct('core/v1.ISCSIPersistentVolumeSource', {
  targetPortal: field(1, string, { required: true, always: true }),
  iqn: field(2, string, { required: true, always: true }),
  lun: field(3, int32, { required: true, emptyOk: true, always: true, min: 0, max: 255 }),
  iscsiInterface: field(4, string, { default: 'default' }),
  fsType: field(5, string),
  readOnly: field(6, bool),
  portals: field(7, list(string), { listType: 'atomic' }),
  chapAuthDiscovery: field(8, bool),
  chapAuthSession: field(11, bool),
  secretRef: field(10, SecretReference, { nullable: true }),
  initiatorName: field(12, string, { nullable: true }),
});

export const CinderPersistentVolumeSource = struct('core/v1.CinderPersistentVolumeSource', {
  volumeID: field(1, string, { required: true, always: true }),
  fsType: field(2, string),
  readOnly: field(3, bool),
  secretRef: field(4, SecretReference, { nullable: true }),
});

export const CephFSPersistentVolumeSource = struct('core/v1.CephFSPersistentVolumeSource', {
  monitors: field(1, list(string), { required: true, always: true, listType: 'atomic' }),
  path: field(2, string),
  user: field(3, string),
  secretFile: field(4, string),
  secretRef: field(5, SecretReference, { nullable: true }),
  readOnly: field(6, bool),
});

export const FCVolumeSource = struct('core/v1.FCVolumeSource', {
  targetWWNs: field(1, list(string), { listType: 'atomic' }),
  lun: field(2, int32, { nullable: true }),
  fsType: field(3, string),
  readOnly: field(4, bool),
  wwids: field(5, list(string), { listType: 'atomic' }),
});

export const FlockerVolumeSource = struct('core/v1.FlockerVolumeSource', {
  datasetName: field(1, string),
  datasetUUID: field(2, string),
});

export const FlexPersistentVolumeSource = struct('core/v1.FlexPersistentVolumeSource', {
  driver: field(1, string, { required: true, always: true }),
  fsType: field(2, string),
  secretRef: field(3, SecretReference, { nullable: true }),
  readOnly: field(4, bool),
  options: field(5, map(string)),
});

export const AzureFilePersistentVolumeSource = struct('core/v1.AzureFilePersistentVolumeSource', {
  secretName: field(1, string, { required: true, always: true }),
  shareName: field(2, string, { required: true, always: true }),
  readOnly: field(3, bool),
  secretNamespace: field(4, string, { always: true, nullable: true }),
});

export const VsphereVirtualDiskVolumeSource = struct('core/v1.VsphereVirtualDiskVolumeSource', {
  volumePath: field(1, string, { required: true, always: true }),
  fsType: field(2, string),
  storagePolicyName: field(3, string),
  storagePolicyID: field(4, string),
});

export const QuobyteVolumeSource = struct('core/v1.QuobyteVolumeSource', {
  registry: field(1, string, { required: true, emptyOk: true, always: true }),
  volume: field(2, string, { required: true, always: true }),
  readOnly: field(3, bool),
  user: field(4, string),
  group: field(5, string),
  tenant: field(6, string),
});

export const AzureDiskVolumeSource = struct('core/v1.AzureDiskVolumeSource', {
  diskName: field(1, string, { required: true, always: true }),
  diskURI: field(2, string, { required: true, always: true }),
  cachingMode: field(3, string, { nullable: true, default: 'ReadWrite', known: ['None', 'ReadOnly', 'ReadWrite'] }),
  fsType: field(4, string, { nullable: true, default: 'ext4' }),
  readOnly: field(5, bool, { nullable: true, default: false }),
  kind: field(6, string, { nullable: true, default: 'Shared', known: ['Dedicated', 'Managed', 'Shared'] }),
});

export const PhotonPersistentDiskVolumeSource = struct('core/v1.PhotonPersistentDiskVolumeSource', {
  pdID: field(1, string, { required: true, always: true }),
  fsType: field(2, string),
});

export const PortworxVolumeSource = struct('core/v1.PortworxVolumeSource', {
  volumeID: field(1, string, { required: true, always: true }),
  fsType: field(2, string),
  readOnly: field(3, bool),
});

export const ScaleIOPersistentVolumeSource = struct('core/v1.ScaleIOPersistentVolumeSource', {
  gateway: field(1, string, { required: true, always: true }),
  system: field(2, string, { required: true, always: true }),
  secretRef: field(3, SecretReference, { required: true, emptyOk: true, always: true, nullable: true }),
  sslEnabled: field(4, bool),
  protectionDomain: field(5, string),
  storagePool: field(6, string),
  storageMode: field(7, string, { default: 'ThinProvisioned' }),
  volumeName: field(8, string),
  fsType: field(9, string, { default: 'xfs' }),
  readOnly: field(10, bool),
});

export const LocalVolumeSource = struct('core/v1.LocalVolumeSource', {
  path: field(1, string, { required: true, always: true }),
  fsType: field(2, string, { nullable: true }),
});

export const ObjectReference = struct(
  'core/v1.ObjectReference',
  {
    kind: field(1, string),
    namespace: field(2, string),
    name: field(3, string),
    uid: field(4, string),
    apiVersion: field(5, string),
    resourceVersion: field(6, string),
    fieldPath: field(7, string),
  },
  { structType: 'atomic' },
);
export type ObjectReference = Infer<typeof ObjectReference>;

export const StorageOSPersistentVolumeSource = struct('core/v1.StorageOSPersistentVolumeSource', {
  volumeName: field(1, string),
  volumeNamespace: field(2, string),
  fsType: field(3, string),
  readOnly: field(4, bool),
  secretRef: field(5, ObjectReference, { nullable: true }),
});

export const CSIPersistentVolumeSource = struct('core/v1.CSIPersistentVolumeSource', {
  driver: field(1, string, { required: true, always: true }),
  volumeHandle: field(2, string, { required: true, always: true }),
  readOnly: field(3, bool),
  fsType: field(4, string),
  volumeAttributes: field(5, map(string)),
  controllerPublishSecretRef: field(6, SecretReference, { nullable: true }),
  nodeStageSecretRef: field(7, SecretReference, { nullable: true }),
  nodePublishSecretRef: field(8, SecretReference, { nullable: true }),
  controllerExpandSecretRef: field(9, SecretReference, { nullable: true }),
  nodeExpandSecretRef: field(10, SecretReference, { nullable: true }),
});

export const PersistentVolumeSource = struct('core/v1.PersistentVolumeSource', {
  gcePersistentDisk: field(1, GCEPersistentDiskVolumeSource, { nullable: true }),
  awsElasticBlockStore: field(2, AWSElasticBlockStoreVolumeSource, { nullable: true }),
  hostPath: field(3, HostPathVolumeSource, { nullable: true }),
  glusterfs: field(4, GlusterfsPersistentVolumeSource, { nullable: true }),
  nfs: field(5, NFSVolumeSource, { nullable: true }),
  rbd: field(6, RBDPersistentVolumeSource, { nullable: true }),
  iscsi: field(7, ISCSIPersistentVolumeSource, { nullable: true }),
  cinder: field(8, CinderPersistentVolumeSource, { nullable: true }),
  cephfs: field(9, CephFSPersistentVolumeSource, { nullable: true }),
  fc: field(10, FCVolumeSource, { nullable: true }),
  flocker: field(11, FlockerVolumeSource, { nullable: true }),
  flexVolume: field(12, FlexPersistentVolumeSource, { nullable: true }),
  azureFile: field(13, AzureFilePersistentVolumeSource, { nullable: true }),
  vsphereVolume: field(14, VsphereVirtualDiskVolumeSource, { nullable: true }),
  quobyte: field(15, QuobyteVolumeSource, { nullable: true }),
  azureDisk: field(16, AzureDiskVolumeSource, { nullable: true }),
  photonPersistentDisk: field(17, PhotonPersistentDiskVolumeSource, { nullable: true }),
  portworxVolume: field(18, PortworxVolumeSource, { nullable: true }),
  scaleIO: field(19, ScaleIOPersistentVolumeSource, { nullable: true }),
  local: field(20, LocalVolumeSource, { nullable: true }),
  storageos: field(21, StorageOSPersistentVolumeSource, { nullable: true }),
  csi: field(22, CSIPersistentVolumeSource, { nullable: true }),
});
export type PersistentVolumeSource = Infer<typeof PersistentVolumeSource>;

export const NodeSelectorRequirement = struct('core/v1.NodeSelectorRequirement', {
  key: field(1, string, { required: true, emptyOk: true, always: true }),
  operator: field(2, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'],
    open: true,
    enum: true,
  }),
  values: field(3, list(string), { listType: 'atomic' }),
});

export const NodeSelectorTerm = struct(
  'core/v1.NodeSelectorTerm',
  {
    matchExpressions: field(1, list(NodeSelectorRequirement), { listType: 'atomic' }),
    matchFields: field(2, list(NodeSelectorRequirement), { listType: 'atomic' }),
  },
  { structType: 'atomic' },
);

export const NodeSelector = struct(
  'core/v1.NodeSelector',
  {
    nodeSelectorTerms: field(1, list(NodeSelectorTerm), {
      required: true,
      emptyOk: true,
      always: true,
      listType: 'atomic',
    }),
  },
  { structType: 'atomic' },
);
export type NodeSelector = Infer<typeof NodeSelector>;

export const VolumeNodeAffinity = struct('core/v1.VolumeNodeAffinity', {
  required: field(1, NodeSelector, { nullable: true }),
});

export const PersistentVolumeSpec = struct('core/v1.PersistentVolumeSpec', {
  capacity: field(1, map(quantity)),
  ...inline(2, 'persistentVolumeSource', PersistentVolumeSource),
  accessModes: field(3, list(string), {
    known: ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'],
    open: true,
    enum: true,
    listType: 'atomic',
  }),
  claimRef: field(4, ObjectReference, { nullable: true, mapType: 'granular' }),
  persistentVolumeReclaimPolicy: field(5, string, { known: ['Delete', 'Recycle', 'Retain'] }),
  storageClassName: field(6, string),
  mountOptions: field(7, list(string), { listType: 'atomic' }),
  volumeMode: field(8, string, { nullable: true, known: ['Block', 'Filesystem'] }),
  nodeAffinity: field(9, VolumeNodeAffinity, { nullable: true }),
  volumeAttributesClassName: field(10, string, { nullable: true, gate: 'VolumeAttributesClass' }),
});
export type PersistentVolumeSpec = Infer<typeof PersistentVolumeSpec>;

export const PersistentVolumeStatus = struct('core/v1.PersistentVolumeStatus', {
  phase: field(1, string, { known: ['Pending', 'Available', 'Bound', 'Released', 'Failed'], open: true, enum: true }),
  message: field(2, string),
  reason: field(3, string),
  lastPhaseTransitionTime: field(4, time, { nullable: true }),
});
export type PersistentVolumeStatus = Infer<typeof PersistentVolumeStatus>;

export const PersistentVolume = struct('core/v1.PersistentVolume', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, PersistentVolumeSpec),
  status: field(3, PersistentVolumeStatus),
});
export type PersistentVolume = Infer<typeof PersistentVolume>;

// PersistentVolumeClaim

export const VolumeResourceRequirements = struct('core/v1.VolumeResourceRequirements', {
  limits: field(1, map(quantity)),
  requests: field(2, map(quantity)),
});

export const TypedLocalObjectReference = struct(
  'core/v1.TypedLocalObjectReference',
  {
    apiGroup: field(1, string, { always: true, nullable: true }),
    kind: field(2, string, { required: true, emptyOk: true, always: true }),
    name: field(3, string, { required: true, emptyOk: true, always: true }),
  },
  { structType: 'atomic' },
);

export const TypedObjectReference = struct('core/v1.TypedObjectReference', {
  apiGroup: field(1, string, { always: true, nullable: true }),
  kind: field(2, string, { required: true, emptyOk: true, always: true }),
  name: field(3, string, { required: true, emptyOk: true, always: true }),
  // Without it, the reference would be one to an object in the own namespace.
  namespace: field(4, string, { nullable: true, gate: 'CrossNamespaceVolumeDataSource', gateDrops: 'holder' }),
});

export const PersistentVolumeClaimSpec = struct('core/v1.PersistentVolumeClaimSpec', {
  accessModes: field(1, list(string), {
    known: ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'],
    open: true,
    enum: true,
    listType: 'atomic',
  }),
  selector: field(4, LabelSelector, { nullable: true }),
  resources: field(2, VolumeResourceRequirements),
  volumeName: field(3, string),
  storageClassName: field(5, string, { nullable: true }),
  volumeMode: field(6, string, { nullable: true, known: ['Block', 'Filesystem'], open: true, enum: true }),
  dataSource: field(7, TypedLocalObjectReference, { nullable: true }),
  dataSourceRef: field(8, TypedObjectReference, { nullable: true }),
  volumeAttributesClassName: field(9, string, { nullable: true, gate: 'VolumeAttributesClass' }),
});
export type PersistentVolumeClaimSpec = Infer<typeof PersistentVolumeClaimSpec>;

export const PersistentVolumeClaimCondition = struct('core/v1.PersistentVolumeClaimCondition', {
  type: field(1, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: [
      'Resizing',
      'FileSystemResizePending',
      'ControllerResizeError',
      'NodeResizeError',
      'ModifyVolumeError',
      'ModifyingVolume',
    ],
    open: true,
  }),
  status: field(2, string, { required: true, emptyOk: true, always: true, known: conditionStatuses, open: true }),
  lastProbeTime: field(3, time),
  lastTransitionTime: field(4, time),
  reason: field(5, string),
  message: field(6, string),
});

export const ModifyVolumeStatus = struct('core/v1.ModifyVolumeStatus', {
  targetVolumeAttributesClassName: field(1, string),
  status: field(2, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['Pending', 'InProgress', 'Infeasible'],
    open: true,
    enum: true,
  }),
});

export const PersistentVolumeClaimStatus = struct('core/v1.PersistentVolumeClaimStatus', {
  phase: field(1, string, { known: ['Pending', 'Bound', 'Lost'], open: true, enum: true }),
  accessModes: field(2, list(string), {
    known: ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod'],
    open: true,
    enum: true,
    listType: 'atomic',
  }),
  capacity: field(3, map(quantity)),
  conditions: field(4, list(PersistentVolumeClaimCondition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
  allocatedResources: field(5, map(quantity), { gate: 'RecoverVolumeExpansionFailure' }),
  allocatedResourceStatuses: field(7, map(string), {
    known: [
      'ControllerResizeInProgress',
      'ControllerResizeInfeasible',
      'NodeResizePending',
      'NodeResizeInProgress',
      'NodeResizeInfeasible',
    ],
    open: true,
    enum: true,
    mapType: 'granular',
    gate: 'RecoverVolumeExpansionFailure',
  }),
  currentVolumeAttributesClassName: field(8, string, { nullable: true, gate: 'VolumeAttributesClass' }),
  modifyVolumeStatus: field(9, ModifyVolumeStatus, { nullable: true, gate: 'VolumeAttributesClass' }),
});
export type PersistentVolumeClaimStatus = Infer<typeof PersistentVolumeClaimStatus>;

export const PersistentVolumeClaim = struct('core/v1.PersistentVolumeClaim', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, PersistentVolumeClaimSpec),
  status: field(3, PersistentVolumeClaimStatus),
});
export type PersistentVolumeClaim = Infer<typeof PersistentVolumeClaim>;

// Pod

export const EmptyDirVolumeSource = struct('core/v1.EmptyDirVolumeSource', {
  medium: field(1, string, { known: ['', 'Memory', 'HugePages', 'HugePages-'], open: true }),
  sizeLimit: field(2, quantity, { nullable: true }),
});

export const GitRepoVolumeSource = struct('core/v1.GitRepoVolumeSource', {
  repository: field(1, string, { required: true, always: true }),
  revision: field(2, string),
  directory: field(3, string),
});

export const KeyToPath = struct('core/v1.KeyToPath', {
  key: field(1, string, { required: true, always: true }),
  path: field(2, string, { required: true, always: true }),
  mode: field(3, int32, { nullable: true }),
});

export const SecretVolumeSource = struct('core/v1.SecretVolumeSource', {
  secretName: field(1, string),
  items: field(2, list(KeyToPath), { listType: 'atomic' }),
  defaultMode: field(3, int32, { nullable: true }),
  optional: field(4, bool, { nullable: true }),
});

export const LocalObjectReference = struct(
  'core/v1.LocalObjectReference',
  {
    name: field(1, string, { default: '' }),
  },
  { structType: 'atomic' },
);

export const ISCSIVolumeSource = struct('core/v1.ISCSIVolumeSource', {
  targetPortal: field(1, string, { required: true, always: true }),
  iqn: field(2, string, { required: true, always: true }),
  lun: field(3, int32, { required: true, emptyOk: true, always: true, min: 0, max: 255 }),
  iscsiInterface: field(4, string, { default: 'default' }),
  fsType: field(5, string),
  readOnly: field(6, bool),
  portals: field(7, list(string), { listType: 'atomic' }),
  chapAuthDiscovery: field(8, bool),
  chapAuthSession: field(11, bool),
  secretRef: field(10, LocalObjectReference, { nullable: true }),
  initiatorName: field(12, string, { nullable: true }),
});

export const GlusterfsVolumeSource = struct('core/v1.GlusterfsVolumeSource', {
  endpoints: field(1, string, { required: true, always: true }),
  path: field(2, string, { required: true, always: true }),
  readOnly: field(3, bool),
});

export const PersistentVolumeClaimVolumeSource = struct('core/v1.PersistentVolumeClaimVolumeSource', {
  claimName: field(1, string, { required: true, always: true }),
  readOnly: field(2, bool),
});

export const RBDVolumeSource = struct('core/v1.RBDVolumeSource', {
  monitors: field(1, list(string), { required: true, always: true, listType: 'atomic' }),
  image: field(2, string, { required: true, always: true }),
  fsType: field(3, string),
  pool: field(4, string, { default: 'rbd' }),
  user: field(5, string, { default: 'admin' }),
  keyring: field(6, string, { default: '/etc/ceph/keyring' }),
  secretRef: field(7, LocalObjectReference, { nullable: true }),
  readOnly: field(8, bool),
});

export const FlexVolumeSource = struct('core/v1.FlexVolumeSource', {
  driver: field(1, string, { required: true, always: true }),
  fsType: field(2, string),
  secretRef: field(3, LocalObjectReference, { nullable: true }),
  readOnly: field(4, bool),
  options: field(5, map(string)),
});

export const CinderVolumeSource = struct('core/v1.CinderVolumeSource', {
  volumeID: field(1, string, { required: true, always: true }),
  fsType: field(2, string),
  readOnly: field(3, bool),
  secretRef: field(4, LocalObjectReference, { nullable: true }),
});

export const CephFSVolumeSource = struct('core/v1.CephFSVolumeSource', {
  monitors: field(1, list(string), { required: true, always: true, listType: 'atomic' }),
  path: field(2, string),
  user: field(3, string),
  secretFile: field(4, string),
  secretRef: field(5, LocalObjectReference, { nullable: true }),
  readOnly: field(6, bool),
});

export const ObjectFieldSelector = struct(
  'core/v1.ObjectFieldSelector',
  {
    apiVersion: field(1, string),
    fieldPath: field(2, string, { required: true, emptyOk: true, always: true }),
  },
  { structType: 'atomic' },
);

export const ResourceFieldSelector = struct(
  'core/v1.ResourceFieldSelector',
  {
    containerName: field(1, string),
    resource: field(2, string, { required: true, emptyOk: true, always: true }),
    divisor: field(3, quantity),
  },
  { structType: 'atomic' },
);

export const DownwardAPIVolumeFile = struct('core/v1.DownwardAPIVolumeFile', {
  path: field(1, string, { required: true, emptyOk: true, always: true }),
  fieldRef: field(2, ObjectFieldSelector, { nullable: true }),
  resourceFieldRef: field(3, ResourceFieldSelector, { nullable: true }),
  mode: field(4, int32, { nullable: true }),
});

export const DownwardAPIVolumeSource = struct('core/v1.DownwardAPIVolumeSource', {
  items: field(1, list(DownwardAPIVolumeFile), { listType: 'atomic' }),
  defaultMode: field(2, int32, { nullable: true }),
});

export const AzureFileVolumeSource = struct('core/v1.AzureFileVolumeSource', {
  secretName: field(1, string, { required: true, always: true }),
  shareName: field(2, string, { required: true, always: true }),
  readOnly: field(3, bool),
});

export const ConfigMapVolumeSource = struct('core/v1.ConfigMapVolumeSource', {
  ...inline(1, 'localObjectReference', LocalObjectReference),
  items: field(2, list(KeyToPath), { listType: 'atomic' }),
  defaultMode: field(3, int32, { nullable: true }),
  optional: field(4, bool, { nullable: true }),
});

export const SecretProjection = struct('core/v1.SecretProjection', {
  ...inline(1, 'localObjectReference', LocalObjectReference),
  items: field(2, list(KeyToPath), { listType: 'atomic' }),
  optional: field(4, bool, { nullable: true }),
});

export const DownwardAPIProjection = struct('core/v1.DownwardAPIProjection', {
  items: field(1, list(DownwardAPIVolumeFile), { listType: 'atomic' }),
});

export const ConfigMapProjection = struct('core/v1.ConfigMapProjection', {
  ...inline(1, 'localObjectReference', LocalObjectReference),
  items: field(2, list(KeyToPath), { listType: 'atomic' }),
  optional: field(4, bool, { nullable: true }),
});

export const ServiceAccountTokenProjection = struct('core/v1.ServiceAccountTokenProjection', {
  audience: field(1, string),
  expirationSeconds: field(2, int64, { nullable: true }),
  path: field(3, string, { required: true, emptyOk: true, always: true }),
});

export const ClusterTrustBundleProjection = struct('core/v1.ClusterTrustBundleProjection', {
  name: field(1, string, { nullable: true }),
  signerName: field(2, string, { nullable: true }),
  labelSelector: field(3, LabelSelector, { nullable: true }),
  optional: field(5, bool, { nullable: true }),
  path: field(4, string, { required: true, emptyOk: true, always: true }),
});

export const VolumeProjection = struct('core/v1.VolumeProjection', {
  secret: field(1, SecretProjection, { nullable: true }),
  downwardAPI: field(2, DownwardAPIProjection, { nullable: true }),
  configMap: field(3, ConfigMapProjection, { nullable: true }),
  serviceAccountToken: field(4, ServiceAccountTokenProjection, { nullable: true }),
  clusterTrustBundle: field(5, ClusterTrustBundleProjection, { nullable: true, gate: 'ClusterTrustBundleProjection' }),
});

export const ProjectedVolumeSource = struct('core/v1.ProjectedVolumeSource', {
  sources: field(1, list(VolumeProjection), { always: true, listType: 'atomic' }),
  defaultMode: field(2, int32, { nullable: true }),
});

export const ScaleIOVolumeSource = struct('core/v1.ScaleIOVolumeSource', {
  gateway: field(1, string, { required: true, always: true }),
  system: field(2, string, { required: true, always: true }),
  secretRef: field(3, LocalObjectReference, { required: true, emptyOk: true, always: true, nullable: true }),
  sslEnabled: field(4, bool),
  protectionDomain: field(5, string),
  storagePool: field(6, string),
  storageMode: field(7, string, { default: 'ThinProvisioned' }),
  volumeName: field(8, string),
  fsType: field(9, string, { default: 'xfs' }),
  readOnly: field(10, bool),
});

export const StorageOSVolumeSource = struct('core/v1.StorageOSVolumeSource', {
  volumeName: field(1, string),
  volumeNamespace: field(2, string),
  fsType: field(3, string),
  readOnly: field(4, bool),
  secretRef: field(5, LocalObjectReference, { nullable: true }),
});

export const CSIVolumeSource = struct('core/v1.CSIVolumeSource', {
  driver: field(1, string, { required: true, always: true }),
  readOnly: field(2, bool, { nullable: true }),
  fsType: field(3, string, { nullable: true }),
  volumeAttributes: field(4, map(string)),
  nodePublishSecretRef: field(5, LocalObjectReference, { nullable: true }),
});

export const PersistentVolumeClaimTemplate = struct('core/v1.PersistentVolumeClaimTemplate', {
  metadata: field(1, ObjectMeta),
  spec: field(2, PersistentVolumeClaimSpec, { required: true, always: true }),
});

export const EphemeralVolumeSource = struct('core/v1.EphemeralVolumeSource', {
  volumeClaimTemplate: field(1, PersistentVolumeClaimTemplate, { nullable: true }),
});

export const ImageVolumeSource = struct('core/v1.ImageVolumeSource', {
  reference: field(1, string),
  pullPolicy: field(2, string, { known: ['Always', 'Never', 'IfNotPresent'], open: true, enum: true }),
});

export const VolumeSource = struct('core/v1.VolumeSource', {
  hostPath: field(1, HostPathVolumeSource, { nullable: true }),
  emptyDir: field(2, EmptyDirVolumeSource, { nullable: true }),
  gcePersistentDisk: field(3, GCEPersistentDiskVolumeSource, { nullable: true }),
  awsElasticBlockStore: field(4, AWSElasticBlockStoreVolumeSource, { nullable: true }),
  gitRepo: field(5, GitRepoVolumeSource, { nullable: true }),
  secret: field(6, SecretVolumeSource, { nullable: true }),
  nfs: field(7, NFSVolumeSource, { nullable: true }),
  iscsi: field(8, ISCSIVolumeSource, { nullable: true }),
  glusterfs: field(9, GlusterfsVolumeSource, { nullable: true }),
  persistentVolumeClaim: field(10, PersistentVolumeClaimVolumeSource, { nullable: true }),
  rbd: field(11, RBDVolumeSource, { nullable: true }),
  flexVolume: field(12, FlexVolumeSource, { nullable: true }),
  cinder: field(13, CinderVolumeSource, { nullable: true }),
  cephfs: field(14, CephFSVolumeSource, { nullable: true }),
  flocker: field(15, FlockerVolumeSource, { nullable: true }),
  downwardAPI: field(16, DownwardAPIVolumeSource, { nullable: true }),
  fc: field(17, FCVolumeSource, { nullable: true }),
  azureFile: field(18, AzureFileVolumeSource, { nullable: true }),
  configMap: field(19, ConfigMapVolumeSource, { nullable: true }),
  vsphereVolume: field(20, VsphereVirtualDiskVolumeSource, { nullable: true }),
  quobyte: field(21, QuobyteVolumeSource, { nullable: true }),
  azureDisk: field(22, AzureDiskVolumeSource, { nullable: true }),
  photonPersistentDisk: field(23, PhotonPersistentDiskVolumeSource, { nullable: true }),
  projected: field(26, ProjectedVolumeSource, { nullable: true }),
  portworxVolume: field(24, PortworxVolumeSource, { nullable: true }),
  scaleIO: field(25, ScaleIOVolumeSource, { nullable: true }),
  storageos: field(27, StorageOSVolumeSource, { nullable: true }),
  csi: field(28, CSIVolumeSource, { nullable: true }),
  ephemeral: field(29, EphemeralVolumeSource, { nullable: true }),
  image: field(30, ImageVolumeSource, { nullable: true, gate: 'ImageVolume' }),
});
export type VolumeSource = Infer<typeof VolumeSource>;

export const Volume = struct('core/v1.Volume', {
  name: field(1, string, { required: true, always: true }),
  ...inline(2, 'volumeSource', VolumeSource),
});
export type Volume = Infer<typeof Volume>;

export const ContainerPort = struct('core/v1.ContainerPort', {
  name: field(1, string),
  hostPort: field(2, int32, { min: 1, max: 65535 }),
  containerPort: field(3, int32, { required: true, emptyOk: true, always: true }),
  protocol: field(4, string, { default: 'TCP', known: ['SCTP', 'TCP', 'UDP'] }),
  hostIP: field(5, string),
});
export type ContainerPort = Infer<typeof ContainerPort>;

export const ConfigMapEnvSource = struct('core/v1.ConfigMapEnvSource', {
  ...inline(1, 'localObjectReference', LocalObjectReference),
  optional: field(2, bool, { nullable: true }),
});

export const SecretEnvSource = struct('core/v1.SecretEnvSource', {
  ...inline(1, 'localObjectReference', LocalObjectReference),
  optional: field(2, bool, { nullable: true }),
});

export const EnvFromSource = struct('core/v1.EnvFromSource', {
  prefix: field(1, string),
  configMapRef: field(2, ConfigMapEnvSource, { nullable: true }),
  secretRef: field(3, SecretEnvSource, { nullable: true }),
});

export const ConfigMapKeySelector = struct(
  'core/v1.ConfigMapKeySelector',
  {
    ...inline(1, 'localObjectReference', LocalObjectReference),
    key: field(2, string, { required: true, always: true }),
    optional: field(3, bool, { nullable: true }),
  },
  { structType: 'atomic' },
);

export const SecretKeySelector = struct(
  'core/v1.SecretKeySelector',
  {
    ...inline(1, 'localObjectReference', LocalObjectReference),
    key: field(2, string, { required: true, always: true }),
    optional: field(3, bool, { nullable: true }),
  },
  { structType: 'atomic' },
);

export const EnvVarSource = struct('core/v1.EnvVarSource', {
  fieldRef: field(1, ObjectFieldSelector, { nullable: true }),
  resourceFieldRef: field(2, ResourceFieldSelector, { nullable: true }),
  configMapKeyRef: field(3, ConfigMapKeySelector, { nullable: true }),
  secretKeyRef: field(4, SecretKeySelector, { nullable: true }),
});

export const EnvVar = struct('core/v1.EnvVar', {
  name: field(1, string, { required: true, always: true }),
  value: field(2, string),
  valueFrom: field(3, EnvVarSource, { nullable: true }),
});
export type EnvVar = Infer<typeof EnvVar>;

export const ResourceClaim = struct('core/v1.ResourceClaim', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  request: field(2, string),
});

export const ResourceRequirements = struct('core/v1.ResourceRequirements', {
  limits: field(1, map(quantity)),
  requests: field(2, map(quantity)),
  claims: field(3, list(ResourceClaim), {
    listType: 'map',
    listMapKeys: ['name'],
    duplicates: true,
    gate: 'DynamicResourceAllocation',
  }),
});
export type ResourceRequirements = Infer<typeof ResourceRequirements>;

export const ContainerResizePolicy = struct('core/v1.ContainerResizePolicy', {
  resourceName: field(1, string, { required: true, emptyOk: true, always: true, known: resourceNames, open: true }),
  restartPolicy: field(2, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['NotRequired', 'RestartContainer'],
    open: true,
  }),
});

export const VolumeMount = struct('core/v1.VolumeMount', {
  name: field(1, string, { required: true, always: true }),
  readOnly: field(2, bool),
  recursiveReadOnly: field(7, string, {
    nullable: true,
    known: ['Disabled', 'IfPossible', 'Enabled'],
    open: true,
    gate: 'RecursiveReadOnlyMounts',
  }),
  mountPath: field(3, string, { required: true, always: true }),
  subPath: field(4, string),
  mountPropagation: field(5, string, {
    nullable: true,
    known: ['None', 'HostToContainer', 'Bidirectional'],
    open: true,
    enum: true,
  }),
  subPathExpr: field(6, string),
});

export const VolumeDevice = struct('core/v1.VolumeDevice', {
  name: field(1, string, { required: true, always: true }),
  devicePath: field(2, string, { required: true, always: true }),
});

export const ExecAction = struct('core/v1.ExecAction', {
  command: field(1, list(string), { listType: 'atomic' }),
});

export const HTTPHeader = struct('core/v1.HTTPHeader', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  value: field(2, string, { required: true, emptyOk: true, always: true }),
});

export const HTTPGetAction = struct('core/v1.HTTPGetAction', {
  path: field(1, string),
  port: field(2, intOrString, { required: true, emptyOk: true, always: true }),
  host: field(3, string),
  scheme: field(4, string, { known: ['HTTP', 'HTTPS'] }),
  httpHeaders: field(5, list(HTTPHeader), { listType: 'atomic' }),
});

export const TCPSocketAction = struct('core/v1.TCPSocketAction', {
  port: field(1, intOrString, { required: true, emptyOk: true, always: true }),
  host: field(2, string),
});

export const GRPCAction = struct('core/v1.GRPCAction', {
  port: field(1, int32, { required: true, emptyOk: true, always: true, min: 1, max: 65535 }),
  service: field(2, string, { always: true, nullable: true, default: '' }),
});

export const ProbeHandler = struct('core/v1.ProbeHandler', {
  exec: field(1, ExecAction, { nullable: true }),
  httpGet: field(2, HTTPGetAction, { nullable: true }),
  tcpSocket: field(3, TCPSocketAction, { nullable: true }),
  grpc: field(4, GRPCAction, { nullable: true }),
});

export const Probe = struct('core/v1.Probe', {
  ...inline(1, 'handler', ProbeHandler),
  initialDelaySeconds: field(2, int32, { min: 0 }),
  timeoutSeconds: field(3, int32, { min: 0 }),
  periodSeconds: field(4, int32, { min: 0 }),
  successThreshold: field(5, int32, { min: 0 }),
  failureThreshold: field(6, int32, { min: 0 }),
  terminationGracePeriodSeconds: field(7, int64, { nullable: true }),
});
export type Probe = Infer<typeof Probe>;

export const SleepAction = struct('core/v1.SleepAction', {
  seconds: field(1, int64, { required: true, emptyOk: true, always: true }),
});

export const LifecycleHandler = struct('core/v1.LifecycleHandler', {
  exec: field(1, ExecAction, { nullable: true }),
  httpGet: field(2, HTTPGetAction, { nullable: true }),
  tcpSocket: field(3, TCPSocketAction, { nullable: true }),
  sleep: field(4, SleepAction, { nullable: true, gate: 'PodLifecycleSleepAction' }),
});

export const Lifecycle = struct('core/v1.Lifecycle', {
  postStart: field(1, LifecycleHandler, { nullable: true }),
  preStop: field(2, LifecycleHandler, { nullable: true }),
  stopSignal: field(3, string, {
    nullable: true,
    known: signals,
    open: true,
    enum: true,
    gate: 'ContainerStopSignals',
    gateDrops: 'empty holder',
  }),
});

export const Capabilities = struct('core/v1.Capabilities', {
  add: field(1, list(string), { listType: 'atomic' }),
  drop: field(2, list(string), { listType: 'atomic' }),
});

export const SELinuxOptions = struct('core/v1.SELinuxOptions', {
  user: field(1, string),
  role: field(2, string),
  type: field(3, string),
  level: field(4, string),
});

export const WindowsSecurityContextOptions = struct('core/v1.WindowsSecurityContextOptions', {
  gmsaCredentialSpecName: field(1, string, { nullable: true }),
  gmsaCredentialSpec: field(2, string, { nullable: true }),
  runAsUserName: field(3, string, { nullable: true }),
  hostProcess: field(4, bool, { nullable: true }),
});

export const SeccompProfile = struct(
  'core/v1.SeccompProfile',
  {
    type: field(1, string, {
      required: true,
      emptyOk: true,
      always: true,
      known: ['Localhost', 'RuntimeDefault', 'Unconfined'],
    }),
    localhostProfile: field(2, string, { nullable: true }),
  },
  { union: { discriminator: 'type', members: ['localhostProfile'] } },
);

export const AppArmorProfile = struct(
  'core/v1.AppArmorProfile',
  {
    type: field(1, string, {
      required: true,
      emptyOk: true,
      always: true,
      known: ['Localhost', 'RuntimeDefault', 'Unconfined'],
    }),
    localhostProfile: field(2, string, { nullable: true }),
  },
  { union: { discriminator: 'type', members: ['localhostProfile'] } },
);

export const SecurityContext = struct('core/v1.SecurityContext', {
  capabilities: field(1, Capabilities, { nullable: true }),
  privileged: field(2, bool, { nullable: true }),
  seLinuxOptions: field(3, SELinuxOptions, { nullable: true }),
  windowsOptions: field(10, WindowsSecurityContextOptions, { nullable: true }),
  runAsUser: field(4, int64, { nullable: true, min: 0, max: 2147483647 }),
  runAsGroup: field(8, int64, { nullable: true, min: 0, max: 2147483647 }),
  runAsNonRoot: field(5, bool, { nullable: true }),
  readOnlyRootFilesystem: field(6, bool, { nullable: true }),
  allowPrivilegeEscalation: field(7, bool, { nullable: true }),
  procMount: field(9, string, { nullable: true, known: ['Default', 'Unmasked'], gate: 'ProcMountType' }),
  seccompProfile: field(11, SeccompProfile, { nullable: true }),
  appArmorProfile: field(12, AppArmorProfile, { nullable: true }),
});
export type SecurityContext = Infer<typeof SecurityContext>;

export const Container = struct('core/v1.Container', {
  name: field(1, string, { required: true, always: true }),
  image: field(2, string),
  command: field(3, list(string), { listType: 'atomic' }),
  args: field(4, list(string), { listType: 'atomic' }),
  workingDir: field(5, string),
  ports: field(6, list(ContainerPort), {
    listType: 'map',
    listMapKeys: ['containerPort', 'protocol'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'containerPort',
  }),
  envFrom: field(19, list(EnvFromSource), { listType: 'atomic' }),
  env: field(7, list(EnvVar), {
    listType: 'map',
    listMapKeys: ['name'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
  resources: field(8, ResourceRequirements),
  resizePolicy: field(23, list(ContainerResizePolicy), { listType: 'atomic', gate: 'InPlacePodVerticalScaling' }),
  restartPolicy: field(24, string, { nullable: true, known: ['Always'], open: true, gate: 'SidecarContainers' }),
  volumeMounts: field(9, list(VolumeMount), {
    listType: 'map',
    listMapKeys: ['mountPath'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'mountPath',
  }),
  volumeDevices: field(21, list(VolumeDevice), {
    listType: 'map',
    listMapKeys: ['devicePath'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'devicePath',
  }),
  livenessProbe: field(10, Probe, { nullable: true }),
  readinessProbe: field(11, Probe, { nullable: true }),
  startupProbe: field(22, Probe, { nullable: true }),
  lifecycle: field(12, Lifecycle, { nullable: true }),
  terminationMessagePath: field(13, string),
  terminationMessagePolicy: field(20, string, { known: ['File', 'FallbackToLogsOnError'] }),
  imagePullPolicy: field(14, string, { known: ['Always', 'IfNotPresent', 'Never'] }),
  securityContext: field(15, SecurityContext, { nullable: true }),
  stdin: field(16, bool),
  stdinOnce: field(17, bool),
  tty: field(18, bool),
});
export type Container = Infer<typeof Container>;

export const EphemeralContainerCommon = struct('core/v1.EphemeralContainerCommon', {
  name: field(1, string, { required: true, always: true }),
  image: field(2, string),
  command: field(3, list(string), { listType: 'atomic' }),
  args: field(4, list(string), { listType: 'atomic' }),
  workingDir: field(5, string),
  ports: field(6, list(ContainerPort), {
    listType: 'map',
    listMapKeys: ['containerPort', 'protocol'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'containerPort',
  }),
  envFrom: field(19, list(EnvFromSource), { listType: 'atomic' }),
  env: field(7, list(EnvVar), {
    listType: 'map',
    listMapKeys: ['name'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
  resources: field(8, ResourceRequirements),
  resizePolicy: field(23, list(ContainerResizePolicy), { listType: 'atomic', gate: 'InPlacePodVerticalScaling' }),
  restartPolicy: field(24, string, { nullable: true, known: ['Always'], open: true, gate: 'SidecarContainers' }),
  volumeMounts: field(9, list(VolumeMount), {
    listType: 'map',
    listMapKeys: ['mountPath'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'mountPath',
  }),
  volumeDevices: field(21, list(VolumeDevice), {
    listType: 'map',
    listMapKeys: ['devicePath'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'devicePath',
  }),
  livenessProbe: field(10, Probe, { nullable: true }),
  readinessProbe: field(11, Probe, { nullable: true }),
  startupProbe: field(22, Probe, { nullable: true }),
  lifecycle: field(12, Lifecycle, { nullable: true }),
  terminationMessagePath: field(13, string),
  terminationMessagePolicy: field(20, string, { known: ['File', 'FallbackToLogsOnError'] }),
  imagePullPolicy: field(14, string, { known: ['Always', 'IfNotPresent', 'Never'] }),
  securityContext: field(15, SecurityContext, { nullable: true }),
  stdin: field(16, bool),
  stdinOnce: field(17, bool),
  tty: field(18, bool),
});

export const EphemeralContainer = struct('core/v1.EphemeralContainer', {
  ...inline(1, 'ephemeralContainerCommon', EphemeralContainerCommon),
  targetContainerName: field(2, string),
});
export type EphemeralContainer = Infer<typeof EphemeralContainer>;

export const Sysctl = struct('core/v1.Sysctl', {
  name: field(1, string, { required: true, always: true }),
  value: field(2, string, { required: true, emptyOk: true, always: true }),
});

export const PodSecurityContext = struct('core/v1.PodSecurityContext', {
  seLinuxOptions: field(1, SELinuxOptions, { nullable: true }),
  windowsOptions: field(8, WindowsSecurityContextOptions, { nullable: true }),
  runAsUser: field(2, int64, { nullable: true, min: 0, max: 2147483647 }),
  runAsGroup: field(6, int64, { nullable: true, min: 0, max: 2147483647 }),
  runAsNonRoot: field(3, bool, { nullable: true }),
  supplementalGroups: field(4, list(int64), { listType: 'atomic' }),
  supplementalGroupsPolicy: field(12, string, {
    nullable: true,
    known: ['Merge', 'Strict'],
    open: true,
    enum: true,
    gate: 'SupplementalGroupsPolicy',
  }),
  fsGroup: field(5, int64, { nullable: true, min: 0, max: 2147483647 }),
  sysctls: field(7, list(Sysctl), { listType: 'atomic' }),
  fsGroupChangePolicy: field(9, string, {
    nullable: true,
    known: ['OnRootMismatch', 'Always'],
    open: true,
    enum: true,
  }),
  seccompProfile: field(10, SeccompProfile, { nullable: true }),
  appArmorProfile: field(11, AppArmorProfile, { nullable: true }),
  seLinuxChangePolicy: field(13, string, {
    nullable: true,
    known: ['Recursive', 'MountOption'],
    open: true,
    gate: 'SELinuxChangePolicy',
  }),
});
export type PodSecurityContext = Infer<typeof PodSecurityContext>;

export const PreferredSchedulingTerm = struct('core/v1.PreferredSchedulingTerm', {
  weight: field(1, int32, { required: true, emptyOk: true, always: true }),
  preference: field(2, NodeSelectorTerm, { required: true, always: true }),
});

export const NodeAffinity = struct('core/v1.NodeAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: field(1, NodeSelector, { nullable: true }),
  preferredDuringSchedulingIgnoredDuringExecution: field(2, list(PreferredSchedulingTerm), { listType: 'atomic' }),
});

export const PodAffinityTerm = struct('core/v1.PodAffinityTerm', {
  labelSelector: field(1, LabelSelector, { nullable: true }),
  namespaces: field(2, list(string), { listType: 'atomic' }),
  topologyKey: field(3, string, { required: true, emptyOk: true, always: true }),
  namespaceSelector: field(4, LabelSelector, { nullable: true }),
  matchLabelKeys: field(5, list(string), { listType: 'atomic' }),
  mismatchLabelKeys: field(6, list(string), { listType: 'atomic' }),
});

export const WeightedPodAffinityTerm = struct('core/v1.WeightedPodAffinityTerm', {
  weight: field(1, int32, { required: true, emptyOk: true, always: true }),
  podAffinityTerm: field(2, PodAffinityTerm, { required: true, always: true }),
});

export const PodAffinity = struct('core/v1.PodAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: field(1, list(PodAffinityTerm), { listType: 'atomic' }),
  preferredDuringSchedulingIgnoredDuringExecution: field(2, list(WeightedPodAffinityTerm), { listType: 'atomic' }),
});

export const PodAntiAffinity = struct('core/v1.PodAntiAffinity', {
  requiredDuringSchedulingIgnoredDuringExecution: field(1, list(PodAffinityTerm), { listType: 'atomic' }),
  preferredDuringSchedulingIgnoredDuringExecution: field(2, list(WeightedPodAffinityTerm), { listType: 'atomic' }),
});

export const Affinity = struct('core/v1.Affinity', {
  nodeAffinity: field(1, NodeAffinity, { nullable: true }),
  podAffinity: field(2, PodAffinity, { nullable: true }),
  podAntiAffinity: field(3, PodAntiAffinity, { nullable: true }),
});
export type Affinity = Infer<typeof Affinity>;

export const Toleration = struct('core/v1.Toleration', {
  key: field(1, string),
  operator: field(2, string, { known: ['Equal', 'Exists'] }),
  value: field(3, string),
  effect: field(4, string, { known: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] }),
  tolerationSeconds: field(5, int64, { nullable: true }),
});
export type Toleration = Infer<typeof Toleration>;

export const HostAlias = struct('core/v1.HostAlias', {
  ip: field(1, string, { required: true, emptyOk: true, always: true }),
  hostnames: field(2, list(string), { listType: 'atomic' }),
});

export const PodDNSConfigOption = struct('core/v1.PodDNSConfigOption', {
  name: field(1, string),
  value: field(2, string, { nullable: true }),
});

export const PodDNSConfig = struct('core/v1.PodDNSConfig', {
  nameservers: field(1, list(string), { listType: 'atomic' }),
  searches: field(2, list(string), { listType: 'atomic' }),
  options: field(3, list(PodDNSConfigOption), { listType: 'atomic' }),
});

export const PodReadinessGate = struct('core/v1.PodReadinessGate', {
  conditionType: field(1, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: podConditionTypes,
    open: true,
  }),
});

export const TopologySpreadConstraint = struct('core/v1.TopologySpreadConstraint', {
  maxSkew: field(1, int32, { required: true, emptyOk: true, always: true }),
  topologyKey: field(2, string, { required: true, emptyOk: true, always: true }),
  whenUnsatisfiable: field(3, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['DoNotSchedule', 'ScheduleAnyway'],
  }),
  labelSelector: field(4, LabelSelector, { nullable: true }),
  minDomains: field(5, int32, { nullable: true }),
  nodeAffinityPolicy: field(6, string, { nullable: true, known: ['Honor', 'Ignore'] }),
  nodeTaintsPolicy: field(7, string, { nullable: true, known: ['Honor', 'Ignore'] }),
  matchLabelKeys: field(8, list(string), { listType: 'atomic', gate: 'MatchLabelKeysInPodTopologySpread' }),
});

export const PodOS = struct('core/v1.PodOS', {
  name: field(1, string, { required: true, emptyOk: true, always: true, known: ['linux', 'windows'], open: true }),
});

export const PodSchedulingGate = struct('core/v1.PodSchedulingGate', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
});

export const PodResourceClaim = struct('core/v1.PodResourceClaim', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  resourceClaimName: field(3, string, { nullable: true }),
  resourceClaimTemplateName: field(4, string, { nullable: true }),
});

export const PodSpec = struct('core/v1.PodSpec', {
  volumes: field(1, list(Volume), {
    listType: 'map',
    listMapKeys: ['name'],
    duplicates: true,
    patchStrategy: 'merge,retainKeys',
    patchMergeKey: 'name',
  }),
  initContainers: field(20, shortList(Container), {
    listType: 'map',
    listMapKeys: ['name'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
  containers: field(2, shortList(Container), {
    required: true,
    always: true,
    listType: 'map',
    listMapKeys: ['name'],
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
  ephemeralContainers: field(34, shortList(EphemeralContainer), {
    listType: 'map',
    listMapKeys: ['name'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
  restartPolicy: field(3, string, { known: ['Always', 'OnFailure', 'Never'] }),
  terminationGracePeriodSeconds: field(4, int64, { nullable: true }),
  activeDeadlineSeconds: field(5, int64, { nullable: true, min: 1, max: 2147483647 }),
  dnsPolicy: field(6, string, { known: ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'] }),
  nodeSelector: field(7, map(string), { mapType: 'atomic' }),
  serviceAccountName: field(8, string),
  serviceAccount: field(9, string),
  automountServiceAccountToken: field(21, bool, { nullable: true }),
  nodeName: field(10, string),
  hostNetwork: field(11, bool),
  hostPID: field(12, bool),
  hostIPC: field(13, bool),
  shareProcessNamespace: field(27, bool, { nullable: true }),
  securityContext: field(14, PodSecurityContext, { nullable: true }),
  imagePullSecrets: field(15, list(LocalObjectReference), {
    listType: 'map',
    listMapKeys: ['name'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
  hostname: field(16, string),
  subdomain: field(17, string),
  affinity: field(18, Affinity, { nullable: true }),
  schedulerName: field(19, string),
  tolerations: field(22, list(Toleration), { listType: 'atomic' }),
  hostAliases: field(23, list(HostAlias), {
    listType: 'map',
    listMapKeys: ['ip'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'ip',
  }),
  priorityClassName: field(24, string),
  priority: field(25, int32, { nullable: true }),
  dnsConfig: field(26, PodDNSConfig, { nullable: true }),
  readinessGates: field(28, list(PodReadinessGate), { listType: 'atomic' }),
  runtimeClassName: field(29, string, { nullable: true }),
  enableServiceLinks: field(30, bool, { nullable: true }),
  preemptionPolicy: field(31, string, {
    nullable: true,
    known: ['PreemptLowerPriority', 'Never'],
    checkedByKind: true,
  }),
  overhead: field(32, map(quantity)),
  topologySpreadConstraints: field(33, list(TopologySpreadConstraint), {
    listType: 'map',
    listMapKeys: ['topologyKey', 'whenUnsatisfiable'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'topologyKey',
  }),
  setHostnameAsFQDN: field(35, bool, { nullable: true }),
  os: field(36, PodOS, { nullable: true }),
  hostUsers: field(37, bool, { nullable: true, gate: 'UserNamespacesSupport' }),
  schedulingGates: field(38, list(PodSchedulingGate), {
    listType: 'map',
    listMapKeys: ['name'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
  resourceClaims: field(39, list(PodResourceClaim), {
    listType: 'map',
    listMapKeys: ['name'],
    duplicates: true,
    patchStrategy: 'merge,retainKeys',
    patchMergeKey: 'name',
    gate: 'DynamicResourceAllocation',
  }),
  resources: field(40, ResourceRequirements, { nullable: true, gate: 'PodLevelResources' }),
});
export type PodSpec = Infer<typeof PodSpec>;

export const PodCondition = struct('core/v1.PodCondition', {
  type: field(1, string, { required: true, emptyOk: true, always: true, known: podConditionTypes, open: true }),
  observedGeneration: field(7, int64, { gate: 'PodObservedGenerationTracking' }),
  status: field(2, string, { required: true, emptyOk: true, always: true, known: conditionStatuses, open: true }),
  lastProbeTime: field(3, time),
  lastTransitionTime: field(4, time),
  reason: field(5, string),
  message: field(6, string),
});

export const HostIP = struct('core/v1.HostIP', {
  ip: field(1, string, { required: true, emptyOk: true, always: true }),
});

export const PodIP = struct('core/v1.PodIP', {
  ip: field(1, string, { required: true, emptyOk: true, always: true }),
});

export const ContainerStateWaiting = struct('core/v1.ContainerStateWaiting', {
  reason: field(1, string),
  message: field(2, string),
});

export const ContainerStateRunning = struct('core/v1.ContainerStateRunning', {
  startedAt: field(1, time),
});

export const ContainerStateTerminated = struct('core/v1.ContainerStateTerminated', {
  exitCode: field(1, int32, { required: true, emptyOk: true, always: true }),
  signal: field(2, int32),
  reason: field(3, string),
  message: field(4, string),
  startedAt: field(5, time),
  finishedAt: field(6, time),
  containerID: field(7, string),
});

export const ContainerState = struct('core/v1.ContainerState', {
  waiting: field(1, ContainerStateWaiting, { nullable: true }),
  running: field(2, ContainerStateRunning, { nullable: true }),
  terminated: field(3, ContainerStateTerminated, { nullable: true }),
});

export const VolumeMountStatus = struct('core/v1.VolumeMountStatus', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  mountPath: field(2, string, { required: true, emptyOk: true, always: true }),
  readOnly: field(3, bool),
  recursiveReadOnly: field(4, string, {
    nullable: true,
    known: ['Disabled', 'IfPossible', 'Enabled'],
    open: true,
    gate: 'RecursiveReadOnlyMounts',
  }),
});

export const LinuxContainerUser = struct('core/v1.LinuxContainerUser', {
  uid: field(1, int64, { required: true, emptyOk: true, always: true }),
  gid: field(2, int64, { required: true, emptyOk: true, always: true }),
  supplementalGroups: field(3, list(int64), { listType: 'atomic' }),
});

export const ContainerUser = struct('core/v1.ContainerUser', {
  linux: field(1, LinuxContainerUser, { nullable: true }),
});

export const ResourceHealth = struct('core/v1.ResourceHealth', {
  resourceID: field(1, string, { required: true, emptyOk: true, always: true }),
  health: field(2, string, { known: ['Healthy', 'Unhealthy', 'Unknown'], open: true }),
});

export const ResourceStatus = struct('core/v1.ResourceStatus', {
  name: field(1, string, { required: true, emptyOk: true, always: true, known: resourceNames, open: true }),
  resources: field(2, list(ResourceHealth), { listType: 'map', listMapKeys: ['resourceID'], duplicates: true }),
});

export const ContainerStatus = struct('core/v1.ContainerStatus', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  state: field(2, ContainerState),
  lastState: field(3, ContainerState),
  ready: field(4, bool, { required: true, emptyOk: true, always: true }),
  restartCount: field(5, int32, { required: true, emptyOk: true, always: true }),
  image: field(6, string, { required: true, emptyOk: true, always: true }),
  imageID: field(7, string, { required: true, emptyOk: true, always: true }),
  containerID: field(8, string),
  started: field(9, bool, { nullable: true }),
  allocatedResources: field(10, map(quantity), { gate: 'InPlacePodVerticalScalingAllocatedStatus' }),
  resources: field(11, ResourceRequirements, { nullable: true, gate: 'InPlacePodVerticalScaling' }),
  volumeMounts: field(12, list(VolumeMountStatus), {
    listType: 'map',
    listMapKeys: ['mountPath'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'mountPath',
    gate: 'RecursiveReadOnlyMounts',
  }),
  user: field(13, ContainerUser, { nullable: true, gate: 'SupplementalGroupsPolicy' }),
  allocatedResourcesStatus: field(14, list(ResourceStatus), {
    listType: 'map',
    listMapKeys: ['name'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'name',
    gate: 'ResourceHealthStatus',
  }),
  stopSignal: field(15, string, {
    nullable: true,
    known: signals,
    open: true,
    enum: true,
    gate: 'ContainerStopSignals',
  }),
});
export type ContainerStatus = Infer<typeof ContainerStatus>;

export const PodResourceClaimStatus = struct('core/v1.PodResourceClaimStatus', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  resourceClaimName: field(2, string, { nullable: true }),
});

export const PodStatus = struct('core/v1.PodStatus', {
  observedGeneration: field(17, int64, { gate: 'PodObservedGenerationTracking' }),
  phase: field(1, string, { known: ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'], open: true, enum: true }),
  conditions: field(2, list(PodCondition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
  message: field(3, string),
  reason: field(4, string),
  nominatedNodeName: field(11, string),
  hostIP: field(5, string),
  hostIPs: field(16, list(HostIP), { listType: 'atomic', patchStrategy: 'merge', patchMergeKey: 'ip' }),
  podIP: field(6, string),
  podIPs: field(12, list(PodIP), {
    listType: 'map',
    listMapKeys: ['ip'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'ip',
  }),
  startTime: field(7, time, { nullable: true }),
  initContainerStatuses: field(10, list(ContainerStatus), { listType: 'atomic' }),
  containerStatuses: field(8, list(ContainerStatus), { listType: 'atomic' }),
  qosClass: field(9, string, { known: ['Guaranteed', 'Burstable', 'BestEffort'], open: true, enum: true }),
  ephemeralContainerStatuses: field(13, list(ContainerStatus), { listType: 'atomic' }),
  resize: field(14, string, {
    known: ['InProgress', 'Deferred', 'Infeasible'],
    open: true,
    gate: 'InPlacePodVerticalScaling',
  }),
  resourceClaimStatuses: field(15, list(PodResourceClaimStatus), {
    listType: 'map',
    listMapKeys: ['name'],
    duplicates: true,
    patchStrategy: 'merge,retainKeys',
    patchMergeKey: 'name',
    gate: 'DynamicResourceAllocation',
  }),
});
export type PodStatus = Infer<typeof PodStatus>;

export const Pod = struct('core/v1.Pod', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, PodSpec),
  status: field(3, PodStatus),
});
export type Pod = Infer<typeof Pod>;

// PodTemplate

export const PodTemplateSpec = struct('core/v1.PodTemplateSpec', {
  metadata: field(1, ObjectMeta),
  spec: field(2, PodSpec),
});
export type PodTemplateSpec = Infer<typeof PodTemplateSpec>;

export const PodTemplate = struct('core/v1.PodTemplate', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  template: field(2, PodTemplateSpec),
});
export type PodTemplate = Infer<typeof PodTemplate>;

// ReplicationController

export const ReplicationControllerSpec = struct('core/v1.ReplicationControllerSpec', {
  replicas: field(1, int32, { nullable: true, default: 1, min: 0, declarative: true }),
  minReadySeconds: field(4, int32, { default: 0, min: 0, declarative: true }),
  selector: field(2, map(string), { mapType: 'atomic' }),
  template: field(3, PodTemplateSpec, { nullable: true }),
});
export type ReplicationControllerSpec = Infer<typeof ReplicationControllerSpec>;

export const ReplicationControllerCondition = struct('core/v1.ReplicationControllerCondition', {
  type: field(1, string, { required: true, emptyOk: true, always: true, known: ['ReplicaFailure'], open: true }),
  status: field(2, string, { required: true, emptyOk: true, always: true, known: conditionStatuses, open: true }),
  lastTransitionTime: field(3, time),
  reason: field(4, string),
  message: field(5, string),
});

export const ReplicationControllerStatus = struct('core/v1.ReplicationControllerStatus', {
  replicas: field(1, int32, { required: true, emptyOk: true, always: true, min: 0 }),
  fullyLabeledReplicas: field(2, int32, { min: 0 }),
  readyReplicas: field(4, int32, { min: 0 }),
  availableReplicas: field(5, int32, { min: 0 }),
  observedGeneration: field(3, int64, { min: 0 }),
  conditions: field(6, list(ReplicationControllerCondition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
});
export type ReplicationControllerStatus = Infer<typeof ReplicationControllerStatus>;

export const ReplicationController = struct('core/v1.ReplicationController', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, ReplicationControllerSpec),
  status: field(3, ReplicationControllerStatus),
});
export type ReplicationController = Infer<typeof ReplicationController>;

// Service

export const ServicePort = struct('core/v1.ServicePort', {
  name: field(1, string),
  protocol: field(2, string, { default: 'TCP', known: ['SCTP', 'TCP', 'UDP'] }),
  appProtocol: field(6, string, { nullable: true }),
  port: field(3, int32, { required: true, emptyOk: true, always: true, min: 1, max: 65535 }),
  targetPort: field(4, intOrString),
  nodePort: field(5, int32),
});
export type ServicePort = Infer<typeof ServicePort>;

export const ClientIPConfig = struct('core/v1.ClientIPConfig', {
  timeoutSeconds: field(1, int32, { nullable: true }),
});

export const SessionAffinityConfig = struct('core/v1.SessionAffinityConfig', {
  clientIP: field(1, ClientIPConfig, { nullable: true }),
});

export const ServiceSpec = struct('core/v1.ServiceSpec', {
  ports: field(1, list(ServicePort), {
    listType: 'map',
    listMapKeys: ['port', 'protocol'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'port',
  }),
  selector: field(2, map(string), { mapType: 'atomic' }),
  clusterIP: field(3, string),
  clusterIPs: field(18, list(string), { listType: 'atomic' }),
  type: field(4, string, { known: ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'] }),
  externalIPs: field(5, list(string), { listType: 'atomic' }),
  sessionAffinity: field(7, string, { known: ['ClientIP', 'None'] }),
  loadBalancerIP: field(8, string),
  loadBalancerSourceRanges: field(9, list(string), { listType: 'atomic' }),
  externalName: field(10, string),
  externalTrafficPolicy: field(11, string, { known: ['Cluster', 'Local'], open: true, enum: true }),
  healthCheckNodePort: field(12, int32),
  publishNotReadyAddresses: field(13, bool),
  sessionAffinityConfig: field(14, SessionAffinityConfig, { nullable: true }),
  ipFamilies: field(19, list(string), { known: ['IPv4', 'IPv6', ''], open: true, enum: true, listType: 'atomic' }),
  ipFamilyPolicy: field(17, string, {
    nullable: true,
    known: ['SingleStack', 'PreferDualStack', 'RequireDualStack'],
    open: true,
    enum: true,
  }),
  allocateLoadBalancerNodePorts: field(20, bool, { nullable: true }),
  loadBalancerClass: field(21, string, { nullable: true }),
  internalTrafficPolicy: field(22, string, { nullable: true, known: ['Cluster', 'Local'] }),
  trafficDistribution: field(23, string, { nullable: true, gate: 'ServiceTrafficDistribution' }),
});
export type ServiceSpec = Infer<typeof ServiceSpec>;

export const PortStatus = struct('core/v1.PortStatus', {
  port: field(1, int32, { required: true, emptyOk: true, always: true }),
  protocol: field(2, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['TCP', 'UDP', 'SCTP'],
    open: true,
    enum: true,
  }),
  error: field(3, string, { nullable: true }),
});

export const LoadBalancerIngress = struct('core/v1.LoadBalancerIngress', {
  ip: field(1, string),
  hostname: field(2, string),
  ipMode: field(3, string, { nullable: true, known: ['VIP', 'Proxy'], open: true }),
  ports: field(4, list(PortStatus), { listType: 'atomic' }),
});

export const LoadBalancerStatus = struct('core/v1.LoadBalancerStatus', {
  ingress: field(1, list(LoadBalancerIngress), { listType: 'atomic' }),
});

export const ServiceStatus = struct('core/v1.ServiceStatus', {
  loadBalancer: field(1, LoadBalancerStatus),
  conditions: field(2, list(Condition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
});
export type ServiceStatus = Infer<typeof ServiceStatus>;

export const Service = struct('core/v1.Service', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, ServiceSpec),
  status: field(3, ServiceStatus),
});
export type Service = Infer<typeof Service>;

// ServiceAccount

export const ServiceAccount = struct('core/v1.ServiceAccount', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  secrets: field(2, list(ObjectReference), {
    listType: 'map',
    listMapKeys: ['name'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
  imagePullSecrets: field(3, list(LocalObjectReference), { listType: 'atomic' }),
  automountServiceAccountToken: field(4, bool, { nullable: true }),
});
export type ServiceAccount = Infer<typeof ServiceAccount>;

// Endpoints

export const EndpointAddress = struct(
  'core/v1.EndpointAddress',
  {
    ip: field(1, string, { required: true, emptyOk: true, always: true }),
    hostname: field(3, string),
    nodeName: field(4, string, { nullable: true }),
    targetRef: field(2, ObjectReference, { nullable: true }),
  },
  { structType: 'atomic' },
);

export const EndpointPort = struct(
  'core/v1.EndpointPort',
  {
    name: field(1, string),
    port: field(2, int32, { required: true, emptyOk: true, always: true, min: 1, max: 65535 }),
    protocol: field(3, string, { known: ['SCTP', 'TCP', 'UDP'] }),
    appProtocol: field(4, string, { nullable: true }),
  },
  { structType: 'atomic' },
);

export const EndpointSubset = struct('core/v1.EndpointSubset', {
  addresses: field(1, list(EndpointAddress), { listType: 'atomic' }),
  notReadyAddresses: field(2, list(EndpointAddress), { listType: 'atomic' }),
  ports: field(3, list(EndpointPort), { listType: 'atomic' }),
});

export const Endpoints = struct('core/v1.Endpoints', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  subsets: field(2, list(EndpointSubset), { listType: 'atomic' }),
});
export type Endpoints = Infer<typeof Endpoints>;

// Node

export const Taint = struct('core/v1.Taint', {
  key: field(1, string, { required: true, emptyOk: true, always: true }),
  value: field(2, string),
  effect: field(3, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'],
    open: true,
    enum: true,
  }),
  timeAdded: field(4, time, { nullable: true }),
});

export const ConfigMapNodeConfigSource = struct('core/v1.ConfigMapNodeConfigSource', {
  namespace: field(1, string, { required: true, emptyOk: true, always: true }),
  name: field(2, string, { required: true, emptyOk: true, always: true }),
  uid: field(3, string),
  resourceVersion: field(4, string),
  kubeletConfigKey: field(5, string, { required: true, emptyOk: true, always: true }),
});

export const NodeConfigSource = struct('core/v1.NodeConfigSource', {
  configMap: field(2, ConfigMapNodeConfigSource, { nullable: true }),
});

export const NodeSpec = struct('core/v1.NodeSpec', {
  podCIDR: field(1, string),
  podCIDRs: field(7, list(string), { listType: 'set', duplicates: true, patchStrategy: 'merge' }),
  providerID: field(3, string),
  unschedulable: field(4, bool),
  taints: field(5, list(Taint), { listType: 'atomic' }),
  configSource: field(6, NodeConfigSource, { nullable: true }),
  externalID: field(2, string),
});
export type NodeSpec = Infer<typeof NodeSpec>;

export const NodeCondition = struct('core/v1.NodeCondition', {
  type: field(1, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable'],
    open: true,
  }),
  status: field(2, string, { required: true, emptyOk: true, always: true, known: conditionStatuses, open: true }),
  lastHeartbeatTime: field(3, time),
  lastTransitionTime: field(4, time),
  reason: field(5, string),
  message: field(6, string),
});

export const NodeAddress = struct('core/v1.NodeAddress', {
  type: field(1, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['Hostname', 'InternalIP', 'ExternalIP', 'InternalDNS', 'ExternalDNS'],
    open: true,
  }),
  address: field(2, string, { required: true, emptyOk: true, always: true }),
});

export const DaemonEndpoint = struct('core/v1.DaemonEndpoint', {
  Port: field(1, int32, { required: true, emptyOk: true, always: true }),
});

export const NodeDaemonEndpoints = struct('core/v1.NodeDaemonEndpoints', {
  kubeletEndpoint: field(1, DaemonEndpoint),
});

export const NodeSwapStatus = struct('core/v1.NodeSwapStatus', {
  capacity: field(1, int64, { nullable: true }),
});

export const NodeSystemInfo = struct('core/v1.NodeSystemInfo', {
  machineID: field(1, string, { required: true, emptyOk: true, always: true }),
  systemUUID: field(2, string, { required: true, emptyOk: true, always: true }),
  bootID: field(3, string, { required: true, emptyOk: true, always: true }),
  kernelVersion: field(4, string, { required: true, emptyOk: true, always: true }),
  osImage: field(5, string, { required: true, emptyOk: true, always: true }),
  containerRuntimeVersion: field(6, string, { required: true, emptyOk: true, always: true }),
  kubeletVersion: field(7, string, { required: true, emptyOk: true, always: true }),
  kubeProxyVersion: field(8, string, { required: true, emptyOk: true, always: true }),
  operatingSystem: field(9, string, { required: true, emptyOk: true, always: true }),
  architecture: field(10, string, { required: true, emptyOk: true, always: true }),
  swap: field(11, NodeSwapStatus, { nullable: true }),
});

export const ContainerImage = struct('core/v1.ContainerImage', {
  names: field(1, list(string), { always: true, listType: 'atomic' }),
  sizeBytes: field(2, int64),
});

export const AttachedVolume = struct('core/v1.AttachedVolume', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
  devicePath: field(2, string, { required: true, emptyOk: true, always: true }),
});

export const NodeConfigStatus = struct('core/v1.NodeConfigStatus', {
  assigned: field(1, NodeConfigSource, { nullable: true }),
  active: field(2, NodeConfigSource, { nullable: true }),
  lastKnownGood: field(3, NodeConfigSource, { nullable: true }),
  error: field(4, string),
});

export const NodeRuntimeHandlerFeatures = struct('core/v1.NodeRuntimeHandlerFeatures', {
  recursiveReadOnlyMounts: field(1, bool, { nullable: true, gate: 'RecursiveReadOnlyMounts' }),
  userNamespaces: field(2, bool, { nullable: true }),
});

export const NodeRuntimeHandler = struct('core/v1.NodeRuntimeHandler', {
  name: field(1, string, { always: true }),
  features: field(2, NodeRuntimeHandlerFeatures, { nullable: true }),
});

export const NodeFeatures = struct('core/v1.NodeFeatures', {
  supplementalGroupsPolicy: field(1, bool, { nullable: true }),
});

export const NodeStatus = struct('core/v1.NodeStatus', {
  capacity: field(1, map(quantity)),
  allocatable: field(2, map(quantity)),
  phase: field(3, string, { known: ['Pending', 'Running', 'Terminated'], open: true, enum: true }),
  conditions: field(4, list(NodeCondition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
  addresses: field(5, list(NodeAddress), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
  daemonEndpoints: field(6, NodeDaemonEndpoints),
  nodeInfo: field(7, NodeSystemInfo),
  images: field(8, list(ContainerImage), { listType: 'atomic' }),
  volumesInUse: field(9, list(string), { listType: 'atomic' }),
  volumesAttached: field(10, list(AttachedVolume), { listType: 'atomic' }),
  config: field(11, NodeConfigStatus, { nullable: true }),
  runtimeHandlers: field(12, list(NodeRuntimeHandler), { listType: 'atomic' }),
  features: field(13, NodeFeatures, { nullable: true, gate: 'SupplementalGroupsPolicy' }),
});
export type NodeStatus = Infer<typeof NodeStatus>;

export const Node = struct('core/v1.Node', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, NodeSpec),
  status: field(3, NodeStatus),
});
export type Node = Infer<typeof Node>;

// Namespace

export const NamespaceSpec = struct('core/v1.NamespaceSpec', {
  finalizers: field(1, list(string), { known: ['{product}'], open: true, listType: 'atomic' }),
});
export type NamespaceSpec = Infer<typeof NamespaceSpec>;

export const NamespaceCondition = struct('core/v1.NamespaceCondition', {
  type: field(1, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: [
      'NamespaceDeletionDiscoveryFailure',
      'NamespaceDeletionContentFailure',
      'NamespaceDeletionGroupVersionParsingFailure',
      'NamespaceContentRemaining',
      'NamespaceFinalizersRemaining',
    ],
    open: true,
  }),
  status: field(2, string, { required: true, emptyOk: true, always: true, known: conditionStatuses, open: true }),
  lastTransitionTime: field(4, time),
  reason: field(5, string),
  message: field(6, string),
});

export const NamespaceStatus = struct('core/v1.NamespaceStatus', {
  phase: field(1, string, { known: ['Active', 'Terminating'], open: true, enum: true }),
  conditions: field(2, list(NamespaceCondition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
});
export type NamespaceStatus = Infer<typeof NamespaceStatus>;

export const Namespace = struct('core/v1.Namespace', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, NamespaceSpec),
  status: field(3, NamespaceStatus),
});
export type Namespace = Infer<typeof Namespace>;

// Binding

export const Binding = struct('core/v1.Binding', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  target: field(2, ObjectReference, { required: true, always: true }),
});
export type Binding = Infer<typeof Binding>;

// PodLogOptions

export const PodLogOptions = struct('core/v1.PodLogOptions', {
  ...typeMeta,
  container: field(1, string),
  follow: field(2, bool),
  previous: field(3, bool),
  sinceSeconds: field(4, int64, { nullable: true }),
  sinceTime: field(5, time, { nullable: true }),
  timestamps: field(6, bool),
  tailLines: field(7, int64, { nullable: true }),
  limitBytes: field(8, int64, { nullable: true }),
  insecureSkipTLSVerifyBackend: field(9, bool),
  stream: field(10, string, { nullable: true }),
});
export type PodLogOptions = Infer<typeof PodLogOptions>;

// PodAttachOptions

export const PodAttachOptions = struct('core/v1.PodAttachOptions', {
  ...typeMeta,
  stdin: field(1, bool),
  stdout: field(2, bool),
  stderr: field(3, bool),
  tty: field(4, bool),
  container: field(5, string),
});
export type PodAttachOptions = Infer<typeof PodAttachOptions>;

// PodExecOptions

export const PodExecOptions = struct('core/v1.PodExecOptions', {
  ...typeMeta,
  stdin: field(1, bool),
  stdout: field(2, bool),
  stderr: field(3, bool),
  tty: field(4, bool),
  container: field(5, string),
  command: field(6, list(string), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
});
export type PodExecOptions = Infer<typeof PodExecOptions>;

// PodPortForwardOptions

export const PodPortForwardOptions = struct('core/v1.PodPortForwardOptions', {
  ...typeMeta,
  ports: field(1, list(int32), { listType: 'atomic' }),
});
export type PodPortForwardOptions = Infer<typeof PodPortForwardOptions>;

// PodProxyOptions

export const PodProxyOptions = struct('core/v1.PodProxyOptions', {
  ...typeMeta,
  path: field(1, string),
});
export type PodProxyOptions = Infer<typeof PodProxyOptions>;

// NodeProxyOptions

export const NodeProxyOptions = struct('core/v1.NodeProxyOptions', {
  ...typeMeta,
  path: field(1, string),
});
export type NodeProxyOptions = Infer<typeof NodeProxyOptions>;

// ServiceProxyOptions

export const ServiceProxyOptions = struct('core/v1.ServiceProxyOptions', {
  ...typeMeta,
  path: field(1, string),
});
export type ServiceProxyOptions = Infer<typeof ServiceProxyOptions>;

// Event

export const EventSource = struct('core/v1.EventSource', {
  component: field(1, string),
  host: field(2, string),
});

export const EventSeries = struct('core/v1.EventSeries', {
  count: field(1, int32),
  lastObservedTime: field(2, microTime),
});

export const Event = struct('core/v1.Event', {
  ...typeMeta,
  metadata: field(1, ObjectMeta, { required: true, always: true }),
  involvedObject: field(2, ObjectReference, { required: true, always: true }),
  reason: field(3, string),
  message: field(4, string),
  source: field(5, EventSource),
  firstTimestamp: field(6, time),
  lastTimestamp: field(7, time),
  count: field(8, int32),
  type: field(9, string),
  eventTime: field(10, microTime),
  series: field(11, EventSeries, { nullable: true }),
  action: field(12, string),
  related: field(13, ObjectReference, { nullable: true }),
  reportingComponent: field(14, string, { always: true }),
  reportingInstance: field(15, string, { always: true }),
});
export type Event = Infer<typeof Event>;

// LimitRange

export const LimitRangeItem = struct('core/v1.LimitRangeItem', {
  type: field(1, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['Pod', 'Container', 'PersistentVolumeClaim'],
    open: true,
  }),
  max: field(2, map(quantity)),
  min: field(3, map(quantity)),
  default: field(4, map(quantity)),
  defaultRequest: field(5, map(quantity)),
  maxLimitRequestRatio: field(6, map(quantity)),
});
export type LimitRangeItem = Infer<typeof LimitRangeItem>;

export const LimitRangeSpec = struct('core/v1.LimitRangeSpec', {
  limits: field(1, list(LimitRangeItem), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
});
export type LimitRangeSpec = Infer<typeof LimitRangeSpec>;

export const LimitRange = struct('core/v1.LimitRange', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, LimitRangeSpec),
});
export type LimitRange = Infer<typeof LimitRange>;

// ResourceQuota

export const ScopedResourceSelectorRequirement = struct('core/v1.ScopedResourceSelectorRequirement', {
  scopeName: field(1, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: resourceQuotaScopes,
    open: true,
    enum: true,
  }),
  operator: field(2, string, {
    required: true,
    emptyOk: true,
    always: true,
    known: ['In', 'NotIn', 'Exists', 'DoesNotExist'],
    open: true,
    enum: true,
  }),
  values: field(3, list(string), { listType: 'atomic' }),
});

export const ScopeSelector = struct(
  'core/v1.ScopeSelector',
  {
    matchExpressions: field(1, list(ScopedResourceSelectorRequirement), { listType: 'atomic' }),
  },
  { structType: 'atomic' },
);

export const ResourceQuotaSpec = struct('core/v1.ResourceQuotaSpec', {
  hard: field(1, map(quantity)),
  scopes: field(2, list(string), { known: resourceQuotaScopes, open: true, enum: true, listType: 'atomic' }),
  scopeSelector: field(3, ScopeSelector, { nullable: true }),
});
export type ResourceQuotaSpec = Infer<typeof ResourceQuotaSpec>;

export const ResourceQuotaStatus = struct('core/v1.ResourceQuotaStatus', {
  hard: field(1, map(quantity)),
  used: field(2, map(quantity)),
});
export type ResourceQuotaStatus = Infer<typeof ResourceQuotaStatus>;

export const ResourceQuota = struct('core/v1.ResourceQuota', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, ResourceQuotaSpec),
  status: field(3, ResourceQuotaStatus),
});
export type ResourceQuota = Infer<typeof ResourceQuota>;

// Secret

export const Secret = struct('core/v1.Secret', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  immutable: field(5, bool, { nullable: true }),
  data: field(2, map(bytes)),
  stringData: field(4, map(string)),
  type: field(3, string, {
    known: [
      'Opaque',
      '{labels}/service-account-token',
      '{labels}/dockercfg',
      '{labels}/dockerconfigjson',
      '{labels}/basic-auth',
      '{labels}/ssh-auth',
      '{labels}/tls',
      'bootstrap.{labels}/token',
    ],
    open: true,
  }),
});
export type Secret = Infer<typeof Secret>;

// ConfigMap

export const ConfigMap = struct('core/v1.ConfigMap', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  immutable: field(4, bool, { nullable: true }),
  data: field(2, map(string)),
  binaryData: field(3, map(bytes)),
});
export type ConfigMap = Infer<typeof ConfigMap>;

// ComponentStatus

export const ComponentCondition = struct('core/v1.ComponentCondition', {
  type: field(1, string, { required: true, emptyOk: true, always: true, known: ['Healthy'], open: true }),
  status: field(2, string, { required: true, emptyOk: true, always: true, known: conditionStatuses, open: true }),
  message: field(3, string),
  error: field(4, string),
});

export const ComponentStatus = struct('core/v1.ComponentStatus', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  conditions: field(2, list(ComponentCondition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
});
export type ComponentStatus = Infer<typeof ComponentStatus>;

// PodStatusResult

export const PodStatusResult = struct('core/v1.PodStatusResult', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  status: field(2, PodStatus),
});
export type PodStatusResult = Infer<typeof PodStatusResult>;

// SerializedReference

export const SerializedReference = struct('core/v1.SerializedReference', {
  ...typeMeta,
  reference: field(1, ObjectReference),
});
export type SerializedReference = Infer<typeof SerializedReference>;

// RangeAllocation

export const RangeAllocation = struct('core/v1.RangeAllocation', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  range: field(2, string, { required: true, emptyOk: true, always: true }),
  data: field(3, bytes, { required: true, emptyOk: true, always: true }),
});
export type RangeAllocation = Infer<typeof RangeAllocation>;

// Parts of no kind here

export const TopologySelectorLabelRequirement = struct('core/v1.TopologySelectorLabelRequirement', {
  key: field(1, string, { required: true, emptyOk: true, always: true }),
  values: field(2, shortList(string), { required: true, always: true, listType: 'atomic' }),
});

export const TopologySelectorTerm = struct(
  'core/v1.TopologySelectorTerm',
  {
    matchLabelExpressions: field(1, shortList(TopologySelectorLabelRequirement), { listType: 'atomic' }),
  },
  { structType: 'atomic' },
);

export const PodSignature = struct('core/v1.PodSignature', {
  podController: field(1, OwnerReference, { nullable: true }),
});

export const PreferAvoidPodsEntry = struct('core/v1.PreferAvoidPodsEntry', {
  podSignature: field(1, PodSignature, { required: true, always: true }),
  evictionTime: field(2, time),
  reason: field(3, string),
  message: field(4, string),
});

export const AvoidPods = struct('core/v1.AvoidPods', {
  preferAvoidPods: field(1, list(PreferAvoidPodsEntry), { listType: 'atomic' }),
});

export const Preconditions = struct('core/v1.Preconditions', {
  uid: field(1, string, { nullable: true }),
});
