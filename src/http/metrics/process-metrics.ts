import { buildMetric, ownMetric } from '../../meta/index.ts';
import type { MetricSet } from './metric.ts';
import type { BuildInfo, EventLoopLag, HeapSpace, ProcessUsage } from './process-usage.ts';

/** Declares the metrics of the process and its runtime, with the names of Prometheus client libraries, and of the build. */
export function declareProcessMetrics(set: MetricSet, startSeconds: number, build: BuildInfo | undefined): void {
  declareUsageMetrics(set, startSeconds);
  declareRuntimeMetrics(set);
  set.observable({
    type: 'gauge',
    name: buildMetric,
    across: 'one',
    stability: 'BETA',
    help: 'The API release that is served, and the build that serves it: always 1.',
    labels: [
      'major',
      'minor',
      'git_version',
      'git_commit',
      'git_tree_state',
      'build_date',
      'go_version',
      'compiler',
      'platform',
    ],
    read: () => (build === undefined ? [] : [[build.api, 1]]),
  });
  set.observable({
    type: 'gauge',
    name: 'version_info',
    across: 'one',
    stability: 'ALPHA',
    help: 'The API release of this server, the one that it emulates, and the oldest one to which it can be rolled back: always 1.',
    labels: ['binary', 'component', 'emulation', 'min_compat'],
    read: () => (build === undefined ? [] : [[build.served, 1]]),
  });
  set.observable({
    type: 'gauge',
    name: ownMetric('build_info'),
    across: 'one',
    stability: 'ALPHA',
    help: 'The version of this server: always 1.',
    labels: ['version'],
    read: () => (build === undefined ? [] : [[{ version: build.version }, 1]]),
  });
}

type ReadUsage = (usage: ProcessUsage) => number | undefined;

function declareUsage(
  set: MetricSet,
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  read: ReadUsage,
  across: 'sum' | 'max' = 'sum',
): void {
  set.observable({
    type,
    name,
    across,
    help,
    read: ({ usage }) => {
      const value = read(usage);
      return value === undefined ? [] : [['', value]];
    },
  });
}

function declareUsageMetrics(set: MetricSet, startSeconds: number): void {
  const declare = (name: string, type: 'counter' | 'gauge', help: string, read: ReadUsage) =>
    declareUsage(set, name, type, help, read);
  declare(
    'process_cpu_seconds_total',
    'counter',
    'Processor time spent, user and system.',
    ({ userSeconds, systemSeconds }) => userSeconds + systemSeconds,
  );
  declare('process_cpu_user_seconds_total', 'counter', 'Processor time spent as user.', (usage) => usage.userSeconds);
  declare(
    'process_cpu_system_seconds_total',
    'counter',
    'Processor time spent as system.',
    (usage) => usage.systemSeconds,
  );
  declare('process_resident_memory_bytes', 'gauge', 'Resident memory.', (usage) => usage.residentBytes);
  declare('process_virtual_memory_bytes', 'gauge', 'Virtual memory.', (usage) => usage.virtualBytes);
  declare('process_open_fds', 'gauge', 'Open file descriptors.', (usage) => usage.openFiles);
  declare('process_max_fds', 'gauge', 'How many file descriptors may be open.', (usage) => usage.maxFiles);
  set.observable({
    type: 'gauge',
    name: 'process_start_time_seconds',
    across: 'one',
    help: 'When the server began, in seconds since 1970.',
    read: () => [['', startSeconds]],
  });
}

function declareRuntimeMetrics(set: MetricSet): void {
  const gauge = (name: string, help: string, read: ReadUsage) => declareUsage(set, name, 'gauge', help, read);
  gauge('nodejs_heap_size_total_bytes', 'Size of the heap.', (usage) => usage.heapBytes);
  gauge('nodejs_heap_size_used_bytes', 'Used part of the heap.', (usage) => usage.heapUsedBytes);
  gauge(
    'nodejs_external_memory_bytes',
    'Memory of buffers and other data outside the heap.',
    (usage) => usage.externalBytes,
  );
  declareHeapSpace(set, 'total', 'Size of a space of the heap.', ({ totalBytes }) => totalBytes);
  declareHeapSpace(set, 'used', 'Used part of a space of the heap.', ({ usedBytes }) => usedBytes);
  declareHeapSpace(set, 'available', 'Available part of a space of the heap.', ({ availableBytes }) => availableBytes);
  const lag = (part: keyof EventLoopLag, help: string) =>
    declareUsage(set, `nodejs_eventloop_lag_${part}_seconds`, 'gauge', help, (usage) => usage.lag[part], 'max');
  lag('min', 'Least lag of the event loop since the last scrape.');
  lag('max', 'Greatest lag of the event loop since the last scrape.');
  lag('mean', 'Mean lag of the event loop since the last scrape.');
  lag('stddev', 'Standard deviation of the lag of the event loop since the last scrape.');
  lag('p50', 'Median of the lag of the event loop since the last scrape.');
  lag('p90', '90th percentile of the lag of the event loop since the last scrape.');
  lag('p99', '99th percentile of the lag of the event loop since the last scrape.');
  set.observableHistogram({
    name: 'nodejs_gc_duration_seconds',
    help: 'Pauses of the garbage collector since the first scrape, by kind: minor, major, incremental or weakcb.',
    labels: ['kind'],
    read: ({ usage }) => usage.collections.values(),
  });
  set.observable({
    type: 'gauge',
    name: 'nodejs_version_info',
    across: 'one',
    help: 'The version of Node: always 1.',
    labels: ['version', 'major', 'minor', 'patch'],
    read: () => {
      const [major = '', minor = '', patch = ''] = process.versions.node.split('.');
      return [[{ version: process.version, major, minor, patch }, 1]];
    },
  });
}

function declareHeapSpace(set: MetricSet, part: string, help: string, read: (space: HeapSpace) => number): void {
  set.observable({
    type: 'gauge',
    name: `nodejs_heap_space_size_${part}_bytes`,
    help,
    labels: ['space'],
    read: ({ usage }) => usage.heapSpaces.map((space) => [{ space: space.name }, read(space)]),
  });
}
