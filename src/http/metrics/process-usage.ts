import { Distribution, labelText } from './series.ts';

/** The resources that the process of the server uses. Undefined: unknown on this system. */
export interface ProcessUsage {
  /** Processor time (seconds). */
  readonly userSeconds: number;
  readonly systemSeconds: number;
  readonly residentBytes: number;
  readonly virtualBytes: number | undefined;
  readonly openFiles: number | undefined;
  readonly maxFiles: number | undefined;
  readonly heapBytes: number;
  readonly heapUsedBytes: number;
  /** Memory of objects outside the heap, such as buffers (bytes). */
  readonly externalBytes: number;
  readonly heapSpaces: readonly HeapSpace[];
  /** The delay of timers since the last reading (seconds). */
  readonly lag: EventLoopLag;
  /** The pauses of the garbage collector by kind, since the first reading. */
  readonly collections: ReadonlyMap<CollectionKind, Distribution>;
}

export interface HeapSpace {
  readonly name: string;
  readonly totalBytes: number;
  readonly usedBytes: number;
  readonly availableBytes: number;
}

export interface EventLoopLag {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly stddev: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

const collectionKinds = ['minor', 'major', 'incremental', 'weakcb'] as const;
export type CollectionKind = (typeof collectionKinds)[number];

/** The buckets of the Prometheus client library for Node (seconds). */
const collectionBuckets = [0.001, 0.01, 0.1, 1, 2, 5];

/** Empty histograms of the pauses of the garbage collector (seconds). */
export const emptyCollections = (): Map<CollectionKind, Distribution> =>
  new Map(collectionKinds.map((kind) => [kind, new Distribution(labelText({ kind }), collectionBuckets)]));

/** The usage of a process that is not measured. */
export const noUsage: ProcessUsage = {
  userSeconds: 0,
  systemSeconds: 0,
  residentBytes: 0,
  virtualBytes: undefined,
  openFiles: undefined,
  maxFiles: undefined,
  heapBytes: 0,
  heapUsedBytes: 0,
  externalBytes: 0,
  heapSpaces: [],
  lag: { min: 0, max: 0, mean: 0, stddev: 0, p50: 0, p90: 0, p99: 0 },
  collections: emptyCollections(),
};

/** Versions, as labels. */
export interface BuildInfo {
  /** Of the API: major, minor, git_version, …. */
  readonly api: { readonly [label: string]: string };
  /** Of the served API release: binary, emulation, min_compat, …. */
  readonly served: { readonly [label: string]: string };
  /** Of this package. */
  readonly version: string;
}
