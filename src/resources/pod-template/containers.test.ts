import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import { pods } from '../core/pods.ts';
import { type ReportedError, validateOnCreate, wording } from './testing/validate.ts';

// Fields and texts are those of the reference server.
type Row = readonly [title: string, container: JsonObject, ...found: ReportedError[]];

const C = 'spec.containers[0]';

/** A pod whose first container has these fields besides a name and an image. */
const errorsOf = (container: JsonObject, spec: JsonObject = {}) =>
  validateOnCreate(pods, { spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec } });

function check(rows: readonly Row[], spec: JsonObject = {}): void {
  test.each(rows.map(([title, container, ...found]) => ({ title, container, found })))(
    '$title',
    ({ container, found }) => {
      expect(errorsOf(container, spec)).toEqual(found);
    },
  );
}

describe('names, images and ports', () => {
  check([
    ['valid', { ports: [{ name: 'http', containerPort: 80 }] }],
    ['no name', { name: '' }, ['Required', `${C}.name`, 'Required value']],
    ['upper case in the name', { name: 'C' }, ['Invalid', `${C}.name`, `Invalid value: "C": ${wording.label}`]],
    ['dots in the name', { name: 'a.b' }, ['Invalid', `${C}.name`, 'Invalid value: "a.b": must not contain dots']],
    ['no image', { image: '' }, ['Required', `${C}.image`, 'Required value']],
    [
      'an image with white space around it',
      { image: ' i' },
      ['Invalid', `${C}.image`, 'Invalid value: " i": must not have leading or trailing whitespace'],
    ],
    [
      'unknown pull policy',
      { imagePullPolicy: 'Maybe' },
      [
        'NotSupported',
        `${C}.imagePullPolicy`,
        'Unsupported value: "Maybe": supported values: "Always", "IfNotPresent", "Never"',
      ],
    ],
    [
      'unknown terminationMessagePolicy',
      { terminationMessagePolicy: 'X' },
      [
        'NotSupported',
        `${C}.terminationMessagePolicy`,
        'Unsupported value: "X": supported values: "File", "FallbackToLogsOnError"',
      ],
    ],
    [
      'a restart policy',
      { restartPolicy: 'Always' },
      ['Forbidden', `${C}.restartPolicy`, 'Forbidden: may not be set for non-init containers'],
    ],
    [
      'a port without a number',
      { ports: [{ name: 'a' }] },
      ['Required', `${C}.ports[0].containerPort`, 'Required value'],
    ],
    [
      'a port that is too high',
      { ports: [{ containerPort: 65536 }] },
      ['Invalid', `${C}.ports[0].containerPort`, 'Invalid value: 65536: must be between 1 and 65535, inclusive'],
    ],
    [
      'a host port below 1',
      { ports: [{ containerPort: 1, hostPort: -1 }] },
      ['Invalid', `${C}.ports[0].hostPort`, 'Invalid value: -1: must be between 1 and 65535, inclusive'],
    ],
    [
      'an unknown protocol',
      { ports: [{ containerPort: 1, protocol: 'ICMP' }] },
      ['NotSupported', `${C}.ports[0].protocol`, 'Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
    ],
    [
      'a duplicate port name',
      {
        ports: [
          { name: 'a', containerPort: 1 },
          { name: 'a', containerPort: 2 },
        ],
      },
      ['Duplicate', `${C}.ports[1].name`, 'Duplicate value: "a"'],
    ],
    [
      'a port name without a letter',
      { ports: [{ name: '80', containerPort: 80 }] },
      ['Invalid', `${C}.ports[0].name`, 'Invalid value: "80": must contain at least one letter (a-z)'],
    ],
    [
      'a duplicate host port',
      {
        ports: [
          { containerPort: 1, hostPort: 9 },
          { containerPort: 2, hostPort: 9 },
        ],
      },
      ['Duplicate', `${C}.ports[1].hostPort`, 'Duplicate value: "TCP//9"'],
    ],
  ]);

  test('names and host ports are unique among the regular containers', () => {
    const port = [{ containerPort: 1, hostPort: 9, hostIP: '1.2.3.4' }];
    const containers = [
      { name: 'c', image: 'i', ports: port },
      { name: 'c', image: 'i', ports: port },
    ];
    expect(validateOnCreate(pods, { spec: { containers } })).toEqual([
      ['Duplicate', 'spec.containers[1].name', 'Duplicate value: "c"'],
      ['Duplicate', 'spec.containers[1].ports[0].hostPort', 'Duplicate value: "TCP/1.2.3.4/9"'],
    ]);
  });
});

describe('environment', () => {
  check([
    [
      'valid',
      {
        env: [
          { name: 'A', value: '1' },
          { name: 'N', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        ],
      },
    ],
    ['no name', { env: [{ value: '1' }] }, ['Required', `${C}.env[0].name`, 'Required value']],
    [
      'an equals sign in the name',
      { env: [{ name: 'a=b' }] },
      [
        'Invalid',
        `${C}.env[0].name`,
        'Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than \'=\'',
      ],
    ],
    [
      'no source',
      { env: [{ name: 'A', valueFrom: {} }] },
      [
        'Invalid',
        `${C}.env[0].valueFrom`,
        'Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
      ],
    ],
    [
      'a value and a source',
      { env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } }] },
      ['Invalid', `${C}.env[0].valueFrom`, 'Invalid value: "": may not be specified when `value` is not empty'],
    ],
    [
      'two sources',
      {
        env: [
          {
            name: 'A',
            valueFrom: { fieldRef: { fieldPath: 'status.podIP' }, secretKeyRef: { name: 's', key: 'k' } },
          },
        ],
      },
      ['Invalid', `${C}.env[0].valueFrom`, 'Invalid value: "": may not have more than one field specified at a time'],
    ],
    [
      'a field path for volumes only',
      { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } }] },
      [
        'NotSupported',
        `${C}.env[0].valueFrom.fieldRef.fieldPath`,
        'Unsupported value: "metadata.labels": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
      ],
    ],
    [
      'an unknown field path',
      { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.color' } } }] },
      [
        'Invalid',
        `${C}.env[0].valueFrom.fieldRef.fieldPath`,
        'Invalid value: "spec.color": error converting fieldPath: field label not supported: spec.color',
      ],
    ],
    [
      'another apiVersion',
      { env: [{ name: 'A', valueFrom: { fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.name' } } }] },
      [
        'Invalid',
        `${C}.env[0].valueFrom.fieldRef.fieldPath`,
        'Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2',
      ],
    ],
    [
      'an invalid label key',
      { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a b']" } } }] },
      ['Invalid', `${C}.env[0].valueFrom.fieldRef`, `Invalid value: "a b": ${wording.qualified}`],
    ],
    [
      'an unsupported resource',
      { env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.pods' } } }] },
      [
        'NotSupported',
        `${C}.env[0].valueFrom.resourceFieldRef.resource`,
        'Unsupported value: "limits.pods": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
      ],
    ],
    [
      'an unsupported divisor',
      { env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '10' } } }] },
      [
        'Invalid',
        `${C}.env[0].valueFrom.resourceFieldRef.divisor`,
        'Invalid value: "limits.cpu": only divisor\'s values 1m and 1 are supported with the cpu resource',
      ],
    ],
    [
      'a secret reference without a name',
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { key: 'k' } } }] },
      ['Invalid', `${C}.env[0].valueFrom.secretKeyRef.name`, `Invalid value: "": ${wording.subdomain}`],
    ],
    [
      'a secret reference without a key',
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's' } } }] },
      ['Required', `${C}.env[0].valueFrom.secretKeyRef.key`, 'Required value'],
    ],
    [
      'envFrom without a source',
      { envFrom: [{}] },
      ['Invalid', `${C}.envFrom`, 'Invalid value: "": must specify one of: `configMapRef` or `secretRef`'],
    ],
    [
      'envFrom without a name',
      { envFrom: [{ configMapRef: {} }] },
      ['Required', `${C}.envFrom[0].configMapRef.name`, 'Required value'],
    ],
    [
      'envFrom with two sources',
      { envFrom: [{ configMapRef: { name: 'a' }, secretRef: { name: 'b' } }] },
      ['Invalid', `${C}.envFrom`, 'Invalid value: "": may not have more than one field specified at a time'],
    ],
  ]);
});

describe('volume mounts and devices', () => {
  const volumes = [
    { name: 'v', emptyDir: {} },
    { name: 'p', persistentVolumeClaim: { claimName: 'x' } },
    { name: 'img', image: { reference: 'r' } },
  ];
  check(
    [
      [
        'valid',
        {
          volumeMounts: [{ name: 'v', mountPath: '/a', subPath: 'b/c' }],
          volumeDevices: [{ name: 'p', devicePath: '/d' }],
        },
      ],
      [
        'an unknown volume',
        { volumeMounts: [{ name: 'w', mountPath: '/a' }] },
        ['NotFound', `${C}.volumeMounts[0].name`, 'Not found: "w"'],
      ],
      ['no path', { volumeMounts: [{ name: 'v' }] }, ['Required', `${C}.volumeMounts[0].mountPath`, 'Required value']],
      [
        'a duplicate mount path',
        {
          volumeMounts: [
            { name: 'v', mountPath: '/a' },
            { name: 'p', mountPath: '/a' },
          ],
        },
        ['Invalid', `${C}.volumeMounts[1].mountPath`, 'Invalid value: "/a": must be unique'],
      ],
      [
        'an absolute subPath',
        { volumeMounts: [{ name: 'v', mountPath: '/a', subPath: '/b' }] },
        ['Invalid', `${C}.volumeMounts.subPath`, 'Invalid value: "/b": must be a relative path'],
      ],
      [
        'a subPath with ..',
        { volumeMounts: [{ name: 'v', mountPath: '/a', subPathExpr: 'b/../..' }] },
        ['Invalid', `${C}.volumeMounts.subPathExpr`, 'Invalid value: "b/../..": must not contain \'..\''],
      ],
      [
        'subPath and subPathExpr',
        { volumeMounts: [{ name: 'v', mountPath: '/a', subPath: 'b', subPathExpr: 'c' }] },
        [
          'Invalid',
          `${C}.volumeMounts[0].subPathExpr`,
          'Invalid value: "c": subPathExpr and subPath are mutually exclusive',
        ],
      ],
      [
        'a subPath of an image volume',
        { volumeMounts: [{ name: 'img', mountPath: '/a', subPath: 'b' }] },
        ['Invalid', `${C}.volumeMounts[0].subPath`, 'Invalid value: "b": not allowed in image volume sources'],
      ],
      [
        'an unknown propagation',
        { volumeMounts: [{ name: 'v', mountPath: '/a', mountPropagation: 'X' }] },
        [
          'NotSupported',
          `${C}.volumeMounts.mountPropagation`,
          'Unsupported value: "X": supported values: "Bidirectional", "HostToContainer", "None"',
        ],
      ],
      [
        'bidirectional propagation without privileges',
        { volumeMounts: [{ name: 'v', mountPath: '/a', mountPropagation: 'Bidirectional' }] },
        [
          'Forbidden',
          `${C}.volumeMounts.mountPropagation`,
          'Forbidden: Bidirectional mount propagation is available only to privileged containers',
        ],
      ],
      [
        'recursiveReadOnly without readOnly',
        { volumeMounts: [{ name: 'v', mountPath: '/a', recursiveReadOnly: 'Enabled' }] },
        ['Forbidden', `${C}.volumeMounts.recursiveReadOnly`, 'Forbidden: may only be specified when readOnly is true'],
      ],
      [
        'a device of a volume that is not a claim',
        { volumeDevices: [{ name: 'v', devicePath: '/d' }] },
        [
          'Invalid',
          `${C}.volumeDevices[0].name`,
          'Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
        ],
      ],
      [
        'a device path with ..',
        { volumeDevices: [{ name: 'p', devicePath: '/d/..' }] },
        ['Invalid', `${C}.volumeDevices[0].devicePath`, 'Invalid value: "/d/..": can not contain backsteps (\'..\')'],
      ],
      [
        'a volume as mount and device',
        { volumeMounts: [{ name: 'p', mountPath: '/d' }], volumeDevices: [{ name: 'p', devicePath: '/d' }] },
        ['Invalid', `${C}.volumeMounts[0].name`, 'Invalid value: "p": must not already exist in volumeDevices'],
        [
          'Invalid',
          `${C}.volumeMounts[0].mountPath`,
          'Invalid value: "/d": must not already exist as a path in volumeDevices',
        ],
        ['Invalid', `${C}.volumeDevices[0].name`, 'Invalid value: "p": must not already exist in volumeMounts'],
        [
          'Invalid',
          `${C}.volumeDevices[0].devicePath`,
          'Invalid value: "/d": must not already exist as a path in volumeMounts',
        ],
      ],
    ],
    { volumes },
  );

  test('a mount of an invalid volume is not found', () => {
    const found = errorsOf(
      { volumeMounts: [{ name: 'v', mountPath: '/a' }] },
      { volumes: [{ name: 'v', hostPath: {} }] },
    );
    expect(found).toEqual([
      ['Required', 'spec.volumes[0].hostPath.path', 'Required value'],
      ['NotFound', `${C}.volumeMounts[0].name`, 'Not found: "v"'],
    ]);
  });
});

describe('resources', () => {
  const R = `${C}.resources`;
  check([
    [
      'valid',
      { resources: { requests: { cpu: '100m' }, limits: { cpu: '1', memory: '1Gi', 'example.com/gpu': '1' } } },
    ],
    [
      'a request above the limit',
      { resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } },
      ['Invalid', `${R}.requests`, 'Invalid value: "2": must be less than or equal to cpu limit of 1'],
    ],
    [
      'a negative quantity',
      { resources: { requests: { memory: '-1' } } },
      ['Invalid', `${R}.requests[memory]`, 'Invalid value: "-1": must be greater than or equal to 0'],
    ],
    [
      'an unknown standard resource',
      { resources: { requests: { gpu: '1' } } },
      ['Invalid', `${R}.requests[gpu]`, 'Invalid value: "gpu": must be a standard resource type or fully qualified'],
      ['Invalid', `${R}.requests[gpu]`, 'Invalid value: "gpu": must be a standard resource for containers'],
    ],
    [
      'a quota resource',
      { resources: { requests: { pods: '1' } } },
      ['Invalid', `${R}.requests[pods]`, 'Invalid value: "pods": must be a standard resource for containers'],
    ],
    [
      'a fractional extended resource',
      { resources: { limits: { 'example.com/gpu': '500m' } } },
      ['Invalid', `${R}.limits[example.com/gpu]`, 'Invalid value: "500m": must be an integer'],
      ['Invalid', `${R}.requests[example.com/gpu]`, 'Invalid value: "500m": must be an integer'],
    ],
    [
      'an extended resource without a limit',
      { resources: { requests: { 'example.com/gpu': '1' } } },
      ['Required', `${R}.limits`, 'Required value: Limit must be set for non overcommitable resources'],
    ],
    [
      'a request below the limit of an extended resource',
      { resources: { requests: { 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '2' } } },
      ['Invalid', `${R}.requests`, 'Invalid value: "1": must be equal to example.com/gpu limit of 2'],
    ],
    [
      'huge pages alone',
      { resources: { limits: { 'hugepages-2Mi': '4Mi' } } },
      ['Forbidden', R, 'Forbidden: HugePages require cpu or memory'],
    ],
    [
      'a fractional huge page',
      { resources: { requests: { cpu: '1' }, limits: { 'hugepages-2Mi': '3Mi' } } },
      [
        'Invalid',
        `${R}.limits[hugepages-2Mi]`,
        'Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
      ],
      [
        'Invalid',
        `${R}.requests[hugepages-2Mi]`,
        'Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
      ],
    ],
    [
      'an unknown resource claim',
      { resources: { claims: [{ name: 'x' }] } },
      [
        'NotFound',
        `${R}.claims[0]`,
        'Not found: "x": must be one of the names in pod.spec.resourceClaims which is empty',
      ],
    ],
    [
      'a duplicate resize policy',
      {
        resizePolicy: [
          { resourceName: 'cpu', restartPolicy: 'NotRequired' },
          { resourceName: 'cpu', restartPolicy: 'NotRequired' },
        ],
      },
      ['Duplicate', `${C}.resizePolicy[1]`, 'Duplicate value: "cpu"'],
    ],
    [
      'a resize policy of an unsupported resource',
      { resizePolicy: [{ resourceName: 'storage', restartPolicy: 'NotRequired' }] },
      ['NotSupported', `${C}.resizePolicy`, 'Unsupported value: "storage": supported values: "cpu", "memory"'],
    ],
  ]);
  test('a resize policy with restarts in a pod that never restarts', () => {
    const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
    expect(errorsOf({ resizePolicy }, { restartPolicy: 'Never' })).toEqual([
      [
        'Invalid',
        `${C}.resizePolicy`,
        "Invalid value: \"RestartContainer\": must be 'NotRequired' when pod `restartPolicy` is 'Never'",
      ],
    ]);
  });
});

describe('probes and lifecycle hooks', () => {
  check([
    [
      'valid',
      { readinessProbe: { httpGet: { port: 'http' }, successThreshold: 2 }, livenessProbe: { tcpSocket: { port: 1 } } },
    ],
    [
      'no handler',
      { livenessProbe: {} },
      ['Required', `${C}.livenessProbe`, 'Required value: must specify a handler type'],
    ],
    [
      'two handlers',
      { startupProbe: { exec: { command: ['a'] }, grpc: { port: 1 } } },
      ['Forbidden', `${C}.startupProbe.grpc`, 'Forbidden: may not specify more than 1 handler type'],
    ],
    ['no command', { livenessProbe: { exec: {} } }, ['Required', `${C}.livenessProbe.exec.command`, 'Required value']],
    [
      'no HTTP port',
      { livenessProbe: { tcpSocket: {} } },
      ['Invalid', `${C}.livenessProbe.tcpSocket.port`, 'Invalid value: 0: must be between 1 and 65535, inclusive'],
    ],
    [
      'no gRPC port',
      { livenessProbe: { grpc: {} } },
      ['Invalid', `${C}.livenessProbe.grpc.port`, 'Invalid value: 0: must be between 1 and 65535, inclusive'],
    ],
    [
      'an unknown scheme',
      { livenessProbe: { httpGet: { port: 80, scheme: 'FTP' } } },
      [
        'NotSupported',
        `${C}.livenessProbe.httpGet.scheme`,
        'Unsupported value: "FTP": supported values: "HTTP", "HTTPS"',
      ],
    ],
    [
      'an invalid header',
      { livenessProbe: { httpGet: { port: 80, httpHeaders: [{ name: 'a b', value: 'c' }] } } },
      [
        'Invalid',
        `${C}.livenessProbe.httpGet.httpHeaders`,
        "Invalid value: \"a b\": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
      ],
    ],
    [
      'a negative time',
      { livenessProbe: { tcpSocket: { port: 1 }, periodSeconds: -1 } },
      ['Invalid', `${C}.livenessProbe.periodSeconds`, 'Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'successThreshold of a liveness probe',
      { livenessProbe: { tcpSocket: { port: 1 }, successThreshold: 2 } },
      ['Invalid', `${C}.livenessProbe.successThreshold`, 'Invalid value: 2: must be 1'],
    ],
    [
      'successThreshold of a startup probe',
      { startupProbe: { tcpSocket: { port: 1 }, successThreshold: 3 } },
      ['Invalid', `${C}.startupProbe.successThreshold`, 'Invalid value: 3: must be 1'],
    ],
    [
      'terminationGracePeriodSeconds of a readiness probe',
      { readinessProbe: { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 5 } },
      [
        'Invalid',
        `${C}.readinessProbe.terminationGracePeriodSeconds`,
        'Invalid value: 5: must not be set for readinessProbes',
      ],
    ],
    [
      'a terminationGracePeriodSeconds of 0',
      { livenessProbe: { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 0 } },
      ['Invalid', `${C}.livenessProbe.terminationGracePeriodSeconds`, 'Invalid value: 0: must be greater than 0'],
    ],
    [
      'a sleep longer than the grace period',
      { lifecycle: { preStop: { sleep: { seconds: 31 } } } },
      [
        'Invalid',
        `${C}.lifecycle.preStop.sleep`,
        'Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)',
      ],
    ],
    [
      'an empty hook',
      { lifecycle: { postStart: {} } },
      ['Required', `${C}.lifecycle.postStart`, 'Required value: must specify a handler type'],
    ],
  ]);
});

describe('security contexts', () => {
  const S = `${C}.securityContext`;
  const shown = (fields: string) => `Invalid value: {${fields}}`;
  check([
    ['valid', { securityContext: { runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } } }],
    [
      'privileged',
      { securityContext: { privileged: true } },
      ['Forbidden', `${S}.privileged`, 'Forbidden: disallowed by cluster policy'],
    ],
    [
      'a negative user',
      { securityContext: { runAsUser: -1 } },
      ['Invalid', `${S}.runAsUser`, 'Invalid value: -1: must be between 0 and 2147483647, inclusive'],
    ],
    [
      'no privilege escalation with CAP_SYS_ADMIN',
      { securityContext: { allowPrivilegeEscalation: false, capabilities: { add: ['CAP_SYS_ADMIN'] } } },
      [
        'Invalid',
        S,
        `${shown(
          '"Capabilities":{"Add":["CAP_SYS_ADMIN"],"Drop":null},"Privileged":null,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null',
        )}: cannot set \`allowPrivilegeEscalation\` to false and \`capabilities.Add\` CAP_SYS_ADMIN`,
      ],
    ],
    [
      'an unknown procMount',
      { securityContext: { procMount: 'X' } },
      ['NotSupported', `${S}.procMount`, 'Unsupported value: "X": supported values: "Default", "Unmasked"'],
    ],
    [
      'procMount Unmasked in the user namespace of the host',
      { securityContext: { procMount: 'Unmasked' } },
      ['Invalid', `${S}.procMount`, 'Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`'],
    ],
    [
      'a seccomp profile without a type',
      { securityContext: { seccompProfile: {} } },
      ['Required', `${S}.seccompProfile.type`, 'Required value: type is required when seccompProfile is set'],
    ],
    [
      'a local profile without a path',
      { securityContext: { seccompProfile: { type: 'Localhost' } } },
      [
        'Required',
        `${S}.seccompProfile.localhostProfile`,
        'Required value: must be set when seccomp type is Localhost',
      ],
    ],
    [
      'a path without the local type',
      { securityContext: { seccompProfile: { type: 'Unconfined', localhostProfile: 'x' } } },
      [
        'Invalid',
        `${S}.seccompProfile.localhostProfile`,
        'Invalid value: {"Type":"Unconfined","LocalhostProfile":"x"}: can only be set when seccomp type is Localhost',
      ],
    ],
    [
      'an unknown seccomp profile',
      { securityContext: { seccompProfile: { type: 'X' } } },
      [
        'NotSupported',
        `${S}.seccompProfile.type`,
        'Unsupported value: "X": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
      ],
    ],
    [
      'an AppArmor profile with white space',
      { securityContext: { appArmorProfile: { type: 'Localhost', localhostProfile: ' x' } } },
      ['Invalid', `${S}.appArmorProfile.localhostProfile`, 'Invalid value: " x": must not be padded with whitespace'],
    ],
    [
      'a Windows user with two backslashes',
      { securityContext: { windowsOptions: { runAsUserName: 'a\\b\\c' } } },
      [
        'Invalid',
        `${S}.windowsOptions.runAsUserName`,
        'Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash',
      ],
    ],
    [
      'an empty Windows user',
      { securityContext: { windowsOptions: { runAsUserName: '' } } },
      ['Invalid', `${S}.windowsOptions.runAsUserName`, 'Invalid value: "": runAsUserName cannot be an empty string'],
    ],
  ]);
});

describe('init and ephemeral containers', () => {
  const I = 'spec.initContainers[0]';
  const withInit = (init: JsonObject) => errorsOf({}, { initContainers: [{ name: 'i', image: 'i', ...init }] });
  const only = 'Forbidden: may not be set for init containers without restartPolicy=Always';
  test.each<{ title: string; init: JsonObject; found: ReportedError[] }>([
    {
      title: 'a sidecar with a probe',
      init: { restartPolicy: 'Always', readinessProbe: { tcpSocket: { port: 1 } } },
      found: [],
    },
    {
      title: 'an init container with a probe',
      init: { livenessProbe: { tcpSocket: { port: 1 } } },
      found: [['Forbidden', `${I}.livenessProbe`, only]],
    },
    {
      title: 'an init container with a probe that is invalid',
      init: { livenessProbe: { grpc: {}, periodSeconds: -1 } },
      found: [['Forbidden', `${I}.livenessProbe`, only]],
    },
    { title: 'an init container with a hook', init: { lifecycle: {} }, found: [['Forbidden', `${I}.lifecycle`, only]] },
    {
      title: 'an unknown restart policy',
      init: { restartPolicy: 'Never' },
      found: [['NotSupported', `${I}.restartPolicy`, 'Unsupported value: "Never": supported values: "Always"']],
    },
    {
      title: 'the name of a container',
      init: { name: 'c' },
      found: [['Duplicate', `${I}.name`, 'Duplicate value: "c"']],
    },
  ])('$title', ({ init, found }) => {
    expect(withInit(init)).toEqual(found);
  });

  test('a new pod cannot have ephemeral containers, and those cannot have ports or probes', () => {
    const ephemeral = { name: 'c', image: 'i', targetContainerName: 'x', ports: [{ containerPort: 1 }] };
    const E = 'spec.ephemeralContainers[0]';
    expect(errorsOf({}, { ephemeralContainers: [ephemeral] })).toEqual([
      ['Duplicate', `${E}.name`, 'Duplicate value: "c"'],
      ['NotFound', `${E}.targetContainerName`, 'Not found: "x"'],
      ['Forbidden', `${E}.ports`, 'Forbidden: cannot be set for an Ephemeral Container'],
      ['Forbidden', 'spec.ephemeralContainers', 'Forbidden: cannot be set on create'],
    ]);
  });
});
