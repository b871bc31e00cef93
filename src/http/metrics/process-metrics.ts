import { buildMetric, ownMetric } from '../../meta/index.ts';
import { collectionBounds } from '../listener/bounds.ts';
import { labelText } from './distribution.ts';
import { histogram, line, type Metric } from './metric.ts';
import type { EventLoopLag, HeapSpace, ProcessUsage } from './process-usage.ts';

const value = (
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  read: (usage: ProcessUsage) => number | undefined,
): Metric => ({
  ...{ name, type, help, labels: [] },
  lines({ usage }, metric) {
    const found = read(usage);
    return found === undefined ? [] : [line(metric, '', found)];
  },
});

const heapSpace = (part: string, help: string, read: (space: HeapSpace) => number): Metric => ({
  ...{ name: `nodejs_heap_space_size_${part}_bytes`, type: 'gauge', help, labels: ['space'] },
  lines: ({ usage }, metric) =>
    usage.heapSpaces.map((space) => line(metric, labelText({ space: space.name }), read(space))),
});

const lag = (part: keyof EventLoopLag, help: string): Metric =>
  value(`nodejs_eventloop_lag_${part}_seconds`, 'gauge', help, (usage) => usage.lag[part]);

/** The metrics of the process and its runtime, in the names of the client libraries of Prometheus, and of the build. */
export const processMetrics: readonly Metric[] = [
  value(
    'process_cpu_seconds_total',
    'counter',
    'Processor time spent, user and system.',
    ({ userSeconds, systemSeconds }) => userSeconds + systemSeconds,
  ),
  value('process_cpu_user_seconds_total', 'counter', 'Processor time spent as user.', (usage) => usage.userSeconds),
  value(
    'process_cpu_system_seconds_total',
    'counter',
    'Processor time spent as system.',
    (usage) => usage.systemSeconds,
  ),
  value('process_resident_memory_bytes', 'gauge', 'Resident memory.', (usage) => usage.residentBytes),
  value('process_virtual_memory_bytes', 'gauge', 'Virtual memory.', (usage) => usage.virtualBytes),
  value('process_open_fds', 'gauge', 'Open file descriptors.', (usage) => usage.openFiles),
  value('process_max_fds', 'gauge', 'How many file descriptors may be open.', (usage) => usage.maxFiles),
  {
    name: 'process_start_time_seconds',
    stability: 'ALPHA',
    help: 'When the server began, in seconds since 1970.',
    type: 'gauge',
    labels: [],
    lines: ({ startTime }, name) => [line(name, '', startTime)],
  },
  value('nodejs_heap_size_total_bytes', 'gauge', 'Size of the heap.', (usage) => usage.heapBytes),
  value('nodejs_heap_size_used_bytes', 'gauge', 'Used part of the heap.', (usage) => usage.heapUsedBytes),
  value(
    'nodejs_external_memory_bytes',
    'gauge',
    'Memory of buffers and other data outside the heap.',
    (usage) => usage.externalBytes,
  ),
  heapSpace('total', 'Size of a space of the heap.', ({ totalBytes }) => totalBytes),
  heapSpace('used', 'Used part of a space of the heap.', ({ usedBytes }) => usedBytes),
  heapSpace('available', 'Available part of a space of the heap.', ({ availableBytes }) => availableBytes),
  lag('min', 'Least lag of the event loop since the last scrape.'),
  lag('max', 'Greatest lag of the event loop since the last scrape.'),
  lag('mean', 'Mean lag of the event loop since the last scrape.'),
  lag('stddev', 'Standard deviation of the lag of the event loop since the last scrape.'),
  lag('p50', 'Median of the lag of the event loop since the last scrape.'),
  lag('p90', '90th percentile of the lag of the event loop since the last scrape.'),
  lag('p99', '99th percentile of the lag of the event loop since the last scrape.'),
  {
    name: 'nodejs_gc_duration_seconds',
    help: 'Pauses of the garbage collector since the first scrape, by kind: minor, major, incremental or weakcb.',
    type: 'histogram',
    labels: ['kind'],
    *lines({ usage }, name) {
      for (const [kind, pauses] of usage.collections) {
        yield histogram(name, labelText({ kind }), pauses, collectionBounds);
      }
    },
  },
  {
    name: 'nodejs_version_info',
    help: 'The version of Node: always 1.',
    type: 'gauge',
    labels: ['version', 'major', 'minor', 'patch'],
    lines(_, name) {
      const [major = '', minor = '', patch = ''] = process.versions.node.split('.');
      return [line(name, labelText({ version: process.version, major, minor, patch }), 1)];
    },
  },
  {
    name: buildMetric,
    stability: 'ALPHA',
    help: 'The API release that is served, and the build that serves it: always 1.',
    type: 'gauge',
    labels: [
      ...['major', 'minor', 'git_version', 'git_commit', 'git_tree_state', 'build_date'],
      ...['go_version', 'compiler', 'platform'],
    ],
    lines: ({ build }, name) => (build === undefined ? [] : [line(name, labelText(build.api), 1)]),
  },
  {
    name: ownMetric('build_info'),
    stability: 'ALPHA',
    help: 'The version of this server: always 1.',
    type: 'gauge',
    labels: ['version'],
    lines: ({ build }, name) => (build === undefined ? [] : [line(name, labelText({ version: build.version }), 1)]),
  },
];
