import { readdir, readFile } from 'node:fs/promises';
import {
  constants,
  type IntervalHistogram,
  monitorEventLoopDelay,
  type PerformanceEntry,
  PerformanceObserver,
} from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { type CollectionKind, type EventLoopLag, emptyCollections, type ProcessUsage } from '../../http/index.ts';

/** Reads the resource usage of this process. */
export interface UsageReader {
  readonly read: () => Promise<ProcessUsage>;
  readonly close: () => void;
}

/** The entry of a pause (ms). */
type GarbageCollection = PerformanceEntry & { readonly detail?: { readonly kind: number } };

/** How often the event loop is sampled (ms). */
const sampleMs = 10;

/**
 * Creates a reader for the metrics of a server. It observes the event loop and the garbage collector from the first read on,
 * so that a server that is not scraped pays nothing.
 */
export function createUsageReader(): UsageReader {
  const collections = emptyCollections();
  let delays: IntervalHistogram | undefined;
  let observer: PerformanceObserver | undefined;
  const watch = (): IntervalHistogram => {
    observer = new PerformanceObserver((list) => {
      for (const { detail, duration } of list.getEntries() as readonly GarbageCollection[]) {
        const kind = collectionKinds.get(detail?.kind ?? 0);
        if (kind !== undefined) collections.get(kind)?.observe(duration / 1000);
      }
    });
    observer.observe({ entryTypes: ['gc'] });
    const monitor = monitorEventLoopDelay({ resolution: sampleMs });
    monitor.enable();
    return monitor;
  };
  return {
    async read() {
      delays ??= watch();
      const lag = lagOf(delays);
      delays.reset();
      const { user, system } = process.cpuUsage();
      const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
      const [virtualBytes, openFiles, maxFiles] = await Promise.all([virtualMemory(), countFiles(), fileLimit()]);
      return {
        userSeconds: user / 1e6,
        systemSeconds: system / 1e6,
        residentBytes: rss,
        virtualBytes,
        openFiles,
        maxFiles,
        heapBytes: heapTotal,
        heapUsedBytes: heapUsed,
        externalBytes: external,
        heapSpaces: getHeapSpaceStatistics().map((space) => ({
          name: space.space_name.replace(/_space$/, ''),
          totalBytes: space.space_size,
          usedBytes: space.space_used_size,
          availableBytes: space.space_available_size,
        })),
        lag,
        collections,
      };
    },
    close() {
      observer?.disconnect();
      delays?.disable();
    },
  };
}

const collectionKinds = new Map<number, CollectionKind>([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

/** The excess of the samples over their interval; 0 without samples. */
function lagOf(delays: IntervalHistogram): EventLoopLag {
  const isEmpty = !(delays.max > 0);
  const lag = (nanoseconds: number) => (isEmpty ? 0 : Math.max(0, nanoseconds / 1e9 - sampleMs / 1000));
  return {
    min: lag(delays.min),
    max: lag(delays.max),
    mean: lag(delays.mean),
    stddev: isEmpty ? 0 : delays.stddev / 1e9,
    p50: lag(delays.percentile(50)),
    p90: lag(delays.percentile(90)),
    p99: lag(delays.percentile(99)),
  };
}

// These files exist only on Linux.
const readOwn = (file: string): Promise<string> => readFile(`/proc/self/${file}`, 'utf8').catch(() => '');

async function virtualMemory(): Promise<number | undefined> {
  const [, kilobytes] = /^VmSize:\s*(\d+) kB$/m.exec(await readOwn('status')) ?? [];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

const countFiles = (): Promise<number | undefined> =>
  readdir('/proc/self/fd').then(
    // One of them is open for this read.
    (names) => names.length - 1,
    () => undefined,
  );

async function fileLimit(): Promise<number | undefined> {
  const [, limit] = /^Max open files\s+(\d+)/m.exec(await readOwn('limits')) ?? [];
  return limit === undefined ? undefined : Number(limit);
}
