import { expect, test } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import { cellsOf } from '../testing/kind.ts';
import { readinessGates } from './pods.columns.ts';
import { pods } from './pods.ts';

// The reference server's cells for such pods.
const containers = [
  { name: 'a', image: 'i' },
  { name: 'b', image: 'i' },
];
const sidecar = { name: 's', image: 'i', restartPolicy: 'Always' };
const ended = (exitCode: number, more: JsonObject = {}) => ({ state: { terminated: { exitCode, ...more } } });
const run = { ready: true, state: { running: {} } };
const initialized = [{ type: 'Initialized', status: 'True' }];

const rows: readonly (readonly [title: string, pod: JsonObject, ready: string, status: string, restarts: string])[] = [
  ['no statuses', { status: { phase: 'Pending' } }, '0/2', 'Pending', '0'],
  ['a reason in the status', { status: { phase: 'Failed', reason: 'Evicted' } }, '0/2', 'Evicted', '0'],
  [
    'one of two containers runs',
    {
      status: {
        phase: 'Running',
        containerStatuses: [
          { name: 'a', restartCount: 2, ...run },
          { name: 'b', ready: true, state: { waiting: { reason: 'CrashLoopBackOff' } } },
        ],
      },
    },
    '1/2',
    'CrashLoopBackOff',
    '2',
  ],
  [
    'a container ended by a signal, and restarted',
    {
      status: {
        phase: 'Running',
        containerStatuses: [
          {
            name: 'a',
            restartCount: 1,
            ...ended(137, { signal: 9 }),
            lastState: { terminated: { finishedAt: '2024-01-02T03:03:05Z' } },
          },
        ],
      },
    },
    '0/2',
    'Signal:9',
    '1 (60s ago)',
  ],
  [
    'the second of two init containers is next',
    {
      spec: { initContainers: [{ name: 'i' }, { name: 'j' }], containers },
      status: {
        phase: 'Pending',
        initContainerStatuses: [
          { name: 'i', restartCount: 1, ...ended(0) },
          { name: 'j', restartCount: 3, state: { waiting: { reason: 'PodInitializing' } } },
        ],
        containerStatuses: [{ name: 'a', restartCount: 7, ...run }],
      },
    },
    '0/2',
    'Init:1/2',
    '4',
  ],
  [
    'an init container that failed',
    {
      spec: { initContainers: [{ name: 'i' }], containers },
      status: { phase: 'Pending', initContainerStatuses: [{ name: 'i', ...ended(1) }] },
    },
    '0/2',
    'Init:ExitCode:1',
    '0',
  ],
  [
    'a sidecar counts as a container, with its restarts',
    {
      spec: { initContainers: [{ name: 'i' }, sidecar], containers },
      status: {
        phase: 'Running',
        initContainerStatuses: [
          { name: 'i', restartCount: 5, ...ended(0, { reason: 'Completed' }) },
          { name: 's', restartCount: 1, started: true, ...run },
        ],
        containerStatuses: [
          { name: 'a', restartCount: 1, ...run },
          { name: 'b', ...run },
        ],
      },
    },
    '3/3',
    'Running',
    '2',
  ],
  [
    'a sidecar that restarts in an initialized pod',
    {
      spec: { initContainers: [sidecar], containers },
      status: {
        phase: 'Running',
        conditions: initialized,
        initContainerStatuses: [{ name: 's', started: false, state: { waiting: { reason: 'CrashLoopBackOff' } } }],
        containerStatuses: [
          { name: 'a', ...run },
          { name: 'b', ...run },
        ],
      },
    },
    '2/3',
    'Init:CrashLoopBackOff',
    '0',
  ],
  [
    'one container completed, another one runs but is not ready',
    {
      status: {
        phase: 'Running',
        containerStatuses: [
          { name: 'a', ...ended(0, { reason: 'Completed' }) },
          { name: 'b', ...run },
        ],
      },
    },
    '1/2',
    'NotReady',
    '0',
  ],
  [
    'terminating',
    { metadata: { deletionTimestamp: '2024-01-02T03:04:00Z' }, status: { phase: 'Running' } },
    '0/2',
    'Terminating',
    '0',
  ],
  [
    'completed and deleted',
    { metadata: { deletionTimestamp: '2024-01-02T03:04:00Z' }, status: { phase: 'Failed' } },
    '0/2',
    'Failed',
    '0',
  ],
  [
    'its node is lost',
    { metadata: { deletionTimestamp: '2024-01-02T03:04:00Z' }, status: { phase: 'Running', reason: 'NodeLost' } },
    '0/2',
    'Unknown',
    '0',
  ],
];

test.each(rows)('%s', (_, pod, ready, status, restarts) => {
  expect(cellsOf(pods, { spec: { containers }, ...pod })).toMatchObject({
    Ready: ready,
    Status: status,
    Restarts: restarts,
  });
});

test('readiness gates', () => {
  const gates = [{ conditionType: 'a/x' }, { conditionType: 'a/y' }];
  const conditions = [
    { type: 'a/x', status: 'True' },
    { type: 'a/y', status: 'False' },
  ];
  expect(cellsOf(pods, { spec: { containers, readinessGates: gates }, status: { conditions } })).toMatchObject({
    'Readiness Gates': '1/2',
  });
});

test.each([
  ['Succeeded', { reason: 'Succeeded', message: 'The pod has completed successfully.' }],
  ['Failed', { reason: 'Failed', message: 'The pod failed.' }],
  ['Running', undefined],
])('a pod that is done: %s', (phase, done) => {
  expect(pods.completion?.({ metadata: {}, status: { phase } } as never)).toEqual(done);
});

test('readiness gates are counted in one pass over the conditions', () => {
  let reads = 0;
  const types = Array.from({ length: 500 }, (_, i) => `example.com/gate-${i}`);
  const conditions = types.map((name) => ({
    get type() {
      reads++;
      return name;
    },
    status: 'True',
  }));
  const spec = { readinessGates: types.map((conditionType) => ({ conditionType })) };
  expect(readinessGates({ spec, status: { conditions } })).toBe('500/500');
  expect(reads).toBe(types.length);
});
