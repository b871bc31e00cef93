import { isJsonObject, type Json, type JsonObject, setKey } from '../../meta/index.ts';
import { resolve, type Schema, type StructSchema } from '../../schema/index.ts';
import { lineDiff, maxDiffLines } from './line-diff.ts';

/**
 * A value as the reference server prints it in messages: all fields of the internal Go struct, unset ones too, with
 * their Go names in struct order.
 */
export function internalForm(value: unknown, schema: StructSchema): Json {
  return show(value as Json | undefined, schema, { remaining: Number.POSITIVE_INFINITY });
}

/** How many more values may be printed; each takes a line at least. */
interface Room {
  remaining: number;
}

/** A text has more lines than are compared. */
class TooLong extends Error {}
const tooLong = new TooLong('the text has too many lines');

/**
 * The unified diff of the internal forms of two values, as indented text with one field or bracket per line. Empty when
 * one has more lines than are compared, which is found out before the rest of it is printed.
 */
export function internalDiff(before: unknown, after: unknown, schema: StructSchema): string {
  try {
    return lineDiff(internalText(before, schema), internalText(after, schema));
  } catch (error) {
    if (error instanceof TooLong) return '';
    throw error;
  }
}

const internalText = (value: unknown, schema: StructSchema): string =>
  JSON.stringify(
    show(value as Json | undefined, schema, { remaining: maxDiffLines }),
    (_, part: unknown) => (typeof part === 'bigint' ? Number(part) : part),
    1,
  );

/** Structs that are printed as on the wire. */
const plain = new Set(['meta/v1.LabelSelector', 'meta/v1.ObjectMeta']);

const names: { readonly [field: string]: string } = {
  apiGroup: 'APIGroup',
  apiGroups: 'APIGroups',
  apiVersion: 'APIVersion',
  awsElasticBlockStore: 'AWSElasticBlockStore',
  cephfs: 'CephFS',
  chapAuthDiscovery: 'DiscoveryCHAPAuth',
  chapAuthSession: 'SessionCHAPAuth',
  csi: 'CSI',
  diskURI: 'DataDiskURI',
  dnsConfig: 'DNSConfig',
  dnsPolicy: 'DNSPolicy',
  endpoints: 'EndpointsName',
  fc: 'FC',
  fsGroup: 'FSGroup',
  fsGroupChangePolicy: 'FSGroupChangePolicy',
  fsType: 'FSType',
  gcePersistentDisk: 'GCEPersistentDisk',
  gmsaCredentialSpec: 'GMSACredentialSpec',
  gmsaCredentialSpecName: 'GMSACredentialSpecName',
  grpc: 'GRPC',
  httpGet: 'HTTPGet',
  httpHeaders: 'HTTPHeaders',
  ip: 'IP',
  iqn: 'IQN',
  iscsi: 'ISCSI',
  iscsiInterface: 'ISCSIInterface',
  nfs: 'NFS',
  os: 'OS',
  pdName: 'PDName',
  rbd: 'RBD',
  seLinuxChangePolicy: 'SELinuxChangePolicy',
  seLinuxOptions: 'SELinuxOptions',
  sslEnabled: 'SSLEnabled',
  storageos: 'StorageOS',
  tcpSocket: 'TCPSocket',
  tty: 'TTY',
  wwids: 'WWIDs',
};

const rbdNames = { monitors: 'CephMonitors', image: 'RBDImage', pool: 'RBDPool', user: 'RadosUser' };

/** Go field names that differ from the JSON name in some structs only. */
const namesIn: { readonly [struct: string]: { readonly [field: string]: string } } = {
  'core/v1.RBDVolumeSource': rbdNames,
  'core/v1.RBDPersistentVolumeSource': rbdNames,
};

const persistentSources =
  'gcePersistentDisk awsElasticBlockStore hostPath glusterfs nfs rbd quobyte iscsi flexVolume cinder cephfs fc flocker ' +
  'azureFile vsphereVolume azureDisk photonPersistentDisk portworxVolume scaleIO local storageos csi';

/** Struct orders that differ from the declared one. A `+` marks a field that is not declared. */
const orders: { readonly [struct: string]: string } = {
  'core/v1.PodSpec':
    'volumes initContainers containers ephemeralContainers restartPolicy terminationGracePeriodSeconds ' +
    'activeDeadlineSeconds dnsPolicy nodeSelector serviceAccountName automountServiceAccountToken nodeName ' +
    'securityContext imagePullSecrets hostname subdomain setHostnameAsFQDN affinity schedulerName tolerations ' +
    'hostAliases priorityClassName priority preemptionPolicy dnsConfig readinessGates runtimeClassName overhead ' +
    'enableServiceLinks topologySpreadConstraints os schedulingGates resourceClaims resources +HostnameOverride',
  'core/v1.Container':
    'name image command args workingDir ports envFrom env resources resizePolicy restartPolicy +RestartPolicyRules ' +
    'volumeMounts volumeDevices livenessProbe readinessProbe startupProbe lifecycle terminationMessagePath ' +
    'terminationMessagePolicy imagePullPolicy securityContext stdin stdinOnce tty',
  'core/v1.EphemeralContainer':
    'name image command args workingDir ports envFrom env resources resizePolicy restartPolicy +RestartPolicyRules ' +
    'volumeMounts volumeDevices livenessProbe readinessProbe startupProbe lifecycle terminationMessagePath ' +
    'terminationMessagePolicy imagePullPolicy securityContext stdin stdinOnce tty targetContainerName',
  'core/v1.EnvVarSource': 'fieldRef resourceFieldRef configMapKeyRef secretKeyRef +FileKeyRef',
  'core/v1.Volume':
    'name hostPath emptyDir gcePersistentDisk awsElasticBlockStore gitRepo secret nfs iscsi glusterfs ' +
    'persistentVolumeClaim rbd quobyte flexVolume cinder cephfs flocker downwardAPI fc azureFile configMap ' +
    'vsphereVolume azureDisk photonPersistentDisk projected portworxVolume scaleIO storageos csi ephemeral image',
  'core/v1.PersistentVolumeSource': persistentSources,
  'core/v1.PersistentVolumeSpec':
    `capacity ${persistentSources} accessModes claimRef persistentVolumeReclaimPolicy storageClassName mountOptions ` +
    'volumeMode nodeAffinity volumeAttributesClassName',
  'core/v1.VolumeProjection': 'secret downwardAPI configMap serviceAccountToken clusterTrustBundle +PodCertificate',
  'core/v1.PodSecurityContext':
    'seLinuxOptions windowsOptions runAsUser runAsGroup runAsNonRoot supplementalGroups supplementalGroupsPolicy ' +
    'fsGroup fsGroupChangePolicy sysctls seccompProfile appArmorProfile seLinuxChangePolicy',
};

const zeros: { readonly [type: string]: Json } = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
  quantity: '0',
  intOrString: 0,
};

/** Nullable fields that are no pointers in the internal struct. */
const valueFields = new Set([
  'apps/v1.RollingUpdateDeployment.maxUnavailable',
  'apps/v1.RollingUpdateDeployment.maxSurge',
  'apps/v1.RollingUpdateStatefulSetStrategy.partition',
]);

function show(value: Json | undefined, schema: Schema, room: Room): Json {
  if (--room.remaining < 0) throw tooLong;
  const resolved = resolve(schema);
  if (value === undefined || value === null) {
    return resolved.type === 'struct' ? showStruct({}, resolved, room) : (zeros[resolved.type] ?? null);
  }
  if (resolved.type === 'struct') return isJsonObject(value) ? showStruct(value, resolved, room) : value;
  if (resolved.type === 'list')
    return Array.isArray(value) ? value.map((item) => show(item, resolved.element, room)) : value;
  if (resolved.type !== 'map' || !isJsonObject(value)) return value;
  const out: JsonObject = {};
  for (const key of Object.keys(value).sort()) setKey(out, key, show(value[key], resolved.value, room));
  return out;
}

function showStruct(value: JsonObject, schema: StructSchema, room: Room): Json {
  if (plain.has(schema.name)) return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== null));
  const order = orders[schema.name]?.split(' ') ?? Object.keys(schema.fields);
  const renamed = namesIn[schema.name];
  const out: JsonObject = {};
  for (const name of order) {
    if (name.startsWith('+')) {
      out[name.slice(1)] = null;
      continue;
    }
    const field = schema.fields[name];
    if (field === undefined) continue;
    const fieldValue = value[name];
    const isPointer = field.nullable === true && !valueFields.has(`${schema.name}.${name}`);
    const printedValue =
      isPointer && (fieldValue === undefined || fieldValue === null) ? null : show(fieldValue, field.schema, room);
    out[renamed?.[name] ?? names[name] ?? name.charAt(0).toUpperCase() + name.slice(1)] =
      name === 'securityContext' && schema.name === 'core/v1.PodSpec'
        ? withHostFields(value, printedValue)
        : printedValue;
  }
  return out;
}

/** Moves the host namespace fields of a pod spec into the security context, as in the internal struct. */
function withHostFields(spec: JsonObject, context: Json): Json {
  if (!isJsonObject(context)) return context;
  return {
    HostNetwork: spec['hostNetwork'] ?? false,
    HostPID: spec['hostPID'] ?? false,
    HostIPC: spec['hostIPC'] ?? false,
    ShareProcessNamespace: spec['shareProcessNamespace'] ?? null,
    HostUsers: spec['hostUsers'] ?? null,
    ...context,
  };
}
