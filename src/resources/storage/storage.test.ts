import { describe, expect, test } from 'vitest';
import { defaultFeatures, namesFor } from '../../meta/index.ts';
import { created, type Fragment, onCreate, onUpdate, type Row, replaced, sorted } from '../testing/kind.ts';
import { duplicate, forbidden, immutable, invalid, missing, required, says, unsupported } from '../testing/messages.ts';
import { csiDrivers } from './csi-drivers.ts';
import { csiNodes } from './csi-nodes.ts';
import { csiStorageCapacities } from './csi-storage-capacities.ts';
import { storageClasses } from './storage-classes.ts';
import { volumeAttachments } from './volume-attachments.ts';
import { volumeAttributesClasses } from './volume-attributes-classes.ts';

describe('storage classes', () => {
  const rows: readonly Row[] = [
    ['a provisioner', { provisioner: 'example.com/p' }],
    [
      'neither provisioner nor reclaim policy',
      { provisioner: '', reclaimPolicy: 'Odd' },
      ['provisioner', 'Required', missing],
      ['reclaimPolicy', 'NotSupported', unsupported('Odd', 'Delete', 'Retain')],
    ],
    ['a provisioner that is none', { provisioner: 'a b' }, ['provisioner', 'Invalid', invalid('a b', says.qualified)]],
    [
      'an unknown binding mode',
      { provisioner: 'p', volumeBindingMode: 'Odd' },
      ['volumeBindingMode', 'NotSupported', unsupported('Odd', 'Immediate', 'WaitForFirstConsumer')],
    ],
    [
      'an empty parameter key',
      { provisioner: 'p', parameters: { '': 'x' } },
      ['parameters', 'Invalid', invalid('', 'field can not be empty.')],
    ],
    [
      'duplicate topologies',
      {
        provisioner: 'p',
        allowedTopologies: [
          { matchLabelExpressions: [{ key: 'k', values: ['a', 'a'] }] },
          { matchLabelExpressions: [{ key: 'k', values: ['a'] }] },
        ],
      },
      ['allowedTopologies[0].matchLabelExpressions[0].values[1]', 'Duplicate', duplicate('a')],
      ['allowedTopologies[1].matchLabelExpressions', 'Duplicate', duplicate('')],
    ],
    [
      'an empty topology',
      { provisioner: 'p', allowedTopologies: [{}] },
      ['allowedTopologies[0].matchLabelExpressions', 'Duplicate', duplicate('')],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(storageClasses, fragment)).toEqual(sorted(expected));
  });
  test('defaults', () => {
    expect(created(storageClasses, { provisioner: 'p' })).toMatchObject({
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'Immediate',
    });
  });
  test('a storage class is immutable', () => {
    const changed = { provisioner: 'q', parameters: { a: 'b' }, reclaimPolicy: 'Retain' };
    expect(onUpdate(storageClasses, { provisioner: 'p' }, { ...changed, volumeBindingMode: 'Immediate' })).toEqual([
      ['parameters', 'Invalid', immutable({ a: 'b' })],
      ['provisioner', 'Invalid', immutable('q')],
      ['reclaimPolicy', 'Invalid', immutable('Retain')],
    ]);
    expect(
      onUpdate(storageClasses, { provisioner: 'p' }, { provisioner: 'p', volumeBindingMode: 'WaitForFirstConsumer' }),
    ).toEqual([['volumeBindingMode', 'Invalid', immutable('WaitForFirstConsumer')]]);
  });
});

describe('CSI drivers', () => {
  const rows: readonly Row[] = [
    ['an empty spec', { spec: {} }],
    [
      'an unknown fsGroupPolicy',
      { spec: { fsGroupPolicy: 'Odd' } },
      ['spec.fsGroupPolicy', 'NotSupported', unsupported('Odd', 'File', 'None', 'ReadWriteOnceWithFSType')],
    ],
    [
      'an unknown lifecycle mode',
      { spec: { volumeLifecycleModes: ['Odd'] } },
      ['spec.volumeLifecycleModes', 'NotSupported', unsupported('Odd', 'Persistent', 'Ephemeral')],
    ],
    [
      'invalid token requests',
      { spec: { tokenRequests: [{ audience: 'a', expirationSeconds: 599 }, { audience: 'a' }] } },
      [
        'spec.tokenRequests[0].expirationSeconds',
        'Invalid',
        invalid(599, 'may not specify a duration less than 10 minutes'),
      ],
      ['spec.tokenRequests[1].audience', 'Duplicate', duplicate('a')],
    ],
    [
      'a period below the minimum',
      { spec: { nodeAllocatableUpdatePeriodSeconds: 9 } },
      ['spec.nodeAllocatableUpdatePeriodSeconds', 'Invalid', invalid(9, 'must be greater than or equal to 10 seconds')],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(csiDrivers, fragment)).toEqual(sorted(expected));
  });
  test('defaults; the generation increments on changes only', () => {
    const driver = created(csiDrivers, { spec: {} });
    expect(driver['spec']).toEqual({
      attachRequired: true,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      podInfoOnMount: false,
      requiresRepublish: false,
      seLinuxMount: false,
      storageCapacity: false,
      volumeLifecycleModes: ['Persistent'],
    });
    expect(driver.metadata.generation).toBeUndefined();
    expect(replaced(csiDrivers, driver, { spec: { requiresRepublish: true } }).metadata.generation).toBe(1);
  });
  test('attachRequired and volumeLifecycleModes are immutable', () => {
    expect(
      onUpdate(csiDrivers, { spec: {} }, { spec: { attachRequired: false, volumeLifecycleModes: ['Ephemeral'] } }),
    ).toEqual([
      ['spec.attachedRequired', 'Invalid', immutable(false)],
      ['spec.volumeLifecycleModes', 'Invalid', immutable(['Ephemeral'])],
    ]);
  });
});

describe('CSI nodes', () => {
  const driver = (more: Fragment): Fragment => ({ spec: { drivers: [{ name: 'd', nodeID: 'i', ...more }] } });
  const rows: readonly Row[] = [
    ['no drivers', { spec: { drivers: [] } }],
    [
      'neither name nor node ID',
      driver({ name: 'BAD_', nodeID: '' }),
      ['spec.drivers[0].name', 'Invalid', invalid('BAD_', says.subdomain)],
      ['spec.drivers[0].nodeID', 'Required', missing],
    ],
    [
      'a node ID that is too long',
      driver({ nodeID: 'x'.repeat(257) }),
      ['spec.drivers[0].nodeID', 'Invalid', invalid('x'.repeat(257), 'must be 256 characters or less')],
    ],
    ['keys twice', driver({ topologyKeys: ['a', 'a'] }), ['spec.drivers[0]', 'Duplicate', duplicate('a')]],
    [
      'a duplicate driver',
      {
        spec: {
          drivers: [
            { name: 'd', nodeID: 'i' },
            { name: 'd', nodeID: 'j' },
          ],
        },
      },
      ['spec.drivers[1].name', 'Duplicate', duplicate('d')],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(csiNodes, fragment)).toEqual(sorted(expected));
  });
  test('an existing driver is immutable', () => {
    const shown = { Name: 'd', NodeID: 'j', TopologyKeys: null, Allocatable: null };
    expect(onUpdate(csiNodes, driver({}), driver({ nodeID: 'j' }))).toEqual([
      ['spec.drivers', 'Invalid', immutable(shown)],
    ]);
    const counted = { Name: 'd', NodeID: 'i', TopologyKeys: null, Allocatable: { Count: 2 } };
    const [before, after] = [created(csiNodes, driver({})), created(csiNodes, driver({ allocatable: { count: 2 } }))];
    const changes = (mutable: boolean) =>
      csiNodes.strategy.validateUpdate?.(after, before, {
        names: namesFor('k8s.io'),
        now: 0,
        features: { ...defaultFeatures, MutableCSINodeAllocatableCount: mutable },
      });
    expect(changes(true)).toEqual([]);
    expect(changes(false)).toMatchObject([{ field: 'spec.drivers', message: immutable(counted) }]);
  });
});

describe('CSI storage capacities', () => {
  const rows: readonly Row[] = [
    ['a capacity', { storageClassName: 'sc', capacity: '1Gi' }],
    ['a class', { storageClassName: 'BAD_' }, ['storageClassName', 'Invalid', invalid('BAD_', says.subdomain)]],
    [
      'a negative capacity',
      { storageClassName: 'sc', capacity: '-1', maximumVolumeSize: '-1' },
      ['capacity', 'Invalid', invalid('-1', 'must be greater than or equal to 0')],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(csiStorageCapacities, fragment)).toEqual(sorted(expected));
  });
  test('the storage class name is immutable', () => {
    expect(onUpdate(csiStorageCapacities, { storageClassName: 'a' }, { storageClassName: 'b' })).toEqual([
      ['storageClassName', 'Invalid', immutable('b')],
    ]);
  });
});

describe('volume attachments', () => {
  const rows: readonly Row[] = [
    ['an attachment', { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } } }],
    [
      'an empty spec',
      { spec: { attacher: '', nodeName: '', source: {} } },
      ['spec.attacher', 'Required', missing],
      ['spec.nodeName', 'Invalid', invalid('', says.subdomain)],
      ['spec.source', 'Required', required('must specify exactly one of inlineVolumeSpec and persistentVolumeName')],
    ],
    [
      'a volume and an inline volume, which is not validated',
      { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p', inlineVolumeSpec: { csi: {} } } } },
      ['spec.source', 'Forbidden', forbidden('must specify exactly one of inlineVolumeSpec and persistentVolumeName')],
    ],
    [
      'an inline volume with fields that it must not have',
      {
        spec: {
          attacher: 'a',
          nodeName: 'n',
          source: {
            inlineVolumeSpec: {
              accessModes: ['ReadWriteOnce'],
              csi: { driver: 'd', volumeHandle: 'h' },
              volumeMode: 'odd',
              persistentVolumeReclaimPolicy: 'odd',
            },
          },
        },
      },
      [
        'spec.source.inlineVolumeSpec.persistentVolumeReclaimPolicy',
        'Forbidden',
        forbidden('may only be Retain in the context of inline volumes'),
      ],
      [
        'spec.source.inlineVolumeSpec.volumeMode',
        'Forbidden',
        forbidden('may not specify volumeMode other than Filesystem in the context of inline volumes'),
      ],
    ],
    [
      'an inline volume with an unsupported source',
      {
        spec: {
          attacher: 'a',
          nodeName: 'n',
          source: {
            inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1' }, hostPath: { path: '/x' } },
          },
        },
      },
      [
        'spec.source.inlineVolumeSpec.capacity',
        'Forbidden',
        forbidden('may not be specified in the context of inline volumes'),
      ],
      [
        'spec.source.inlineVolumeSpec.csi',
        'Required',
        required('has to be specified in the context of inline volumes'),
      ],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(volumeAttachments, fragment)).toEqual(sorted(expected));
  });
  test('errors of attach and detach', () => {
    const attached = created(volumeAttachments, rows[0]?.[1] ?? {});
    const failed = (detachError: Fragment) =>
      onUpdate(volumeAttachments, attached, { status: { detachError } }, 'status');
    expect(failed({ message: 'x'.repeat(1025) })).toEqual([
      ['status.detachError.message', 'TooLong', 'Too long: may not be more than 262144 bytes'],
    ]);
    expect(failed({ errorCode: -1 })).toEqual([
      ['status.detachError.errorCode', 'Invalid', invalid(-1, 'must be between 0 and 2147483647, inclusive')],
    ]);
  });
  test('the spec of an attachment is immutable', () => {
    const of = (nodeName: string) => ({ spec: { attacher: 'a', nodeName, source: { persistentVolumeName: 'p' } } });
    const shown = { Attacher: 'a', Source: { PersistentVolumeName: 'p', InlineVolumeSpec: null }, NodeName: 'm' };
    expect(onUpdate(volumeAttachments, of('n'), of('m'))).toEqual([['spec', 'Invalid', immutable(shown)]]);
  });
});

describe('volume attributes classes', () => {
  const rows: readonly Row[] = [
    ['a driver', { driverName: 'Example.com', parameters: { a: 'b' } }],
    [
      'no driver',
      {},
      ['driverName', 'Required', missing],
      ['parameters', 'Required', required('must contain at least one key/value pair')],
    ],
    [
      'an invalid driver name',
      { driverName: 'a b', parameters: { '': '' } },
      ['driverName', 'Invalid', invalid('a b', says.qualified)],
      ['parameters', 'Invalid', invalid('', 'field can not be empty.')],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(volumeAttributesClasses, fragment)).toEqual(sorted(expected));
  });
  test('are immutable', () => {
    const before = { driverName: 'd', parameters: { a: 'b' } };
    expect(onUpdate(volumeAttributesClasses, before, { driverName: 'e', parameters: { a: 'c' } })).toEqual([
      ['driverName', 'Forbidden', forbidden('updates to driverName are forbidden.')],
      ['parameters', 'Forbidden', forbidden('updates to parameters are forbidden.')],
    ]);
  });
});
