import { describe, expect, test } from 'vitest';
import type { ApiObject, JsonObject } from '../../meta/index.ts';
import {
  created,
  type ReportedError,
  validateOnCreate,
  validateOnUpdate,
  warningsOnCreate,
  wording,
} from '../pod-template/testing/validate.ts';
import { jobs } from './jobs.ts';

// Fields and texts are those of the reference server.
const pod = { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' };
const job = (spec: JsonObject): JsonObject => ({ metadata: { name: 'j' }, spec: { template: { spec: pod }, ...spec } });

type Row = readonly [title: string, spec: JsonObject, ...found: ReportedError[]];

function check(rows: readonly Row[]): void {
  test.each(rows.map(([title, spec, ...found]) => ({ title, spec, found })))('$title', ({ spec, found }) => {
    expect(validateOnCreate(jobs, job(spec))).toEqual(found);
  });
}

const generated = {
  'batch.kubernetes.io/controller-uid': 'u',
  'batch.kubernetes.io/job-name': 'j',
  'controller-uid': 'u',
  'job-name': 'j',
};

describe('selector and labels', () => {
  test('are generated from UID and name, and copied to a job without labels', () => {
    const made = created(jobs, job({ template: { metadata: { labels: { a: 'b' } }, spec: pod } }));
    expect(made).toMatchObject({
      metadata: { labels: { a: 'b', ...generated } },
      spec: {
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u' } },
        template: { metadata: { labels: { a: 'b', ...generated } } },
      },
    });
  });

  test('a job keeps its own labels', () => {
    const { metadata } = created(jobs, { ...job({}), metadata: { name: 'j', labels: { x: 'y' } } });
    expect(metadata.labels).toEqual({ x: 'y' });
  });

  test('are not generated with manualSelector', () => {
    const labels = { a: 'b' };
    const made = created(
      jobs,
      job({ manualSelector: true, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } }),
    );
    expect(made).toMatchObject({ spec: { selector: { matchLabels: labels }, template: { metadata: { labels } } } });
    expect(validateOnCreate(jobs, job({ manualSelector: true }))).toEqual([
      ['Required', 'spec.selector', 'Required value'],
      ['Invalid', 'spec.template.metadata.labels', 'Invalid value: null: `selector` does not match template `labels`'],
    ]);
  });

  test('a label that differs from the generated one', () => {
    const labels = { 'job-name': 'other' };
    const shown = JSON.stringify({
      'batch.kubernetes.io/controller-uid': 'u',
      'batch.kubernetes.io/job-name': 'j',
      'controller-uid': 'u',
      'job-name': 'other',
    });
    expect(validateOnCreate(jobs, job({ template: { metadata: { labels }, spec: pod } }))).toEqual([
      ['Invalid', 'spec.template.metadata.labels[job-name]', `Invalid value: ${shown}: must be 'j'`],
    ]);
  });

  test('a selector without the generated labels', () => {
    const found = validateOnCreate(jobs, job({ selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }));
    expect(found.map(([reason, field]) => [reason, field])).toEqual([
      ['Required', 'spec.selector.matchExpressions[0].values'],
    ]);
  });

  test('a selector that differs from the generated one', () => {
    const found = validateOnCreate(jobs, job({ selector: { matchLabels: { a: 'b' } } }));
    expect(found.map(([reason, field]) => [reason, field])).toEqual([
      ['Invalid', 'spec.selector'],
      ['Invalid', 'spec.template.metadata.labels'],
    ]);
    expect(found[0]?.[2]).toBe(
      'Invalid value: {"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":"u"}}: `selector` not auto-generated',
    );
  });
});

describe('defaults', () => {
  test('backoffLimit defaults to the maximum with backoffLimitPerIndex', () => {
    const indexed = { completionMode: 'Indexed', completions: 2, backoffLimitPerIndex: 1 };
    expect(created(jobs, job(indexed))['spec']).toMatchObject({ backoffLimit: 2147483647, parallelism: 1 });
    expect(created(jobs, job({}))['spec']).toMatchObject({ backoffLimit: 6, completions: 1 });
  });

  test('the status of a pod condition pattern defaults to True', () => {
    const rules = [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }];
    expect(created(jobs, job({ podFailurePolicy: { rules } }))['spec']).toMatchObject({
      podFailurePolicy: { rules: [{ onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }] },
    });
  });
});

test('very many indexes with a high parallelism have a warning', () => {
  const many = { completionMode: 'Indexed', completions: 100_001, parallelism: 10_001 };
  expect(warningsOnCreate(jobs, job(many))).toEqual([
    'spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail',
  ]);
  expect(warningsOnCreate(jobs, job({ ...many, parallelism: 10_000 }))).toEqual([]);
});

describe('the spec', () => {
  check([
    ['valid', {}],
    [
      'a negative number',
      { backoffLimit: -1 },
      ['Invalid', 'spec.backoffLimit', 'Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'pods that always restart',
      { template: { spec: { ...pod, restartPolicy: 'Always' } } },
      ['Required', 'spec.template.spec.restartPolicy', 'Required value: valid values: "OnFailure", "Never"'],
    ],
    [
      'an unknown completion mode',
      { completionMode: 'X' },
      ['NotSupported', 'spec.completionMode', 'Unsupported value: "X": supported values: "NonIndexed", "Indexed"'],
    ],
    [
      'indexed without completions',
      { completionMode: 'Indexed', parallelism: 1 },
      ['Required', 'spec.completions', 'Required value: when completion mode is Indexed'],
    ],
    [
      'a parallelism above the limit',
      { completionMode: 'Indexed', completions: 1, parallelism: 100_001 },
      [
        'Invalid',
        'spec.parallelism',
        'Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed',
      ],
    ],
    [
      'limits for each index without indexes',
      { backoffLimitPerIndex: 1, maxFailedIndexes: 1 },
      ['Invalid', 'spec.backoffLimitPerIndex', 'Invalid value: 1: requires indexed completion mode'],
      ['Invalid', 'spec.maxFailedIndexes', 'Invalid value: 1: requires indexed completion mode'],
    ],
    [
      'maxFailedIndexes above completions',
      { completionMode: 'Indexed', completions: 2, backoffLimitPerIndex: 1, maxFailedIndexes: 3 },
      ['Invalid', 'spec.maxFailedIndexes', 'Invalid value: 3: must be less than or equal to completions'],
    ],
    [
      'maxFailedIndexes without backoffLimitPerIndex',
      { completionMode: 'Indexed', completions: 2, maxFailedIndexes: 1 },
      ['Required', 'spec.backoffLimitPerIndex', 'Required value: when maxFailedIndexes is specified'],
    ],
    [
      'a very high number of completions',
      { completionMode: 'Indexed', completions: 100_001, backoffLimitPerIndex: 1 },
      ['Required', 'spec.maxFailedIndexes', 'Required value: must be specified when completions is above 100000'],
    ],
    [
      'managedBy without a domain',
      { managedBy: 'me' },
      ['Invalid', 'spec.managedBy', 'Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
    [
      'an unknown replacement policy',
      { podReplacementPolicy: 'X' },
      [
        'NotSupported',
        'spec.podReplacementPolicy',
        'Unsupported value: "X": supported values: "Failed", "TerminatingOrFailed"',
      ],
    ],
    [
      'a success policy without indexes',
      { successPolicy: { rules: [{ succeededCount: 1 }] } },
      [
        'Invalid',
        'spec.successPolicy',
        'Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":1}]}: requires indexed completion mode',
      ],
    ],
  ]);

  test('a name that is invalid for its pods', () => {
    const name = 'a'.repeat(62);
    const spec = { completionMode: 'Indexed', completions: 11, template: { spec: pod } };
    expect(validateOnCreate(jobs, { metadata: { name }, spec })).toEqual([
      [
        'Invalid',
        'metadata.name',
        `Invalid value: "${name}": will not able to create pod with invalid DNS label: ${name}-10`,
      ],
    ]);
  });
});

describe('failure policies', () => {
  const R = 'spec.podFailurePolicy.rules[0]';
  const policy = (rule: JsonObject) => ({ podFailurePolicy: { rules: [rule] } });
  check([
    ['valid', policy({ action: 'FailJob', onExitCodes: { operator: 'In', values: [1, 2] } })],
    [
      'neither action nor requirement',
      policy({}),
      ['Required', `${R}.action`, 'Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]'],
      ['Invalid', R, 'Invalid value: specifying one of OnExitCodes and OnPodConditions is required'],
    ],
    [
      'an unknown action',
      policy({ action: 'X', onExitCodes: { operator: 'In', values: [1] } }),
      [
        'NotSupported',
        `${R}.action`,
        'Unsupported value: "X": supported values: "Count", "FailIndex", "FailJob", "Ignore"',
      ],
    ],
    [
      'FailIndex without indexes',
      policy({ action: 'FailIndex', onExitCodes: { operator: 'In', values: [1] } }),
      ['Invalid', `${R}.action`, 'Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set'],
    ],
    [
      'both requirements',
      policy({
        action: 'Ignore',
        onExitCodes: { operator: 'In', values: [1] },
        onPodConditions: [{ type: 'T', status: 'True' }],
      }),
      ['Invalid', R, 'Invalid value: specifying both OnExitCodes and OnPodConditions is not supported'],
    ],
    [
      'exit codes unordered, duplicate, and 0 with In',
      policy({ action: 'Ignore', onExitCodes: { operator: 'In', values: [2, 2, 0] } }),
      ['Duplicate', `${R}.onExitCodes.values[1]`, 'Duplicate value: 2'],
      ['Invalid', `${R}.onExitCodes.values[2]`, 'Invalid value: 0: must not be 0 for the In operator'],
      ['Invalid', `${R}.onExitCodes.values`, 'Invalid value: [2,2,0]: must be ordered'],
    ],
    [
      'no values, no operator, an unknown container',
      policy({ action: 'Ignore', onExitCodes: { containerName: 'x' } }),
      ['Required', `${R}.onExitCodes.operator`, 'Required value: valid values: ["In" "NotIn"]'],
      [
        'Invalid',
        `${R}.onExitCodes.containerName`,
        'Invalid value: "x": must be one of the container or initContainer names in the pod template',
      ],
      ['Invalid', `${R}.onExitCodes.values`, 'Invalid value: null: at least one value is required'],
    ],
    [
      'an invalid condition pattern',
      policy({ action: 'Ignore', onPodConditions: [{ type: 'a b', status: 'Odd' }] }),
      ['Invalid', `${R}.onPodConditions[0].type`, `Invalid value: "a b": ${wording.qualified}`],
      [
        'NotSupported',
        `${R}.onPodConditions[0].status`,
        'Unsupported value: "Odd": supported values: "False", "True", "Unknown"',
      ],
    ],
    [
      'a restart policy other than Never',
      {
        ...policy({ action: 'Ignore', onExitCodes: { operator: 'In', values: [1] } }),
        template: { spec: { ...pod, restartPolicy: 'OnFailure' } },
      },
      [
        'Invalid',
        'spec.template.spec.restartPolicy',
        'Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
      ],
    ],
    [
      'a podReplacementPolicy other than Failed',
      {
        ...policy({ action: 'Ignore', onExitCodes: { operator: 'In', values: [1] } }),
        podReplacementPolicy: 'TerminatingOrFailed',
      },
      [
        'NotSupported',
        'spec.podReplacementPolicy',
        'Unsupported value: "TerminatingOrFailed": supported values: "Failed"',
      ],
    ],
  ]);

  test('at most twenty rules', () => {
    const rule = { action: 'Ignore', onExitCodes: { operator: 'In', values: [1] } };
    expect(
      validateOnCreate(jobs, job({ podFailurePolicy: { rules: Array.from({ length: 21 }, () => rule) } })),
    ).toEqual([['TooMany', 'spec.podFailurePolicy.rules', 'Too many: 21: must have at most 20 items']]);
  });
});

describe('success policies', () => {
  const R = 'spec.successPolicy.rules[0]';
  const policy = (rule: JsonObject) => ({
    completionMode: 'Indexed',
    completions: 10,
    successPolicy: { rules: [rule] },
  });
  check([
    ['valid', policy({ succeededIndexes: '1,3-5,7', succeededCount: 5 })],
    [
      'no rules',
      { ...policy({}), successPolicy: { rules: [] } },
      [
        'Required',
        'spec.successPolicy.rules',
        'Required value: at least one rules must be specified when the successPolicy is specified',
      ],
    ],
    [
      'an empty rule',
      policy({}),
      ['Required', R, 'Required value: at least one of succeededCount or succeededIndexes must be specified'],
    ],
    [
      'succeededCount above completions',
      policy({ succeededCount: 11 }),
      [
        'Invalid',
        `${R}.succeededCount`,
        'Invalid value: 11: must be less than or equal to 10 (the number of specified completions)',
      ],
    ],
    [
      'succeededCount above the number of indexes',
      policy({ succeededIndexes: '0-1', succeededCount: 3 }),
      [
        'Invalid',
        `${R}.succeededCount`,
        'Invalid value: 3: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)',
      ],
    ],
    [
      'an index out of range',
      policy({ succeededIndexes: '1-10' }),
      [
        'Invalid',
        `${R}.succeededIndexes`,
        'Invalid value: "1-10": error parsing succeededIndexes: too large index: "10"',
      ],
    ],
    [
      'indexes out of order',
      policy({ succeededIndexes: '3,2' }),
      [
        'Invalid',
        `${R}.succeededIndexes`,
        'Invalid value: "3,2": error parsing succeededIndexes: non-increasing order, previous: 3, current: 2',
      ],
    ],
    [
      'no valid index',
      policy({ succeededIndexes: 'x' }),
      [
        'Invalid',
        `${R}.succeededIndexes`,
        'Invalid value: "x": error parsing succeededIndexes: cannot convert string to integer for index: "x"',
      ],
    ],
  ]);
});

interface Changing {
  metadata: JsonObject;
  spec: { [field: string]: unknown; template: { spec: { [field: string]: unknown }; metadata: JsonObject } };
  status: { [field: string]: unknown };
}

const change = (spec: JsonObject, how: (job: Changing) => void): ReportedError[] =>
  validateOnUpdate(jobs, job(spec), (one: ApiObject) => how(one as unknown as Changing));

describe('updates', () => {
  const indexed = { completionMode: 'Indexed', completions: 3, parallelism: 3 };
  test.each<{ title: string; spec?: JsonObject; how: (job: Changing) => void; found: ReportedError[] }>([
    { title: 'parallelism may change', how: ({ spec }) => Object.assign(spec, { parallelism: 5 }), found: [] },
    {
      title: 'completions are immutable',
      how: ({ spec }) => Object.assign(spec, { completions: 5 }),
      found: [['Invalid', 'spec.completions', 'Invalid value: 5: field is immutable']],
    },
    {
      title: 'completions of an indexed job may change with parallelism',
      spec: indexed,
      how: ({ spec }) => Object.assign(spec, { completions: 5, parallelism: 5 }),
      found: [],
    },
    {
      title: 'but not alone',
      spec: indexed,
      how: ({ spec }) => Object.assign(spec, { completions: 5 }),
      found: [
        ['Invalid', 'spec.completions', 'Invalid value: 5: can only be modified in tandem with spec.parallelism'],
      ],
    },
    {
      title: 'the completion mode is immutable',
      spec: indexed,
      how: ({ spec }) => Object.assign(spec, { completionMode: 'NonIndexed' }),
      found: [['Invalid', 'spec.completionMode', 'Invalid value: "NonIndexed": field is immutable']],
    },
    {
      title: 'managedBy is immutable',
      how: ({ spec }) => Object.assign(spec, { managedBy: 'a.b/c' }),
      found: [['Invalid', 'spec.managedBy', 'Invalid value: "a.b/c": field is immutable']],
    },
    {
      title: 'scheduling directives may change while suspended',
      spec: { suspend: true },
      how: ({ spec }) => {
        spec.template.spec['nodeSelector'] = { a: 'b' };
        spec.template.spec['tolerations'] = [{ operator: 'Exists' }];
      },
      found: [],
    },
  ])('$title', ({ spec = {}, how, found }) => {
    expect(change(spec, how)).toEqual(found);
  });

  test('the template is immutable, and the error shows it', () => {
    const found = change({}, ({ spec }) => {
      spec.template.spec['nodeSelector'] = { a: 'b' };
    });
    expect(found).toHaveLength(1);
    expect(found[0]?.[1]).toBe('spec.template');
    expect(found[0]?.[2]).toMatch(
      /^Invalid value: \{"labels":\{"batch\.kubernetes\.io\/controller-uid":"u".*"Spec":\{"Volumes":null,.*"NodeSelector":\{"a":"b"\}.*\}: field is immutable$/,
    );
  });

  test('errors of the spec are reported twice', () => {
    const found = change({}, ({ spec }) => Object.assign(spec, { backoffLimit: -1 }));
    const negative: ReportedError = [
      'Invalid',
      'spec.backoffLimit',
      'Invalid value: -1: must be greater than or equal to 0',
    ];
    expect(found).toEqual([negative, negative]);
  });
});

describe('status', () => {
  const done = (...types: string[]) => types.map((type) => ({ type, status: 'True' }));
  const times = { startTime: '2024-01-01T00:00:00Z', completionTime: '2024-01-02T00:00:00Z' };
  test.each<{ title: string; spec?: JsonObject; status: JsonObject; found: ReportedError[] }>([
    { title: 'complete', status: { ...times, conditions: done('SuccessCriteriaMet', 'Complete') }, found: [] },
    {
      title: 'complete without SuccessCriteriaMet',
      status: { ...times, conditions: done('Complete') },
      found: [
        [
          'Invalid',
          'status.conditions',
          'Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
        ],
      ],
    },
    {
      title: 'failed without FailureTarget',
      status: { startTime: times.startTime, conditions: done('Failed') },
      found: [
        [
          'Invalid',
          'status.conditions',
          'Invalid value: cannot set Failed=True condition without the FailureTarget=true condition',
        ],
      ],
    },
    {
      title: 'complete without times',
      status: { conditions: done('SuccessCriteriaMet', 'Complete') },
      found: [
        ['Required', 'status.completionTime', 'Required value: completionTime is required for Complete jobs'],
        ['Required', 'status.startTime', 'Required value: startTime is required for finished job'],
      ],
    },
    {
      title: 'completionTime before startTime',
      status: { ...times, startTime: '2024-01-03T00:00:00Z', conditions: done('SuccessCriteriaMet', 'Complete') },
      found: [
        [
          'Invalid',
          'status.completionTime',
          'Invalid value: "2024-01-02T00:00:00Z": completionTime cannot be set before startTime',
        ],
      ],
    },
    {
      title: 'a completion time without a Complete condition',
      status: times,
      found: [
        [
          'Invalid',
          'status.completionTime',
          'Invalid value: "2024-01-02T00:00:00Z": cannot set completionTime when there is no Complete=True condition',
        ],
      ],
    },
    {
      title: 'complete with active pods',
      status: { ...times, active: 1, conditions: done('SuccessCriteriaMet', 'Complete') },
      found: [['Invalid', 'status.active', 'Invalid value: 1: active>0 is invalid for finished job']],
    },
    {
      title: 'more ready than active',
      status: { active: 1, ready: 2 },
      found: [['Invalid', 'status.ready', 'Invalid value: 2: cannot set more ready pods than active']],
    },
    {
      title: 'completedIndexes of a job without indexes',
      status: { completedIndexes: '0' },
      found: [
        [
          'Invalid',
          'status.completedIndexes',
          'Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode',
        ],
      ],
    },
    {
      title: 'an index both failed and completed',
      spec: { completionMode: 'Indexed', completions: 9, backoffLimitPerIndex: 1 },
      status: { completedIndexes: '0-3', failedIndexes: '3,5' },
      found: [
        [
          'Invalid',
          'status.failedIndexes',
          'Invalid value: "3,5": failedIndexes and completedIndexes overlap at index: 3',
        ],
      ],
    },
  ])('$title', ({ spec = {}, status, found }) => {
    expect(change(spec, (one) => Object.assign(one, { status }))).toEqual(found);
  });

  // As the reference server answers, also when the time is removed.
  test.each([times.completionTime, undefined])('the start time of a job that runs cannot become %s', (startTime) => {
    const before = { ...job({}), status: { startTime: times.startTime } };
    const found = validateOnUpdate(jobs, before, (one: ApiObject) => Object.assign(one, { status: { startTime } }));
    const why = `Invalid value: ${JSON.stringify(startTime ?? null)}: field is immutable for unsuspended job once set`;
    expect(found).toEqual([['Invalid', 'status.startTime', why]]);
  });
});
