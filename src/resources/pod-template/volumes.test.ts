import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import { pods } from '../core/pods.ts';
import { type ReportedError, validateOnCreate, wording } from './testing/validate.ts';

// Fields and texts are those of the reference server.
const V = 'spec.volumes[0]';

const errorsOf = (...volumes: JsonObject[]) =>
  validateOnCreate(pods, { spec: { containers: [{ name: 'c', image: 'i' }], serviceAccountName: 's', volumes } });

type Row = readonly [title: string, source: JsonObject, ...found: ReportedError[]];

function check(rows: readonly Row[]): void {
  test.each(rows.map(([title, source, ...found]) => ({ title, source, found })))('$title', ({ source, found }) => {
    expect(errorsOf({ name: 'v', ...source })).toEqual(found);
  });
}

describe('volumes', () => {
  check([
    ['no source is an empty directory', {}],
    ['no name', { name: '' }, ['Required', `${V}.name`, 'Required value']],
    ['dots in the name', { name: 'a.b' }, ['Invalid', `${V}.name`, 'Invalid value: "a.b": must not contain dots']],
    [
      'two sources',
      { emptyDir: {}, hostPath: { path: '/x' } },
      ['Forbidden', `${V}.hostPath`, 'Forbidden: may not specify more than 1 volume type'],
    ],
    [
      'three sources',
      { secret: { secretName: 's' }, nfs: { server: 's', path: '/p' }, configMap: { name: 'c' } },
      ['Forbidden', `${V}.nfs`, 'Forbidden: may not specify more than 1 volume type'],
      ['Forbidden', `${V}.configMap`, 'Forbidden: may not specify more than 1 volume type'],
    ],
    [
      'a negative sizeLimit',
      { emptyDir: { sizeLimit: '-1' } },
      ['Forbidden', `${V}.emptyDir.sizeLimit`, 'Forbidden: SizeLimit field must be a valid resource quantity'],
    ],
    [
      'a host path with ..',
      { hostPath: { path: '/a/../b' } },
      ['Invalid', `${V}.hostPath.path`, 'Invalid value: "/a/../b": must not contain \'..\''],
    ],
    [
      'an unknown type of host path',
      { hostPath: { path: '/a', type: 'Odd' } },
      [
        'NotSupported',
        `${V}.hostPath.type`,
        'Unsupported value: "Odd": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
      ],
    ],
    [
      'a host path with an unknown type and no path',
      { hostPath: { path: '', type: 'Odd' } },
      ['Required', `${V}.hostPath.path`, 'Required value'],
    ],
    ['a secret without a name', { secret: {} }, ['Required', `${V}.secret.secretName`, 'Required value']],
    [
      'mode bits above 0777',
      { secret: { secretName: 's', defaultMode: 512 } },
      [
        'Invalid',
        `${V}.secret.defaultMode`,
        'Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive',
      ],
    ],
    ['a map without a name', { configMap: {} }, ['Required', `${V}.configMap.name`, 'Required value']],
    [
      'a path with ..',
      { configMap: { name: 'c', items: [{ key: 'k', path: '../x' }] } },
      ['Invalid', `${V}.configMap.items[0].path`, 'Invalid value: "../x": must not contain \'..\''],
    ],
    [
      'a file that starts with dots',
      { configMap: { name: 'c', items: [{ key: 'k', path: '..x' }] } },
      ['Invalid', `${V}.configMap.items[0].path`, 'Invalid value: "..x": must not start with \'..\''],
    ],
    [
      'an absolute path',
      { secret: { secretName: 's', items: [{ key: 'k', path: '/x' }] } },
      ['Invalid', `${V}.secret.items[0].path`, 'Invalid value: "/x": must be a relative path'],
    ],
    [
      'an item without a key',
      { secret: { secretName: 's', items: [{ path: 'x' }] } },
      ['Required', `${V}.secret.items[0].key`, 'Required value'],
    ],
    [
      'a claim without a name',
      { persistentVolumeClaim: {} },
      ['Required', `${V}.persistentVolumeClaim.claimName`, 'Required value'],
    ],
    [
      'a relative NFS path',
      { nfs: { server: 's', path: 'p' } },
      ['Invalid', `${V}.nfs.path`, 'Invalid value: "p": must be an absolute path'],
    ],
    [
      'an invalid IQN',
      { iscsi: { targetPortal: 't', iqn: 'abc', lun: 1 } },
      ['Invalid', `${V}.iscsi.iqn`, 'Invalid value: "abc": must be valid format starting with iqn, eui, or naa'],
    ],
    [
      'iSCSI CHAP without a secret',
      { iscsi: { targetPortal: 't', iqn: 'iqn.2024-01.com.example:x', lun: 1, chapAuthSession: true } },
      ['Required', `${V}.iscsi.secretRef`, 'Required value'],
    ],
    [
      'neither targetWWNs nor wwids',
      { flocker: {} },
      ['Required', `${V}.flocker`, 'Required value: one of datasetName and datasetUUID is required'],
    ],
    [
      'no Fibre Channel target',
      { fc: {} },
      ['Required', `${V}.fc.targetWWNs`, 'Required value: must specify either targetWWNs or wwids, but not both'],
    ],
    [
      'a Fibre Channel target without a LUN',
      { fc: { targetWWNs: ['a'] } },
      ['Required', `${V}.fc.lun`, 'Required value: lun is required if targetWWNs is specified'],
    ],
    [
      'a FlexVolume option under a reserved domain',
      { flexVolume: { driver: 'd', options: { 'x.kubernetes.io/a': 'b' } } },
      [
        'Invalid',
        `${V}.flexVolume.options[x.kubernetes.io/a]`,
        'Invalid value: "x.kubernetes.io/a": kubernetes.io and k8s.io namespaces are reserved',
      ],
    ],
    [
      'an invalid URI of a managed disk',
      { azureDisk: { diskName: 'd', diskURI: 'x', kind: 'Managed' } },
      [
        'NotSupported',
        `${V}.azureDisk.diskURI`,
        'Unsupported value: "x": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"',
      ],
    ],
    [
      'an invalid CSI driver name',
      { csi: { driver: 'a_b' } },
      ['Invalid', `${V}.csi.driver`, `Invalid value: "a_b": ${wording.subdomain}`],
    ],
    ['no CSI driver', { csi: {} }, ['Required', `${V}.csi.driver`, 'Required value']],
    [
      'a CSI driver name that is too long',
      { csi: { driver: 'a'.repeat(64) } },
      ['TooLong', `${V}.csi.driver`, 'Too long: may not be more than 63 bytes'],
    ],
    [
      'a CSI secret without a name',
      { csi: { driver: 'd', nodePublishSecretRef: {} } },
      ['Required', `${V}.csi.nodePublishSecretRef.name`, 'Required value'],
    ],
    ['an image without a reference', { image: {} }, ['Required', `${V}.image.reference`, 'Required value']],
    [
      'an unknown pull policy',
      { image: { reference: 'r', pullPolicy: 'X' } },
      [
        'NotSupported',
        `${V}.image.pullPolicy`,
        'Unsupported value: "X": supported values: "Always", "IfNotPresent", "Never"',
      ],
    ],
  ]);

  test('names are unique', () => {
    expect(errorsOf({ name: 'v', emptyDir: {} }, { name: 'v', emptyDir: {} })).toEqual([
      ['Duplicate', 'spec.volumes[1].name', 'Duplicate value: "v"'],
    ]);
  });
});

describe('downward API files', () => {
  const D = `${V}.downwardAPI`;
  check([
    ['valid', { downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } }],
    [
      'neither fieldRef nor resourceFieldRef',
      { downwardAPI: { items: [{ path: 'l' }] } },
      ['Required', D, 'Required value: one of fieldRef and resourceFieldRef is required'],
    ],
    [
      'no path',
      { downwardAPI: { items: [{ fieldRef: { fieldPath: 'metadata.name' } }] } },
      ['Required', `${D}.path`, 'Required value'],
    ],
    [
      'a field path for environment variables only',
      { downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'status.podIP' } }] } },
      [
        'NotSupported',
        `${D}.fieldRef.fieldPath`,
        'Unsupported value: "status.podIP": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
      ],
    ],
    [
      'a resource without a container',
      { downwardAPI: { items: [{ path: 'l', resourceFieldRef: { resource: 'limits.cpu' } }] } },
      ['Required', `${D}.resourceFieldRef.containerName`, 'Required value'],
    ],
    [
      'both fieldRef and resourceFieldRef',
      {
        downwardAPI: {
          items: [
            {
              path: 'l',
              fieldRef: { fieldPath: 'metadata.name' },
              resourceFieldRef: { containerName: 'c', resource: 'limits.cpu' },
            },
          ],
        },
      },
      ['Invalid', D, 'Invalid value: "resource": fieldRef and resourceFieldRef can not be specified simultaneously'],
    ],
  ]);
});

describe('projected volumes', () => {
  const P = `${V}.projected`;
  check([
    ['valid', { projected: { sources: [{ serviceAccountToken: { path: 't' } }, { configMap: { name: 'c' } }] } }],
    [
      'a secret without a name',
      { projected: { sources: [{ secret: {} }] } },
      ['Required', `${P}.sources[0].secret.name`, 'Required value'],
    ],
    [
      'a token expiration below the minimum',
      { projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 60 } }] } },
      [
        'Invalid',
        `${P}.sources[0].serviceAccountToken.expirationSeconds`,
        'Invalid value: 60: may not specify a duration less than 10 minutes',
      ],
    ],
    [
      'a token without a path',
      { projected: { sources: [{ serviceAccountToken: {} }] } },
      ['Required', `${P}.path`, 'Required value'],
    ],
    [
      'two types in one source',
      { projected: { sources: [{ secret: { name: 's' }, configMap: { name: 'c' } }] } },
      ['Forbidden', `${P}.sources[0]`, 'Forbidden: may not specify more than 1 volume type per source'],
    ],
    [
      'a duplicate path',
      {
        projected: {
          sources: [
            { secret: { name: 's', items: [{ key: 'a', path: 'f' }] } },
            { configMap: { name: 'c', items: [{ key: 'b', path: 'f' }] } },
          ],
        },
      },
      ['Invalid', P, 'Invalid value: "c": conflicting duplicate paths'],
    ],
  ]);

  test('service account tokens need a service account', () => {
    const volumes = [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }];
    expect(validateOnCreate(pods, { spec: { containers: [{ name: 'c', image: 'i' }], volumes } })).toEqual([
      [
        'Forbidden',
        `${P}.sources[0].serviceAccountToken`,
        'Forbidden: must not be specified when serviceAccountName is not set',
      ],
    ]);
  });
});

describe('ephemeral volume claims', () => {
  const T = `${V}.ephemeral.volumeClaimTemplate`;
  const claim = (spec: JsonObject, metadata: JsonObject = {}) => ({
    ephemeral: { volumeClaimTemplate: { metadata, spec } },
  });
  const resources = { requests: { storage: '1Gi' } };
  check([
    ['valid', claim({ accessModes: ['ReadWriteOnce'], resources })],
    ['no template', { ephemeral: {} }, ['Required', T, 'Required value']],
    [
      'no access mode and no size',
      claim({}),
      ['Required', `${T}.spec.accessModes`, 'Required value: at least 1 access mode is required'],
      ['Required', `${T}.spec.resources[storage]`, 'Required value'],
    ],
    [
      'an unknown mode',
      claim({ accessModes: ['X'], resources }),
      [
        'NotSupported',
        `${T}.spec.accessModes`,
        'Unsupported value: "X": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      ],
    ],
    [
      'ReadWriteOncePod with other modes',
      claim({ accessModes: ['ReadWriteOncePod', 'ReadWriteMany'], resources }),
      ['Forbidden', `${T}.spec.accessModes`, 'Forbidden: may not use ReadWriteOncePod with other access modes'],
    ],
    [
      'no storage request',
      claim({ accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '0' } } }),
      ['Invalid', `${T}.spec.resources[storage]`, 'Invalid value: "0": must be greater than zero'],
    ],
    [
      'metadata with a name',
      claim({ accessModes: ['ReadWriteOnce'], resources }, { name: 'x', uid: 'u', namespace: '' }),
      ['Forbidden', `${T}.metadata.name`, 'Forbidden: cannot be set'],
      ['Forbidden', `${T}.metadata.uID`, 'Forbidden: cannot be set'],
    ],
  ]);

  test('no other volume uses the generated claim', () => {
    const ephemeral = { name: 'e', ...claim({ accessModes: ['ReadWriteOnce'], resources }) };
    expect(errorsOf(ephemeral, { name: 'p', persistentVolumeClaim: { claimName: 'a-e' } })).toEqual([
      [
        'Invalid',
        'spec.volumes[1].persistentVolumeClaim.claimName',
        'Invalid value: "a-e": must not reference a PVC that gets created for an ephemeral volume',
      ],
    ]);
  });
});
