import { describe, expect, test } from 'vitest';
import { events as newEvents } from '../events/events.ts';
import {
  cellsOf,
  created,
  type Fragment,
  fieldErrors,
  onCreate,
  onUpdate,
  type Row,
  replaced,
  sorted,
  testContext,
  warningsOf,
} from '../testing/kind.ts';
import { duplicate, forbidden, immutable, invalid, missing, required, says, unsupported } from '../testing/messages.ts';
import { endpoints } from './endpoints.ts';
import { events } from './events.ts';
import { nodes } from './nodes.ts';
import { persistentVolumeClaims } from './persistent-volume-claims.ts';
import { persistentVolumes } from './persistent-volumes.ts';

describe('nodes', () => {
  const avoidKey = 'scheduler.alpha.kubernetes.io/preferAvoidPods';
  const avoid = `metadata.annotations.${avoidKey}`;
  const avoiding = (text: string) => ({ metadata: { annotations: { [avoidKey]: text } } });
  const rows: readonly Row[] = [
    ['a taint', { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }],
    [
      'an unknown effect and an invalid CIDR',
      { spec: { taints: [{ key: 'k', effect: 'Odd' }], podCIDR: 'x' } },
      ['metadata.taints[0].effect', 'NotSupported', unsupported('Odd', 'NoSchedule', 'PreferNoSchedule', 'NoExecute')],
      ['spec.podCIDRs[0]', 'Invalid', invalid('x', says.cidr)],
    ],
    ['preferAvoidPods', avoiding('{"preferAvoidPods":[{"podSignature":{"podController":{"controller":true}}}]}')],
    [
      'preferAvoidPods without a controller',
      avoiding('{"preferAvoidPods":[{},{"podSignature":{"podController":{"controller":false}}}]}'),
      [`${avoid}[0].PodSignature`, 'Required', missing],
      [`${avoid}[1].PodSignature.PodController.Controller`, 'Invalid', invalid(false, 'must point to a controller')],
    ],
    [
      'preferAvoidPods with invalid JSON',
      avoiding('x'),
      [
        'metadata.annotations.AvoidPods',
        'Invalid',
        invalid(avoidKey, "invalid character 'x' looking for beginning of value"),
      ],
    ],
    ['no effect', { spec: { taints: [{ key: 'k' }] } }, ['metadata.taints[0].effect', 'Required', missing]],
    [
      'a duplicate taint',
      {
        spec: {
          taints: [
            { key: 'k', effect: 'NoExecute' },
            { key: 'k', effect: 'NoExecute', value: 'v' },
          ],
        },
      },
      [
        'metadata.taints[1]',
        'Duplicate',
        `${duplicate({ Key: 'k', Value: 'v', Effect: 'NoExecute', TimeAdded: null })}: taints must be unique by key and effect pair`,
      ],
    ],
    ['a CIDR of each family', { spec: { podCIDRs: ['10.0.0.0/24', 'fd00::/64'] } }],
    [
      'two CIDRs of one family',
      { spec: { podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'] } },
      [
        'spec.podCIDRs',
        'Invalid',
        invalid(['10.0.0.0/24', '10.0.1.0/24'], 'may specify no more than one CIDR for each IP family'),
      ],
    ],
    [
      'negative quantities',
      { status: { capacity: { cpu: '-1' } } },
      ['status.capacity.cpu', 'Invalid', invalid('-1', 'must be greater than or equal to 0')],
      ['status.allocatable.cpu', 'Invalid', invalid('-1', 'must be greater than or equal to 0')],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(nodes, fragment)).toEqual(sorted(expected));
  });
  test('podCIDRs and providerID are immutable once set', () => {
    const before = { spec: { podCIDR: '10.0.0.0/24', providerID: 'p://1' } };
    expect(onUpdate(nodes, before, { spec: { podCIDR: '10.0.1.0/24', providerID: 'p://2' } })).toEqual([
      ['spec.podCIDRs', 'Forbidden', forbidden('node updates may not change podCIDR except from "" to valid')],
      ['spec.providerID', 'Forbidden', forbidden('node updates may not change providerID except from "" to valid')],
    ]);
    expect(onUpdate(nodes, {}, before)).toEqual([]);
  });
  test('an invalid CIDR and a duplicate one', () => {
    const ranges = ['x', 'x'];
    const odd = ['spec.podCIDRs[0]', 'Invalid', invalid('x', says.cidr)] as const;
    expect(onCreate(nodes, { spec: { podCIDRs: ranges } })).toEqual(
      sorted([
        [...odd],
        ['spec.podCIDRs[1]', 'Invalid', invalid('x', says.cidr)],
        [
          'spec.podCIDRs',
          'Internal',
          'Internal error: invalid PodCIDRs. failed to check with dual stack with error:failed to parse cidr value:"x" with error:invalid CIDR address: x',
        ],
        ['spec.podCIDRs', 'Invalid', invalid(ranges, 'may specify no more than one CIDR for each IP family')],
        ['spec.podCIDRs[1]', 'Duplicate', duplicate('x')],
      ]),
    );
  });
  test('errors of taints are reported twice on update', () => {
    const found = ['metadata.taints[0].effect', 'Required', missing];
    expect(onUpdate(nodes, {}, { spec: { taints: [{ key: 'k' }] } })).toEqual([found, found]);
  });
  test('the config source of an existing node is validated', () => {
    const configMap = { name: 'n', namespace: 'N', kubeletConfigKey: 'k', uid: 'u' };
    const had = { ...created(nodes, {}), spec: { configSource: { configMap } } };
    had.metadata.resourceVersion = '1';
    const changed = (spec: Fragment) => replaced(nodes, had, { spec });
    expect(fieldErrors(nodes, changed({ configSource: {} }), had)).toEqual([
      ['spec.configSource', 'Invalid', invalid({ ConfigMap: null }, 'exactly one reference subfield must be non-nil')],
    ]);
    expect(fieldErrors(nodes, changed({ configSource: { configMap } }), had)).toEqual([
      ['spec.configSource.configMap.namespace', 'Invalid', invalid('N', says.label)],
      ['spec.configSource.configMap.uid', 'Forbidden', forbidden('uid must not be set in spec')],
    ]);
    expect(nodes.strategy.warnings?.(changed({ configSource: { configMap } }), had, testContext)).toEqual([
      'spec.configSource: the feature is removed',
    ]);
    expect(warningsOf(nodes, { spec: { configSource: { configMap }, externalID: 'x' } })).toEqual([
      'spec.externalID: this field is deprecated, and is unused by Kubernetes',
    ]);
  });
  test('a CIDR with host bits has a warning, an invalid one has none', () => {
    expect(warningsOf(nodes, { spec: { podCIDRs: ['10.0.0.8/24', '10.0.0.0/x', 'fd00::/64'] } })).toEqual([
      'spec.podCIDRs[0]: CIDR value "10.0.0.8/24" is ambiguous in this context (should be "10.0.0.0/24" or "10.0.0.8/32"?)',
    ]);
  });
  test('podCIDR and podCIDRs agree, and allocatable defaults to capacity', () => {
    const node = created(nodes, { spec: { podCIDR: '10.0.0.0/24' }, status: { capacity: { cpu: '4' } } });
    expect(node['spec']).toEqual({ podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] });
    expect(node['status']).toMatchObject({ allocatable: { cpu: '4' } });
  });
});

describe('persistent volumes', () => {
  const volume = (more: Fragment): Fragment => ({
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...more },
  });
  const csi = { driver: 'd.example.com', volumeHandle: 'h' };
  const rows: readonly Row[] = [
    ['a host path', volume({ hostPath: { path: '/x' } })],
    [
      'neither capacity nor source',
      { spec: { accessModes: ['ReadWriteOnce'] } },
      ['spec', 'Required', required('must specify a volume type')],
      ['spec.capacity', 'Required', missing],
      ['spec.capacity', 'NotSupported', 'Unsupported value: null: supported values: "storage"'],
    ],
    [
      'no access modes',
      volume({ accessModes: [], hostPath: { path: '/x' } }),
      ['spec.accessModes', 'Required', missing],
    ],
    [
      'an unknown access mode',
      volume({ accessModes: ['Odd'], hostPath: { path: '/x' } }),
      [
        'spec.accessModes',
        'NotSupported',
        unsupported('Odd', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'),
      ],
    ],
    [
      'ReadWriteOncePod with other modes',
      volume({ accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'], hostPath: { path: '/x' } }),
      ['spec.accessModes', 'Forbidden', forbidden('may not use ReadWriteOncePod with other access modes')],
    ],
    [
      'no storage capacity',
      volume({ capacity: { storage: '0' }, hostPath: { path: '/x' } }),
      ['spec.capacity[storage]', 'Invalid', invalid('0', 'must be greater than zero')],
    ],
    [
      'a path with ..',
      volume({ hostPath: { path: '/a/../b' } }),
      ['spec.hostPath.path', 'Invalid', invalid('/a/../b', "must not contain '..'")],
    ],
    [
      'two sources',
      volume({ hostPath: { path: '/x' }, csi }),
      ['spec.csi', 'Forbidden', forbidden('may not specify more than 1 volume type')],
    ],
    [
      'a second source, which is not validated',
      volume({ hostPath: { path: '/x' }, csi: {}, cephfs: { monitors: [] }, azureDisk: { kind: 'odd' } }),
      ['spec.csi', 'Forbidden', forbidden('may not specify more than 1 volume type')],
      ['spec.cephFS', 'Forbidden', forbidden('may not specify more than 1 volume type')],
      ['spec.azureDisk', 'Forbidden', forbidden('may not specify more than 1 volume type')],
    ],
    [
      'the root path with Recycle',
      volume({ hostPath: { path: '/' }, persistentVolumeReclaimPolicy: 'Recycle' }),
      [
        'spec.persistentVolumeReclaimPolicy',
        'Forbidden',
        forbidden("may not be 'recycle' for a hostPath mount of '/'"),
      ],
    ],
    [
      'a local volume without node affinity',
      volume({ local: { path: '/x' } }),
      ['spec.nodeAffinity', 'Required', required('Local volume requires node affinity')],
    ],
    [
      'a local volume with another source',
      volume({ hostPath: { path: '/x' }, local: { path: '/x' } }),
      ['spec.local', 'Forbidden', forbidden('may not specify more than 1 volume type')],
    ],
    [
      'node affinity without terms',
      volume({ local: { path: '/x' }, nodeAffinity: {} }),
      ['spec.nodeAffinity.required', 'Required', required('must specify required node constraints')],
    ],
    [
      'an invalid storage class',
      volume({ hostPath: { path: '/x' }, storageClassName: 'BAD' }),
      ['spec.storageClassName', 'Invalid', invalid('BAD', says.subdomain)],
    ],
    [
      'a secret without a namespace',
      volume({ csi: { ...csi, nodePublishSecretRef: { name: 's' }, controllerExpandSecretRef: { namespace: 'N' } } }),
      ['spec.csi.nodePublishSecretRef.namespace', 'Required', missing],
      ['spec.csi.controllerExpandSecretRef.name', 'Required', missing],
      ['spec.csi.controllerExpandSecretRef.namespace', 'Invalid', invalid('N', says.label)],
    ],
    [
      'no CSI driver',
      volume({ csi: { volumeHandle: 'h' } }),
      // The reference server says no more about an empty name.
      ['spec.csi.driver', 'Required', missing],
    ],
    [
      'a host path, a GCE disk and a third source',
      volume({ hostPath: { path: '/x' }, gcePersistentDisk: { pdName: 'd' }, cephfs: { monitors: ['m'] } }),
      ['spec.gcePersistentDisk', 'Forbidden', forbidden('may not specify more than 1 volume type')],
      ['spec.cephFS', 'Forbidden', forbidden('may not specify more than 1 volume type')],
    ],
    [
      'a GCE disk without a name',
      volume({ gcePersistentDisk: { partition: 256 } }),
      ['spec.persistentDisk.pdName', 'Required', missing],
      ['spec.persistentDisk.partition', 'Invalid', invalid(256, 'must be between 1 and 255, inclusive')],
    ],
    [
      'an invalid iSCSI IQN',
      volume({
        iscsi: {
          targetPortal: 'p'.repeat(64),
          iqn: 'x',
          lun: 0,
          initiatorName: 'iqn.2015-02.example.com:init',
          secretRef: {},
        },
      }),
      [
        'spec.iscsi.targetportal',
        'Invalid',
        invalid(
          'p'.repeat(64),
          'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
        ),
      ],
      ['spec.iscsi.iqn', 'Invalid', invalid('x', 'must be valid format')],
      ['spec.iscsi.secretRef.name', 'Required', missing],
    ],
    [
      'volumeAttributesClassName without CSI',
      volume({ hostPath: { path: '/x' }, volumeAttributesClassName: '' }),
      ['spec.volumeAttributesClassName', 'Required', required('an empty string is disallowed')],
      ['spec.csi', 'Required', required('has to be specified when using volumeAttributesClassName')],
    ],
    [
      'a negative capacity',
      volume({ capacity: { storage: '-500m' }, hostPath: { path: '/x' } }),
      ['spec.capacity[storage]', 'Invalid', invalid(-1, 'must be a valid resource quantity')],
      ['spec.capacity[storage]', 'Invalid', invalid('-500m', 'must be greater than zero')],
    ],
    [
      'mount options of a source that does not support them',
      {
        metadata: { annotations: { 'volume.beta.kubernetes.io/mount-options': 'ro' } },
        ...volume({ hostPath: { path: '/x' } }),
      },
      [
        'metadata.annotations.volume.beta.kubernetes.io/mount-options',
        'Forbidden',
        forbidden('may not specify mount options for this volume type'),
      ],
    ],
    [
      'an invalid CSI driver name',
      volume({ csi: { ...csi, driver: 'bad_' } }),
      ['spec.csi.driver', 'Invalid', invalid('bad_', says.subdomain)],
    ],
    [
      'a relative local path',
      volume({ nfs: { server: 's', path: 'x' } }),
      ['spec.nfs.path', 'Invalid', invalid('x', 'must be an absolute path')],
    ],
    [
      'an unknown reclaim policy',
      volume({ hostPath: { path: '/x' }, persistentVolumeReclaimPolicy: 'Odd' }),
      ['spec.persistentVolumeReclaimPolicy', 'NotSupported', unsupported('Odd', 'Delete', 'Recycle', 'Retain')],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(persistentVolumes, fragment)).toEqual(sorted(expected));
  });
  test('defaults', () => {
    const { spec, status } = created(persistentVolumes, volume({ hostPath: { path: '/x' } }));
    expect(spec).toMatchObject({
      persistentVolumeReclaimPolicy: 'Retain',
      volumeMode: 'Filesystem',
      hostPath: { path: '/x', type: '' },
    });
    expect(status).toEqual({ phase: 'Pending', lastPhaseTransitionTime: '2024-01-02T03:04:05Z' });
  });
  describe('the time of the last change of phase', () => {
    const now = '2024-01-02T03:04:05Z';
    const then = '2001-01-01T00:00:00Z';
    const later = '2030-01-01T00:00:00Z';
    const statusAfter = (sent: Fragment) => {
      const old = created(persistentVolumes, volume({ hostPath: { path: '/x' } }));
      old['status'] = { phase: 'Available', lastPhaseTransitionTime: then };
      const { status } = replaced(persistentVolumes, old, { ...volume({}), status: sent }, 'status');
      return (status as Fragment)['lastPhaseTransitionTime'];
    };
    test.each([
      ['stays without a change', { phase: 'Available' }, then],
      ['can be set without a change', { phase: 'Available', lastPhaseTransitionTime: later }, later],
      ['is set by a change', { phase: 'Bound' }, now],
      ['is set by a change that sends the old one', { phase: 'Bound', lastPhaseTransitionTime: then }, now],
      ['can be sent with a change', { phase: 'Bound', lastPhaseTransitionTime: later }, later],
    ])('%s', (_, sent, expected) => {
      expect(statusAfter(sent)).toBe(expected);
    });
  });
  test('the source of a volume is immutable', () => {
    const found = onUpdate(
      persistentVolumes,
      volume({ hostPath: { path: '/x' } }),
      volume({ hostPath: { path: '/y' }, volumeMode: 'Block' }),
    );
    expect(found.map(([field, reason]) => [field, reason])).toEqual([
      ['spec.persistentvolumesource', 'Forbidden'],
      ['volumeMode', 'Invalid'],
    ]);
    expect(found[0]?.[2]).toMatch(/^Forbidden: spec.persistentvolumesource is immutable after creation\n@@/);
    const [[, , shown] = []] = onUpdate(persistentVolumes, volume({ hostPath: { path: '/x' } }), volume({ csi }));
    expect(shown).toContain('@@ -1,10 +1,7 @@');
    expect(shown).toContain(
      '@@ -23,5 +20,16 @@\n  "ScaleIO": null,\n  "Local": null,\n  "StorageOS": null,\n- "CSI": null',
    );
    const rbd = { monitors: ['m'], image: 'i' };
    const [[, , order] = []] = onUpdate(persistentVolumes, volume({ csi }), volume({ rbd }));
    expect(order).toContain('"RBDImage": "i"');
    expect(order).toMatch(/\n {2}"Quobyte": null,\n {2}"ISCSI": null,\n {2}"FlexVolume": null,\n/);
    const grows = { ...csi, controllerExpandSecretRef: { name: 'a', namespace: 'b' } };
    expect(onUpdate(persistentVolumes, volume({ csi }), volume({ csi: grows }))).toEqual([]);
  });
  test('node affinity is immutable, except for replacing deprecated labels', () => {
    const on = (key: string, ...values: string[]) =>
      volume({
        csi,
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values }] }] } },
      });
    const old = on('failure-domain.beta.kubernetes.io/zone', 'z');
    expect(onUpdate(persistentVolumes, old, on('topology.kubernetes.io/zone', 'z'))).toEqual([]);
    expect(onUpdate(persistentVolumes, old, on('topology.kubernetes.io/zone', 'y'))).toEqual([
      [
        'nodeAffinity',
        'Invalid',
        invalid(
          {
            Required: {
              NodeSelectorTerms: [
                {
                  MatchExpressions: [{ Key: 'topology.kubernetes.io/zone', Operator: 'In', Values: ['y'] }],
                  MatchFields: null,
                },
              ],
            },
          },
          'field is immutable, except for updating from beta label to GA',
        ),
      ],
    ]);
  });
  test('errors of an updated volume are reported twice', () => {
    const bad = volume({ csi, accessModes: [] });
    const found = ['spec.accessModes', 'Required', missing];
    expect(onUpdate(persistentVolumes, volume({ csi }), bad)).toEqual([found, found]);
  });
  test('warnings', () => {
    const key = 'volume.beta.kubernetes.io/storage-class';
    const mountOptions = 'volume.beta.kubernetes.io/mount-options';
    expect(
      warningsOf(persistentVolumes, {
        metadata: { annotations: { [key]: 'c', [mountOptions]: 'ro' } },
        ...volume({ rbd: { monitors: ['m'], image: 'i' }, persistentVolumeReclaimPolicy: 'Recycle' }),
      }),
    ).toEqual([
      `metadata.annotations[${key}]: deprecated since v1.8; use "storageClassName" attribute instead`,
      `metadata.annotations[${mountOptions}]: deprecated since v1.31; use "mountOptions" attribute instead`,
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
      'spec.rbd: deprecated in v1.28, non-functional in v1.31+',
    ]);
  });
});

describe('persistent volume claims', () => {
  const claim = (more: Fragment): Fragment => ({
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...more },
  });
  const rows: readonly Row[] = [
    ['a valid claim', claim({})],
    [
      'an empty spec',
      { spec: { accessModes: [], resources: {} } },
      ['spec.accessModes', 'Required', required('at least 1 access mode is required')],
      ['spec.resources[storage]', 'Required', missing],
    ],
    [
      'an unknown volume mode',
      claim({ volumeMode: 'Odd' }),
      ['spec.volumeMode', 'NotSupported', unsupported('Odd', 'Block', 'Filesystem')],
    ],
    [
      'no storage request',
      claim({ resources: { requests: { storage: '0' } } }),
      ['spec.resources[storage]', 'Invalid', invalid('0', 'must be greater than zero')],
    ],
    [
      'a data source without a name',
      claim({ dataSource: { kind: 'PersistentVolumeClaim' } }),
      ['spec.dataSource.name', 'Required', missing],
      ['spec.dataSourceRef.name', 'Required', missing],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(persistentVolumeClaims, fragment)).toEqual(sorted(expected));
  });
  test('dataSource and dataSourceRef agree; a kind that dataSource does not support is dropped', () => {
    const pvc = { kind: 'PersistentVolumeClaim', name: 'p' };
    expect(created(persistentVolumeClaims, claim({ dataSource: pvc }))['spec']).toMatchObject({
      dataSource: pvc,
      dataSourceRef: pvc,
    });
    expect(
      created(persistentVolumeClaims, claim({ dataSource: { kind: 'Odd', name: 'p' } }))['spec'],
    ).not.toHaveProperty('dataSource');
  });
  test('the spec of an unbound claim is immutable, except for volumeName', () => {
    const why =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    const diff =
      '@@ -1,6 +1,6 @@\n {\n  "AccessModes": [\n-  "ReadWriteOnce"\n+  "ReadWriteMany"\n  ],\n  "Selector": null,\n  "Resources": {\n';
    expect(onUpdate(persistentVolumeClaims, claim({}), claim({ accessModes: ['ReadWriteMany'] }))).toEqual([
      ['spec', 'Forbidden', forbidden(`${why}\n${diff}`)],
    ]);
    expect(onUpdate(persistentVolumeClaims, claim({}), claim({ volumeName: 'v' }))).toEqual([]);
    // A changed spec is validated like a new one, too.
    expect(onUpdate(persistentVolumeClaims, claim({}), claim({ accessModes: [] })).map(([at]) => at)).toEqual([
      'spec',
      'spec.accessModes',
    ]);
  });
  const key = 'volume.beta.kubernetes.io/storage-class';
  const noted = (text: string) => ({ metadata: { annotations: { [key]: text } } });
  const kept = ['metadata.annotations.volume.beta.kubernetes.io/storage-class', 'Invalid', immutable('d')];
  test.each([
    ['a class where there was none', {}, { storageClassName: 'c' }, {}, {}],
    ['from the annotation', {}, { storageClassName: 'c' }, noted('c'), {}],
    ['both', {}, { storageClassName: 'c' }, noted('c'), noted('c')],
    ['a changed annotation', {}, {}, noted('c'), noted('d'), kept],
    ['a changed annotation, and the field', {}, { storageClassName: 'c' }, noted('c'), noted('d'), kept],
  ] as const)('the class of a claim: %s', (_, old, now, was, is, ...found) => {
    expect(onUpdate(persistentVolumeClaims, { ...was, ...claim(old) }, { ...is, ...claim(now) })).toEqual(found);
  });
  test('volumeAttributesClassName cannot be unset', () => {
    const at = 'spec.volumeAttributesClassName';
    const [old, none, empty] = [
      claim({ volumeAttributesClassName: 'a' }),
      claim({}),
      claim({ volumeAttributesClassName: '' }),
    ];
    expect(onUpdate(persistentVolumeClaims, old, none)).toContainEqual([
      at,
      'Forbidden',
      forbidden('update from non-nil value to nil is forbidden'),
    ]);
    expect(onUpdate(persistentVolumeClaims, old, empty)).toContainEqual([
      at,
      'Forbidden',
      forbidden('update from non-nil value to an empty string is forbidden'),
    ]);
  });
  test('the status of a claim is validated', () => {
    const status = {
      capacity: { storage: '-1' },
      allocatedResources: { cpu: '1', 'example.com/x': '-1' },
      allocatedResourceStatuses: { storage: 'Odd' },
    };
    const states = ['ControllerResizeInProgress', 'ControllerResizeInfeasible', 'NodeResizeInProgress'];
    expect(onUpdate(persistentVolumeClaims, claim({}), { ...claim({}), status }, 'status')).toEqual(
      sorted([
        ['status.capacity[storage]', 'Invalid', invalid(-1, 'must be a valid resource quantity')],
        ['status.allocatedResources', 'NotSupported', unsupported('cpu', 'storage')],
        ['status.allocatedResources[example.com/x]', 'Invalid', invalid(-1, 'must be a valid resource quantity')],
        [
          'status.allocatedResourceStatuses',
          'NotSupported',
          unsupported('storage', ...states, 'NodeResizeInfeasible', 'NodeResizePending'),
        ],
      ]),
    );
  });
  test('warnings', () => {
    expect(
      warningsOf(persistentVolumeClaims, {
        ...noted('c'),
        ...claim({ resources: { requests: { storage: '1500m' } } }),
      }),
    ).toEqual([
      `metadata.annotations[${key}]: deprecated since v1.8; use "storageClassName" attribute instead`,
      'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
    ]);
  });
});

describe('endpoints', () => {
  const at = 'subsets[0].addresses[0].ip';
  const address = (ip: string): Fragment => ({ subsets: [{ addresses: [{ ip }] }] });
  const rows: readonly Row[] = [
    ['an address and a port', { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }] }],
    [
      'no address and no port',
      { subsets: [{ addresses: [{ ip: 'nope' }], ports: [{ port: 0 }] }] },
      [at, 'Invalid', invalid('nope', 'must be a valid IP address')],
      [at, 'Invalid', invalid('nope', says.ip)],
      ['subsets[0].ports[0].port', 'Invalid', invalid(0, says.port)],
    ],
    [
      'an empty subset',
      { subsets: [{}] },
      ['subsets[0]', 'Required', required('must specify `addresses` or `notReadyAddresses`')],
    ],
    ['anywhere', address('0.0.0.0'), [at, 'Invalid', invalid('0.0.0.0', 'may not be unspecified (0.0.0.0)')]],
    [
      'a loopback address',
      address('127.1.2.3'),
      [at, 'Invalid', invalid('127.1.2.3', 'may not be in the loopback range (127.0.0.0/8, ::1/128)')],
    ],
    [
      'a link-local address',
      address('fe80::1'),
      [at, 'Invalid', invalid('fe80::1', 'may not be in the link-local range (169.254.0.0/16, fe80::/10)')],
    ],
    [
      'a link-local multicast address',
      address('224.0.0.9'),
      [at, 'Invalid', invalid('224.0.0.9', 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)')],
    ],
    [
      'ports without names',
      { subsets: [{ notReadyAddresses: [{ ip: '10.0.0.1' }], ports: [{ port: 1 }, { port: 2, name: 'A' }] }] },
      ['subsets[0].ports[0].name', 'Required', missing],
      ['subsets[0].ports[1].name', 'Invalid', invalid('A', says.label)],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(endpoints, fragment)).toEqual(sorted(expected));
  });

  test('non-canonical addresses have a warning, except those of the endpoint controller', () => {
    const subsets = [{ notReadyAddresses: [{ ip: '2001:DB8::1' }], ports: [{ port: 1 }] }];
    const labels = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' };
    expect(warningsOf(endpoints, { subsets })).toEqual([
      'subsets[0].notReadyAddresses[0].ip: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
    ]);
    expect(warningsOf(endpoints, { metadata: { labels }, subsets })).toEqual([]);
  });
});

describe('events', () => {
  const about = { kind: 'Pod', name: 'p', namespace: 'ns' };
  const full: Fragment = {
    involvedObject: about,
    reason: 'R',
    action: 'A',
    type: 'Normal',
    eventTime: '2024-01-01T00:00:00.000000Z',
    reportingComponent: 'example.com/c',
    reportingInstance: 'i',
  };
  const rows: readonly Row[] = [
    ['a core/v1 event', { involvedObject: about }],
    [
      'another namespace than its object',
      { involvedObject: { ...about, namespace: 'other' } },
      ['involvedObject.namespace', 'Invalid', invalid('other', 'does not match event.namespace')],
    ],
    [
      'a cluster-scoped object, in a namespace',
      { involvedObject: { kind: 'Node', name: 'n' } },
      ['involvedObject.namespace', 'Invalid', invalid('', 'does not match event.namespace')],
    ],
    ['a cluster-scoped object', { involvedObject: { kind: 'Node' }, metadata: { namespace: 'default' } }],
    ['an events.v1 event', full],
    [
      'an events.v1 event without a reporter',
      { ...full, reportingComponent: '', reportingInstance: '', action: '', reason: '' },
      ['reportingComponent', 'Required', missing],
      ['reportingComponent', 'Invalid', invalid('', 'name part must be non-empty')],
      ['reportingComponent', 'Invalid', invalid('', says.qualified)],
      ['reportingInstance', 'Required', missing],
      ['action', 'Required', missing],
      ['reason', 'Required', missing],
    ],
    [
      'fields that are too long',
      { ...full, message: 'x'.repeat(1025), reason: 'x'.repeat(129) },
      ['message', 'Invalid', invalid('', 'can have at most 1024 characters')],
      ['reason', 'Invalid', invalid('', 'can have at most 128 characters')],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(events, fragment)).toEqual(sorted(expected));
  });

  // Events are validated in the stored core/v1 form.
  const stored = { ...newEvents, versions: events.versions };
  const news: readonly Row[] = [
    ['valid', full],
    [
      'neither time nor type',
      { involvedObject: about, type: 'Odd' },
      ['eventTime', 'Required', missing],
      ['type', 'Invalid', invalid('', 'has invalid value: Odd')],
    ],
    [
      'deprecated fields',
      { ...full, count: 1, source: { component: 'c' }, firstTimestamp: '2024-01-01T00:00:00Z' },
      ['count', 'Invalid', invalid('', 'needs to be unset')],
      ['firstTimestamp', 'Invalid', invalid('', 'needs to be unset')],
      ['source', 'Invalid', invalid('', 'needs to be unset')],
    ],
    [
      'a series with a count of one',
      { ...full, series: { count: 1 } },
      ['series.count', 'Invalid', invalid('', 'should be at least 2')],
      ['series.lastObservedTime', 'Required', missing],
    ],
  ];
  test.each(news)('events.v1: %s', (_, fragment, ...expected) => {
    expect(onCreate(stored, fragment)).toEqual(sorted(expected));
  });
  test('events.v1: only the series may change', () => {
    const series = { count: 2, lastObservedTime: '2024-01-01T00:00:01.000000Z' };
    expect(onUpdate(stored, full, { ...full, series })).toEqual([]);
    expect(onUpdate(stored, full, { ...full, reason: 'S', reportingComponent: 'd' })).toEqual([
      ['reason', 'Invalid', immutable('S')],
      ['reason', 'Invalid', immutable('S')],
      ['reportingController', 'Invalid', immutable('d')],
    ]);
  });
  test('a row shows the last timestamp and the source', () => {
    const times = { firstTimestamp: '2024-01-02T03:00:00Z', lastTimestamp: '2024-01-02T03:04:00Z', count: 3 };
    expect(cellsOf(events, { ...times, source: { component: 'c', host: 'h' } })).toMatchObject({
      'Last Seen': '5s',
      'First Seen': '4m5s',
      Count: 3,
      Source: 'c, h',
    });
    const series = { count: 2, lastObservedTime: '2024-01-02T03:03:05.000000Z' };
    const report = { eventTime: '2024-01-02T03:00:00.000000Z', reportingComponent: 'r', reportingInstance: 'i' };
    expect(cellsOf(events, { ...report, series })).toMatchObject({
      'Last Seen': '60s',
      'First Seen': '4m5s',
      Count: 2,
      Source: 'r, i',
    });
    expect(cellsOf(events, {})).toMatchObject({ 'Last Seen': '<unknown>', Count: 1, Source: '' });
  });
  test('the name of a core/v1 event may contain any character that is valid in a path', () => {
    expect(events.strategy.nameRule?.('A_b.c')).toEqual([]);
    expect(newEvents.strategy.nameRule).toBeUndefined();
  });
  test('there are no warnings', () => {
    expect(warningsOf(events, { involvedObject: about })).toEqual([]);
  });
});
