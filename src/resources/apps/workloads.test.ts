import { describe, expect, test } from 'vitest';
import type { ApiObject, JsonObject } from '../../meta/index.ts';
import type { ResourceDefinition } from '../../registry/index.ts';
import { replicationControllers } from '../core/replication-controllers.ts';
import {
  created,
  names as namesOf,
  type ReportedError,
  validateOnCreate,
  validateOnUpdate,
  warningsOnCreate,
  wording,
} from '../pod-template/testing/validate.ts';
import { controllerRevisions } from './controller-revisions.ts';
import { daemonSets } from './daemon-sets.ts';
import { deployments } from './deployments.ts';
import { replicaSets } from './replica-sets.ts';
import { statefulSets } from './stateful-sets.ts';

// Fields and texts are those of the reference server.
const pod = { containers: [{ name: 'c', image: 'i' }] };
const template = { metadata: { labels: { a: 'b' } }, spec: pod };
const selector = { matchLabels: { a: 'b' } };
const object = (spec: JsonObject): JsonObject => ({ spec: { selector, template, ...spec } });

type Row = readonly [title: string, spec: JsonObject, ...found: ReportedError[]];

function check(kind: ResourceDefinition, rows: readonly Row[]): void {
  test.each(rows.map(([title, spec, ...found]) => ({ title, spec, found })))('$title', ({ spec, found }) => {
    expect(validateOnCreate(kind, object(spec))).toEqual(found);
  });
}

interface Changing {
  metadata: { generation?: number; annotations?: { [key: string]: string } };
  spec: { [field: string]: unknown };
  status: { [field: string]: unknown };
}

const change = (kind: ResourceDefinition, before: JsonObject, how: (object: Changing) => void): ReportedError[] =>
  validateOnUpdate(kind, before, (one: ApiObject) => how(one as unknown as Changing));

const labels = 'spec.template.metadata.labels';
const mismatch: ReportedError = [
  'Invalid',
  labels,
  'Invalid value: {"a":"b"}: `selector` does not match template `labels`',
];

describe('deployments', () => {
  const S = 'spec.strategy';
  check(deployments, [
    ['valid', {}],
    ['no selector', { selector: null }, ['Required', 'spec.selector', 'Required value'], mismatch],
    [
      'an empty selector',
      { selector: {} },
      ['Invalid', 'spec.selector', 'Invalid value: {}: empty selector is invalid for deployment'],
    ],
    ['a selector that does not match the template', { selector: { matchLabels: { z: 'z' } } }, mismatch],
    [
      'a template without labels',
      { template: { spec: pod } },
      ['Invalid', labels, 'Invalid value: null: `selector` does not match template `labels`'],
    ],
    [
      'an invalid selector, with which the template is not validated',
      { selector: { matchExpressions: [{ key: 'a', operator: 'In' }] }, template: {} },
      [
        'Required',
        'spec.selector.matchExpressions[0].values',
        "Required value: must be specified when `operator` is 'In' or 'NotIn'",
      ],
      [
        'Invalid',
        'spec.selector',
        'Invalid value: {"matchExpressions":[{"key":"a","operator":"In"}]}: invalid label selector',
      ],
    ],
    [
      'pods that do not always restart',
      { template: { ...template, spec: { ...pod, restartPolicy: 'Never', activeDeadlineSeconds: 5 } } },
      ['NotSupported', 'spec.template.spec.restartPolicy', 'Unsupported value: "Never": supported values: "Always"'],
      [
        'Forbidden',
        'spec.template.spec.activeDeadlineSeconds',
        'Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
      ],
    ],
    [
      'an unknown strategy',
      { strategy: { type: 'X', rollingUpdate: {} } },
      [
        'NotSupported',
        S,
        'Unsupported value: {"Type":"X","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":0}}: supported values: "Recreate", "RollingUpdate"',
      ],
    ],
    [
      'rollingUpdate with Recreate',
      { strategy: { type: 'Recreate', rollingUpdate: {} } },
      ['Forbidden', `${S}.rollingUpdate`, "Forbidden: may not be specified when strategy `type` is 'Recreate'"],
    ],
    [
      'neither surge nor unavailable',
      { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' } } },
      ['Invalid', `${S}.rollingUpdate.maxUnavailable`, 'Invalid value: "0%": may not be 0 when `maxSurge` is 0'],
    ],
    [
      'an invalid percentage',
      { strategy: { rollingUpdate: { maxSurge: 'many' } } },
      [
        'Invalid',
        `${S}.rollingUpdate.maxSurge`,
        "Invalid value: \"many\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      ],
    ],
    [
      'a negative maxSurge',
      { strategy: { rollingUpdate: { maxSurge: -1 } } },
      ['Invalid', `${S}.rollingUpdate.maxSurge`, 'Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'more than 100%',
      { strategy: { rollingUpdate: { maxUnavailable: '101%' } } },
      ['Invalid', `${S}.rollingUpdate.maxUnavailable`, 'Invalid value: "101%": must not be greater than 100%'],
    ],
    [
      'progressDeadlineSeconds below minReadySeconds',
      { minReadySeconds: 600 },
      ['Invalid', 'spec.progressDeadlineSeconds', 'Invalid value: 600: must be greater than minReadySeconds'],
    ],
  ]);

  test('the selector is immutable', () => {
    const found = change(deployments, object({}), ({ spec }) => {
      spec['selector'] = { matchLabels: { y: 'z' } };
    });
    expect(found).toEqual([
      mismatch,
      ['Invalid', 'spec.selector', 'Invalid value: {"matchLabels":{"y":"z"}}: field is immutable'],
    ]);
  });

  test('readyReplicas cannot exceed replicas', () => {
    const found = change(deployments, object({}), ({ status }) => {
      Object.assign(status, { replicas: 1, readyReplicas: 2, availableReplicas: 3 });
    });
    expect(found).toEqual([
      ['Invalid', 'status.readyReplicas', 'Invalid value: 2: cannot be greater than status.replicas'],
      ['Invalid', 'status.availableReplicas', 'Invalid value: 3: cannot be greater than status.replicas'],
      ['Invalid', 'status.availableReplicas', 'Invalid value: 3: cannot be greater than readyReplicas'],
    ]);
  });

  test('a changed annotation increments the generation', () => {
    const old = created(deployments, object({}));
    old.metadata.generation = 3;
    const next = structuredClone(old);
    next.metadata.annotations = { a: 'b' };
    deployments.strategy.prepareUpdate?.(next, old, { names: namesOf, now: 0 });
    expect(next.metadata.generation).toBe(4);
  });

  test('a name that is not a DNS label has a warning', () => {
    expect(warningsOnCreate(deployments, { metadata: { name: 'a.b' }, ...object({}) })).toEqual([
      'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]',
    ]);
  });

  test('warnings for the template have its path', () => {
    const spec = { ...pod, terminationGracePeriodSeconds: -1 };
    expect(warningsOnCreate(deployments, object({ template: { ...template, spec } }))).toEqual([
      'spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
    ]);
  });
});

describe('daemon sets', () => {
  const U = 'spec.updateStrategy.rollingUpdate';
  check(daemonSets, [
    ['valid', {}],
    ['a null selector', { selector: null }, mismatch],
    [
      'an empty selector',
      { selector: {} },
      ['Invalid', 'spec.selector', 'Invalid value: {}: empty selector is invalid for daemonset'],
    ],
    [
      'an unknown strategy',
      { updateStrategy: { type: 'X' } },
      [
        'NotSupported',
        'spec.updateStrategy',
        'Unsupported value: {"Type":"X","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"',
      ],
    ],
    [
      'an unknown strategy with an empty rolling update',
      { updateStrategy: { type: 'Odd', rollingUpdate: {} } },
      [
        'NotSupported',
        'spec.updateStrategy',
        'Unsupported value: {"Type":"Odd","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":0}}: supported values: "RollingUpdate", "OnDelete"',
      ],
    ],
    [
      'both surge and unavailable',
      { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } },
      ['Invalid', `${U}.maxSurge`, 'Invalid value: 1: may not be set when maxUnavailable is non-zero'],
    ],
    [
      'neither surge nor unavailable',
      { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
      ['Required', `${U}.maxUnavailable`, 'Required value: cannot be 0 when maxSurge is 0'],
    ],
    [
      'pods with a deadline',
      { template: { ...template, spec: { ...pod, activeDeadlineSeconds: 5 } } },
      [
        'Forbidden',
        'spec.template.spec.activeDeadlineSeconds',
        'Forbidden: activeDeadlineSeconds in DaemonSet is not Supported',
      ],
    ],
  ]);

  const rollingUpdateOf = (updateStrategy: JsonObject) =>
    (created(daemonSets, object({ updateStrategy })) as ApiObject & { spec: { updateStrategy: JsonObject } }).spec
      .updateStrategy['rollingUpdate'];

  test.each([
    ['a rolling update', {}, { maxUnavailable: 1, maxSurge: 0 }],
    ['a rolling update with a surge', { rollingUpdate: { maxSurge: 1 } }, { maxUnavailable: 1, maxSurge: 1 }],
    ['another type', { type: 'OnDelete' }, undefined],
    [
      'another type with an empty rolling update',
      { type: 'OnDelete', rollingUpdate: {} },
      { maxUnavailable: 0, maxSurge: 0 },
    ],
    [
      'another type with a surge',
      { type: 'OnDelete', rollingUpdate: { maxSurge: 1 } },
      { maxUnavailable: 0, maxSurge: 1 },
    ],
  ])('the limits of %s are set', (_, updateStrategy, limits) => {
    expect(rollingUpdateOf(updateStrategy)).toEqual(limits);
  });

  test('the template generation is set by the server', () => {
    const old = created(daemonSets, object({}));
    const same = structuredClone(old);
    same.metadata.annotations = { 'deprecated.daemonset.template.generation': '9' };
    daemonSets.strategy.prepareUpdate?.(same, old, { names: namesOf, now: 0 });
    expect(same.metadata.annotations).toEqual({ 'deprecated.daemonset.template.generation': '1' });
    const other = structuredClone(old) as ApiObject & { spec: { template: JsonObject } };
    other.spec.template['metadata'] = { labels: { a: 'b', c: 'd' } };
    daemonSets.strategy.prepareUpdate?.(other, old, { names: namesOf, now: 0 });
    expect(other.metadata.annotations).toEqual({ 'deprecated.daemonset.template.generation': '2' });
  });

  // The reference server validates the spec once: its causes name each field once.
  test('errors of an update are reported once', () => {
    const found = change(daemonSets, object({}), ({ spec }) => Object.assign(spec, { minReadySeconds: -1 }));
    const negative: ReportedError = [
      'Invalid',
      'spec.minReadySeconds',
      'Invalid value: -1: must be greater than or equal to 0',
    ];
    expect(found).toEqual([negative]);
  });
});

describe('stateful sets', () => {
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  const U = 'spec.updateStrategy';
  check(statefulSets, [
    ['valid', { serviceName: 's' }],
    [
      'an empty selector',
      { selector: {} },
      ['Invalid', 'spec.selector', 'Invalid value: {}: empty selector is invalid for statefulset'],
    ],
    [
      'an unknown pod management policy',
      { podManagementPolicy: 'X' },
      ['Invalid', 'spec.podManagementPolicy', "Invalid value: \"X\": must be 'OrderedReady' or 'Parallel'"],
    ],
    [
      'an unknown strategy',
      { updateStrategy: { type: 'Y' } },
      ['Invalid', U, 'Invalid value: {"Type":"Y","RollingUpdate":null}: must be \'RollingUpdate\' or \'OnDelete\''],
    ],
    [
      'rollingUpdate with OnDelete',
      { updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } },
      [
        'Invalid',
        `${U}.rollingUpdate`,
        'Invalid value: {"Partition":1,"MaxUnavailable":null}: only allowed for updateStrategy \'RollingUpdate\'',
      ],
    ],
    [
      'a negative partition',
      { updateStrategy: { rollingUpdate: { partition: -1 } } },
      ['Invalid', `${U}.rollingUpdate.partition`, 'Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'maxUnavailable of 0',
      { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
      ['Invalid', `${U}.rollingUpdate.maxUnavailable`, 'Invalid value: 0: cannot be 0'],
    ],
    [
      'an unknown claim retention policy',
      { persistentVolumeClaimRetentionPolicy: { whenScaled: 'X' } },
      [
        'NotSupported',
        'spec.persistentVolumeClaimRetentionPolicy.whenScaled',
        'Unsupported value: "X": supported values: "Retain", "Delete"',
      ],
    ],
    [
      'an invalid service name',
      { serviceName: 'S' },
      ['Invalid', 'spec.serviceName', `Invalid value: "S": ${wording.label}`],
    ],
    [
      'a claim template without a name',
      { volumeClaimTemplates: [{ spec: claim }] },
      ['Required', 'spec.template.spec.volumes[0].persistentVolumeClaim.claimName', 'Required value'],
      ['Required', 'spec.template.spec.volumes[0].name', 'Required value'],
    ],
    [
      'an invalid label of the pods',
      { template: { ...template, metadata: { labels: { ...template.metadata.labels, x: '-' } } } },
      ['Invalid', 'spec.template.labels', `Invalid value: "-": ${wording.labelValue}`],
      ['Invalid', 'spec.template.labels', `Invalid value: "-": ${wording.labelValue}`],
    ],
    [
      'a claim template without a name after volumes',
      {
        template: { ...template, spec: { ...pod, volumes: [{ name: 'u' }, { name: 'v' }] } },
        volumeClaimTemplates: [{ metadata: { name: 'v' }, spec: claim }, { spec: claim }],
      },
      ['Required', 'spec.template.spec.volumes[2].persistentVolumeClaim.claimName', 'Required value'],
      ['Required', 'spec.template.spec.volumes[2].name', 'Required value'],
    ],
    [
      'claim templates with the same name',
      {
        volumeClaimTemplates: [
          { metadata: { name: 'v' }, spec: claim },
          { metadata: { name: 'v' }, spec: claim },
        ],
      },
    ],
    [
      'a negative ordinal',
      { ordinals: { start: -1 } },
      ['Invalid', 'spec.ordinals.start', 'Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'a mount of a volume claim template',
      {
        template: {
          ...template,
          spec: { containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v' }] }] },
        },
        volumeClaimTemplates: [
          {
            metadata: { name: 'v' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    ],
    [
      'pods with a deadline',
      { template: { ...template, spec: { ...pod, activeDeadlineSeconds: 5 } } },
      [
        'Forbidden',
        'spec.template.spec.activeDeadlineSeconds',
        'Forbidden: activeDeadlineSeconds in StatefulSet is not Supported',
      ],
    ],
  ]);

  test.each<{ title: string; how: (object: Changing) => void; found: ReportedError[] }>([
    { title: 'replicas may change', how: ({ spec }) => Object.assign(spec, { replicas: 5 }), found: [] },
    { title: 'ordinals may change', how: ({ spec }) => Object.assign(spec, { ordinals: { start: 1 } }), found: [] },
    { title: 'the history may change', how: ({ spec }) => Object.assign(spec, { revisionHistoryLimit: 1 }), found: [] },
    {
      title: 'the service may not',
      how: ({ spec }) => Object.assign(spec, { serviceName: 'other' }),
      found: [
        [
          'Forbidden',
          'spec',
          "Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
        ],
      ],
    },
    {
      title: 'no more are available than ready',
      how: ({ status }) => Object.assign(status, { replicas: 2, readyReplicas: 1, availableReplicas: 2 }),
      found: [['Invalid', 'status.availableReplicas', 'Invalid value: 2: cannot be greater than status.readyReplicas']],
    },
  ])('$title', ({ how, found }) => {
    expect(change(statefulSets, object({ serviceName: 's' }), how)).toEqual(found);
  });

  test('a negative revisionHistoryLimit has a warning', () => {
    expect(warningsOnCreate(statefulSets, object({ revisionHistoryLimit: -1 }))).toEqual([
      'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
    ]);
  });

  test('the name is a DNS label', () => {
    expect(statefulSets.strategy.nameRule?.('a.b')).toEqual(['must not contain dots']);
  });
});

// The reference server refuses it, as every other count.
test('a stateful set has no negative number of available replicas', () => {
  const found = change(statefulSets, object({}), (set) =>
    Object.assign(set, { status: { replicas: 0, availableReplicas: -1 } }),
  );
  expect(found).toEqual([
    ['Invalid', 'status.availableReplicas', 'Invalid value: -1: must be greater than or equal to 0'],
  ]);
});

describe('replica sets and replication controllers', () => {
  test('the selector of a replica set is immutable, and errors are reported once', () => {
    const found = change(replicaSets, object({}), ({ spec }) => {
      spec['selector'] = { matchLabels: { y: 'z' } };
    });
    expect(found).toEqual([
      mismatch,
      ['Invalid', 'spec.selector', 'Invalid value: {"matchLabels":{"y":"z"}}: field is immutable'],
    ]);
  });

  test('a replication controller without a template', () => {
    expect(validateOnCreate(replicationControllers, { spec: {} })).toEqual([
      ['Required', 'spec.selector', 'Required value'],
      ['Required', 'spec.template', 'Required value'],
    ]);
  });

  test('a replication controller defaults selector and labels from its template', () => {
    expect(created(replicationControllers, { spec: { template } })).toMatchObject({
      metadata: { labels: { a: 'b' } },
      spec: { replicas: 1, selector: { a: 'b' } },
    });
  });

  test('a replication controller whose selector does not match its template', () => {
    expect(validateOnCreate(replicationControllers, { spec: { selector: { z: 'z' }, template } })).toEqual([mismatch]);
  });

  test('a replication controller with a restart policy other than Always', () => {
    const spec = { ...pod, restartPolicy: 'OnFailure', activeDeadlineSeconds: 1 };
    expect(validateOnCreate(replicationControllers, { spec: { template: { ...template, spec } } })).toEqual([
      [
        'NotSupported',
        'spec.template.spec.restartPolicy',
        'Unsupported value: "OnFailure": supported values: "Always"',
      ],
      [
        'Forbidden',
        'spec.template.spec.activeDeadlineSeconds',
        'Forbidden: activeDeadlineSeconds in ReplicationController is not Supported',
      ],
    ]);
  });
});

test('errors of a status are reported once', () => {
  const found = validateOnUpdate(daemonSets, object({}), (one) => {
    one['status'] = { numberReady: -1 };
  });
  expect(found).toEqual([['Invalid', 'status.numberReady', 'Invalid value: -1: must be greater than or equal to 0']]);
});

test('fractional bytes in claim templates have a warning', () => {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1500m' } } };
  const volumeClaimTemplates = [{ metadata: { name: 'c' }, spec }];
  expect(warningsOnCreate(statefulSets, object({ volumeClaimTemplates }))).toEqual([
    'spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
  ]);
});

describe('controller revisions', () => {
  test('data and revision are required', () => {
    expect(validateOnCreate(controllerRevisions, { revision: -1 })).toEqual([
      ['Invalid', 'revision', 'Invalid value: -1: must be greater than or equal to 0'],
      ['Required', 'data', 'Required value: data is mandatory'],
    ]);
  });

  test('data is immutable', () => {
    const found = validateOnUpdate(controllerRevisions, { revision: 1, data: { a: 1 } }, (one) => {
      Object.assign(one, { revision: 2, data: { a: 2 } });
    });
    expect(found).toEqual([['Invalid', 'data', 'Invalid value: {"a":2}: field is immutable']]);
    const without = validateOnUpdate(controllerRevisions, { revision: 1, data: { a: 1 } }, (one) => delete one['data']);
    expect(without).toEqual([['Invalid', 'data', 'Invalid value: null: field is immutable']]);
  });
});
