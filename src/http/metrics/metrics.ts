import { type AuditCounts, emptyAuditCounts } from '../../audit/index.ts';
import { emptyTokenCounts } from '../../auth/index.ts';
import { type EncryptionCounts, emptyEncryptionCounts } from '../../encryption/index.ts';
import type { FlowControl, FlowObserver } from '../../fairness/index.ts';
import { type ByteString, type Clock, featureList, featureMetric, type Turns } from '../../meta/index.ts';
import type { Registry } from '../../registry/index.ts';
import type { InFlight } from '../limits.ts';
import { type AccessCounts, type AccessMetrics, declareAccessMetrics } from './access-metrics.ts';
import { type AdmissionMetrics, declareAdmissionMetrics } from './admission-metrics.ts';
import { type AggregationMetrics, type AggregationState, declareAggregationMetrics } from './aggregation-metrics.ts';
import { createAuthorizerMetrics } from './authorization-metrics.ts';
import { declareCacheMetrics } from './cache-metrics.ts';
import { type ControllerMetrics, declareControllerMetrics } from './controller-metrics.ts';
import { declareEncryptionMetrics } from './encryption-metrics.ts';
import { declareFairnessMetrics } from './fairness-metrics.ts';
import { type Metric, MetricSet, type Scrape } from './metric.ts';
import { metricsText } from './metrics-text.ts';
import { declareProcessMetrics } from './process-metrics.ts';
import { type BuildInfo, noUsage, type ProcessUsage } from './process-usage.ts';
import { type ConnectionCounts, declareRequestMetrics, type FindSeries } from './request-metrics.ts';
import { type CommitMetrics, createCommitMetrics, declareStoreMetrics, type ResourceOfKey } from './store-metrics.ts';

/** The counters and states that other parts of the server keep. */
export interface MetricSources extends AccessCounts {
  readonly audit: AuditCounts;
  readonly encryption: EncryptionCounts;
  readonly commits: CommitMetrics;
  readonly connections: () => ConnectionCounts;
  readonly resourceOf: ResourceOfKey;
  /** The size of the store on disk (bytes); undefined for a store in memory. */
  readonly storeSize: () => Promise<number | undefined>;
  /** Rejects when the store cannot be written. */
  readonly checkWritable: () => Promise<void>;
  readonly readUsage: () => Promise<ProcessUsage>;
  /** Undefined: requests have no seats. */
  readonly flowControl: () => FlowControl | undefined;
  /** Undefined: the server serves all group versions itself. */
  readonly aggregation: () => AggregationState | undefined;
  /** Undefined: unknown. */
  readonly build: BuildInfo | undefined;
}

/** The sources of a server without an identity or a listener, over a store in memory. */
export const emptyCounts = (): MetricSources => ({
  identity: '',
  build: undefined,
  readUsage: async () => noUsage,
  certificates: () => new Map(),
  connections: () => ({ open: 0, refused: 0, flooded: 0, failedHandshakes: 0 }),
  commits: createCommitMetrics(),
  audit: emptyAuditCounts(),
  tokens: emptyTokenCounts(),
  authorizers: createAuthorizerMetrics(),
  authenticationReloads: new Map(),
  encryption: emptyEncryptionCounts(),
  resourceOf: () => undefined,
  flowControl: () => undefined,
  aggregation: () => undefined,
  storeSize: async () => undefined,
  checkWritable: async () => undefined,
});

/**
 * The metrics of the server. An observation is a few additions; the text is written on a scrape. Label values come from
 * definitions, so that requests cannot create new series.
 */
export interface Metrics extends AccessMetrics, AdmissionMetrics, AggregationMetrics, ControllerMetrics {
  readonly inFlight: InFlight;
  /** Finds the series of a request, once for each request. */
  readonly series: FindSeries;
  /** Counts what priority and fairness does with requests. */
  readonly flows: FlowObserver;
  readonly storeRequest: ReturnType<typeof declareStoreMetrics>;
  /** All metrics, in the order of a scrape. */
  readonly all: readonly Metric[];
  /** The current values in the text format of Prometheus, in pieces that are made in turns. */
  text(turns: Turns): AsyncIterable<ByteString>;
}

/** Creates the metrics of a server. `registry` is called on a scrape. */
export function createMetrics(
  registry: () => Registry,
  inFlight: InFlight,
  clock: Clock,
  sources = emptyCounts(),
): Metrics {
  const set = new MetricSet();
  declareServerMetrics(set, sources.identity, registry);
  const series = declareRequestMetrics(set, inFlight, sources.connections);
  const flows = declareFairnessMetrics(set, sources.flowControl);
  declareCacheMetrics(set, registry);
  const storeRequest = declareStoreMetrics(set, sources.resourceOf);
  set.include(sources.commits.set);
  const access = declareAccessMetrics(set, sources);
  const admission = declareAdmissionMetrics(set);
  const aggregation = declareAggregationMetrics(set, sources.aggregation);
  declareEncryptionMetrics(set, sources.encryption);
  const controllers = declareControllerMetrics(set);
  declareProcessMetrics(set, clock.now() / 1_000, sources.build);
  return {
    ...access,
    ...admission,
    ...aggregation,
    ...controllers,
    inFlight,
    series,
    flows,
    storeRequest,
    all: set.all,
    async *text(turns) {
      yield* metricsText(set.all, await readScrape(sources), turns);
    },
  };
}

async function readScrape({ readUsage, storeSize, checkWritable }: MetricSources): Promise<Scrape> {
  const [usage, storeBytes, storeWritable] = await Promise.all([
    readUsage(),
    // The size is unknown while the store is unreachable.
    storeSize().catch(() => undefined),
    checkWritable().then(
      () => true,
      () => false,
    ),
  ]);
  return { usage, storeBytes, storeWritable };
}

function declareServerMetrics(set: MetricSet, identity: string, registry: () => Registry): void {
  set.observable({
    type: 'gauge',
    name: 'apiserver_identity_info',
    stability: 'ALPHA',
    help: 'The API server that these metrics are of, by the name of its identity lease: always 1.',
    labels: ['identity'],
    read: () => (identity === '' ? [] : [[{ identity }, 1]]),
  });
  set.observable({
    type: 'gauge',
    name: featureMetric,
    stability: 'BETA',
    help: 'Features by stage: 1 for those that are on, 0 for the others.',
    labels: ['name', 'stage'],
    *read() {
      const features: { readonly [name: string]: boolean } = registry().features;
      for (const [name, { stage }] of featureList) {
        yield [{ name, stage: stage === 'stable' ? '' : stage.toUpperCase() }, features[name] ? 1 : 0];
      }
    },
  });
}
